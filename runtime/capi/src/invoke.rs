//! The part of a call that all collectives share.

use crate::algorithm::{CAlgorithm, who};
use crate::error::{ApiFailure, SUCCESS, guard};
use crate::request::{CRequest, StartMode};
use engine::mpi::raw::{self, CallKey, CallOutcome, MpiCall, PendingCall, Repeated, RequestLife};
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// Runs a call, by Roundel or by the library. One that was made before needs no more than its plan, unless a handle
/// says how it runs. The addresses are those of the first and of the last buffer.
///
/// # Safety
/// The same as for [`raw::run`], and the handle is null or live.
pub(crate) unsafe fn now(
    function: &'static str,
    key: &CallKey,
    [first, last]: [*mut c_void; 2],
    how: *const CAlgorithm,
    call: impl FnOnce() -> Result<MpiCall, ApiFailure>,
    library: impl FnOnce() -> c_int,
) -> c_int {
    guard(function, key.comm, || {
        // SAFETY: the caller promises it.
        let known = if how.is_null() { unsafe { raw::repeat(key, first, last) } } else { Repeated::Unknown };
        match known {
            Repeated::Done => return Ok(SUCCESS),
            Repeated::Failed(error) => return Err((*error).into()),
            Repeated::Library => return Ok(library()),
            Repeated::Unknown => {}
        }
        let call = call()?;
        // SAFETY: as above.
        let outcome = unsafe { raw::run(key.comm, &call, who(how, &call)?) }?;
        let done = outcome == CallOutcome::Done;
        if how.is_null() && (done || outcome == CallOutcome::Library && key.lists[0].is_some()) {
            // SAFETY: as above; the call was made.
            let _ = unsafe { raw::remember(key, &call) };
        }
        Ok(if done { SUCCESS } else { library() })
    })
}

/// Starts a call that runs once.
///
/// # Safety
/// The same as for [`raw::prepare`]; the handle is null or live, and there is room for a request.
pub(crate) unsafe fn begin(
    function: &'static str,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    to: *mut *mut CRequest,
    call: impl FnOnce() -> Result<MpiCall, ApiFailure>,
    library: impl FnOnce(*mut ffi::MPI_Request) -> c_int,
) -> c_int {
    guard(function, comm, || {
        let to = room(to)?;
        // SAFETY: the caller promises it.
        match unsafe { prepared(comm, how, &call()?, RequestLife::Once) }? {
            Some(operation) => CRequest::once(comm, operation)?.give(to),
            None => CRequest::begun(comm, library, to),
        }
    })
}

/// Prepares a call that can be started many times.
///
/// # Safety
/// The same as for [`raw::prepare`]; the handle is null or live, and there is room for a request.
pub(crate) unsafe fn init(
    function: &'static str,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    to: *mut *mut CRequest,
    call: impl FnOnce() -> Result<MpiCall, ApiFailure>,
    library: StartMode,
) -> c_int {
    guard(function, comm, || {
        let to = room(to)?;
        // SAFETY: the caller promises it.
        match unsafe { prepared(comm, how, &call()?, RequestLife::Persistent) }? {
            Some(operation) => CRequest::many(comm, operation).give(to),
            None => CRequest::kept(comm, library, to),
        }
    })
}

/// The prepared call; `None` if the library serves it.
unsafe fn prepared(
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    call: &MpiCall,
    life: RequestLife,
) -> Result<Option<PendingCall>, ApiFailure> {
    // SAFETY: the caller promises it.
    Ok(unsafe { raw::prepare(comm, call, who(how, call)?, life) }?.ready())
}

fn room<'a>(to: *mut *mut CRequest) -> Result<&'a mut *mut CRequest, ApiFailure> {
    // SAFETY: the caller promises that there is room, or null.
    let to = unsafe { to.as_mut() }.ok_or(ApiFailure::Null { what: "the address of the request" })?;
    *to = std::ptr::null_mut();
    Ok(to)
}
