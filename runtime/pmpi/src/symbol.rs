//! Looks up symbols that exist only if the program was linked with the library that has them.

use roundel::mpi::raw;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dladdr(address: *const c_void, found: *mut ObjectInfo) -> c_int;
}

/// `Dl_info` of the C library.
#[repr(C)]
struct ObjectInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

/// The base address of the library that contains an address.
pub(crate) fn library_of(address: *const c_void) -> Option<NonNull<c_void>> {
    let mut found = ObjectInfo { file: null(), base: null_mut(), symbol: null(), address: null_mut() };
    // SAFETY: any address may be asked about; the result is written if there is one.
    match unsafe { dladdr(address, &mut found) } {
        0 => None,
        _ => NonNull::new(found.base),
    }
}

/// The first symbol with a name in the program and its libraries.
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
