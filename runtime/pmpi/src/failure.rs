//! Why a call failed, and how the program learns of it.

use crate::guard::{self, CallDepth};
use mpi::ffi::{self, MPI_Comm};
use roundel::Error;
use roundel::mpi::raw;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// MPI's return code for success.
pub(crate) const SUCCESS: c_int = ffi::MPI_SUCCESS as c_int;

/// Why a call failed.
pub(crate) enum CallFailure {
    /// Roundel reported an error.
    Error(Error),
    /// MPI reported an error, and has called the error handler.
    Code(c_int),
    /// A bug in Roundel.
    Panic,
}

impl CallFailure {
    /// Reports to the communicator's error handler that an MPI function failed, and returns the code that the
    /// function must return.
    #[cold]
    pub(crate) fn raise(&self, comm: MPI_Comm, function: &str) -> c_int {
        let code = ffi::MPI_ERR_INTERN as c_int;
        match self {
            // SAFETY: the communicator of the call is live.
            CallFailure::Error(error) => unsafe { raw::raise(comm, function, error) },
            CallFailure::Code(code) => *code,
            CallFailure::Panic => {
                // SAFETY: as above; an error class is a valid error code.
                unsafe { raw::tell(comm, function, "a fault of Roundel, please report it", code) };
                code
            }
        }
    }
}

/// Runs Roundel's own code. MPI calls that it makes are not intercepted, and a panic does not propagate.
#[inline]
pub(crate) fn guarded<R>(work: impl FnOnce() -> Result<R, Error>) -> Result<R, CallFailure> {
    let _inside = guard::enter(guard::place().max(CallDepth::Collective));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(CallFailure::Error),
        Err(_) => Err(CallFailure::Panic),
    }
}
