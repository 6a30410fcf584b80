//! Serves a call, or leaves it to MPI.

use crate::failure::{CallFailure, SUCCESS, guarded};
use crate::guard;
use crate::passing;
use crate::request;
use mpi::ffi::{self, MPI_Comm, MPI_Request};
use roundel::Error;
use roundel::mpi::raw::{self, By, CallKey, CallOutcome, KnownCall, LastCall, MpiCall, PreparedCall, RequestLife};
use std::ffi::c_int;

/// Runs a call; `None` if MPI must serve it.
///
/// # Safety
/// The program has called a collective with these arguments.
pub(crate) unsafe fn blocking(
    function: &'static str,
    key: &CallKey,
    last: &LastCall,
    call: impl FnOnce() -> Option<MpiCall>,
) -> Option<c_int> {
    let call = admitted(key.comm, call)?;
    // SAFETY: MPI is live, and the arguments are those of a call of MPI's function.
    let result = guarded(|| unsafe { raw::run(key.comm, &call, By::Environment) });
    match result {
        Ok(CallOutcome::Done) => {
            // SAFETY: as above; the call was made.
            let known = unsafe { raw::remember(key, &call) };
            known.filter(|_| key.lists[0].is_none()).into_iter().for_each(|known| last.keep(key, known));
            return Some(SUCCESS);
        }
        // SAFETY: as above.
        Ok(CallOutcome::Library) if key.lists[0].is_some() => drop(unsafe { raw::remember(key, &call) }),
        Ok(CallOutcome::Library) => {}
        Ok(CallOutcome::Passes) => last.keep(key, KnownCall::PASSES),
        Err(failure) => return Some(failure.raise(key.comm, function)),
    }
    None
}

/// What is done after a call could not be repeated: not inlined, so that it costs nothing if it could.
#[cold]
#[inline(never)]
pub(crate) fn rarely(what: impl FnOnce() -> c_int) -> c_int {
    what()
}

/// Raises the error of a call that was repeated, and returns its code.
#[cold]
pub(crate) fn failed(function: &'static str, comm: MPI_Comm, error: Error) -> c_int {
    CallFailure::Error(error).raise(comm, function)
}

/// Starts a call and returns a request for it; `None` if MPI must serve it. Such a call must not wait for other ranks,
/// so an earlier call must have set up the communicator.
///
/// # Safety
/// The same as for [`blocking`]; the pointer is valid for writing a request.
pub(crate) unsafe fn starting(
    function: &'static str,
    key: &CallKey,
    last: &LastCall,
    to: *mut MPI_Request,
    call: impl FnOnce() -> Option<MpiCall>,
) -> Option<c_int> {
    let call = || known(key.comm).then(call).flatten();
    // SAFETY: the caller guarantees it.
    match unsafe { prepared(key.comm, to, call, RequestLife::Once)? } {
        Ok(PreparedCall::Ready(call)) => {
            Some(hand_out(function, key.comm, to, || request::once(function, key.comm, *call)))
        }
        Ok(PreparedCall::Library) => None,
        Ok(PreparedCall::Passes { by_lists: false }) => {
            last.keep(key, KnownCall::PASSES);
            None
        }
        Ok(PreparedCall::Passes { by_lists: true }) => {
            // SAFETY: as above.
            unsafe { raw::remember_left(key) };
            None
        }
        Err(failure) => Some(failure.raise(key.comm, function)),
    }
}

/// Prepares a call and returns a persistent request for it; `None` if MPI must serve it.
///
/// # Safety
/// The same as for [`starting`].
#[cfg(any(persistent, extension))]
pub(crate) unsafe fn preparing(
    function: &'static str,
    comm: MPI_Comm,
    to: *mut MPI_Request,
    call: impl FnOnce() -> Option<MpiCall>,
) -> Option<c_int> {
    // SAFETY: the caller guarantees it.
    match unsafe { prepared(comm, to, call, RequestLife::Persistent)? } {
        Ok(PreparedCall::Ready(call)) => {
            Some(hand_out(function, comm, to, || request::persistent(function, comm, *call)))
        }
        Ok(PreparedCall::Library | PreparedCall::Passes { .. }) => None,
        Err(failure) => Some(failure.raise(comm, function)),
    }
}

/// Whether an operation can be prepared without waiting for other ranks.
fn known(comm: MPI_Comm) -> bool {
    let mut p = 0;
    // SAFETY: the communicator is the program's, and MPI is live.
    unsafe { raw::is_known(comm).is_ok_and(|known| known) || ffi::PMPI_Comm_size(comm, &mut p) == SUCCESS && p == 1 }
}

/// Prepares a call; `None` if MPI must serve it.
///
/// # Safety
/// The same as for [`starting`].
unsafe fn prepared(
    comm: MPI_Comm,
    to: *mut MPI_Request,
    call: impl FnOnce() -> Option<MpiCall>,
    life: RequestLife,
) -> Option<Result<PreparedCall, CallFailure>> {
    let call = admitted(comm, call)?;
    // SAFETY: MPI is live, and the arguments are those of a call of MPI's function.
    (!to.is_null()).then(|| guarded(|| unsafe { raw::prepare(comm, &call, By::Environment, life) }))
}

/// Writes a request to the program's variable; returns the function's code.
fn hand_out(
    function: &'static str,
    comm: MPI_Comm,
    to: *mut MPI_Request,
    make: impl FnOnce() -> Result<MPI_Request, CallFailure>,
) -> c_int {
    match make() {
        Ok(request) => {
            // SAFETY: the program passes a valid pointer.
            unsafe { to.write(request) };
            SUCCESS
        }
        Err(failure) => failure.raise(comm, function),
    }
}

/// The call, if the program made it and Roundel can serve it.
#[inline]
fn admitted(comm: MPI_Comm, call: impl FnOnce() -> Option<MpiCall>) -> Option<MpiCall> {
    // SAFETY: a constant of the library.
    let null = unsafe { ffi::RSMPI_COMM_NULL };
    if guard::inside() || comm == null || !guard::live() || !guard::is_intra(comm) {
        return None;
    }
    // SAFETY: MPI is live, and the communicator is the program's.
    if unsafe { raw::passes(comm) } {
        passing::keep_all(comm);
        return None;
    }
    let call = call();
    if call.is_none() {
        // SAFETY: MPI is live, and the communicator is the program's.
        unsafe { raw::passed(comm) };
    }
    call
}
