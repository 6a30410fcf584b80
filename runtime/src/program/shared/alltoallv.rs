//! Alltoalls with blocks of any lengths: a rank knows only the lengths of what it sends and receives itself.
//!
//! The blocks of a rank for all others, one after the other, beginning with that for the next rank, are its *stream*.
//! In the first segment each rank publishes where the blocks begin in its stream, and the stream itself if it fits
//! beside them. Then all ranks know the lengths of all streams. So they agree, without another word, whether the call
//! continues, and how many more segments it takes: the streams that did not fit share the slot, and each segment holds
//! a piece of every one.
//!
//! What a rank does after the first segment depends on what others have published. That has no influence on the order
//! of steps: once the replay has shown that every rank reads what the others have written, each rank's steps are a
//! function of the call.
//!
//! A rank takes no more than it has room for, whatever others send.

use super::{BlockSpans, LINE, SharedBlocks, SharedCall, SharedSteps};
use crate::program::{MemoryRegion, RegionOffset};
use std::ops::Range;

/// The bytes of a published number.
pub const WORD: usize = size_of::<usize>();

/// The numbers that a rank takes from each other one.
const TAKEN: usize = 3;

/// The numbers that a rank keeps during a call of `p` ranks: those that it publishes, and then those that it takes.
pub const fn numbers(p: usize) -> usize {
    p + p * TAKEN
}

/// This rank's block in the stream of another, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamBlock {
    /// Where it begins.
    pub begin: usize,
    /// Where it ends.
    pub end: usize,
    /// The length of the whole stream.
    pub stream: usize,
}

/// What a rank has taken from all ranks.
#[derive(Clone, Copy, Debug)]
pub struct TakenBlocks<'a>(&'a [usize]);

impl<'a> TakenBlocks<'a> {
    /// Reads the numbers that a rank keeps after the first segment.
    pub fn new(numbers: &'a [usize], p: usize) -> Self {
        TakenBlocks(&numbers[p..])
    }

    fn p(&self) -> usize {
        self.0.len() / TAKEN
    }

    /// This rank's block in a rank's stream.
    fn of(&self, rank: usize) -> StreamBlock {
        let at = rank * TAKEN;
        StreamBlock { begin: self.0[at], end: self.0[at + 1], stream: self.0[at + 2] }
    }

    /// The longest stream.
    pub fn longest(&self) -> usize {
        (0..self.p()).map(|rank| self.of(rank).stream).max().unwrap_or(0)
    }
}

/// A block that is longer than its destination has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedBlock {
    /// The rank that sends it.
    pub from: usize,
    /// How many bytes it has.
    pub sent: usize,
    /// For how many there is room.
    pub room: usize,
}

/// One rank's part of an alltoallv. Elements are bytes.
#[derive(Clone, Copy, Debug)]
pub struct RankExchange<'a> {
    p: usize,
    rank: usize,
    slot: usize,
    leaving: BlockSpans<'a>,
    arriving: BlockSpans<'a>,
}

impl<'a> SharedCall<'a> {
    /// A rank's part of the call, if it is an alltoallv.
    pub fn exchange(&self, rank: usize) -> Option<RankExchange<'a>> {
        match self.blocks {
            SharedBlocks::Private { leaving, arriving } => {
                Some(RankExchange { p: self.p, rank, slot: self.slot, leaving, arriving })
            }
            SharedBlocks::Vector(_) | SharedBlocks::Equal(_) | SharedBlocks::Listed { .. } => None,
        }
    }
}

impl RankExchange<'_> {
    /// The ranks to which this rank sends, in the order of its stream.
    fn targets(&self) -> impl Iterator<Item = usize> + use<> {
        let (rank, p) = (self.rank, self.p);
        (rank + 1..p).chain(0..rank)
    }

    /// The numbers that it publishes: where each block begins in its stream, and where the last one ends.
    pub fn published(&self) -> impl Iterator<Item = usize> + '_ {
        let ends = self.targets().scan(0, |end, to| {
            *end += self.leaving.counts[to];
            Some(*end)
        });
        std::iter::once(0).chain(ends)
    }

    /// Its blocks: the destination, and the place in the stream.
    fn stream(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.targets().scan(0, |end, to| {
            let begin = *end;
            *end += self.leaving.counts[to];
            Some((to, begin..*end))
        })
    }

    /// The length of its stream.
    fn length(&self) -> usize {
        self.leaving.counts.iter().sum::<usize>() - self.leaving.counts[self.rank]
    }

    /// The distance between the rows of a slot that is divided between `rows` ranks.
    fn stride(&self, rows: usize) -> usize {
        self.slot / rows / LINE * LINE
    }

    /// The bytes of numbers at the beginning of a row of the first segment.
    fn head(&self) -> usize {
        self.p * WORD
    }

    /// The bytes of a stream that fits into the first segment.
    fn room(&self) -> usize {
        self.stride(self.p).saturating_sub(self.head())
    }

    /// A byte of a row.
    fn row(&self, row: usize, stride: usize, byte: usize) -> RegionOffset {
        RegionOffset { region: MemoryRegion::Shared, offset: self.p * LINE + row * stride + byte }
    }

    /// A byte of the first segment.
    fn first(&self, rank: usize, byte: usize) -> RegionOffset {
        self.row(rank, self.stride(self.p), byte)
    }

    /// The first segment, until the lengths of all streams are known.
    pub(super) fn publish<S: SharedSteps>(&self, steps: &mut S) {
        let own = self.rank;
        steps.claim();
        steps.copy(kept(0), self.first(own, 0), self.head());
        if self.length() <= self.room() {
            for (to, place) in self.stream() {
                copy(steps, given(self.leaving.displs[to]), self.first(own, self.head() + place.start), place.len());
            }
        }
        steps.signal();
        for from in self.targets() {
            let number = (own + self.p - from - 1) % self.p;
            let taken = self.p + from * TAKEN;
            steps.await_signals(from, 1);
            steps.copy(self.first(from, number * WORD), kept(taken), 2 * WORD);
            steps.copy(self.first(from, (self.p - 1) * WORD), kept(taken + 2), WORD);
        }
        // This rank's own stream, as it is published.
        let end = RegionOffset { offset: (self.p - 1) * WORD, ..kept(0) };
        for (number, from) in [(0, kept(0)), (1, kept(0)), (2, end)] {
            steps.copy(from, kept(self.p + own * TAKEN + number), WORD);
        }
    }

    /// How many segments the call takes.
    pub fn segments(&self, taken: &TakenBlocks<'_>) -> usize {
        let piece = self.stride(self.long(taken).count().max(1));
        1 + self.long(taken).map(|rank| taken.of(rank).stream.div_ceil(piece)).max().unwrap_or(0)
    }

    /// The ranks whose streams did not fit into the first segment.
    fn long(&self, taken: &TakenBlocks<'_>) -> impl Iterator<Item = usize> {
        let room = self.room();
        (0..self.p).filter(move |&rank| taken.of(rank).stream > room)
    }

    /// A segment. The first one, after the lengths of all streams are known.
    pub fn deliver<S: SharedSteps>(&self, taken: &TakenBlocks<'_>, segment: usize, steps: &mut S) {
        match segment.checked_sub(1) {
            None => self.take_short(taken, steps),
            Some(number) => self.carry(taken, number, steps),
        }
    }

    /// Copies this rank's block for itself, and its blocks of the streams that are complete.
    fn take_short<S: SharedSteps>(&self, taken: &TakenBlocks<'_>, steps: &mut S) {
        let own = self.rank;
        let length = self.leaving.counts[own].min(self.arriving.counts[own]);
        copy(steps, given(self.leaving.displs[own]), self.result(own, 0), length);
        for from in self.targets() {
            let StreamBlock { begin, end, stream } = taken.of(from);
            if stream <= self.room() {
                self.take(from, begin..end, begin, self.first(from, self.head() + begin), steps);
            }
        }
    }

    /// Writes a piece of this rank's stream into the slot, and copies what is for it from those of the others.
    fn carry<S: SharedSteps>(&self, taken: &TakenBlocks<'_>, number: usize, steps: &mut S) {
        let stride = self.stride(self.long(taken).count());
        let piece = number * stride..(number + 1) * stride;
        let own_row = self.long(taken).position(|rank| rank == self.rank);
        if let Some(row) = own_row.filter(|_| piece.start < self.length()) {
            steps.claim();
            for (to, place) in self.stream() {
                let part = overlap(&place, &piece);
                if part.is_empty() {
                    continue;
                }
                let from = given(self.leaving.displs[to] + part.start - place.start);
                copy(steps, from, self.row(row, stride, part.start - piece.start), part.len());
            }
            steps.signal();
        }
        for (row, from) in self.long(taken).enumerate().filter(|&(_, from)| from != self.rank) {
            let StreamBlock { begin, end, .. } = taken.of(from);
            let part = overlap(&(begin..end), &piece);
            if !part.is_empty() {
                steps.await_signals(from, 1);
                let at = self.row(row, stride, part.start - piece.start);
                self.take(from, part, begin, at, steps);
            }
        }
    }

    /// Copies a part of this rank's block, which begins at `begin`, from a rank's stream, as far as there is room.
    fn take<S: SharedSteps>(&self, from: usize, part: Range<usize>, begin: usize, at: RegionOffset, steps: &mut S) {
        let (first, last) = (part.start - begin, (part.end - begin).min(self.arriving.counts[from]));
        copy(steps, at, self.result(from, first), last.saturating_sub(first));
    }

    /// A byte of a rank's block in the output.
    fn result(&self, from: usize, byte: usize) -> RegionOffset {
        RegionOffset { region: MemoryRegion::Output, offset: self.arriving.displs[from] + byte }
    }

    /// The first block that is longer than the room that this rank has for it.
    pub fn truncated(&self, taken: &TakenBlocks<'_>) -> Option<TruncatedBlock> {
        let sent = |from: usize| match taken.of(from) {
            _ if from == self.rank => self.leaving.counts[from],
            StreamBlock { begin, end, .. } => end - begin,
        };
        let all = (0..self.p).map(|from| TruncatedBlock { from, sent: sent(from), room: self.arriving.counts[from] });
        all.into_iter().find(|block| block.sent > block.room)
    }
}

/// A number that this rank keeps.
fn kept(number: usize) -> RegionOffset {
    RegionOffset { region: MemoryRegion::Scratch, offset: number * WORD }
}

/// A byte of the input.
fn given(offset: usize) -> RegionOffset {
    RegionOffset { region: MemoryRegion::Input, offset }
}

fn copy<S: SharedSteps>(steps: &mut S, from: RegionOffset, to: RegionOffset, bytes: usize) {
    if bytes > 0 {
        steps.copy(from, to, bytes);
    }
}

/// The bytes that two ranges have in common; an empty range within the second if there are none.
fn overlap(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    let start = one.start.clamp(other.start, other.end);
    start..one.end.clamp(start, other.end)
}
