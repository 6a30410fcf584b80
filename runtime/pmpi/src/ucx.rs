//! MPICH polls UCX whenever it waits, through a function that can be ours. So every function that waits lets operations
//! go on, in whatever language it was called, and none of them need be ours.
//!
//! MPICH calls it at the end of a look at the network, where its own functions may be called again: unless threads may
//! call MPI at the same time, for then it holds a lock. (A thread of ours would not help: MPICH 4.0 does not see that a
//! request is complete if another thread has completed it.) Then, and if MPICH polls something else than UCX,
//! non-blocking and persistent collectives are the library's.

use crate::guard::{self, CallDepth};
use crate::progress;
use crate::symbol;
use mpi::ffi;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What MPICH polls. Others may use UCX, too, and may not be in a place where MPI can be called.
static WORKER: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

type Poll = unsafe extern "C" fn(*mut c_void) -> c_uint;

/// # Safety
/// As of UCX's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ucp_worker_progress(worker: *mut c_void) -> c_uint {
    // SAFETY: the caller's argument.
    let events = unsafe { library()(worker) };
    if !progress::idle() && worker == WORKER.load(Ordering::Relaxed) {
        progress::advance();
    } else if asked() {
        WORKER.store(worker, Ordering::Relaxed);
    }
    events
}

/// UCX's own function. To go on without it would be to wait for ever.
fn library() -> Poll {
    const NAME: &CStr = c"ucp_worker_progress";
    static POLL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    if POLL.load(Ordering::Relaxed).is_null() {
        let found = symbol::next(NAME).unwrap_or_else(|| symbol::missing(NAME));
        POLL.store(found.as_ptr(), Ordering::Relaxed);
    }
    // SAFETY: this is the function's type.
    unsafe { transmute::<*mut c_void, Poll>(POLL.load(Ordering::Relaxed)) }
}

/// Whether this is the call by which we find out that MPICH polls us.
fn asked() -> bool {
    guard::place() == CallDepth::Progress && WORKER.load(Ordering::Relaxed).is_null()
}

/// Whether operations go on while MPICH waits. The first call finds out.
pub(crate) fn registered() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| !many_threads() && ask())
}

/// Whether threads may call MPI at the same time, or may be able to.
fn many_threads() -> bool {
    let mut level: c_int = 0;
    // SAFETY: MPI is live.
    let code = unsafe { ffi::PMPI_Query_thread(&mut level) };
    code != 0 || level == ffi::MPI_THREAD_MULTIPLE as c_int
}

/// Lets MPICH look at the network: for a message that does not come before it is sent.
fn ask() -> bool {
    let _progress = guard::enter(CallDepth::Progress);
    // SAFETY: constants of the library; nothing is sent, from this rank to itself, on a communicator that nobody else
    // has.
    unsafe {
        let mut own = ffi::RSMPI_COMM_NULL;
        if ffi::PMPI_Comm_split(ffi::RSMPI_COMM_SELF, 0, 0, &mut own) != 0 {
            return false;
        }
        let (mut request, mut done): (_, c_int) = (ffi::RSMPI_REQUEST_NULL, 0);
        let (byte, ignore) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_STATUS_IGNORE);
        let posted = ffi::PMPI_Irecv(null_mut(), 0, byte, 0, 0, own, &mut request) == 0;
        if posted {
            ffi::PMPI_Test(&mut request, &mut done, ignore);
            ffi::PMPI_Send(null_mut(), 0, byte, 0, 0, own);
            ffi::PMPI_Wait(&mut request, ignore);
        }
        ffi::PMPI_Comm_free(&mut own);
        posted && !WORKER.load(Ordering::Relaxed).is_null()
    }
}
