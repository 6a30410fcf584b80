//! Collectives among the ranks of one node, through a bounded window of memory that they share.
//!
//! The window is a ring of slots. A call is divided into *segments* that fit a slot: elements are independent of each
//! other, so each segment is the same collective on a part of every block. Segments have consecutive numbers, which
//! are equal on all ranks because all ranks make the same calls in the same order; segment `s` uses slot `s` modulo
//! the number of slots. Before a rank writes into a slot, it waits until all ranks have completed the segment that
//! used it before. So ranks run ahead of each other by as many segments as there are slots, and no call ends with a
//! barrier.
//!
//! [`segment`] describes what a rank does in one segment, as calls of [`SharedSteps`]: the engine executes them, and
//! [`replay`](mod@replay) follows them on all ranks together, with symbolic elements.
//!
//! In an alltoallv ranks know only their own lengths. They publish them in the first segment ([`alltoallv`]).
//!
//! Long data that is only moved need not pass through a slot: if the kernel lets ranks read each other's memory, they
//! publish where it is, and it is copied once instead of twice ([`CopyPath::Kernel`]).
//!
//! Every reduction combines the contributions in the order of ranks, once for each element, or with the same tree on
//! all ranks: operations need not commute, and all ranks get bitwise equal results.

pub mod alltoallv;
mod fetch;
pub mod replay;
mod steps;

pub use steps::segment;

use crate::program::{CombineStep, CopyStep, RegionOffset};
use roundel_spec::Kind;
use std::ops::Range;

/// The most ranks on a node for which the tests replay all collectives.
pub const MOST_RANKS: usize = 64;

/// The size of a cache line: ranks never write to the same one.
pub const LINE: usize = 64;

/// A slot begins with a cache line for each rank. Its first bytes are the rank's counter, and the rest is for short
/// data, which other ranks then get together with the counter in one memory access.
pub const COUNTER: usize = 16;

/// One rank signals less often than this in a segment.
const SIGNALS: u64 = 4;

/// The value of a rank's counter in a slot when the rank has signalled this often in a segment.
#[inline]
pub const fn signal_value(segment: u64, times: u64) -> u64 {
    segment * SIGNALS + times
}

/// How many segments all ranks must have completed before a segment may claim its slot.
#[inline]
pub const fn completed_before(segment: u64, slots: usize) -> u64 {
    (segment + 1).saturating_sub(slots as u64)
}

/// What a rank does in a segment, step by step. Offsets are in bytes.
pub trait SharedSteps {
    /// Waits until all ranks have completed the segment that used this slot before.
    fn claim(&mut self);

    /// Copies elements. Source and destination are equal, or do not overlap.
    fn copy(&mut self, from: RegionOffset, to: RegionOffset, elements: usize);

    /// Combines elements one by one; `into` may be the same as `right`, and overlaps neither otherwise.
    fn combine(&mut self, left: RegionOffset, right: RegionOffset, into: RegionOffset, elements: usize);

    /// Publishes where a part of this rank's memory begins, so that other ranks may [fetch](SharedSteps::fetch) from it
    /// after the next signal.
    fn publish(&mut self, from: RegionOffset);

    /// Copies elements from the memory that a rank has published, `offset` bytes behind its beginning.
    fn fetch(&mut self, rank: usize, offset: usize, to: RegionOffset, elements: usize);

    /// Increments this rank's counter in the slot.
    fn signal(&mut self);

    /// Waits until a rank has incremented its counter this many times in this segment.
    fn await_signals(&mut self, rank: usize, times: u32);
}

/// Elements that are read from another rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchStep {
    /// The other rank.
    pub rank: usize,
    /// How many bytes behind the beginning of what it has published.
    pub offset: usize,
    /// The destination.
    pub to: RegionOffset,
    /// The number of elements.
    pub elements: usize,
}

/// A step of a rank, recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedOp {
    /// [`SharedSteps::claim`].
    Claim,
    /// [`SharedSteps::copy`].
    Copy(CopyStep),
    /// [`SharedSteps::combine`].
    Combine(CombineStep),
    /// [`SharedSteps::publish`].
    Publish(RegionOffset),
    /// [`SharedSteps::fetch`].
    Fetch(FetchStep),
    /// [`SharedSteps::signal`].
    Signal,
    /// [`SharedSteps::await_signals`].
    Await {
        /// The rank.
        rank: usize,
        /// The number of increments.
        times: u32,
    },
}

impl SharedSteps for Vec<SharedOp> {
    fn claim(&mut self) {
        self.push(SharedOp::Claim);
    }

    fn copy(&mut self, from: RegionOffset, to: RegionOffset, elements: usize) {
        self.push(SharedOp::Copy(CopyStep { from, to, elements }));
    }

    fn combine(&mut self, left: RegionOffset, right: RegionOffset, into: RegionOffset, elements: usize) {
        self.push(SharedOp::Combine(CombineStep { left, right, into, elements }));
    }

    fn publish(&mut self, from: RegionOffset) {
        self.push(SharedOp::Publish(from));
    }

    fn fetch(&mut self, rank: usize, offset: usize, to: RegionOffset, elements: usize) {
        self.push(SharedOp::Fetch(FetchStep { rank, offset, to, elements }));
    }

    fn signal(&mut self) {
        self.push(SharedOp::Signal);
    }

    fn await_signals(&mut self, rank: usize, times: u32) {
        self.push(SharedOp::Await { rank, times });
    }
}

/// How the data of a call is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedBlocks<'a> {
    /// One vector of this many elements: allreduce, reduce, broadcast.
    Vector(usize),
    /// A block of this many elements for each rank, one after the other.
    Equal(usize),
    /// The elements of each rank's block, and where it begins.
    Listed {
        /// The lengths.
        counts: &'a [usize],
        /// The beginnings.
        displs: &'a [usize],
    },
    /// The blocks of an alltoallv, which only this rank knows. Elements are bytes, and the input is not the output.
    Private {
        /// What it sends to each rank.
        leaving: BlockSpans<'a>,
        /// What it has room for from each rank.
        arriving: BlockSpans<'a>,
    },
}

/// Blocks of any lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSpans<'a> {
    /// The elements of each block.
    pub counts: &'a [usize],
    /// Where each begins.
    pub displs: &'a [usize],
}

/// How data that is only moved gets from rank to rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CopyPath {
    /// Through a slot: one rank copies it in, and the others copy it out.
    #[default]
    Slot,
    /// The kernel copies it from one rank's memory to another's.
    Kernel,
}

/// A collective call of the ranks of one node.
#[derive(Clone, Copy, Debug)]
pub struct SharedCall<'a> {
    /// The collective.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// The root, if the collective has one.
    pub root: usize,
    /// The bytes of an element.
    pub size: usize,
    /// How the data is divided.
    pub blocks: SharedBlocks<'a>,
    /// Whether this rank's input and output are the same memory: its input lies where its result will be.
    pub in_place: bool,
    /// How data that is only moved gets from rank to rank.
    pub path: CopyPath,
    /// The bytes of data in a slot, besides the lines of its counters. Set when the call is planned.
    pub slot: usize,
}

/// A call that no slot can hold, even in single elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{p} ranks with elements of {size} bytes do not fit into {slot} bytes of shared memory")]
pub struct DoesNotFit {
    /// The number of ranks.
    pub p: usize,
    /// The bytes of an element.
    pub size: usize,
    /// The bytes of a slot.
    pub slot: usize,
}

/// Vectors of at most this many bytes are reduced by every rank that needs the result; of longer ones every rank
/// reduces a share.
pub const SHORT: usize = 2048;

impl SharedCall<'_> {
    /// The number of elements of a rank's block, or of the vector.
    #[inline]
    pub(super) fn len(&self, block: usize) -> usize {
        match self.blocks {
            SharedBlocks::Vector(len) | SharedBlocks::Equal(len) => len,
            SharedBlocks::Listed { counts, .. } => counts[block],
            SharedBlocks::Private { arriving, .. } => arriving.counts[block],
        }
    }

    /// Where a rank's block begins among all blocks.
    #[inline]
    pub(super) fn begin(&self, block: usize) -> usize {
        match self.blocks {
            SharedBlocks::Vector(_) => 0,
            SharedBlocks::Equal(len) => block * len,
            SharedBlocks::Listed { displs, .. } => displs[block],
            SharedBlocks::Private { arriving, .. } => arriving.displs[block],
        }
    }

    /// The longest block.
    fn longest(&self) -> usize {
        match self.blocks {
            SharedBlocks::Vector(len) | SharedBlocks::Equal(len) => len,
            SharedBlocks::Listed { counts, .. }
            | SharedBlocks::Private { arriving: BlockSpans { counts, .. }, .. } => {
                counts.iter().copied().max().unwrap_or(0)
            }
        }
    }

    /// Whether every rank reduces a share of the vector. With two ranks, a root that reduces alone is faster.
    #[inline]
    pub(super) fn shares(&self) -> bool {
        let long = self.longest() * self.size > SHORT;
        long && (self.kind == Kind::Allreduce || self.kind == Kind::Reduce && self.p > 2)
    }

    /// Whether ranks read each other's memory. A rank must not overwrite what others still read, so an alltoall in
    /// place cannot; and what is reduced is in a slot anyway.
    #[inline]
    pub fn fetches(&self) -> bool {
        let overwritten = self.kind == Kind::Alltoall && self.in_place;
        self.path == CopyPath::Kernel && !self.kind.reduces() && !overwritten && !self.is_private()
    }

    /// Whether a rank's contribution fits beside its counter.
    fn is_tiny(&self) -> bool {
        let parts = match self.kind {
            Kind::Scatter | Kind::Alltoall | Kind::ReduceScatter => self.p,
            _ => 1,
        };
        !self.shares() && self.longest() * self.size * parts <= LINE - COUNTER
    }

    /// How a slot is divided: groups, each of which begins at a cache line, and the parts of blocks in each.
    fn groups(&self) -> (usize, usize) {
        match self.kind {
            Kind::Broadcast => (1, 1),
            Kind::Allreduce | Kind::Reduce => (self.p + usize::from(self.shares()), 1),
            Kind::Allgather => (self.p, 1),
            // The root needs no row for its own block.
            Kind::Gather | Kind::Scatter => (self.p.max(2) - 1, 1),
            Kind::ReduceScatter | Kind::Alltoall => (self.p, self.p),
        }
    }

    /// The bytes of the vector or of all blocks. Ranks compare it, because calls of different lengths do not match.
    /// Zero if ranks know only their own lengths.
    pub fn bytes(&self) -> usize {
        let elements = match self.blocks {
            SharedBlocks::Vector(len) => len,
            SharedBlocks::Equal(len) => len * self.p,
            SharedBlocks::Listed { counts, .. } => counts.iter().sum(),
            SharedBlocks::Private { .. } => 0,
        };
        elements * self.size
    }

    /// Whether ranks know only their own lengths.
    pub fn is_private(&self) -> bool {
        matches!(self.blocks, SharedBlocks::Private { .. })
    }

    /// The bytes of a slot that holds the whole call; no slot is large enough for one whose length is not known.
    pub fn whole(&self) -> usize {
        let (groups, parts) = self.groups();
        if self.is_private() {
            return usize::MAX;
        }
        if self.is_tiny() || self.fetches() {
            return 0;
        }
        let row = self.longest().saturating_mul(parts).saturating_mul(self.size);
        row.saturating_add(LINE).saturating_mul(groups)
    }

    /// Divides the call into segments. Of an alltoallv, only the first one is known.
    ///
    /// # Errors
    /// If not even one element of each block fits into a slot.
    pub fn segments(&self) -> Result<Segments, DoesNotFit> {
        let (longest, (groups, parts)) = (self.longest(), self.groups());
        if self.is_private() {
            let fits = self.slot / self.p / LINE * LINE > self.p * alltoallv::WORD;
            return if fits { Ok(Segments { count: 1, ..Segments::default() }) } else { Err(self.does_not_fit()) };
        }
        if longest == 0 {
            return Ok(Segments::default());
        }
        if self.is_tiny() || self.fetches() {
            return Ok(Segments { each: longest, count: 1, tiny: true, rows: COUNTER, stride: LINE });
        }
        // Each group may waste almost one cache line.
        let room = (self.slot / groups).saturating_sub(LINE - 1) / parts / self.size;
        if room == 0 {
            return Err(self.does_not_fit());
        }
        let (each, count) = (room.min(longest), longest.div_ceil(room));
        let stride = (each * parts * self.size).next_multiple_of(LINE);
        Ok(Segments { each, count, tiny: false, rows: self.p * LINE, stride })
    }

    fn does_not_fit(&self) -> DoesNotFit {
        DoesNotFit { p: self.p, size: self.size, slot: self.slot }
    }
}

/// The segments of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// The elements of each block in a segment; the last one may have fewer.
    pub each: usize,
    /// The number of segments.
    pub count: usize,
    /// Whether a rank's contribution lies beside its counter.
    pub(super) tiny: bool,
    /// Where the first row of a slot begins, in bytes.
    pub(super) rows: usize,
    /// The distance between the rows of different ranks.
    pub(super) stride: usize,
}

impl Segments {
    /// The elements of a block of `len` elements that belong to a segment.
    #[inline]
    pub(super) fn part(&self, segment: usize, len: usize) -> Range<usize> {
        let begin = (segment * self.each).min(len);
        begin..(begin + self.each).min(len)
    }
}
