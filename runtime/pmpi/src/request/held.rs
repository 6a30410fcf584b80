//! Keeps operations and datatypes alive that active calls use: MPI lets the program free them in the meantime.
//!
//! They are freed when the last such call is complete. Duplicates of datatypes would not do: the functions of
//! operations receive the program's own datatype.

use crate::failure::SUCCESS;
use crate::guard;
use mpi::ffi::{self, MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A handle, the number of calls that use it, and how often the program has freed it. (The program may have obtained
/// the same handle more than once.)
struct UsedHandle<H> {
    handle: H,
    calls: usize,
    freed: usize,
}

// SAFETY: a handle is a number, or an address that MPI manages.
unsafe impl<H> Send for UsedHandle<H> {}

/// The handles of one type that are in use.
pub(crate) struct Shelf<H> {
    /// The number of handles in use.
    count: AtomicUsize,
    used: Mutex<Vec<UsedHandle<H>>>,
}

impl<H: PartialEq> Shelf<H> {
    const fn new() -> Self {
        Shelf { count: AtomicUsize::new(0), used: Mutex::new(Vec::new()) }
    }

    fn used(&self) -> MutexGuard<'_, Vec<UsedHandle<H>>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the program frees a handle; false if no call uses it.
    fn frees(&self, handle: &H) -> bool {
        let mut used = if self.count.load(Ordering::Relaxed) == 0 { return false } else { self.used() };
        let found = used.iter_mut().find(|used| used.handle == *handle);
        found.map(|used| used.freed += 1).is_some()
    }
}

/// A type of handles.
pub(crate) trait Handle: Copy + PartialEq + 'static {
    /// The handles of this type that are in use.
    const SHELF: &'static Shelf<Self>;

    /// Frees the handle.
    ///
    /// # Safety
    /// The program has freed the handle, and no call uses it any more.
    unsafe fn free(self);
}

static OPS: Shelf<MPI_Op> = Shelf::new();
static DATATYPES: Shelf<MPI_Datatype> = Shelf::new();

impl Handle for MPI_Op {
    const SHELF: &'static Shelf<Self> = &OPS;

    unsafe fn free(mut self) {
        // SAFETY: the caller guarantees it.
        unsafe { ffi::PMPI_Op_free(&mut self) };
    }
}

impl Handle for MPI_Datatype {
    const SHELF: &'static Shelf<Self> = &DATATYPES;

    unsafe fn free(mut self) {
        // SAFETY: the caller guarantees it.
        unsafe { ffi::PMPI_Type_free(&mut self) };
    }
}

/// Keeps a handle in use until dropped.
pub(crate) struct HandleUse<H: Handle>(H);

// SAFETY: a handle is a number, or an address that MPI manages.
unsafe impl<H: Handle> Send for HandleUse<H> {}
// SAFETY: as above.
unsafe impl<H: Handle> Sync for HandleUse<H> {}

impl<H: Handle> HandleUse<H> {
    pub(crate) fn new(handle: H) -> Self {
        let mut all = H::SHELF.used();
        match all.iter_mut().find(|used| used.handle == handle) {
            Some(used) => used.calls += 1,
            None => all.push(UsedHandle { handle, calls: 1, freed: 0 }),
        }
        H::SHELF.count.store(all.len(), Ordering::Relaxed);
        HandleUse(handle)
    }
}

impl<H: Handle> Drop for HandleUse<H> {
    fn drop(&mut self) {
        let mut all = H::SHELF.used();
        let Some(at) = all.iter().position(|used| used.handle == self.0) else { return };
        all[at].calls -= 1;
        if all[at].calls > 0 {
            return;
        }
        let freed = all.swap_remove(at).freed;
        H::SHELF.count.store(all.len(), Ordering::Relaxed);
        drop(all);
        for _ in 0..freed {
            if guard::live() {
                // SAFETY: the program has freed it this many times, and this was its last user.
                unsafe { self.0.free() };
            }
        }
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Op_free(op: *mut MPI_Op) -> c_int {
    // SAFETY: as MPI requires, this points to an operation.
    unsafe {
        match op.as_ref() {
            Some(held) if OPS.frees(held) => null(op),
            _ => ffi::PMPI_Op_free(op),
        }
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Type_free(datatype: *mut MPI_Datatype) -> c_int {
    // SAFETY: as MPI requires, this points to a datatype; the null handle is a constant of the library.
    unsafe {
        match datatype.as_ref() {
            Some(held) if DATATYPES.frees(held) => {
                datatype.write(ffi::RSMPI_DATATYPE_NULL);
                SUCCESS
            }
            _ => ffi::PMPI_Type_free(datatype),
        }
    }
}

/// Sets a handle to `MPI_OP_NULL`, by creating and freeing an operation. `MPI_OP_NULL` is a macro, which the bindings
/// lack.
///
/// # Safety
/// The pointer is valid for writing a handle.
unsafe fn null(op: *mut MPI_Op) -> c_int {
    // SAFETY: the caller guarantees a valid pointer; the function has MPI's signature and is never called.
    unsafe {
        match ffi::PMPI_Op_create(Some(nothing), 1, op) {
            SUCCESS => ffi::PMPI_Op_free(op),
            code => code,
        }
    }
}

unsafe extern "C" fn nothing(_: *mut c_void, _: *mut c_void, _: *mut c_int, _: *mut MPI_Datatype) {}
