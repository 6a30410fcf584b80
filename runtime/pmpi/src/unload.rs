//! Notices when the program unloads libraries: the check for new libraries relies on the last known one being still
//! loaded.

use crate::symbol;
use roundel::mpi::raw;
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// # Safety
/// The same as for the loader's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    raw::library_unloads();
    // SAFETY: the caller's argument.
    let code = unsafe { loader()(handle) };
    // Another thread may have inspected the libraries in the meantime.
    raw::library_unloads();
    code
}

type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The loader's own function.
fn loader() -> Close {
    const NAME: &CStr = c"dlclose";
    static CLOSE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    if CLOSE.load(Ordering::Relaxed).is_null() {
        let found = symbol::next(NAME).unwrap_or_else(|| symbol::missing(NAME));
        CLOSE.store(found.as_ptr(), Ordering::Relaxed);
    }
    // SAFETY: this is the function's type.
    unsafe { transmute::<*mut c_void, Close>(CLOSE.load(Ordering::Relaxed)) }
}
