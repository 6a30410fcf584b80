//! The steps of a segment, in its slot.

use super::{SharedBuffers, SharedMemory};
use crate::mpi::execution::Combine;
use crate::program::shared::{COUNTER, FetchStep, LINE, SharedOp, SharedSteps, completed_before, signal_value};
use crate::program::{CombineStep, CopyStep, MemoryRegion, RegionOffset};

/// The steps of a segment in its slot. As [`SharedSteps`], each step waits until it is possible; [`attempt`] does not
/// wait.
///
/// [`attempt`]: SlotSteps::attempt
pub(super) struct SlotSteps<'a, C> {
    pub(super) node: &'a mut SharedMemory,
    pub(super) buffers: &'a SharedBuffers<C>,
    pub(super) size: usize,
    /// Input, output, slot, and the numbers of an alltoallv.
    pub(super) bases: [*mut u8; 4],
    pub(super) ring: usize,
    pub(super) slot: usize,
    /// The number of this segment in its ring.
    pub(super) segment: u64,
    pub(super) signals: u64,
    /// The description of this rank's call.
    pub(super) said: u64,
    /// A rank that makes a different call, and its description of that call. Then there is no need to wait.
    pub(super) other: Option<(usize, u64)>,
}

impl<C: Combine> SlotSteps<'_, C> {
    #[inline]
    fn at(&self, spot: RegionOffset) -> *mut u8 {
        let base = match spot.region {
            MemoryRegion::Input => self.bases[0],
            MemoryRegion::Output => self.bases[1],
            MemoryRegion::Shared => self.bases[2],
            MemoryRegion::Scratch => self.bases[3],
        };
        base.wrapping_add(spot.offset)
    }

    /// How many segments all ranks must have completed before this slot is written; `None` if they are known to have.
    #[inline]
    fn unconfirmed(&self) -> Option<u64> {
        let needed = completed_before(self.segment, self.node.window.ring(self.ring).slots);
        (self.node.confirmed[self.ring] < needed && self.other.is_none()).then_some(needed)
    }

    /// Where a rank publishes the address of its memory: beside its counter.
    #[inline]
    fn published(&self, rank: usize) -> *mut usize {
        self.bases[2].wrapping_add(rank * LINE + COUNTER).cast()
    }

    /// Notes a rank whose description of its call differs from ours.
    #[inline]
    fn hear(&mut self, rank: usize, said: u64) {
        if said != self.said {
            self.other = Some((rank, said));
        }
    }

    /// Executes a step, if it is possible without waiting.
    pub(super) fn attempt(&mut self, step: SharedOp) -> bool {
        match step {
            SharedOp::Claim => return self.attempt_claim(),
            SharedOp::Await { rank, times } => return self.attempt_await(rank, times),
            SharedOp::Copy(CopyStep { from, to, elements }) => self.copy(from, to, elements),
            SharedOp::Combine(CombineStep { left, right, into, elements }) => {
                self.combine(left, right, into, elements)
            }
            SharedOp::Publish(from) => self.publish(from),
            SharedOp::Fetch(FetchStep { rank, offset, to, elements }) => self.fetch(rank, offset, to, elements),
            SharedOp::Signal => self.signal(),
        }
        true
    }

    fn attempt_claim(&mut self) -> bool {
        let Some(needed) = self.unconfirmed() else { return true };
        let mut least = u64::MAX;
        for rank in (0..self.node.p).filter(|&rank| rank != self.node.rank) {
            let mut completed = 0;
            let mut done = || {
                completed = self.node.window.completed(self.ring, rank).read();
                completed >= needed
            };
            match self.node.look(rank, self.ring, &mut done) {
                None => return false,
                Some(Err(said)) => {
                    self.other = Some((rank, said));
                    return true;
                }
                Some(Ok(())) => least = least.min(completed),
            }
        }
        self.node.confirmed[self.ring] = least;
        true
    }

    fn attempt_await(&mut self, rank: usize, times: u32) -> bool {
        if self.other.is_some() {
            return true;
        }
        let (counter, value) =
            (self.node.window.signals(self.ring, self.slot, rank), signal_value(self.segment, times.into()));
        let Some(found) = self.node.look(rank, self.ring, &mut || counter.read() >= value) else { return false };
        let said = found.map_or_else(|said| said, |()| counter.said());
        self.hear(rank, said);
        true
    }
}

impl<C: Combine> SharedSteps for SlotSteps<'_, C> {
    #[inline]
    fn claim(&mut self) {
        if let Some(needed) = self.unconfirmed() {
            self.node.confirm(self.ring, needed);
        }
    }

    #[inline]
    fn copy(&mut self, from: RegionOffset, to: RegionOffset, elements: usize) {
        let (from, to) = (self.at(from), self.at(to));
        if from != to {
            // SAFETY: both ends lie in the call's buffers or in its slot, and do not overlap; a replay of such calls
            // has shown that no other rank accesses them meanwhile.
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

    fn publish(&mut self, from: RegionOffset) {
        let address = self.at(from).expose_provenance();
        // SAFETY: the place is aligned and in this rank's line of the slot; a replay of such calls has shown that no
        // other rank reads it meanwhile.
        unsafe { self.published(self.node.rank).write(address) };
    }

    fn fetch(&mut self, rank: usize, offset: usize, to: RegionOffset, elements: usize) {
        // A rank that makes a different call has published something else, or nothing.
        if self.other.is_some() {
            return;
        }
        // SAFETY: as above; the rank has published its address before it signalled.
        let from = unsafe { self.published(rank).read() }.wrapping_add(offset);
        let to = self.at(to);
        // SAFETY: the output has room, and the rank leaves its memory as it is until all have signalled.
        unsafe { self.node.read_peer(rank, from, to, elements * self.size) };
    }

    #[inline]
    fn signal(&mut self) {
        self.signals += 1;
        let counter = self.node.window.signals(self.ring, self.slot, self.node.rank);
        counter.say(self.said);
        counter.publish(signal_value(self.segment, self.signals));
    }

    #[inline]
    fn await_signals(&mut self, rank: usize, times: u32) {
        if self.other.is_some() {
            return;
        }
        let counter = self.node.window.signals(self.ring, self.slot, rank);
        let value = signal_value(self.segment, times.into());
        let said = match self.node.wait(rank, self.ring, || counter.read() >= value) {
            Ok(()) => counter.said(),
            Err(said) => said,
        };
        self.hear(rank, said);
    }
}
