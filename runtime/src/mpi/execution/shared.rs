//! Executes the steps of calls through the window of a node.

use crate::error::Error;
use crate::mpi::comm::code::SUCCESS;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::processors::processors;
use crate::mpi::comm::shared_window::{SLOT, SLOTS, SharedWindow};
use crate::mpi::comm::world::{self, World};
use crate::mpi::execution::Combine;
use crate::program::shared::{SharedCall, SharedSteps, segment};
use crate::program::{MemoryRegion, RegionOffset};
use ::mpi::ffi;
use std::hint::spin_loop;

/// How often a rank polls a counter before it yields, if every rank of the node has its own processor.
const LOOKS: usize = 1000;
/// How often it yields before it lets MPI progress.
const YIELDS: usize = 16;
/// A segment has fewer signals of one rank.
const SIGNALS: u64 = 4;

/// The window of a communicator, and how far this rank is in it.
pub(crate) struct SharedRing {
    window: SharedWindow,
    comm: ffi::MPI_Comm,
    rank: usize,
    p: usize,
    /// How often this rank polls a counter before it yields.
    looks: usize,
    /// The number of the next segment.
    next: u64,
    /// All ranks are known to have completed this many segments.
    confirmed: u64,
}

/// The addresses of a call's buffers, and how its elements are combined.
pub(crate) struct SharedBuffers<C> {
    pub(crate) input: *mut u8,
    pub(crate) output: *mut u8,
    /// The distance in bytes from the address of an element, as MPI counts, to its first byte.
    pub(crate) lead: isize,
    pub(crate) combine: C,
}

impl SharedRing {
    /// A ring that no call has used. Collective.
    pub(crate) fn of(group: &OwnComm) -> Result<Self, Error> {
        let (rank, p, comm) = (group.rank, group.placement.p(), group.comm.raw());
        let ranks = world::known().map_or(p, World::ranks_of_node);
        let looks = if ranks <= processors() { LOOKS } else { 1 };
        Ok(SharedRing { window: SharedWindow::new(group)?, comm, rank, p, looks, next: 0, confirmed: 0 })
    }

    /// The bytes of data in a slot.
    pub(crate) const SLOT: usize = SLOT;

    /// Runs a call.
    ///
    /// # Safety
    /// The buffers are as long as the call says, and all ranks make the same call.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if another rank makes another call.
    pub(crate) unsafe fn run<C: Combine>(
        &mut self,
        call: &SharedCall<'_>,
        buffers: &SharedBuffers<C>,
    ) -> Result<(), Error> {
        let segments = call.segments().map_err(|error| Error::NoSharedMemory { reason: error.to_string() })?;
        let (said, mut other) = (say(call), None);
        for number in 0..segments.count {
            let (rank, slot) = (self.rank, (self.next % SLOTS as u64) as usize);
            let bases = [buffers.input, buffers.output, self.window.data(slot)];
            let first = self.next * SIGNALS;
            let mut steps =
                SlotSteps { ring: self, buffers, size: call.size, bases, slot, first, signals: 0, said, other: None };
            segment(call, &segments, number, rank, &mut steps);
            other = other.or(steps.other);
            self.next += 1;
            self.window.completed(rank).publish(self.next);
        }
        other.map_or(Ok(()), |(from, found)| Err(mismatch(call, self.rank, from, found)))
    }

    /// Waits until all other ranks have completed this many segments.
    #[cold]
    fn confirm(&mut self, needed: u64) {
        let mut least = u64::MAX;
        for rank in (0..self.p).filter(|&rank| rank != self.rank) {
            let mut completed = 0;
            self.wait(|| {
                completed = self.window.completed(rank).read();
                completed >= needed
            });
            least = least.min(completed);
        }
        self.confirmed = least;
    }

    /// Waits until something is true. It polls a few times, then yields, because the awaited rank may need the
    /// processor.
    #[inline]
    fn wait(&self, mut is_true: impl FnMut() -> bool) {
        loop {
            for _ in 0..YIELDS {
                for _ in 0..self.looks {
                    if is_true() {
                        return;
                    }
                    spin_loop();
                }
                std::thread::yield_now();
            }
            self.move_mpi();
        }
    }

    /// Lets MPI progress messages of other ranks, which they may need before they signal.
    #[cold]
    fn move_mpi(&self) {
        let mut found = 0;
        // SAFETY: the communicator is live. An error will be found by the call whose messages fail.
        let code = unsafe {
            let (source, tag) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
            ffi::MPI_Iprobe(source, tag, self.comm, &mut found, ffi::RSMPI_STATUS_IGNORE)
        };
        debug_assert_eq!(code, SUCCESS);
    }
}

/// The steps of a segment in its slot.
struct SlotSteps<'a, C> {
    ring: &'a mut SharedRing,
    buffers: &'a SharedBuffers<C>,
    size: usize,
    /// Input, output, slot.
    bases: [*mut u8; 3],
    slot: usize,
    /// The value of counters before the first signal of this segment.
    first: u64,
    signals: u64,
    /// What this rank says of its call.
    said: u64,
    /// Another rank that makes another call, and what it says of it.
    other: Option<(usize, u64)>,
}

/// What a rank says of its call, for others to compare.
fn say(call: &SharedCall<'_>) -> u64 {
    call.bytes() as u64 & BYTES | (call.kind as u64) << 48 | (call.root as u64) << 56
}

/// The part of what a rank says that is the number of bytes.
const BYTES: u64 = (1 << 48) - 1;

/// The error for ranks that make different calls.
#[cold]
fn mismatch(call: &SharedCall<'_>, rank: usize, from: usize, found: u64) -> Error {
    let elements = |bytes: u64| (bytes & BYTES) as usize / call.size;
    Error::Mismatch { rank, from, expected: elements(say(call)), found: elements(found) }
}

impl<C> SlotSteps<'_, C> {
    #[inline]
    fn at(&self, spot: RegionOffset) -> *mut u8 {
        let base = match spot.region {
            MemoryRegion::Input => self.bases[0],
            MemoryRegion::Output => self.bases[1],
            MemoryRegion::Shared | MemoryRegion::Scratch => self.bases[2],
        };
        base.wrapping_add(spot.offset)
    }
}

impl<C: Combine> SharedSteps for SlotSteps<'_, C> {
    #[inline]
    fn claim(&mut self) {
        let needed = (self.ring.next + 1).saturating_sub(SLOTS as u64);
        if self.ring.confirmed < needed {
            self.ring.confirm(needed);
        }
    }

    #[inline]
    fn copy(&mut self, from: RegionOffset, to: RegionOffset, elements: usize) {
        let (from, to) = (self.at(from), self.at(to));
        if from != to {
            // SAFETY: both ends lie in the call's buffers or in its slot, and do not overlap; a replay of such calls
            // has shown that nobody else accesses them meanwhile.
            unsafe { std::ptr::copy_nonoverlapping(from, to, elements * self.size) };
        }
    }

    #[inline]
    fn combine(&mut self, left: RegionOffset, right: RegionOffset, into: RegionOffset, elements: usize) {
        let lead = self.buffers.lead;
        let [left, right, into] = [left, right, into].map(|spot| self.at(spot).wrapping_offset(-lead));
        // SAFETY: as for copies; the elements were written by ranks with elements of this type.
        unsafe { self.buffers.combine.combine(left, right, into, elements) }
    }

    #[inline]
    fn signal(&mut self) {
        self.signals += 1;
        let counter = self.ring.window.signals(self.slot, self.ring.rank);
        counter.say(self.said);
        counter.publish(self.first + self.signals);
    }

    #[inline]
    fn await_signals(&mut self, rank: usize, times: u32) {
        let (counter, value) = (self.ring.window.signals(self.slot, rank), self.first + u64::from(times));
        self.ring.wait(|| counter.read() >= value);
        let said = counter.said();
        if said != self.said {
            self.other.get_or_insert((rank, said));
        }
    }
}
