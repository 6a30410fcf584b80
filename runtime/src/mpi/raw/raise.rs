//! Errors as MPI's error classes, raised where the program has said.
//!
//! Codes with messages of their own would be nicer, but MPICH 4.0 gives codes of its own classes wrong messages.

use crate::error::Error;
use crate::mpi::ending::let_it_be_read;
use crate::mpi::say::say;
use ::mpi::ffi;
use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// The error class that says most about an error.
pub fn class(error: &Error) -> c_int {
    let class = match error {
        Error::Length { .. } | Error::TooLarge { .. } => ffi::MPI_ERR_COUNT,
        Error::Mismatch { .. } => ffi::MPI_ERR_TRUNCATE,
        Error::NeedsOrder { .. } | Error::NotReproducible { .. } => ffi::MPI_ERR_OP,
        Error::Entangled => ffi::MPI_ERR_TYPE,
        Error::Intercommunicator => ffi::MPI_ERR_COMM,
        Error::Overlap { .. } => ffi::MPI_ERR_BUFFER,
        Error::OutsideDomain { .. } | Error::OtherKind { .. } | Error::NotStraight { .. } => ffi::MPI_ERR_ARG,
        _ => ffi::MPI_ERR_OTHER,
    };
    class as c_int
}

/// Tells the communicator's error handler, and returns what is left for the caller to return. What is wrong, and what to do about it,
/// does not fit an error class: it is said once on standard error.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
pub unsafe fn raise(comm: ffi::MPI_Comm, error: &Error) -> c_int {
    say_once(error);
    let class = class(error);
    // SAFETY: as the caller promises; a class is a code.
    unsafe { tell(comm, class) };
    class
}

/// Tells the communicator's error handler. One that ends the job does so when what was said has been read.
///
/// # Safety
/// MPI is initialised and not finalised, `comm` is live, and `code` is an error class or code.
#[cold]
pub unsafe fn tell(comm: ffi::MPI_Comm, code: c_int) {
    // SAFETY: as the caller promises.
    unsafe {
        if is_fatal(comm) {
            let_it_be_read();
        }
        ffi::MPI_Comm_call_errhandler(comm, code);
    }
}

/// Whether errors on this communicator end the job.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
pub unsafe fn is_fatal(comm: ffi::MPI_Comm) -> bool {
    // SAFETY: the caller promises a live communicator, and the handler is given back.
    unsafe {
        let mut handler = ffi::RSMPI_ERRORS_RETURN;
        ffi::MPI_Comm_get_errhandler(comm, &mut handler);
        let fatal = handler == ffi::RSMPI_ERRORS_ARE_FATAL;
        ffi::MPI_Errhandler_free(&mut handler);
        fatal
    }
}

/// How many messages are said.
const MOST: usize = 64;

/// Says what is wrong, unless it was said before.
fn say_once(error: &Error) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let text = error.to_string();
    if said.len() < MOST && !said.contains(&text) {
        say(&text);
        said.insert(text);
    }
}
