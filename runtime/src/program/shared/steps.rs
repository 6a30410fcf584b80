//! What a rank does in one segment of a call.

use super::{Segments, SharedCall, SharedSteps};
use crate::program::{MemoryRegion, RegionOffset};
use roundel_spec::Kind;
use std::ops::Range;

/// The steps of a rank in a segment; of an alltoallv, those of the first one until the lengths of all streams are
/// known.
#[inline]
pub fn segment<S: SharedSteps>(
    call: &SharedCall<'_>,
    segments: &Segments,
    number: usize,
    rank: usize,
    steps: &mut S,
) {
    let segment = Segment { call, segments, number, rank, steps };
    if call.fetches() {
        return segment.fetch();
    }
    match call.kind {
        Kind::Allreduce | Kind::Reduce if call.shares() => segment.reduce_shares(),
        Kind::Allreduce | Kind::Reduce => segment.reduce_whole(),
        Kind::ReduceScatter => segment.reduce_scatter(),
        Kind::Broadcast => segment.broadcast(),
        Kind::Allgather => segment.allgather(),
        Kind::Gather => segment.gather(),
        Kind::Scatter => segment.scatter(),
        Kind::Alltoall => match call.exchange(rank) {
            Some(exchange) => exchange.publish(segment.steps),
            None => segment.alltoall(),
        },
    }
}

pub(super) struct Segment<'a, S> {
    pub(super) call: &'a SharedCall<'a>,
    segments: &'a Segments,
    number: usize,
    pub(super) rank: usize,
    pub(super) steps: &'a mut S,
}

impl<S: SharedSteps> Segment<'_, S> {
    /// The elements of a block in this segment.
    pub(super) fn part(&self, block: usize) -> Range<usize> {
        self.segments.part(self.number, self.call.len(block))
    }

    /// The other ranks, beginning with the next one, so that ranks do not all read the same memory at the same time.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<S> {
        let (rank, p) = (self.rank, self.call.p);
        (rank + 1..p).chain(0..rank)
    }

    pub(super) fn is_root(&self) -> bool {
        self.rank == self.call.root
    }

    /// An element of the user's memory.
    pub(super) fn user(&self, region: MemoryRegion, element: usize) -> RegionOffset {
        RegionOffset { region, offset: element * self.call.size }
    }

    /// Where the segment's part of a block begins in memory with all blocks.
    pub(super) fn block(&self, region: MemoryRegion, block: usize) -> RegionOffset {
        self.user(region, self.call.begin(block) + self.part(block).start)
    }

    /// Where the segment's part of this rank's block begins in memory with that block alone.
    pub(super) fn own(&self, region: MemoryRegion) -> RegionOffset {
        self.user(region, self.part(self.rank).start)
    }

    /// The input of a gathering rank: its block alone, or its block in the output.
    pub(super) fn given(&self) -> RegionOffset {
        let place = MemoryRegion::Output;
        if self.call.in_place { self.block(place, self.rank) } else { self.own(MemoryRegion::Input) }
    }

    /// An element of a row that a rank writes into the slot.
    #[inline]
    fn row(&self, rank: usize, element: usize) -> RegionOffset {
        let Segments { rows, stride, .. } = *self.segments;
        RegionOffset { region: MemoryRegion::Shared, offset: rows + rank * stride + element * self.call.size }
    }

    /// The part of a block that one rank gives to another, in the slot. The parts of one rank are contiguous.
    #[inline]
    fn cell(&self, from: usize, to: usize) -> RegionOffset {
        self.row(from, to * self.segments.each)
    }

    /// The only row of a broadcast.
    #[inline]
    fn only(&self) -> RegionOffset {
        self.row(if self.segments.tiny { self.call.root } else { 0 }, 0)
    }

    /// Combines operands in the order of ranks. The last ones are combined first, so that no operand is overwritten.
    fn fold(&mut self, operand: impl Fn(usize) -> RegionOffset, into: RegionOffset, elements: usize) {
        let last = self.call.p - 1;
        if last == 0 {
            return self.steps.copy(operand(0), into, elements);
        }
        self.steps.combine(operand(last - 1), operand(last), into, elements);
        for rank in (0..last - 1).rev() {
            self.steps.combine(operand(rank), into, into, elements);
        }
    }

    pub(super) fn await_all(&mut self, times: u32) {
        for rank in self.others() {
            self.steps.await_signals(rank, times);
        }
    }

    /// Every rank copies its vector into the slot, and each rank that needs the result reduces all of them.
    fn reduce_whole(mut self) {
        let (part, own) = (self.part(0), self.rank);
        let given = self.user(MemoryRegion::Input, part.start);
        // No other rank reads the root's input. But in place, the result would overwrite it.
        let stays = self.call.kind == Kind::Reduce && self.is_root() && !self.call.in_place;
        if !stays {
            self.steps.claim();
            self.steps.copy(given, self.row(own, 0), part.len());
            self.steps.signal();
        }
        if self.call.kind == Kind::Allreduce || self.is_root() {
            self.await_all(1);
            let (into, first) = (self.user(MemoryRegion::Output, part.start), self.row(0, 0));
            let distance = self.segments.stride;
            let operand = |rank: usize| match rank == own && stays {
                true => given,
                false => RegionOffset { offset: first.offset + rank * distance, ..first },
            };
            self.fold(operand, into, part.len());
        }
    }

    /// Every rank copies its vector into the slot and reduces a share of all vectors; each rank that needs the result
    /// copies all shares.
    fn reduce_shares(mut self) {
        let (part, p) = (self.part(0), self.call.p);
        let (first, total) = (part.start, part.len());
        let share = |rank: usize| rank * total / p..(rank + 1) * total / p;
        let mine = share(self.rank);
        self.steps.claim();
        for other in [0..mine.start, mine.end..total] {
            let given = self.user(MemoryRegion::Input, first + other.start);
            self.steps.copy(given, self.row(self.rank, other.start), other.len());
        }
        self.steps.signal();
        self.await_all(1);
        let (own, given) = (self.rank, self.user(MemoryRegion::Input, first + mine.start));
        let (distance, rows) = (self.segments.stride, self.row(0, mine.start));
        let result = self.row(p, mine.start);
        let operand = |rank: usize| match rank == own {
            true => given,
            false => RegionOffset { offset: rows.offset + rank * distance, ..rows },
        };
        self.fold(operand, result, mine.len());
        self.steps.signal();
        if self.call.kind == Kind::Allreduce || self.is_root() {
            for rank in std::iter::once(self.rank).chain(self.others()) {
                let share = share(rank);
                if rank != self.rank {
                    self.steps.await_signals(rank, 2);
                }
                let taken = self.user(MemoryRegion::Output, first + share.start);
                self.steps.copy(self.row(p, share.start), taken, share.len());
            }
        }
    }

    /// Every rank copies the blocks of the others into the slot, and reduces its own block.
    fn reduce_scatter(mut self) {
        self.steps.claim();
        for block in self.others() {
            let len = self.part(block).len();
            self.steps.copy(self.block(MemoryRegion::Input, block), self.cell(self.rank, block), len);
        }
        let (own, len) = (self.rank, self.part(self.rank).len());
        let mut mine = self.block(MemoryRegion::Input, own);
        if self.call.in_place {
            // The result may overwrite it before it is combined.
            let copy = self.cell(own, own);
            self.steps.copy(mine, copy, len);
            mine = copy;
        }
        self.steps.signal();
        self.await_all(1);
        let (first, distance) = (self.cell(0, own), self.segments.stride);
        let operand = |rank: usize| match rank == own {
            true => mine,
            false => RegionOffset { offset: first.offset + rank * distance, ..first },
        };
        let into = self.own(MemoryRegion::Output);
        self.fold(operand, into, len);
    }

    /// The root copies its vector into the slot, and the others copy it from there.
    fn broadcast(self) {
        let part = self.part(0);
        if self.is_root() {
            self.steps.claim();
            self.steps.copy(self.user(MemoryRegion::Input, part.start), self.only(), part.len());
            self.steps.signal();
        } else {
            self.steps.await_signals(self.call.root, 1);
            self.steps.copy(self.only(), self.user(MemoryRegion::Output, part.start), part.len());
        }
    }

    /// Every rank copies its block into the slot, and copies all others from there.
    fn allgather(self) {
        let own = self.part(self.rank).len();
        self.steps.claim();
        self.steps.copy(self.given(), self.row(self.rank, 0), own);
        self.steps.signal();
        self.steps.copy(self.given(), self.block(MemoryRegion::Output, self.rank), own);
        for rank in self.others() {
            self.steps.await_signals(rank, 1);
            self.steps.copy(self.row(rank, 0), self.block(MemoryRegion::Output, rank), self.part(rank).len());
        }
    }

    /// Where a rank's block lies that goes to the root or comes from it. The root has no row.
    fn row_beside_root(&self, rank: usize) -> RegionOffset {
        let skipped = usize::from(!self.segments.tiny && rank > self.call.root);
        self.row(rank - skipped, 0)
    }

    /// Every other rank copies its block into the slot, and the root copies them from there.
    fn gather(self) {
        let own = self.part(self.rank).len();
        if !self.is_root() {
            self.steps.claim();
            self.steps.copy(self.own(MemoryRegion::Input), self.row_beside_root(self.rank), own);
            return self.steps.signal();
        }
        self.steps.copy(self.given(), self.block(MemoryRegion::Output, self.rank), own);
        for rank in self.others() {
            self.steps.await_signals(rank, 1);
            self.steps.copy(
                self.row_beside_root(rank),
                self.block(MemoryRegion::Output, rank),
                self.part(rank).len(),
            );
        }
    }

    /// Where the root puts a rank's block.
    fn scattered(&self, rank: usize) -> RegionOffset {
        if self.segments.tiny { self.cell(self.call.root, rank) } else { self.row_beside_root(rank) }
    }

    /// The root copies the blocks of all others into the slot, and every rank copies its own from there.
    fn scatter(self) {
        let own = self.part(self.rank).len();
        if !self.is_root() {
            self.steps.await_signals(self.call.root, 1);
            return self.steps.copy(self.scattered(self.rank), self.own(MemoryRegion::Output), own);
        }
        self.steps.claim();
        for rank in self.others() {
            self.steps.copy(self.block(MemoryRegion::Input, rank), self.scattered(rank), self.part(rank).len());
        }
        self.steps.signal();
        if !self.call.in_place {
            self.steps.copy(self.block(MemoryRegion::Input, self.rank), self.own(MemoryRegion::Output), own);
        }
    }

    /// Every rank copies its blocks into the slot, and copies those for it from there.
    fn alltoall(self) {
        let own = self.rank;
        self.steps.claim();
        for rank in self.others() {
            self.steps.copy(self.block(MemoryRegion::Input, rank), self.cell(own, rank), self.part(rank).len());
        }
        self.steps.signal();
        let (from, to) = (self.block(MemoryRegion::Input, own), self.block(MemoryRegion::Output, own));
        self.steps.copy(from, to, self.part(own).len());
        for rank in self.others() {
            self.steps.await_signals(rank, 1);
            self.steps.copy(self.cell(rank, own), self.block(MemoryRegion::Output, rank), self.part(rank).len());
        }
    }
}
