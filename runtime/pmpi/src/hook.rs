//! Open MPI calls us whenever it waits. So every function that waits lets operations go on, in whatever language it was
//! called, and none of them need be ours.
//!
//! Its own non-blocking collectives go on in the same way. The function is not part of MPI; if it is not there,
//! non-blocking and persistent collectives are the library's.

use crate::progress;
use crate::symbol;
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::OnceLock;

type Callback = extern "C" fn() -> c_int;
type Register = unsafe extern "C" fn(Callback) -> c_int;

/// Whether Open MPI calls us. The first call asks it to.
pub(crate) fn registered() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| symbol::any(c"opal_progress_register").is_some_and(register))
}

fn register(function: NonNull<c_void>) -> bool {
    // SAFETY: this is the function's type in all versions that have it.
    let register = unsafe { transmute::<*mut c_void, Register>(function.as_ptr()) };
    // SAFETY: the callback stays, as a preloaded library does.
    (unsafe { register(poll) }) == 0
}

/// Says whether something has happened.
extern "C" fn poll() -> c_int {
    if progress::idle() {
        return 0;
    }
    let before = progress::count();
    progress::advance();
    c_int::from(progress::count() < before)
}
