//! Tracks whether a thread runs the program, a collective of Roundel, or its progress engine.
//!
//! Roundel's own calls of MPI come through the functions of this library, too. A collective that it calls is the
//! library's. Messages and waits inside of a collective let other operations go on; those inside of progress do not, as
//! they are what goes on.

use mpi::ffi::{self, MPI_Comm};
use roundel::mpi::raw;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How deep a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallDepth {
    /// In the program.
    Program,
    /// In a collective.
    Collective,
    /// In the progress of operations.
    Progress,
}

thread_local! {
    static PLACE: Cell<CallDepth> = const { Cell::new(CallDepth::Program) };
}

/// Where this thread is.
#[inline]
pub(crate) fn place() -> CallDepth {
    PLACE.get()
}

/// Whether a call comes from Roundel itself.
#[inline]
pub(crate) fn inside() -> bool {
    PLACE.get() != CallDepth::Program
}

/// Back to where the thread was, when it is dropped.
pub(crate) struct Entered(CallDepth);

/// This thread is there until the value is dropped.
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

/// The communicator of a thread's last call, if it has one group, and how many were freed before.
#[derive(Clone, Copy)]
struct LastIntracomm {
    comm: Option<MPI_Comm>,
    freed: usize,
}

thread_local! {
    static RECENT: Cell<LastIntracomm> = const { Cell::new(LastIntracomm { comm: None, freed: 0 }) };
}

/// How many communicators were freed. MPI may give the handle of one that is gone to a new one.
static FREED: AtomicUsize = AtomicUsize::new(0);

/// Whether a communicator has one group: it is one, and no intercommunicator.
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

/// Handles of communicators that were freed and have not been seen since. The library's own answer about one names the
/// function that asks, and may end the job: so it is asked quietly first.
static GONE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// So many are remembered; beyond, the library answers as loudly as it does.
const REMEMBERED: usize = 4096;

/// Whether a handle is not that of a communicator that was freed.
fn lives(comm: MPI_Comm) -> bool {
    let mut gone = GONE.lock().unwrap_or_else(PoisonError::into_inner);
    let number = comm.0 as usize;
    // SAFETY: MPI is live, as whoever asks about a communicator has seen.
    if gone.contains(&number) && !unsafe { raw::is_live(comm) } {
        return false;
    }
    gone.remove(&number);
    true
}

/// A communicator is about to be freed.
pub(crate) fn frees(comm: MPI_Comm) {
    FREED.fetch_add(1, Ordering::Relaxed);
    let mut gone = GONE.lock().unwrap_or_else(PoisonError::into_inner);
    if gone.len() < REMEMBERED {
        gone.insert(comm.0 as usize);
    }
}

/// How many communicators were freed: what was kept by their handles before is of no use.
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

/// MPI ends.
pub(crate) fn ends() {
    LIVE.store(false, Ordering::Relaxed);
}
