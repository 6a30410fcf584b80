//! MPICH polls UCX whenever it waits, through a function that Roundel interposes. So every function that waits
//! progresses operations, whatever language it was called from, and need not be interposed itself.
//!
//! MPICH calls it at the end of a poll, where its own functions may be called again, unless several threads may call
//! MPI at the same time: then it holds a lock. (A thread of Roundel would not help: MPICH 4.0 does not notice that a
//! request is complete if another thread has completed it.) In that case, and if MPICH does not poll UCX, MPI serves
//! non-blocking and persistent collectives.

use crate::guard::{self, CallDepth};
use crate::progress;
use crate::symbol;
use mpi::ffi;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The UCX worker that MPICH polls. Other libraries may poll their own workers, in places where MPI must not be
/// called.
static WORKER: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

type Poll = unsafe extern "C" fn(*mut c_void) -> c_uint;

/// # Safety
/// The same as for the UCX function.
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

/// UCX's own function. Without it, progress would stop for ever, so a missing one is fatal.
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

/// Whether this is the call that tests whether MPICH polls this function.
fn asked() -> bool {
    guard::place() == CallDepth::Progress && WORKER.load(Ordering::Relaxed).is_null()
}

/// Whether operations progress while MPICH waits. The first call finds out.
pub(crate) fn registered() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| !many_threads() && ask())
}

/// Whether several threads may call MPI at the same time, or the thread level is unknown.
fn many_threads() -> bool {
    let mut level: c_int = 0;
    // SAFETY: MPI is live.
    let code = unsafe { ffi::PMPI_Query_thread(&mut level) };
    code != 0 || level == ffi::MPI_THREAD_MULTIPLE as c_int
}

/// Makes MPICH poll the network: waits for a message that a rank sends to itself.
fn ask() -> bool {
    let _progress = guard::enter(CallDepth::Progress);
    // SAFETY: constants of the library; an empty message from this rank to itself, on a communicator that nothing else
    // uses.
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
