//! Errors as MPI's error classes, raised where the program has said.

use crate::error::Error;
use ::mpi::ffi;
use std::ffi::c_int;

/// The error class that says most about an error.
pub fn class(error: &Error) -> c_int {
    let class = match error {
        Error::Length { .. } | Error::TooLarge { .. } => ffi::MPI_ERR_COUNT,
        Error::Mismatch { .. } => ffi::MPI_ERR_TRUNCATE,
        Error::NeedsOrder { .. } | Error::NotReproducible { .. } => ffi::MPI_ERR_OP,
        Error::OutsideDomain { .. } => ffi::MPI_ERR_ARG,
        _ => ffi::MPI_ERR_OTHER,
    };
    class as c_int
}

/// Tells the communicator's error handler, and returns what it leaves the caller to return.
///
/// # Safety
/// `comm` is live.
pub unsafe fn raise(comm: ffi::MPI_Comm, error: &Error) -> c_int {
    let class = class(error);
    // SAFETY: the caller promises a live communicator; a class is a code.
    unsafe { ffi::MPI_Comm_call_errhandler(comm, class) };
    class
}
