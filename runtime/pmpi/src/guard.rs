//! Tracks whether a thread runs the program, a collective of Roundel, or its progress engine.
//!
//! Roundel's own MPI calls also pass through the functions of this library. MPI serves a collective that Roundel
//! calls. Messages and waits inside a collective progress other operations; those inside the progress engine do not.

use mpi::ffi::{self, MPI_Comm};
use roundel::mpi::raw;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Which code a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallDepth {
    /// In the program itself.
    Program,
    /// In a collective.
    Collective,
    /// Progressing non-blocking operations.
    Progress,
}

thread_local! {
    static PLACE: Cell<CallDepth> = const { Cell::new(CallDepth::Program) };
}

/// Which code this thread is in.
#[inline]
pub(crate) fn place() -> CallDepth {
    PLACE.get()
}

/// Whether Roundel itself makes the call.
#[inline]
pub(crate) fn inside() -> bool {
    PLACE.get() != CallDepth::Program
}

/// Restores the previous depth on drop.
pub(crate) struct Entered(CallDepth);

/// Sets the depth of this thread until the value is dropped.
#[inline]
pub(crate) fn enter(place: CallDepth) -> Entered {
    Entered(PLACE.replace(place))
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// The communicator of a thread's last call, if it is an intracommunicator, and how many communicators had been freed
/// by then.
#[derive(Clone, Copy)]
struct LastIntracomm {
    comm: Option<MPI_Comm>,
    freed: usize,
}

thread_local! {
    static RECENT: Cell<LastIntracomm> = const { Cell::new(LastIntracomm { comm: None, freed: 0 }) };
}

/// How many communicators were freed. MPI may reuse the handle of a freed communicator.
static FREED: AtomicUsize = AtomicUsize::new(0);

/// Whether this is a valid intracommunicator.
#[inline]
pub(crate) fn is_intra(comm: MPI_Comm) -> bool {
    let (recent, freed) = (RECENT.get(), freed());
    recent.comm == Some(comm) && recent.freed == freed || look(comm, freed)
}

#[cold]
fn look(comm: MPI_Comm, freed: usize) -> bool {
    if !lives(comm) {
        return false;
    }
    let mut inter = 1;
    // SAFETY: the communicator is the program's, and MPI is live.
    unsafe { ffi::PMPI_Comm_test_inter(comm, &mut inter) };
    if inter == 0 {
        RECENT.set(LastIntracomm { comm: Some(comm), freed });
    }
    inter == 0
}

/// Handles of communicators that were freed and have not been reused since. MPI's error for such a handle names the
/// function that asks and may end the job, so the handle is first tested without raising an error.
static GONE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// The most handles to remember. MPI raises its own error for all others.
const REMEMBERED: usize = 4096;

/// Whether the handle is valid, as far as the freed communicators tell.
fn lives(comm: MPI_Comm) -> bool {
    let mut gone = GONE.lock().unwrap_or_else(PoisonError::into_inner);
    let number = comm.0 as usize;
    // SAFETY: MPI is live, as the callers have checked.
    if gone.contains(&number) && !unsafe { raw::is_live(comm) } {
        return false;
    }
    gone.remove(&number);
    true
}

/// Notes that a communicator is about to be freed.
pub(crate) fn frees(comm: MPI_Comm) {
    FREED.fetch_add(1, Ordering::Relaxed);
    let mut gone = GONE.lock().unwrap_or_else(PoisonError::into_inner);
    if gone.len() < REMEMBERED {
        gone.insert(comm.0 as usize);
    }
}

/// How many communicators were freed. A change invalidates everything cached by handle.
#[inline]
pub(crate) fn freed() -> usize {
    FREED.load(Ordering::Relaxed)
}

/// Whether MPI is known to be initialised, and not finalised.
static LIVE: AtomicBool = AtomicBool::new(false);

/// Whether calls can be served: MPI is initialised, and not finalised.
#[inline]
pub(crate) fn live() -> bool {
    LIVE.load(Ordering::Relaxed) || ask()
}

#[cold]
fn ask() -> bool {
    let (mut begun, mut over) = (0, 0);
    // SAFETY: both may be called at any time.
    unsafe {
        ffi::PMPI_Initialized(&mut begun);
        ffi::PMPI_Finalized(&mut over);
    }
    let live = begun != 0 && over == 0;
    LIVE.store(live, Ordering::Relaxed);
    live
}

/// Notes that MPI is being finalised.
pub(crate) fn ends() {
    LIVE.store(false, Ordering::Relaxed);
}
