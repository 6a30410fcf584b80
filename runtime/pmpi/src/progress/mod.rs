//! The active operations, and how they progress while the program does something else.
//!
//! They progress whenever the program waits in MPI, which then calls Roundel (`hook`, `ucx`). While no operation is
//! active, that costs one load.

pub(crate) mod background;
#[cfg(open_mpi)]
mod hook;
#[cfg(not(open_mpi))]
mod ucx;

use crate::failure::{CallFailure, guarded};
use crate::guard::{self, CallDepth};
use crate::request::{self, ActiveRequest};
use mpi::ffi::MPI_Comm;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of active operations.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The active operations, in the order in which they were started.
static JOBS: Mutex<Vec<Arc<ActiveRequest>>> = Mutex::new(Vec::new());

fn jobs() -> MutexGuard<'static, Vec<Arc<ActiveRequest>>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of active operations.
#[cfg(open_mpi)]
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Whether no operation is active.
#[inline]
pub(crate) fn idle() -> bool {
    COUNT.load(Ordering::Relaxed) == 0
}

/// Adds an active operation and progresses it at once.
pub(crate) fn add(job: Arc<ActiveRequest>) {
    jobs().push(job);
    COUNT.fetch_add(1, Ordering::Relaxed);
    advance();
}

/// Progresses all operations as far as possible without waiting, unless this thread is doing so already.
pub(crate) fn advance() {
    if idle() || guard::place() == CallDepth::Progress {
        return;
    }
    let failed = match JOBS.try_lock() {
        Ok(mut jobs) => sweep(&mut jobs),
        Err(_) => return,
    };
    // Error handlers belong to the program and may do anything, so no lock is held here.
    for (job, failure) in failed {
        request::fail(&job, &failure);
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Removes completed operations, and returns those that failed.
fn sweep(jobs: &mut Vec<Arc<ActiveRequest>>) -> Vec<(Arc<ActiveRequest>, CallFailure)> {
    let _progress = guard::enter(CallDepth::Progress);
    let mut failed = Vec::new();
    jobs.retain(|job| match step(job) {
        Ok(false) => true,
        Ok(true) => {
            request::complete(job);
            COUNT.fetch_sub(1, Ordering::Relaxed);
            false
        }
        Err(failure) => {
            failed.push((job.clone(), failure));
            false
        }
    });
    failed
}

/// Progresses one operation, unless another thread has it locked; true if it is complete.
fn step(job: &ActiveRequest) -> Result<bool, CallFailure> {
    match job.operation.try_lock() {
        Ok(mut operation) => guarded(|| operation.progress()),
        Err(_) => Ok(false),
    }
}

/// Completes the operations of a communicator. MPI lets a blocking collective wait for them: all ranks start the
/// operations before they reach the collective.
#[inline]
pub(crate) fn complete(comm: MPI_Comm) {
    if !idle() && guard::place() != CallDepth::Progress {
        wait(|job| job.comm() == comm);
    }
}

/// Completes all operations.
pub(crate) fn complete_all() {
    wait(|_| true);
}

#[cold]
fn wait(whose: impl Fn(&ActiveRequest) -> bool) {
    let mut pause = Pause::default();
    while jobs().iter().any(|job| whose(job)) {
        advance();
        pause.next();
    }
}

/// A pause between two polls. It yields the processor now and then, because the awaited process may need it.
#[derive(Default)]
pub(crate) struct Pause(u32);

impl Pause {
    /// Pauses once.
    pub(crate) fn next(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(8) { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}
