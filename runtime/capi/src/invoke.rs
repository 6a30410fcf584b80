//! Calls, as far as they are the same for all collectives.

use crate::algorithm::{Algorithm, who};
use crate::error::{Failure, SUCCESS, guard};
use crate::request::{Begin, Request};
use engine::mpi::raw::{self, Call, Life, Operation, Outcome};
use mpi::ffi;
use std::ffi::c_int;

/// Does a call, here or by the library.
///
/// # Safety
/// As of [`raw::run`], and the handle is null or live.
pub(crate) unsafe fn now(
    function: &'static str,
    comm: ffi::MPI_Comm,
    how: *const Algorithm,
    call: impl FnOnce() -> Result<Call, Failure>,
    library: impl FnOnce() -> c_int,
) -> c_int {
    guard(function, comm, || {
        let call = call()?;
        // SAFETY: the caller promises it.
        let outcome = unsafe { raw::run(comm, &call, who(how, &call)?) }?;
        Ok(if outcome == Outcome::Done { SUCCESS } else { library() })
    })
}

/// Begins a call that is done once.
///
/// # Safety
/// As of [`raw::prepare`]; the handle is null or live, and there is room for a request.
pub(crate) unsafe fn begin(
    function: &'static str,
    comm: ffi::MPI_Comm,
    how: *const Algorithm,
    to: *mut *mut Request,
    call: impl FnOnce() -> Result<Call, Failure>,
    library: impl FnOnce(*mut ffi::MPI_Request) -> c_int,
) -> c_int {
    guard(function, comm, || {
        let to = room(to)?;
        // SAFETY: the caller promises it.
        match unsafe { prepared(comm, how, &call()?, Life::Once) }? {
            Some(operation) => Request::once(comm, operation)?.give(to),
            None => Request::begun(comm, library, to),
        }
    })
}

/// Prepares a call that can be started many times.
///
/// # Safety
/// As of [`raw::prepare`]; the handle is null or live, and there is room for a request.
pub(crate) unsafe fn init(
    function: &'static str,
    comm: ffi::MPI_Comm,
    how: *const Algorithm,
    to: *mut *mut Request,
    call: impl FnOnce() -> Result<Call, Failure>,
    library: Begin,
) -> c_int {
    guard(function, comm, || {
        let to = room(to)?;
        // SAFETY: the caller promises it.
        match unsafe { prepared(comm, how, &call()?, Life::Persistent) }? {
            Some(operation) => Request::many(comm, operation).give(to),
            None => Request::kept(comm, library, to),
        }
    })
}

/// The operation, if it is not the library's.
unsafe fn prepared(
    comm: ffi::MPI_Comm,
    how: *const Algorithm,
    call: &Call,
    life: Life,
) -> Result<Option<Operation>, Failure> {
    // SAFETY: the caller promises it.
    Ok(unsafe { raw::prepare(comm, call, who(how, call)?, life) }?)
}

fn room<'a>(to: *mut *mut Request) -> Result<&'a mut *mut Request, Failure> {
    // SAFETY: the caller promises that there is room, or null.
    let to = unsafe { to.as_mut() }.ok_or(Failure::Null { what: "the address of the request" })?;
    *to = std::ptr::null_mut();
    Ok(to)
}
