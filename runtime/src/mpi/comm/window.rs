//! Memory that the ranks of a node share.
//!
//! All ranks of the node create a window together, and must free it together. But a request is dropped on one rank
//! earlier than on another, or never. So windows are cached on the communicator: a request borrows one and returns
//! it, the next one takes a window that all ranks of the node have returned, and all windows are freed with the
//! communicator, except those that a leaked request still uses.

use crate::error::Error;
use crate::mpi::comm::agree::agree;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::process::code::{OTHER, SUCCESS, check};
use crate::program::machine::Counter as AnyCounter;
use ::mpi::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A counter in shared memory.
type Counter = AnyCounter<AtomicU32>;

/// The ranks of this rank's node.
pub(crate) struct NodeRanks {
    comm: ffi::MPI_Comm,
    local: usize,
    size: usize,
    windows: Vec<Arc<Window>>,
}

/// Memory that the ranks of a node share: a counter for each rank, then space for data.
#[derive(Debug)]
pub(crate) struct Window {
    handle: ffi::MPI_Win,
    base: NonNull<u8>,
    /// The number of bytes for data.
    bytes: usize,
    size: usize,
    busy: AtomicBool,
}

// SAFETY: only `busy` and the counters change, and both are atomic; data is used only by the borrower of the window.
unsafe impl Send for Window {}
// SAFETY: as above.
unsafe impl Sync for Window {}

/// The right to use a window, released on drop.
pub(crate) struct Borrowed(Arc<Window>);

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}

impl Borrowed {
    /// The counter of a rank of the node.
    pub(crate) fn counter(&self, local: usize) -> &Counter {
        debug_assert!(local < self.0.size);
        // SAFETY: counters lie at the beginning of the window, which is sufficiently aligned, and were set when the
        // window was made. They are atomic, so all ranks may use them at the same time.
        unsafe { self.0.base.cast::<Counter>().add(local).as_ref() }
    }

    /// Where the data begins.
    pub(crate) fn data(&self) -> *mut u8 {
        self.0.base.as_ptr().wrapping_add(self.0.size * size_of::<Counter>())
    }
}

impl NodeRanks {
    /// Creates the communicator of a node's ranks. Collective over the group.
    pub(crate) fn new(group: &OwnComm) -> Result<Self, Error> {
        let (key, color) = (group.rank as c_int, group.placement.node(group.rank) as c_int);
        // SAFETY: the null handle is a constant of the library.
        let mut comm = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the communicator is live, and all of its ranks call this.
        check("MPI_Comm_split", unsafe { ffi::MPI_Comm_split(group.comm.raw(), color, key, &mut comm) })?;
        // SAFETY: the communicator was just made.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        let (local, size) = numbers(comm)?;
        let node = NodeRanks { comm, local, size, windows: Vec::new() };
        let shares = node.shares().and_then(|shares| if shares { Ok(()) } else { Err(Error::NotShared) });
        agree(group.comm.raw(), &[], shares).map(|()| node)
    }

    /// This rank's number on the node.
    pub(crate) fn local(&self) -> usize {
        self.local
    }

    /// Whether all ranks of the node can share memory: a placement set by the user may be wrong. Collective over the
    /// node.
    fn shares(&self) -> Result<bool, Error> {
        // SAFETY: the null handle is a constant of the library.
        let mut comm = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the communicator is live, and all of its ranks call this.
        let code = unsafe {
            let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
            ffi::MPI_Comm_split_type(self.comm, kind, self.local as c_int, info, &mut comm)
        };
        check("MPI_Comm_split_type", code)?;
        let (_, together) = numbers(comm)?;
        // SAFETY: the communicator was made above.
        check("MPI_Comm_free", unsafe { ffi::MPI_Comm_free(&mut comm) })?;
        Ok(together == self.size)
    }

    /// A window with at least this many bytes for data that no rank of the node is using. Collective over the node.
    pub(crate) fn window(&mut self, bytes: usize) -> Result<Borrowed, Error> {
        let free = self.free_on_all()?;
        let free = || self.windows.iter().enumerate().filter(|(i, _)| free[*i] == 1);
        let fits = free().filter(|(_, window)| window.bytes >= bytes).min_by_key(|(_, window)| window.bytes);
        let window = match (fits, free().max_by_key(|(_, window)| window.bytes)) {
            (Some((_, window)), _) => window.clone(),
            // Replaces a window that is too short: otherwise growing requests would leave all of their windows
            // behind.
            (None, Some((shorter, _))) => {
                self.windows.remove(shorter).free();
                self.make(bytes)?
            }
            (None, None) => self.make(bytes)?,
        };
        window.busy.store(true, Ordering::Release);
        // Each rank resets the counter that an earlier borrower has left, before any rank increments one.
        window.reset(self.local);
        self.barrier()?;
        Ok(Borrowed(window))
    }

    /// Which windows are free on all ranks of the node: 1 for free.
    fn free_on_all(&self) -> Result<Vec<u8>, Error> {
        let free = |window: &Arc<Window>| u8::from(!window.busy.load(Ordering::Acquire));
        let own: Vec<u8> = self.windows.iter().map(free).collect();
        let mut all = own.clone();
        if own.is_empty() {
            return Ok(all);
        }
        // SAFETY: each rank passes one number per window, and all ranks of the node have the same number of windows.
        let code = unsafe {
            let (byte, and, count) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_BAND, own.len() as c_int);
            ffi::PMPI_Allreduce(own.as_ptr().cast(), all.as_mut_ptr().cast(), count, byte, and, self.comm)
        };
        check("MPI_Allreduce", code)?;
        Ok(all)
    }

    fn make(&mut self, bytes: usize) -> Result<Arc<Window>, Error> {
        let window = Arc::new(Window::new(self.comm, self.local, self.size, bytes.next_power_of_two().max(4096))?);
        self.windows.push(window.clone());
        Ok(window)
    }

    fn barrier(&self) -> Result<(), Error> {
        // SAFETY: the communicator is live, and all of its ranks call this.
        check("MPI_Barrier", unsafe { ffi::PMPI_Barrier(self.comm) })
    }

    /// Frees the windows that no rank of the node uses any more. Collective over the node.
    pub(crate) fn free(mut self) -> c_int {
        let Ok(free) = self.free_on_all() else { return SUCCESS };
        for (window, _) in self.windows.iter().zip(free).filter(|(_, free)| *free == 1) {
            window.free();
        }
        // SAFETY: the communicator is ours, and is not used again.
        unsafe { ffi::MPI_Comm_free(&mut self.comm) }
    }
}

impl Window {
    /// Creates a window, all of whose memory belongs to the first rank of the node. Collective over `comm`.
    fn new(comm: ffi::MPI_Comm, local: usize, size: usize, bytes: usize) -> Result<Self, Error> {
        let all = bytes.checked_add(size * size_of::<Counter>()).and_then(|all| ffi::MPI_Aint::try_from(all).ok());
        let all =
            all.ok_or(Error::TooLarge { what: "the shared memory", elements: bytes, limit: isize::MAX as usize })?;
        let own = if local == 0 { all } else { 0 };
        // SAFETY: the null handle is a constant of the library.
        let mut handle = unsafe { ffi::RSMPI_WIN_NULL };
        let mut base: *mut c_void = null_mut();
        // SAFETY: the communicator is live and all of its ranks call this; MPI stores an address in `base`.
        let code = unsafe {
            let base: *mut *mut c_void = &mut base;
            ffi::MPI_Win_allocate_shared(own, 1, ffi::RSMPI_INFO_NULL, comm, base.cast(), &mut handle)
        };
        check("MPI_Win_allocate_shared", code)?;
        let (mut found, mut unit) = (0, 0);
        // SAFETY: the window was just created, and its first rank has memory.
        let code = unsafe {
            let base: *mut *mut c_void = &mut base;
            ffi::MPI_Win_shared_query(handle, 0, &mut found, &mut unit, base.cast())
        };
        check("MPI_Win_shared_query", code)?;
        // MPI allows loads and stores in windows only within an epoch; this one lasts as long as the window.
        // SAFETY: the window is live.
        check("MPI_Win_lock_all", unsafe { ffi::MPI_Win_lock_all(0, handle) })?;
        let base = NonNull::new(base.cast()).ok_or_else(|| Error::Mpi {
            call: "MPI_Win_shared_query",
            class: OTHER,
            message: "the window has no memory".into(),
        })?;
        Ok(Window { handle, base, bytes, size, busy: AtomicBool::new(false) })
    }

    /// Resets this rank's counter.
    fn reset(&self, local: usize) {
        // SAFETY: as in `Borrowed::counter`; no other rank uses the counter before the barrier.
        unsafe { self.base.cast::<Counter>().add(local).write(Counter::default()) };
    }

    /// Frees the window. Collective over the node.
    fn free(&self) {
        let mut handle = self.handle;
        // SAFETY: the window is live, and all ranks of the node have agreed that it is unused.
        unsafe {
            ffi::MPI_Win_unlock_all(handle);
            ffi::MPI_Win_free(&mut handle);
        }
    }
}

/// This rank in a communicator, and the number of ranks.
fn numbers(comm: ffi::MPI_Comm) -> Result<(usize, usize), Error> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the communicator is live.
    check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm, &mut rank) })?;
    // SAFETY: the communicator is live.
    check("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(comm, &mut size) })?;
    Ok((rank as usize, size as usize))
}
