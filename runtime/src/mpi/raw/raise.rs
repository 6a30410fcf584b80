//! Converts errors to MPI's error classes and invokes the program's error handler.
//!
//! Error codes with their own messages would be better, but MPICH 4.0 reports wrong messages for user-defined codes
//! of predefined classes.

use crate::error::Error;
use crate::mpi::process::code::SUCCESS;
use crate::mpi::process::ending::let_it_be_read;
use crate::mpi::process::say::say;
use ::mpi::ffi;
use std::collections::BTreeSet;
use std::ffi::c_int;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// The most specific MPI error class for an error.
pub fn class(error: &Error) -> c_int {
    let class = match error {
        Error::Length { .. } | Error::TooLarge { .. } => ffi::MPI_ERR_COUNT,
        Error::Mismatch { .. } | Error::BlockMismatch { .. } => ffi::MPI_ERR_TRUNCATE,
        Error::NeedsOrder { .. } | Error::NotReproducible { .. } => ffi::MPI_ERR_OP,
        Error::Entangled => ffi::MPI_ERR_TYPE,
        Error::Intercommunicator => ffi::MPI_ERR_COMM,
        Error::Overlap { .. } | Error::Misplaced => ffi::MPI_ERR_BUFFER,
        Error::Mpi { class, .. } => return *class,
        Error::OutsideDomain { .. } | Error::OtherKind { .. } | Error::NotStraight { .. } => ffi::MPI_ERR_ARG,
        _ => ffi::MPI_ERR_OTHER,
    };
    class as c_int
}

/// Reports to the communicator's error handler that an MPI function failed, and returns the code for the caller to
/// return. An error class cannot explain the error or its fix, so the explanation is printed once to standard error.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
pub unsafe fn raise(comm: ffi::MPI_Comm, function: &str, error: &Error) -> c_int {
    let class = class(error);
    // SAFETY: as the caller guarantees; an error class is a valid error code.
    unsafe {
        if is_fatal(comm) {
            end_of_job(comm, function, error, class);
        }
        say_once(error);
        ffi::PMPI_Comm_call_errhandler(comm, class);
    }
    class
}

/// Passes an error code to the communicator's error handler, and nothing else.
///
/// # Safety
/// MPI is initialised and not finalised, `comm` is live, and `code` is an error class or code.
#[cold]
pub unsafe fn tell(comm: ffi::MPI_Comm, function: &str, what: impl Display, code: c_int) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if is_fatal(comm) {
            end_of_job(comm, function, what, code);
        }
        ffi::PMPI_Comm_call_errhandler(comm, code);
    }
}

/// Ends the job as `MPI_ERRORS_ARE_FATAL` would. That handler itself would name the function that invokes it instead
/// of the one that the program has called.
///
/// # Safety
/// The same as for [`tell`].
unsafe fn end_of_job(comm: ffi::MPI_Comm, function: &str, what: impl Display, code: c_int) -> ! {
    // SAFETY: as the caller guarantees.
    let name = unsafe { name_of(comm) };
    say(format_args!("an error occurred in {function} on {name}: {what}; its errors are fatal, so the job ends"));
    let_it_be_read();
    // SAFETY: as the caller guarantees.
    unsafe { ffi::PMPI_Abort(comm, code) };
    std::process::abort()
}

/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
unsafe fn name_of(comm: ffi::MPI_Comm) -> String {
    let (mut text, mut length) = ([0u8; ffi::MPI_MAX_OBJECT_NAME as usize + 1], 0);
    // SAFETY: as the caller guarantees; there is room for the longest name.
    let code = unsafe { ffi::PMPI_Comm_get_name(comm, text.as_mut_ptr().cast(), &mut length) };
    match text.get(..length as usize) {
        Some(name) if code == SUCCESS && !name.is_empty() => String::from_utf8_lossy(name).into_owned(),
        _ => "a communicator without a name".into(),
    }
}

/// Whether errors on this communicator end the job.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
unsafe fn is_fatal(comm: ffi::MPI_Comm) -> bool {
    // SAFETY: the caller guarantees a live communicator, and the handler is freed.
    unsafe {
        let mut handler = ffi::RSMPI_ERRORS_RETURN;
        ffi::MPI_Comm_get_errhandler(comm, &mut handler);
        let fatal = handler == ffi::RSMPI_ERRORS_ARE_FATAL || is_abort(handler);
        ffi::MPI_Errhandler_free(&mut handler);
        fatal
    }
}

/// Whether a handler is MPI 4's `MPI_ERRORS_ABORT`. It is a macro, which the bindings lack, and a number in the ABI
/// that MPICH and its descendants share.
#[allow(clippy::unnecessary_cast, reason = "handles are other types in each library")]
fn is_abort(handler: ffi::MPI_Errhandler) -> bool {
    size_of::<ffi::MPI_Errhandler>() == size_of::<c_int>() && handler.0 as usize as u32 == 0x5400_0003
}

/// The most messages to print.
const MOST: usize = 64;

/// Prints an error, unless it was printed before.
fn say_once(error: &Error) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let text = error.to_string();
    if said.len() < MOST && !said.contains(&text) {
        say(&text);
        said.insert(text);
    }
}
