//! What a process does without a wait: between two stages it may have to wait for others, and others for it.

use std::ops::Range;

use super::shape::VectorPiece;
use super::step_list::StepList;
use crate::program::{MemoryRegion, Op, RegionOffset};

/// The last phase: the user has the buffers back, until the next call begins.
pub(super) const END: usize = usize::MAX;

/// Steps of one process, and which shared memory they touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Stage {
    /// When, among the stages of all processes of the node: of two that touch the same memory, the one with the lower
    /// number comes first. A process has its stages in this order.
    pub(super) phase: usize,
    /// What it does. Spots count elements.
    pub(super) ops: Vec<Op>,
    /// Whether the part between nodes runs after these steps.
    pub(super) part: bool,
    /// What is read of shared memory.
    pub(super) reads: Vec<Range<usize>>,
    /// What is written of shared memory.
    pub(super) writes: Vec<Range<usize>>,
}

impl Stage {
    /// A stage of these steps, which say themselves what they touch.
    pub(super) fn new(phase: usize, tape: StepList) -> Self {
        let mut stage = Stage { phase, ..Stage::default() };
        for op in &tape.ops {
            match *op {
                Op::Copy { from, to, elements } => stage.touches(&[from], to, elements),
                Op::Combine { left, right, into, elements } => stage.touches(&[left, right], into, elements),
                _ => {}
            }
        }
        Stage { ops: tape.ops, reads: union(stage.reads), writes: union(stage.writes), ..stage }
    }

    /// The part between nodes follows these steps; it reads and writes these pieces.
    pub(super) fn then_part(mut self, input: &[VectorPiece], output: &[VectorPiece]) -> Self {
        self.part = true;
        self.reads.extend(shared(input));
        self.writes.extend(shared(output));
        Stage { reads: union(self.reads), writes: union(self.writes), ..self }
    }

    fn touches(&mut self, reads: &[RegionOffset], write: RegionOffset, length: usize) {
        let pieces: Vec<VectorPiece> = reads.iter().map(|&spot| VectorPiece { spot, length }).collect();
        self.reads.extend(shared(&pieces));
        self.writes.extend(shared(&[VectorPiece { spot: write, length }]));
    }

    /// Whether nothing happens.
    pub(super) fn is_empty(&self) -> bool {
        self.ops.is_empty() && !self.part && self.reads.is_empty() && self.writes.is_empty()
    }
}

/// Those that lie in shared memory.
pub(super) fn shared(pieces: &[VectorPiece]) -> impl Iterator<Item = Range<usize>> + '_ {
    let here = pieces.iter().filter(|piece| piece.spot.region == MemoryRegion::Shared);
    here.map(|piece| piece.spot.offset..piece.spot.offset + piece.length)
}

/// The same elements in as few ranges as possible.
fn union(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}
