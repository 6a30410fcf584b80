//! Operations and datatypes of the program that calls under way go on to use: MPI lets the program free them in the
//! meantime.
//!
//! They are freed when the last such call is over. Duplicates of datatypes would not do: the functions of operations
//! get the program's own.

use crate::guard;
use crate::serve::SUCCESS;
use mpi::ffi::{self, MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A handle that so many calls use, and that the program has freed so many times. (It may have got one more than once.)
struct UsedHandle<H> {
    handle: H,
    calls: usize,
    freed: usize,
}

// SAFETY: a handle is a number, or an address that MPI looks after.
unsafe impl<H> Send for UsedHandle<H> {}

/// The handles of a kind that are in use.
pub(crate) struct Shelf<H> {
    /// How many there are.
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

    /// The program frees a handle; false if nobody uses it.
    fn frees(&self, handle: &H) -> bool {
        let mut used = if self.count.load(Ordering::Relaxed) == 0 { return false } else { self.used() };
        let found = used.iter_mut().find(|used| used.handle == *handle);
        found.map(|used| used.freed += 1).is_some()
    }
}

/// A kind of handles.
pub(crate) trait Handle: Copy + PartialEq + 'static {
    /// Those in use.
    const SHELF: &'static Shelf<Self>;

    /// Frees one.
    ///
    /// # Safety
    /// The program has freed it, and nobody uses it any more.
    unsafe fn free(self);
}

static OPS: Shelf<MPI_Op> = Shelf::new();
static DATATYPES: Shelf<MPI_Datatype> = Shelf::new();

impl Handle for MPI_Op {
    const SHELF: &'static Shelf<Self> = &OPS;

    unsafe fn free(mut self) {
        // SAFETY: the caller promises it.
        unsafe { ffi::PMPI_Op_free(&mut self) };
    }
}

impl Handle for MPI_Datatype {
    const SHELF: &'static Shelf<Self> = &DATATYPES;

    unsafe fn free(mut self) {
        // SAFETY: the caller promises it.
        unsafe { ffi::PMPI_Type_free(&mut self) };
    }
}

/// One more call uses a handle, until this is dropped.
pub(crate) struct HandleUse<H: Handle>(H);

// SAFETY: a handle is a number, or an address that MPI looks after.
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
                // SAFETY: the program has freed it so many times, and this was its last user.
                unsafe { self.0.free() };
            }
        }
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Op_free(op: *mut MPI_Op) -> c_int {
    // SAFETY: as MPI demands, there is an operation.
    unsafe {
        match op.as_ref() {
            Some(held) if OPS.frees(held) => null(op),
            _ => ffi::PMPI_Op_free(op),
        }
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Type_free(datatype: *mut MPI_Datatype) -> c_int {
    // SAFETY: as MPI demands, there is a datatype; the null handle is a constant of the library.
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

/// Makes a handle that of no operation: that of one that was freed. No binding has MPI's name for it, which is a macro.
///
/// # Safety
/// There is room for a handle.
unsafe fn null(op: *mut MPI_Op) -> c_int {
    // SAFETY: the caller promises room; the function has the signature that MPI asks for, and is never called.
    unsafe {
        match ffi::PMPI_Op_create(Some(nothing), 1, op) {
            SUCCESS => ffi::PMPI_Op_free(op),
            code => code,
        }
    }
}

unsafe extern "C" fn nothing(_: *mut c_void, _: *mut c_void, _: *mut c_int, _: *mut MPI_Datatype) {}
