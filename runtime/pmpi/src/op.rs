//! Operations of the program that calls under way go on to use: MPI lets the program free them in the meantime.

use crate::guard;
use crate::serve::SUCCESS;
use mpi::ffi::{self, MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An operation that so many calls use.
struct Used {
    op: MPI_Op,
    calls: usize,
    /// Whether the program has freed it.
    freed: bool,
}

// SAFETY: a handle is a number, or an address that MPI looks after.
unsafe impl Send for Used {}

static USED: Mutex<Vec<Used>> = Mutex::new(Vec::new());

fn used() -> MutexGuard<'static, Vec<Used>> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One more call uses an operation, until this is dropped.
pub(crate) struct Use(MPI_Op);

// SAFETY: as above.
unsafe impl Send for Use {}
// SAFETY: as above.
unsafe impl Sync for Use {}

impl Use {
    pub(crate) fn new(op: MPI_Op) -> Self {
        let mut used = used();
        match used.iter_mut().find(|used| used.op == op) {
            Some(used) => used.calls += 1,
            None => used.push(Used { op, calls: 1, freed: false }),
        }
        Use(op)
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut used = used();
        let Some(at) = used.iter().position(|used| used.op == self.0) else { return };
        used[at].calls -= 1;
        if used[at].calls > 0 {
            return;
        }
        let mut last = used.swap_remove(at);
        drop(used);
        if last.freed && guard::live() {
            // SAFETY: the program has freed it, and nobody uses it any more.
            unsafe { ffi::PMPI_Op_free(&mut last.op) };
        }
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Op_free(op: *mut MPI_Op) -> c_int {
    // SAFETY: as MPI demands, there is an operation.
    unsafe {
        let found = match op.as_ref() {
            Some(&op) => used().iter_mut().find(|used| used.op == op).map(|used| used.freed = true),
            None => None,
        };
        if found.is_none() {
            return ffi::PMPI_Op_free(op);
        }
        null(op)
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
