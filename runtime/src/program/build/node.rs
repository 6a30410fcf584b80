//! The steps of a node's processes in shared memory before and after the part between nodes.
//!
//! This file only describes the accesses and their order; [`weave`](super::weave) derives the waits.

use std::ops::Range;

use roundel_spec::Kind;

use super::lane::LaneLines;
use super::shape::{LineLayout, NodeGeometry, VectorPiece, even, piece};
use super::stage::{END, Stage};
use super::step_list::StepList;
use super::{BuildError, Scheme};
use crate::program::{MemoryRegion, RegionOffset};

/// The layout of a node's shared memory. Offsets count elements.
pub(super) struct NodeMemory<'a> {
    shape: &'a NodeGeometry<'a>,
    /// The size of shared memory that is the same in all calls. It comes first.
    pub(super) fixed: usize,
    /// The size of shared memory that alternates between even and odd calls, for each of them.
    pub(super) alternating: usize,
    /// The contributions of all processes to a reduction, one vector after the other; with [`Scheme::Direct`] these
    /// are the user's inputs.
    operands: RegionOffset,
    /// The distance between these vectors.
    stride: usize,
    /// The node's data, reduced or gathered, before the exchange between nodes.
    vector: RegionOffset,
    /// The data after the exchange; with [`Scheme::Direct`] this is the user's output.
    result: RegionOffset,
}

impl<'a> NodeMemory<'a> {
    /// Lays out shared memory.
    pub(super) fn new(shape: &'a NodeGeometry<'a>) -> Result<Self, BuildError> {
        let nowhere = RegionOffset::start(MemoryRegion::Shared);
        let mut node = NodeMemory {
            shape,
            fixed: 0,
            alternating: 0,
            operands: nowhere,
            stride: 0,
            vector: nowhere,
            result: nowhere,
        };
        if shape.n > 1 {
            node.divide().ok_or(BuildError::TooLarge { what: "the shared memory" })?;
        }
        Ok(node)
    }

    fn divide(&mut self) -> Option<()> {
        let (shape, several) = (self.shape, self.shape.nodes > 1);
        let (all, own) = (shape.length, shape.node_block());
        self.stride = self.rounded(all)?;
        let operands = self.stride.checked_mul(shape.n)?;
        match (self.reduces(), shape.job.scheme) {
            (true, Scheme::Direct) => self.fixed = operands,
            (true, Scheme::Copies) => self.operands = self.room(operands)?,
            _ => {}
        }
        let vector = match (self.reduces(), shape.job.scheme) {
            (true, Scheme::Copies) => 0,
            (true, Scheme::Direct) if !several => 0,
            (true, _) => all,
            (false, _) if several => own,
            (false, Scheme::Direct) => 0,
            (false, _) => all,
        };
        self.vector = self.room(vector)?;
        let result = match shape.job.kind {
            Kind::ReduceScatter => own * usize::from(several),
            _ => all * usize::from(several || self.is_direct()),
        };
        self.result = self.room(result)?;
        let bytes = self.alternating.checked_mul(2)?.checked_add(self.fixed)?.checked_mul(shape.job.size)?;
        (bytes <= isize::MAX as usize).then_some(())
    }

    /// Allocates elements in each of the two alternating halves.
    fn room(&mut self, elements: usize) -> Option<RegionOffset> {
        let spot = RegionOffset { region: MemoryRegion::Shared, offset: self.fixed.checked_add(self.alternating)? };
        self.alternating = self.alternating.checked_add(self.rounded(elements)?)?;
        Some(spot)
    }

    /// Rounds up to a cache line, so that different processes never write to the same one.
    fn rounded(&self, elements: usize) -> Option<usize> {
        elements.checked_next_multiple_of(self.shape.stride)
    }

    fn reduces(&self) -> bool {
        self.shape.job.kind.reduces()
    }

    fn is_direct(&self) -> bool {
        self.shape.job.scheme == Scheme::Direct
    }

    /// The offset of the user's input in shared memory, if it lies there.
    pub(super) fn input(&self, local: usize) -> Option<usize> {
        let here = self.shape.n > 1 && self.is_direct() && self.reduces();
        here.then(|| self.operands.offset + local * self.stride)
    }

    /// The offset of the user's output in shared memory, if it lies there.
    pub(super) fn output(&self) -> Option<usize> {
        let here = self.shape.n > 1 && self.is_direct() && self.shape.job.kind != Kind::ReduceScatter;
        here.then_some(self.result.offset)
    }

    /// The lines of a lane for the part between nodes.
    pub(super) fn lines(&self, lane: usize) -> LaneLines {
        let area = self.shape.area(lane);
        let [user_input, user_output, scratch] =
            [MemoryRegion::Input, MemoryRegion::Output, MemoryRegion::Scratch].map(RegionOffset::start);
        let alone = self.shape.n == 1;
        let output = match self.shape.job.kind {
            Kind::ReduceScatter => LineLayout::Own { spot: if alone { user_output } else { self.result } },
            _ if alone => LineLayout::User { spot: user_output },
            _ if self.is_direct() => LineLayout::User { spot: self.result },
            _ => LineLayout::Arranged { spot: self.result, from: 0 },
        };
        let input = match self.reduces() {
            true if alone => LineLayout::User { spot: user_input },
            true if self.shape.job.scheme == Scheme::Copies => {
                let input = LineLayout::Arranged { spot: scratch, from: area.start };
                return LaneLines { input, output, scratch: area.len() };
            }
            true => LineLayout::Arranged { spot: self.vector, from: 0 },
            false => LineLayout::Own { spot: if alone { user_input } else { self.vector } },
        };
        LaneLines { input, output, scratch: 0 }
    }

    /// The stages of a process of the node.
    pub(super) fn stages(&self, local: usize) -> Vec<Stage> {
        let mut stages = match (self.reduces(), self.shape.job.scheme) {
            _ if self.shape.n == 1 => self.alone(),
            (true, Scheme::Copies) => self.copies(local),
            (true, Scheme::Chunks) => self.chunks(local),
            (true, Scheme::Direct) => self.direct(local),
            (false, _) => self.gather(local),
        };
        stages.retain(|stage| !stage.is_empty());
        stages
    }

    /// The stages of a process that is alone on its node, and needs no shared memory.
    fn alone(&self) -> Vec<Stage> {
        if self.shape.nodes > 1 {
            return vec![Stage::default().then_part(&[], &[])];
        }
        let all = 0..self.shape.length;
        vec![Stage::new(0, copy(&self.given(&all), &self.taken(&all)))]
    }

    /// Every process copies its input into shared memory, and each process reduces the part of the result that it
    /// needs.
    fn copies(&self, local: usize) -> Vec<Stage> {
        let all = 0..self.shape.length;
        let mut stages = vec![Stage::new(0, copy(&self.given(&all), &self.operand(local, &all)))];
        if self.shape.nodes == 1 {
            let wanted = self.wanted(local);
            stages.push(Stage::new(1, self.fold(&wanted, &self.mine(wanted.len()))));
            return stages;
        }
        if local < self.shape.lanes {
            let area = self.shape.area(local);
            let reduced = piece(RegionOffset::start(MemoryRegion::Scratch), 0..area.len());
            stages.push(self.then_part(Stage::new(1, self.fold(&area, &reduced)), local));
        }
        stages.push(self.back(2, local));
        stages
    }

    /// Every process adds its input to one vector, chunk by chunk; no two processes work on the same chunk.
    fn chunks(&self, local: usize) -> Vec<Stage> {
        let n = self.shape.n;
        let mut stages: Vec<Stage> = (0..n).map(|step| self.chunk(step, (local + step) % n)).collect();
        if self.shape.nodes == 1 {
            let wanted = self.wanted(local);
            stages.push(Stage::new(n, copy(&piece(self.vector, wanted.clone()), &self.mine(wanted.len()))));
            return stages;
        }
        if local < self.shape.lanes {
            stages.push(self.then_part(Stage { phase: n, ..Stage::default() }, local));
        }
        stages.push(self.back(n + 1, local));
        stages
    }

    fn chunk(&self, step: usize, number: usize) -> Stage {
        let range = even(self.shape.length, self.shape.n, number);
        let (given, sum) = (self.given(&range), piece(self.vector, range));
        let mut tape = StepList::default();
        if step == 0 {
            tape.copy(&given, &sum)
        } else {
            tape.combine(&sum, &given, &sum)
        }
        Stage::new(step, tape)
    }

    /// Inputs are already in shared memory: every process reduces its share of them.
    fn direct(&self, local: usize) -> Vec<Stage> {
        let several = self.shape.nodes > 1;
        let share = even(self.shape.length, self.shape.n, local);
        let (range, into) = match self.shape.job.kind {
            _ if several => (share.clone(), piece(self.vector, share)),
            Kind::Allreduce => (share.clone(), piece(self.result, share)),
            _ => (self.wanted(local), self.mine(self.wanted(local).len())),
        };
        let mut stages = vec![self.own_input(0, local), Stage::new(1, self.fold(&range, &into))];
        if several && local < self.shape.lanes {
            stages.push(self.then_part(Stage { phase: 2, ..Stage::default() }, local));
        }
        if several && self.output().is_none() {
            stages.push(self.back(3, local));
        }
        stages.push(self.end(self.own_input(END, local)));
        stages
    }

    /// The user writes its input between calls, so no other process reads it then.
    fn own_input(&self, phase: usize, local: usize) -> Stage {
        let begin = self.operands.offset + local * self.stride;
        let all = begin..begin + self.shape.length;
        Stage { phase, writes: Vec::from_iter((!all.is_empty()).then_some(all)), ..Stage::default() }
    }

    /// The user reads its output between calls, so no process writes it then.
    fn end(&self, stage: Stage) -> Stage {
        let all = self.output().map(|begin| begin..begin + self.shape.length).filter(|all| !all.is_empty());
        Stage { phase: END, reads: Vec::from_iter(all), ..stage }
    }

    /// Every process copies its block into shared memory; all blocks of the node together go to the other nodes.
    fn gather(&self, local: usize) -> Vec<Stage> {
        let (several, own) = (self.shape.nodes > 1, self.shape.own(local));
        let target = if several || !self.is_direct() { self.vector } else { self.result };
        let given = piece(RegionOffset::start(MemoryRegion::Input), 0..own.len());
        let mut stages = vec![Stage::new(0, copy(&given, &piece(target, own)))];
        if several && local < self.shape.lanes {
            stages.push(self.then_part(Stage { phase: 1, ..Stage::default() }, local));
        }
        match self.shape.job.scheme {
            Scheme::Direct => stages.push(self.end(Stage::default())),
            _ if several => stages.push(self.back(2, local)),
            Scheme::Copies => stages.push(self.take(1, &(0..self.shape.length))),
            Scheme::Chunks => {
                let others = (1..self.shape.n).map(|step| self.shape.own((local + step) % self.shape.n));
                let own = copy(&given, &self.taken(&self.shape.own(local)));
                stages.push(Stage::new(1, own));
                stages.extend(others.enumerate().map(|(step, block)| self.take(2 + step, &block)));
            }
        }
        stages
    }

    /// Copies a range of the node's gathered data to the output.
    fn take(&self, phase: usize, range: &Range<usize>) -> Stage {
        Stage::new(phase, copy(&piece(self.vector, range.clone()), &self.taken(range)))
    }

    /// Adds the part between nodes after these steps.
    fn then_part(&self, stage: Stage, lane: usize) -> Stage {
        let lines = self.lines(lane);
        stage.then_part(&self.shape.lane(lines.input, lane), &self.shape.lane(lines.output, lane))
    }

    /// Copies the part of the result that each process needs to its output.
    fn back(&self, phase: usize, local: usize) -> Stage {
        if self.shape.job.kind == Kind::ReduceScatter {
            let own = self.shape.own(local);
            return Stage::new(phase, copy(&piece(self.result, own.clone()), &self.mine(own.len())));
        }
        let all = 0..self.shape.length;
        Stage::new(phase, copy(&piece(self.result, all.clone()), &self.taken(&all)))
    }

    /// Reduces a range of all processes' contributions, in their order.
    fn fold(&self, range: &Range<usize>, into: &[VectorPiece]) -> StepList {
        let operands: Vec<_> = (0..self.shape.n).map(|local| self.operand(local, range)).collect();
        let mut tape = StepList::default();
        tape.fold(&operands, into);
        tape
    }

    /// The place in shared memory of a range of a process's contribution.
    fn operand(&self, local: usize, range: &Range<usize>) -> Vec<VectorPiece> {
        let vector = self.operands.after(local * self.stride);
        if self.is_direct() { self.shape.user(vector, range) } else { piece(vector, range.clone()) }
    }

    /// The part of the result that a process needs, on a single node.
    fn wanted(&self, local: usize) -> Range<usize> {
        if self.shape.job.kind == Kind::Allreduce { 0..self.shape.length } else { self.shape.own(local) }
    }

    /// The place of a range of the arranged vector in the user's input.
    fn given(&self, range: &Range<usize>) -> Vec<VectorPiece> {
        self.shape.user(RegionOffset::start(MemoryRegion::Input), range)
    }

    /// The place of a range of the arranged vector in the user's output.
    fn taken(&self, range: &Range<usize>) -> Vec<VectorPiece> {
        self.shape.user(RegionOffset::start(MemoryRegion::Output), range)
    }

    /// The first elements of the user's output.
    fn mine(&self, length: usize) -> Vec<VectorPiece> {
        piece(RegionOffset::start(MemoryRegion::Output), 0..length)
    }
}

fn copy(from: &[VectorPiece], to: &[VectorPiece]) -> StepList {
    let mut tape = StepList::default();
    tape.copy(from, to);
    tape
}
