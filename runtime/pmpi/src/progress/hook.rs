//! Makes Open MPI call Roundel whenever it waits. So every function that waits progresses operations, whatever
//! language it was called from, and need not be interposed.
//!
//! Open MPI progresses its own non-blocking collectives in the same way. The hook is not part of the MPI standard;
//! without it, MPI serves non-blocking and persistent collectives.

use crate::progress;
use crate::symbol;
use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::OnceLock;

type Callback = extern "C" fn() -> c_int;
type Register = unsafe extern "C" fn(Callback) -> c_int;

/// Whether Open MPI calls Roundel from its progress loop. The first call registers the callback.
pub(crate) fn registered() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| symbol::any(c"opal_progress_register").is_some_and(register))
}

fn register(function: NonNull<c_void>) -> bool {
    // SAFETY: the function has this type in all versions that export it.
    let register = unsafe { transmute::<*mut c_void, Register>(function.as_ptr()) };
    // SAFETY: the callback stays valid, because a preloaded library is never unloaded.
    (unsafe { register(poll) }) == 0
}

/// The progress callback. Returns whether something has happened.
extern "C" fn poll() -> c_int {
    if progress::idle() { 0 } else { advance() }
}

/// The same while operations are active.
#[cold]
#[inline(never)]
extern "C" fn advance() -> c_int {
    let before = progress::count();
    progress::advance();
    c_int::from(progress::count() < before)
}
