//! MPI's return codes as [`Error`]s.

use crate::error::Error;
use ::mpi::ffi;
use std::ffi::c_int;

/// MPI's return code for success.
pub(crate) const SUCCESS: c_int = ffi::MPI_SUCCESS as c_int;

/// The return code of a callback that fails.
pub(crate) const OTHER: c_int = ffi::MPI_ERR_OTHER as c_int;

/// Turns the code that `call` returned into a result.
#[inline]
pub(crate) fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == SUCCESS { Ok(()) } else { Err(failure(call, code)) }
}

/// The error for a code, with MPI's own text.
#[cold]
pub(crate) fn failure(call: &'static str, code: c_int) -> Error {
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut len: c_int = 0;
    // SAFETY: the buffer is longer than any text that MPI writes, and the function accepts any code.
    let found = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut len) } == SUCCESS;
    let message = match text.get(..len as usize) {
        Some(text) if found => String::from_utf8_lossy(text).into_owned(),
        _ => format!("error code {code}"),
    };
    Error::Mpi { call, class: class_of(code), message }
}

/// Whether a code belongs to an error class.
#[cold]
pub(crate) fn is(code: c_int, class: u32) -> bool {
    class_of(code) == class as c_int
}

/// The class of a code.
#[cold]
fn class_of(code: c_int) -> c_int {
    let mut class: c_int = OTHER;
    // SAFETY: the function accepts any code.
    let known = unsafe { ffi::MPI_Error_class(code, &mut class) } == SUCCESS;
    if known { class } else { OTHER }
}
