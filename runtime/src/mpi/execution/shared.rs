//! Executes the steps of calls through the window of a node.

use crate::error::Error;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::processors::processors;
use crate::mpi::comm::progress::progress;
use crate::mpi::comm::shared_window::{RINGS, SharedWindow};
use crate::mpi::comm::world::{self, World};
use crate::mpi::execution::Combine;
use crate::program::shared::{Segments, SharedBlocks, SharedCall, SharedSteps, segment};
use crate::program::{MemoryRegion, RegionOffset};
use ::mpi::ffi;
use std::hint::spin_loop;

/// How often a rank polls a counter before it yields, if every rank of the node has its own processor.
const LOOKS: usize = 1000;
/// How often it yields before it lets MPI progress.
const YIELDS: usize = 16;
/// A segment has fewer signals of one rank.
const SIGNALS: u64 = 4;

/// The window of a communicator whose ranks are on one node, and how far this rank is in it.
pub(crate) struct SharedMemory {
    window: SharedWindow,
    comm: ffi::MPI_Comm,
    rank: usize,
    p: usize,
    /// How often this rank polls a counter before it yields.
    looks: usize,
    /// The number of the next segment in each ring.
    next: [u64; RINGS.len()],
    /// All ranks are known to have completed this many segments of each ring.
    confirmed: [u64; RINGS.len()],
    /// A rank that has made another call than this one, and what it said of it.
    lost: Option<(usize, u64)>,
}

/// A call, and everything about it that is the same each time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedPlan<'a> {
    call: SharedCall<'a>,
    segments: Segments,
    /// The ring that it uses.
    ring: usize,
    /// What this rank says of its call.
    said: u64,
}

impl<'a> SharedPlan<'a> {
    /// Plans a call: in one small slot if it fits there, and otherwise in as many large ones as it needs.
    ///
    /// # Errors
    /// If no slot can hold it; then all ranks get this answer.
    pub(crate) fn new(call: SharedCall<'a>) -> Result<Self, Error> {
        let planned = |ring: usize| {
            let call = SharedCall { slot: RINGS[ring].bytes, ..call };
            call.segments().map(|segments| SharedPlan { call, segments, ring, said: say(&call) })
        };
        let large = || planned(1).map_err(|error| Error::NoSharedMemory { reason: error.to_string() });
        planned(0).ok().filter(|small| small.segments.count <= 1).map_or_else(large, Ok)
    }
}

impl SharedPlan<'_> {
    /// The same plan, to be kept without its lists.
    pub(crate) fn without_lists(self) -> SharedPlan<'static> {
        let SharedPlan { call: SharedCall { kind, p, root, size, blocks, in_place, slot }, segments, ring, said } =
            self;
        let blocks = match blocks {
            SharedBlocks::Vector(len) => SharedBlocks::Vector(len),
            SharedBlocks::Equal(len) => SharedBlocks::Equal(len),
            SharedBlocks::Listed { .. } => SharedBlocks::Listed { counts: &[], displs: &[] },
        };
        SharedPlan { call: SharedCall { kind, p, root, size, blocks, in_place, slot }, segments, ring, said }
    }

    /// The plan of a call with lists that was kept without them.
    #[inline]
    pub(crate) fn with_lists<'a>(&'a self, counts: &'a [usize], displs: &'a [usize]) -> SharedPlan<'a> {
        let blocks = SharedBlocks::Listed { counts, displs };
        SharedPlan { call: SharedCall { blocks, ..self.call }, ..*self }
    }
}

/// The addresses of a call's buffers, and how its elements are combined.
pub(crate) struct SharedBuffers<C> {
    pub(crate) input: *mut u8,
    pub(crate) output: *mut u8,
    /// The distance in bytes from the address of an element, as MPI counts, to its first byte.
    pub(crate) lead: isize,
    pub(crate) combine: C,
}

impl SharedMemory {
    /// Memory that no call has used. Collective.
    pub(crate) fn of(group: &OwnComm) -> Result<Self, Error> {
        let (rank, p, comm) = (group.rank, group.placement.p(), group.comm.raw());
        let ranks = world::known().map_or(p, World::ranks_of_node);
        let looks = if ranks <= processors() { LOOKS } else { 1 };
        Ok(SharedMemory {
            window: SharedWindow::new(group)?,
            comm,
            rank,
            p,
            looks,
            next: [0; 2],
            confirmed: [0; 2],
            lost: None,
        })
    }

    /// Runs a call.
    ///
    /// # Safety
    /// The buffers are as long as the call says, and all ranks make the same call.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if another rank makes another call.
    #[inline]
    pub(crate) unsafe fn run<C: Combine>(
        &mut self,
        plan: &SharedPlan<'_>,
        buffers: &SharedBuffers<C>,
    ) -> Result<(), Error> {
        let (&SharedPlan { ref call, ref segments, ring, said }, mut other) = (plan, self.lost);
        for number in 0..segments.count {
            let (rank, slot) = (self.rank, RINGS[ring].slot_of(self.next[ring]));
            let bases = [buffers.input, buffers.output, self.window.begin(ring, slot)];
            let first = self.next[ring] * SIGNALS;
            let mut steps =
                SlotSteps { node: self, buffers, size: call.size, bases, ring, slot, first, signals: 0, said, other };
            segment(call, segments, number, rank, &mut steps);
            other = steps.other;
            self.next[ring] += 1;
            self.window.completed(ring, rank).publish(self.next[ring]);
        }
        if other.is_none() { Ok(()) } else { self.lose(call, other) }
    }

    /// Returns the error for a call that ranks do not make alike. They have used different slots, so that no later
    /// call can succeed.
    #[cold]
    fn lose(&mut self, call: &SharedCall<'_>, other: Option<(usize, u64)>) -> Result<(), Error> {
        self.lost = other;
        let elements = |bytes: u64| (bytes & BYTES) as usize / call.size;
        let wrong = |(from, found)| {
            Err(Error::Mismatch { rank: self.rank, from, expected: elements(say(call)), found: elements(found) })
        };
        other.map_or(Ok(()), wrong)
    }

    /// Waits until all other ranks have completed this many segments of a ring.
    #[cold]
    fn confirm(&mut self, ring: usize, needed: u64) {
        let mut least = u64::MAX;
        for rank in (0..self.p).filter(|&rank| rank != self.rank) {
            let mut completed = 0;
            let done = self.wait(rank, ring, || {
                completed = self.window.completed(ring, rank).read();
                completed >= needed
            });
            if done.is_err() {
                return;
            }
            least = least.min(completed);
        }
        self.confirmed[ring] = least;
    }

    /// Waits until a rank has done something in a ring. It polls a few times, then yields, because that rank may need
    /// the processor. The error is what the rank said of the call that it makes instead.
    #[inline]
    fn wait(&self, rank: usize, ring: usize, mut done: impl FnMut() -> bool) -> Result<(), u64> {
        loop {
            for _ in 0..YIELDS {
                for _ in 0..self.looks {
                    if done() {
                        return Ok(());
                    }
                    spin_loop();
                }
                std::thread::yield_now();
            }
            if let Err(said) = self.strayed(rank, ring) {
                // It may have gone on to the other ring since the last look, after it did what this rank waits for.
                return if done() { Ok(()) } else { Err(said) };
            }
            // A failure is that of a message, whose call will hear of it.
            let _ = progress(self.comm);
        }
    }

    /// Returns what a rank said of its call if it is in the other ring, in a segment that this rank has not begun:
    /// then it will never come to the segment in which this rank waits for it.
    #[cold]
    fn strayed(&self, rank: usize, ring: usize) -> Result<(), u64> {
        let other = 1 - ring;
        let slot = RINGS[other].slot_of(self.next[other]);
        let counter = self.window.signals(other, slot, rank);
        if counter.read() > self.next[other] * SIGNALS { Err(counter.said()) } else { Ok(()) }
    }
}

/// The steps of a segment in its slot.
struct SlotSteps<'a, C> {
    node: &'a mut SharedMemory,
    buffers: &'a SharedBuffers<C>,
    size: usize,
    /// Input, output, slot.
    bases: [*mut u8; 3],
    ring: usize,
    slot: usize,
    /// The value of counters before the first signal of this segment.
    first: u64,
    signals: u64,
    /// What this rank says of its call.
    said: u64,
    /// Another rank that makes another call, and what it says of it: it need not be waited for.
    other: Option<(usize, u64)>,
}

/// What a rank says of its call, for others to compare.
fn say(call: &SharedCall<'_>) -> u64 {
    call.bytes() as u64 & BYTES | (call.kind as u64) << 48 | (call.root as u64) << 56
}

/// The part of what a rank says that is the number of bytes.
const BYTES: u64 = (1 << 48) - 1;

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
        let needed = (self.node.next[self.ring] + 1).saturating_sub(RINGS[self.ring].slots as u64);
        if self.node.confirmed[self.ring] < needed && self.other.is_none() {
            self.node.confirm(self.ring, needed);
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
        let counter = self.node.window.signals(self.ring, self.slot, self.node.rank);
        counter.say(self.said);
        counter.publish(self.first + self.signals);
    }

    #[inline]
    fn await_signals(&mut self, rank: usize, times: u32) {
        let counter = self.node.window.signals(self.ring, self.slot, rank);
        let value = self.first + u64::from(times);
        if self.other.is_some() {
            return;
        }
        let said = match self.node.wait(rank, self.ring, || counter.read() >= value) {
            Ok(()) => counter.said(),
            Err(said) => said,
        };
        if said != self.said {
            self.other = Some((rank, said));
        }
    }
}
