//! Detects whether the process has loaded more libraries since the last check.
//!
//! The loader keeps libraries in a list and appends new ones. So it is enough to look after the last known one, as
//! long as that one stays loaded. An interposer of `dlclose` announces itself ([`watch_libraries`]) and reports each
//! call ([`library_unloads`]); without it, the loader's own count is used, which takes longer.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null_mut, read_volatile};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// An entry of the loader's list, as in `<link.h>`.
#[repr(C)]
struct LinkMap {
    _base: usize,
    _name: *const c_char,
    _dynamic: *mut c_void,
    next: *mut LinkMap,
    _previous: *mut LinkMap,
}

/// The loader's information about one library, as in `<link.h>`.
#[repr(C)]
struct Loaded {
    _base: usize,
    name: *const c_char,
    _headers: *const c_void,
    _count: u16,
    adds: u64,
    _subs: u64,
}

type Visit = unsafe extern "C" fn(*mut Loaded, usize, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlinfo(handle: *mut c_void, request: c_int, answer: *mut c_void) -> c_int;
    fn dl_iterate_phdr(visit: Visit, data: *mut c_void) -> c_int;
}

const LAZY: c_int = 1;
const NOLOAD: c_int = 4;
const LINK_MAP: c_int = 2;

/// The last library in the list when it was inspected.
static LAST: AtomicPtr<LinkMap> = AtomicPtr::new(null_mut());

/// How many libraries had been loaded at the last inspection; used if unloading is not watched.
static SEEN: AtomicU64 = AtomicU64::new(0);

static WATCHED: AtomicBool = AtomicBool::new(false);

/// Announces that all calls of `dlclose` are intercepted, and that [`library_unloads`] is called before and after
/// each.
pub fn watch_libraries() {
    WATCHED.store(true, Ordering::Relaxed);
}

/// Invalidates the last inspection, because libraries may be unloaded.
pub fn library_unloads() {
    LAST.store(null_mut(), Ordering::Release);
}

/// Whether libraries were loaded or unloaded since [`look`].
#[inline]
pub(super) fn changed() -> bool {
    let last = LAST.load(Ordering::Acquire);
    // SAFETY: the last library is still loaded, otherwise `library_unloads` would have cleared it.
    last.is_null() || !unsafe { read_volatile(&raw const (*last).next) }.is_null()
}

/// Records the loaded libraries, and returns whether there may be new ones.
#[cold]
pub(super) fn look() -> bool {
    if !WATCHED.load(Ordering::Relaxed) {
        let mut adds = 0u64;
        // SAFETY: the callback has the required type, and writes only to `adds`.
        unsafe { dl_iterate_phdr(count, (&raw mut adds).cast()) };
        return SEEN.swap(adds, Ordering::Relaxed) != adds;
    }
    // During this call, no library is loaded or unloaded.
    // SAFETY: the callback has the required type, and gets the argument that it expects.
    unsafe { dl_iterate_phdr(remember, first().cast()) };
    true
}

/// The entry of the program, which is always the first.
fn first() -> *mut LinkMap {
    static FIRST: AtomicPtr<LinkMap> = AtomicPtr::new(null_mut());
    if FIRST.load(Ordering::Relaxed).is_null() {
        let mut entry: *mut LinkMap = null_mut();
        // SAFETY: a null name stands for the program; there is room for the answer.
        unsafe {
            let program = dlopen(std::ptr::null(), LAZY);
            if !program.is_null() && dlinfo(program, LINK_MAP, (&raw mut entry).cast()) == 0 {
                FIRST.store(entry, Ordering::Relaxed);
            }
        }
    }
    FIRST.load(Ordering::Relaxed)
}

unsafe extern "C" fn count(library: *mut Loaded, _size: usize, adds: *mut c_void) -> c_int {
    // SAFETY: the loader passes a library, and `look` a place for the number.
    unsafe { *adds.cast::<u64>() = (*library).adds };
    1
}

unsafe extern "C" fn remember(_library: *mut Loaded, _size: usize, first: *mut c_void) -> c_int {
    let mut entry: *mut LinkMap = first.cast();
    // SAFETY: `look` passes the first entry, or null; the list is consistent during the loader's callback.
    while let Some(next) = unsafe { entry.as_ref() }.map(|entry| entry.next).filter(|next| !next.is_null()) {
        entry = next;
    }
    LAST.store(entry, Ordering::Release);
    1
}

/// A function of the program or of a library. Libraries whose names have these prefixes are searched even if their
/// symbols are local.
pub(super) fn function(name: &CStr, libraries: &[&str]) -> *mut c_void {
    // SAFETY: the name ends with a zero; a null handle asks for the default search order.
    let seen = unsafe { dlsym(null_mut(), name.as_ptr()) };
    if !seen.is_null() {
        return seen;
    }
    let mut search = LibrarySearch { libraries, paths: Vec::new() };
    // SAFETY: the callback has the required type, and gets the argument that it expects.
    unsafe { dl_iterate_phdr(collect, (&raw mut search).cast()) };
    let handles = search.paths.iter().filter_map(|path| {
        // SAFETY: the library is loaded, and is not loaded again; the handle is never closed, so the library stays.
        let handle = unsafe { dlopen(path.as_ptr(), LAZY | NOLOAD) };
        (!handle.is_null()).then_some(handle)
    });
    // SAFETY: as above.
    let found = handles.map(|handle| unsafe { dlsym(handle, name.as_ptr()) }).find(|function| !function.is_null());
    found.unwrap_or(null_mut())
}

struct LibrarySearch<'a> {
    libraries: &'a [&'a str],
    paths: Vec<std::ffi::CString>,
}

unsafe extern "C" fn collect(library: *mut Loaded, _size: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader passes a library whose name ends with a zero, and `function` passes a search.
    let (name, search) = unsafe { ((*library).name, &mut *search.cast::<LibrarySearch<'_>>()) };
    if name.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let path = unsafe { CStr::from_ptr(name) };
    let text = path.to_string_lossy();
    let file = text.rsplit('/').next().unwrap_or_default();
    if search.libraries.iter().any(|library| file.starts_with(library)) {
        search.paths.push(path.to_owned());
    }
    0
}
