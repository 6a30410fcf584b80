//! Collectives with MPI's own arguments: addresses, counts, datatypes, operations. The C interface and the interposed
//! functions are made of it.
//!
//! A call is either served or left to the library, and all ranks decide alike, because they decide by values that MPI wants
//! equal on all ranks.

mod call;
mod operation;
mod raise;

pub use self::call::{Call, List, Reduced, Scattered, Typed};
pub use self::operation::Operation;
pub use self::raise::{class, raise};

use crate::error::Error;
use crate::selection::{Algorithm, Settings};
use ::mpi::ffi;
use std::ffi::c_void;

/// What decides how a call is done.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// What the environment says (`ROUNDEL_SELECTION` and others), or the default; whatever is not served is the library's.
    Environment,
    /// A selection; whatever is not served is the library's.
    Settings(&'a Settings),
    /// This algorithm; whatever it does not serve is an error.
    Algorithm(&'a Algorithm),
}

/// Who has done a call, or is to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// Nothing was done or sent; the library is to do it. All ranks get this answer.
    Library,
}

/// `MPI_IN_PLACE` as C programs pass it. The libraries' headers define it as a macro, which no binding has.
pub fn in_place() -> *mut c_void {
    // Handles are addresses in Open MPI, and numbers in MPICH and its descendants.
    if size_of::<ffi::MPI_Comm>() == size_of::<usize>() { 1 as *mut c_void } else { -1isize as *mut c_void }
}

/// Runs a call.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` and the arguments are such as MPI would take for this call: live
/// handles, and memory behind addresses and lists. Blocking and collective over `comm`.
///
/// # Errors
/// What went wrong; with [`By::Environment`] and [`By::Settings`], nothing that the library could do better.
pub unsafe fn run(comm: ffi::MPI_Comm, call: &Call, by: By<'_>) -> Result<Outcome, Error> {
    let _ = (comm, call, by);
    Ok(Outcome::Library)
}

/// Prepares a call that may be started many times; none if it is the library's.
///
/// # Safety
/// As of [`run`]; and memory behind the addresses stays, as MPI demands of a persistent collective. Lists are read now.
///
/// # Errors
/// As of [`run`].
pub unsafe fn prepare(comm: ffi::MPI_Comm, call: &Call, by: By<'_>) -> Result<Option<Operation>, Error> {
    let _ = (comm, call, by);
    Ok(None)
}
