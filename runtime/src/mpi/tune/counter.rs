//! Measures how soon a process sees a write by another process of its node: two counters in shared memory, incremented
//! in turn.

use super::wire::WireBench;
use super::{Profile, median};
use crate::error::Error;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::yield_now;
use std::time::Instant;

/// The number of increments in one measurement, and the number of measurements.
const ROUNDS: u64 = 64;
const TIMES: u64 = 9;

/// How often a process polls before it yields to others, for which it may be waiting.
const LOOKS: usize = 200;

/// Seconds from incrementing a counter to the answer, on the slowest node; the default if no two processes share
/// memory. Collective.
pub(super) fn signal(wire: &mut WireBench) -> Result<f64, Error> {
    let node = SharedNode::new(wire.comm())?;
    let mut times = Vec::new();
    for time in 0..TIMES {
        let begin = Instant::now();
        node.play(time * ROUNDS);
        times.push(begin.elapsed().as_secs_f64() / ROUNDS as f64);
    }
    let own = if node.plays() { median(&mut times) } else { 0.0 };
    node.free()?;
    let slowest = wire.slowest(own)?;
    Ok(if slowest > 0.0 { slowest } else { Profile::default().node.signal })
}

/// The processes that share memory with this one, and two counters in it, a cache line apart.
struct SharedNode {
    comm: ffi::MPI_Comm,
    window: ffi::MPI_Win,
    rank: c_int,
    size: c_int,
    start: *mut u64,
}

/// The distance between the counters, in 64-bit numbers.
const APART: usize = 16;

impl SharedNode {
    fn new(all: ffi::MPI_Comm) -> Result<Self, Error> {
        // SAFETY: the null handles are constants of the library.
        let (comm, window) = unsafe { (ffi::RSMPI_COMM_NULL, ffi::RSMPI_WIN_NULL) };
        let mut node = SharedNode { comm, window, rank: 0, size: 0, start: null_mut() };
        // SAFETY: `all` is a live communicator, and all of its ranks call this.
        let code = unsafe {
            let (shared, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
            ffi::MPI_Comm_split_type(all, shared, 0, info, &mut node.comm)
        };
        check("MPI_Comm_split_type", code)?;
        // SAFETY: the communicator was just made.
        check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(node.comm, &mut node.rank) })?;
        // SAFETY: the communicator was just made.
        check("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(node.comm, &mut node.size) })?;
        node.allocate()?;
        node.clear()?;
        Ok(node)
    }

    /// Allocates memory that belongs to the first process and is shared by all.
    fn allocate(&mut self) -> Result<(), Error> {
        let bytes = if self.rank == 0 { (2 * APART * size_of::<u64>()) as ffi::MPI_Aint } else { 0 };
        let (unit, own) = (size_of::<u64>() as c_int, &mut self.start as *mut *mut u64);
        // SAFETY: all processes of the communicator share memory and call this; `own` has room for an address.
        let code = unsafe {
            let (info, own) = (ffi::RSMPI_INFO_NULL, own.cast::<c_void>());
            ffi::MPI_Win_allocate_shared(bytes, unit, info, self.comm, own, &mut self.window)
        };
        check("MPI_Win_allocate_shared", code)?;
        let (mut found_bytes, mut found_unit) = (0, 0);
        // SAFETY: the window was just created, and the three pointers are valid for the results.
        let code = unsafe {
            let start = &mut self.start as *mut *mut u64;
            ffi::MPI_Win_shared_query(self.window, 0, &mut found_bytes, &mut found_unit, start.cast::<c_void>())
        };
        check("MPI_Win_shared_query", code)
    }

    /// Sets both counters to zero before any process reads them.
    fn clear(&self) -> Result<(), Error> {
        if self.rank == 0 {
            self.counter(0).store(0, Ordering::Release);
            self.counter(1).store(0, Ordering::Release);
        }
        // SAFETY: the communicator is live, and all of its ranks call this.
        check("MPI_Barrier", unsafe { ffi::MPI_Barrier(self.comm) })
    }

    fn counter(&self, which: usize) -> &AtomicU64 {
        // SAFETY: the window has room for both counters, MPI aligns it at least for numbers of 64 bits, it is
        // accessed only as atomic numbers, and it lives as long as `self`.
        unsafe { AtomicU64::from_ptr(self.start.add(which * APART)) }
    }

    /// Whether this process increments a counter.
    fn plays(&self) -> bool {
        self.rank < 2 && self.size > 1
    }

    /// Increments the counters in turn, from a value on.
    fn play(&self, from: u64) {
        for value in from + 1..=from + ROUNDS {
            match self.rank {
                _ if !self.plays() => {}
                0 => {
                    self.counter(0).store(value, Ordering::Release);
                    await_value(self.counter(1), value);
                }
                _ => {
                    await_value(self.counter(0), value);
                    self.counter(1).store(value, Ordering::Release);
                }
            }
        }
    }

    fn free(mut self) -> Result<(), Error> {
        // SAFETY: both handles are live, all processes of the node call this, and the handles are not used again.
        let (window, comm) = unsafe { (ffi::MPI_Win_free(&mut self.window), ffi::MPI_Comm_free(&mut self.comm)) };
        check("MPI_Win_free", window)?;
        check("MPI_Comm_free", comm)
    }
}

fn await_value(counter: &AtomicU64, value: u64) {
    let mut looks = 0;
    while counter.load(Ordering::Acquire) < value {
        looks += 1;
        if usize::is_multiple_of(looks, LOOKS) {
            yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
