//! Stages: steps of a process without a wait. Only between two stages does it wait for other processes, or they for it.

use std::ops::Range;

use super::shape::VectorPiece;
use super::step_list::StepList;
use crate::program::{CombineStep, CopyStep, MemoryRegion, Op, RegionOffset};

/// The last phase: the user owns the buffers until the next call begins.
pub(super) const END: usize = usize::MAX;

/// Steps of one process, and the shared memory that they access.
#[derive(Clone, Debug, Default)]
pub(super) struct Stage {
    /// The order among the stages of all processes of the node: of two stages that access the same memory, the one
    /// with the lower number comes first. The stages of a process are in this order.
    pub(super) phase: usize,
    /// The steps. Offsets count elements.
    pub(super) ops: Vec<Op>,
    /// Whether the part between nodes runs after these steps.
    pub(super) part: bool,
    /// The ranges of shared memory that are read.
    pub(super) reads: Vec<Range<usize>>,
    /// The ranges of shared memory that are written.
    pub(super) writes: Vec<Range<usize>>,
}

impl Stage {
    /// A stage of these steps, with the ranges that they access.
    pub(super) fn new(phase: usize, tape: StepList) -> Self {
        let mut stage = Stage { phase, ..Stage::default() };
        for op in &tape.ops {
            match *op {
                Op::Copy(CopyStep { from, to, elements }) => stage.touches(&[from], to, elements),
                Op::Combine(CombineStep { left, right, into, elements }) => {
                    stage.touches(&[left, right], into, elements)
                }
                _ => {}
            }
        }
        Stage { ops: tape.ops, reads: union(stage.reads), writes: union(stage.writes), ..stage }
    }

    /// Adds the part between nodes, which reads and writes these pieces, after the steps.
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

    /// Whether the stage is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.ops.is_empty() && !self.part && self.reads.is_empty() && self.writes.is_empty()
    }
}

/// The pieces in shared memory.
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
