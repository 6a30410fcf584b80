//! Code for the keys of attributes on communicators and on datatypes.

use crate::mpi::process::code::SUCCESS;
use std::ffi::{c_int, c_void};

/// The callback in which MPI asks whether a duplicate inherits the attribute. It does not.
pub(crate) unsafe extern "C" fn do_not_copy<H>(
    _handle: H,
    _key: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _copy: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI passes a valid pointer for the answer.
    unsafe { *flag = 0 };
    SUCCESS
}
