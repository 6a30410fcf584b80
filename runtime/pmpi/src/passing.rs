//! Caches the last call that fell back to MPI, by its arguments, so that a repetition costs next to nothing.
//!
//! All threads share one entry, because a lookup in thread-local storage would take longer than the rest. Threads
//! that alternate between different calls miss the cache.

use mpi::ffi::MPI_Comm;
use roundel::mpi::raw::{self, CallKey};
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// The most arguments that a function has besides its communicator.
const ARGUMENTS: usize = 8;

/// The last call that fell back to MPI. Addresses are left out, except whether they are `MPI_IN_PLACE`, and so are
/// lists: calls with lists are cached only if they fall back whatever is in them.
struct Last {
    /// A sequence lock: odd while a thread writes. A reader that sees the same even number before and after has read
    /// a consistent call.
    version: AtomicUsize,
    function: AtomicUsize,
    comm: AtomicUsize,
    epoch: AtomicUsize,
    words: [AtomicUsize; ARGUMENTS],
}

static LAST: Last = Last {
    version: AtomicUsize::new(0),
    function: AtomicUsize::new(0),
    comm: AtomicUsize::new(0),
    epoch: AtomicUsize::new(0),
    words: [const { AtomicUsize::new(0) }; ARGUMENTS],
};

/// The last communicator all of whose calls fall back to MPI, and the [`raw::epoch`] at that time.
struct All {
    comm: AtomicUsize,
    epoch: AtomicUsize,
}

static ALL: All = All { comm: AtomicUsize::new(NONE), epoch: AtomicUsize::new(0) };

/// No communicator has this handle.
const NONE: usize = usize::MAX;

/// Whether all calls on a communicator fall back to MPI, according to the cache.
#[inline]
pub(crate) fn all(comm: MPI_Comm) -> bool {
    let comm = comm.0 as usize;
    // The epoch belongs to this communicator unless another one was cached between the two loads.
    ALL.comm.load(Ordering::Acquire) == comm
        && ALL.epoch.load(Ordering::Acquire) == raw::epoch()
        && ALL.comm.load(Ordering::Relaxed) == comm
}

/// Caches that all calls on this communicator fall back to MPI.
#[cold]
pub(crate) fn keep_all(comm: MPI_Comm) {
    ALL.comm.store(NONE, Ordering::Relaxed);
    ALL.epoch.store(raw::epoch(), Ordering::Release);
    ALL.comm.store(comm.0 as usize, Ordering::Release);
}

/// Whether a call equals the last one that fell back to MPI.
#[inline]
pub(crate) fn is_last<const N: usize>(function: usize, comm: MPI_Comm, words: &[usize; N]) -> bool {
    let version = LAST.version.load(Ordering::Acquire);
    let same = LAST.function.load(Ordering::Relaxed) == function
        && LAST.comm.load(Ordering::Relaxed) == comm.0 as usize
        && LAST.epoch.load(Ordering::Relaxed) == raw::epoch()
        && words.iter().zip(&LAST.words).all(|(word, last)| *word == last.load(Ordering::Relaxed));
    fence(Ordering::Acquire);
    same && version.is_multiple_of(2) && version == LAST.version.load(Ordering::Relaxed)
}

/// Caches that a call always falls back to MPI, unless another thread is writing to the cache.
#[cold]
pub(crate) fn keep(call: &CallKey) {
    let version = LAST.version.load(Ordering::Relaxed) & !1;
    let writing = LAST.version.compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed);
    if writing.is_err() {
        return;
    }
    fence(Ordering::Release);
    LAST.function.store(call.function, Ordering::Relaxed);
    LAST.comm.store(call.comm.0 as usize, Ordering::Relaxed);
    LAST.epoch.store(raw::epoch(), Ordering::Relaxed);
    call.words.iter().zip(&LAST.words).for_each(|(word, last)| last.store(*word, Ordering::Relaxed));
    LAST.version.store(version + 2, Ordering::Release);
}
