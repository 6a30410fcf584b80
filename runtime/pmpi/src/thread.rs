//! Where threads may call MPI at the same time, MPICH cannot call us while it waits. There a thread of ours lets operations go on.
//! It sleeps while nothing is under way.

use crate::progress;
use mpi::ffi;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

static THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
static OVER: AtomicBool = AtomicBool::new(false);

fn handle() -> MutexGuard<'static, Option<JoinHandle<()>>> {
    THREAD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether threads may call MPI at the same time, so that a thread does the work.
#[inline]
pub(crate) fn works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let mut level: c_int = 0;
        // SAFETY: MPI is live, as operations are under way or about to be.
        let code = unsafe { ffi::PMPI_Query_thread(&mut level) };
        code == 0 && level == ffi::MPI_THREAD_MULTIPLE as c_int
    })
}

/// Makes the thread; false if the system has none for us.
pub(crate) fn made() -> bool {
    let made = thread::Builder::new().name("roundel".to_owned()).spawn(work).ok();
    let mut handle = handle();
    *handle = made;
    handle.is_some()
}

/// Something is under way from now on.
pub(crate) fn wake() {
    if works()
        && let Some(handle) = handle().as_ref()
    {
        handle.thread().unpark();
    }
}

fn work() {
    while !OVER.load(Ordering::Relaxed) {
        if progress::idle() {
            thread::park();
        } else {
            progress::advance();
            thread::yield_now();
        }
    }
}

/// MPI ends.
pub(crate) fn end() {
    OVER.store(true, Ordering::Relaxed);
    if let Some(handle) = handle().take() {
        handle.thread().unpark();
        // A panic of the thread has been said, and there is nothing left to do.
        let _ = handle.join();
    }
}
