//! Looks up symbols that exist only if the program was linked with the library that has them.

use roundel::mpi::raw;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, null_mut};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The first symbol with a name in the program and its libraries.
#[cfg(open_mpi)]
pub(crate) fn any(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends with a zero; a null handle asks for the default search order.
    NonNull::new(unsafe { dlsym(null_mut(), name.as_ptr()) })
}

/// The symbol with a name in the libraries after this one.
pub(crate) fn next(name: &CStr) -> Option<NonNull<c_void>> {
    let next = null_mut::<c_void>().wrapping_byte_sub(1);
    // SAFETY: the name ends with a zero; this handle (`RTLD_NEXT`) searches the libraries after the caller's.
    NonNull::new(unsafe { dlsym(next, name.as_ptr()) })
}

/// Reports that a function was called that no library after this one defines.
#[cold]
pub(crate) fn missing(name: &CStr) -> ! {
    raw::say(format_args!(
        "there is no {name:?} after libroundel_pmpi.so; link or preload libroundel_pmpi.so before all other libraries"
    ));
    std::process::abort();
}
