//! Errors as MPI's error classes and codes, raised where the program has said.
//!
//! A code of its own carries each message, so that `MPI_Error_string`, and the handler that ends the job, say what is wrong and what to
//! do about it.

use crate::error::Error;
use crate::mpi::code::SUCCESS;
use ::mpi::ffi;
use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::{Mutex, PoisonError};

/// The error class that says most about an error.
pub fn class(error: &Error) -> c_int {
    let class = match error {
        Error::Length { .. } | Error::TooLarge { .. } => ffi::MPI_ERR_COUNT,
        Error::Mismatch { .. } => ffi::MPI_ERR_TRUNCATE,
        Error::NeedsOrder { .. } | Error::NotReproducible { .. } => ffi::MPI_ERR_OP,
        Error::Entangled => ffi::MPI_ERR_TYPE,
        Error::Overlap { .. } => ffi::MPI_ERR_BUFFER,
        Error::OutsideDomain { .. } | Error::OtherKind { .. } | Error::NotStraight { .. } => ffi::MPI_ERR_ARG,
        _ => ffi::MPI_ERR_OTHER,
    };
    class as c_int
}

/// The code of an error: of its class, with its message. The class itself if MPI makes none.
pub fn code(error: &Error) -> c_int {
    static CODES: Mutex<Option<HashMap<String, c_int>>> = Mutex::new(None);
    let (class, text) = (class(error), format!("roundel: {error}"));
    let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
    let codes = codes.get_or_insert_default();
    if let Some(&known) = codes.get(&text) {
        return known;
    }
    match new_code(class, &text) {
        Some(code) if codes.len() < MOST => {
            codes.insert(text, code);
            code
        }
        _ => class,
    }
}

/// How many codes are made. Libraries have room for few thousands.
const MOST: usize = 256;

fn new_code(class: c_int, text: &str) -> Option<c_int> {
    let most = ffi::MPI_MAX_ERROR_STRING as usize - 1;
    let cut = text.char_indices().map(|(at, _)| at).take_while(|&at| at <= most).last().unwrap_or(0);
    let text = if text.len() <= most { text } else { &text[..cut] };
    let text = CString::new(text.replace('\0', " ")).ok()?;
    let mut code = 0;
    // SAFETY: the class is one of MPI's, and the text ends with a zero.
    let made = unsafe {
        ffi::MPI_Add_error_code(class, &mut code) == SUCCESS
            && ffi::MPI_Add_error_string(code, text.as_ptr().cast_mut()) == SUCCESS
    };
    made.then_some(code)
}

/// Tells the communicator's error handler, and returns what is left for the caller to return.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
pub unsafe fn raise(comm: ffi::MPI_Comm, error: &Error) -> c_int {
    let code = code(error);
    // SAFETY: the caller promises a live communicator.
    unsafe { ffi::MPI_Comm_call_errhandler(comm, code) };
    code
}
