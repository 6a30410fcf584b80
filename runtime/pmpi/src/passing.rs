//! Caches the last communicator all of whose calls fall back to MPI.

use mpi::ffi::MPI_Comm;
use roundel::mpi::raw;
use std::sync::atomic::{AtomicUsize, Ordering};

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
