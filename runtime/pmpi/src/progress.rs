//! Operations that are under way, and how they go on while the program does something else.
//!
//! They go on whenever the program waits in MPI: the library asks us then (`hook`, `ucx`). While nothing is under way,
//! that costs one load.

use crate::guard::{self, CallDepth};
use crate::request::{self, ActiveRequest};
use crate::serve::{CallFailure, guarded};
use mpi::ffi::MPI_Comm;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many operations are under way.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// They, in the order in which they were started.
static JOBS: Mutex<Vec<Arc<ActiveRequest>>> = Mutex::new(Vec::new());

fn jobs() -> MutexGuard<'static, Vec<Arc<ActiveRequest>>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many operations are under way.
#[cfg(open_mpi)]
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Whether nothing is under way.
#[inline]
pub(crate) fn idle() -> bool {
    COUNT.load(Ordering::Relaxed) == 0
}

/// Whether operations can go on in this MPI.
pub(crate) fn available() -> bool {
    #[cfg(open_mpi)]
    return crate::hook::registered();
    #[cfg(not(open_mpi))]
    return crate::ucx::registered();
}

/// An operation is under way from now on. It goes on at once as far as it can.
pub(crate) fn add(job: Arc<ActiveRequest>) {
    jobs().push(job);
    COUNT.fetch_add(1, Ordering::Relaxed);
    advance();
}

/// All operations go on as far as they can without waiting, unless that happens already.
pub(crate) fn advance() {
    if idle() || guard::place() == CallDepth::Progress {
        return;
    }
    let failed = match JOBS.try_lock() {
        Ok(mut jobs) => sweep(&mut jobs),
        Err(_) => return,
    };
    // Error handlers are the program's. They may do anything, so no lock is held.
    for (job, failure) in failed {
        request::fail(&job, &failure);
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes out what is complete, and returns what has failed.
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

/// One operation goes on, unless another thread has it; true if it is complete.
fn step(job: &ActiveRequest) -> Result<bool, CallFailure> {
    match job.operation.try_lock() {
        Ok(mut operation) => guarded(|| operation.progress()),
        Err(_) => Ok(false),
    }
}

/// Completes the operations of a communicator. MPI lets a blocking collective wait for that: all ranks start the
/// operations before they come to it.
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

/// Between two looks. Now and then it lets others have the processor, who may be those that are waited for.
#[derive(Default)]
pub(crate) struct Pause(u32);

impl Pause {
    /// One more look.
    pub(crate) fn next(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(8) { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}
