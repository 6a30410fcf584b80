//! The sink that turns a schedule's rounds into a [`MessagePlan`].
//!
//! Nothing is sent here, so nothing needs cleaning up in MPI if a schedule's code panics; but the other ranks would
//! wait for this one for ever, so the job ends.

use crate::call::geometry::Geometry;
use crate::mpi::lowering::areas::{Area, AreaOffset};
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::lowering::plan::{
    Combination, ExtraMessage, MessageForm, MessagePlan, MovedPiece, PlanStep, PlannedMessage, RoundStart,
};
use crate::mpi::process::ending::end_the_job;
use crate::policy::{Policy, Wire};
use crate::rank_rounds::RankRounds;
use crate::runs::{MessageShape, Run, for_each_run};
use crate::transport::RankPlacement;
use roundel_spec::sink::infallible;
use roundel_spec::{Action, Blocks, Line, Sink, Site};
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::forget;

/// Memory for the blocks of a line: its beginning, its bytes, and the size of an element.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    pub(crate) begin: AreaOffset,
    pub(crate) bytes: usize,
    pub(crate) size: usize,
}

impl Home {
    /// The position of a run and its length in bytes. Panics if the run does not lie inside.
    pub(crate) fn locate(&self, run: Run) -> (AreaOffset, usize) {
        let (offset, bytes) = (run.start.saturating_mul(self.size), run.len.saturating_mul(self.size));
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(inside, "the schedule names a block outside the buffer");
        (AreaOffset { area: self.begin.area, offset: self.begin.offset + offset }, bytes)
    }
}

/// Appends rounds to a plan, with their lines in `homes`. Scratch from `plan.scratch` on is free.
pub(crate) fn rounds(
    plan: &mut MessagePlan,
    rounds: &RankRounds,
    here: RankPlacement<'_>,
    homes: &[Home],
    geometry: impl Geometry,
    policy: Policy,
) {
    let guard = EndsTheJob { rank: here.rank };
    let (free, p, blocks) = (plan.scratch, here.p(), rounds.blocks);
    let combined_from = plan.combinations.len();
    let filled = vec![false; (homes.len() - 1) * blocks];
    let round = plan.begin_round();
    let mut builder = Builder {
        plan: &mut *plan,
        p,
        homes,
        geometry,
        blocks,
        policy,
        free,
        used: free,
        round,
        combined_from,
        filled,
    };
    infallible(rounds.replay(&mut builder));
    builder.close();
    plan.numbers.clone_from(&rounds.numbers);
    forget(guard);
}

struct Builder<'a, G> {
    plan: &'a mut MessagePlan,
    p: usize,
    homes: &'a [Home],
    geometry: G,
    blocks: usize,
    policy: Policy,
    /// Where scratch for packed messages begins, and where the part used by the round ends.
    free: usize,
    used: usize,
    round: RoundStart,
    /// Where the round's combinations begin.
    combined_from: usize,
    /// Which blocks of the lines after the first are filled: no other block may be read.
    filled: Vec<bool>,
}

impl<G: Geometry> Builder<'_, G> {
    /// The message of `blocks`.
    fn parcel<B: Blocks>(&mut self, peer: usize, blocks: &B, site: Site, direction: Direction) -> ExtraMessage {
        assert!(peer < self.p, "the schedule names a rank outside the communicator");
        let (home, shape) = (self.homes[site.line as usize], MessageShape::of(blocks, &self.geometry, self.blocks));
        let bytes = shape.elements.checked_mul(home.size.max(1)).filter(|&bytes| bytes <= isize::MAX as usize);
        assert!(bytes.is_some(), "the schedule repeats blocks until no message can hold them");
        let (elements, peer) = (shape.elements, peer as c_int);
        self.follow(blocks, site, direction);
        let combines = direction == Direction::In
            && matches!(site.action, Action::CombineLeft { .. } | Action::CombineRight { .. });
        // Data that is overwritten may still be on its way to another rank.
        let aside = direction == Direction::In && site.action == Action::Overwrite;
        let (spot, form) = match self.policy.choose(shape.runs, shape.elements.saturating_mul(home.size)) {
            _ if combines => (self.combined(blocks, site), MessageForm::Whole),
            _ if aside => (self.packed(blocks, home, direction), MessageForm::Whole),
            Wire::Contiguous => (home.locate(Run { start: shape.start, len: shape.elements }).0, MessageForm::Whole),
            Wire::Packed => (self.packed(blocks, home, direction), MessageForm::Whole),
            Wire::Datatype => (home.begin, MessageForm::Within(self.scattered(blocks, home))),
        };
        let form = if let MessageForm::Whole = form { self.plan.cut(elements, home.size, LIMIT) } else { form };
        ExtraMessage { message: PlannedMessage { spot, elements, peer }, form }
    }

    /// Tracks which lines are filled, and panics if the schedule reads elsewhere: there may be no valid element there.
    fn follow<B: Blocks>(&mut self, blocks: &B, site: Site, direction: Direction) {
        let reads = match (direction, site.action) {
            (Direction::Out, _) => Some(site.line),
            (Direction::In, Action::CombineLeft { with } | Action::CombineRight { with }) => Some(with),
            (Direction::In, Action::Copy | Action::Replace | Action::Overwrite) => None,
        };
        let slot = |line: Line, block: usize| (line as usize).checked_sub(1).map(|line| line * self.blocks + block);
        if let Some(line) = reads {
            let filled = |block| slot(line, block).is_none_or(|slot| self.filled[slot]);
            assert!(blocks.each().all(filled), "the schedule reads a line where it holds nothing");
        }
        if direction == Direction::In && site.line > 0 {
            let begin = (site.line as usize - 1) * self.blocks;
            blocks.each().for_each(|block| self.filled[begin + block] = true);
        }
    }

    /// Scratch for a packed message.
    fn packed<B: Blocks>(&mut self, blocks: &B, home: Home, direction: Direction) -> AreaOffset {
        let start = AreaOffset { area: Area::Scratch, offset: self.used };
        let mut at = start;
        let plan = &mut *self.plan;
        for_each_run(blocks, &self.geometry, self.blocks, |run| {
            let (spot, bytes) = home.locate(run);
            match direction {
                Direction::Out => plan.packs.push(MovedPiece { from: spot, to: at, bytes }),
                Direction::In => plan.unpacks.push(MovedPiece { from: at, to: spot, bytes }),
            }
            at.offset += bytes;
        });
        self.use_up(at.offset);
        start
    }

    /// Scratch for blocks that arrive and are combined with local data.
    fn combined<B: Blocks>(&mut self, blocks: &B, site: Site) -> AreaOffset {
        let start = AreaOffset { area: Area::Scratch, offset: self.used };
        let (with, arrives_left) = match site.action {
            Action::CombineLeft { with } => (with, true),
            Action::CombineRight { with } => (with, false),
            Action::Copy | Action::Replace | Action::Overwrite => unreachable!("nothing is combined"),
        };
        let (line, with) = (self.homes[site.line as usize], self.homes[with as usize]);
        let mut at = start;
        let plan = &mut *self.plan;
        for_each_run(blocks, &self.geometry, self.blocks, |run| {
            let ((into, bytes), (own, _)) = (line.locate(run), with.locate(run));
            let (left, right) = if arrives_left { (at, own) } else { (own, at) };
            plan.combinations.push(Combination { left, right, into, elements: run.len });
            at.offset += bytes;
        });
        self.use_up(at.offset);
        start
    }

    /// Records how much scratch the round uses.
    fn use_up(&mut self, end: usize) {
        self.used = end.next_multiple_of(size_of::<u128>());
        self.plan.scratch = self.plan.scratch.max(self.used);
    }

    /// The pieces of a message, to build a datatype.
    fn scattered<B: Blocks>(&mut self, blocks: &B, home: Home) -> std::ops::Range<usize> {
        let plan = &mut *self.plan;
        let begin = plan.lengths.len();
        for_each_run(blocks, &self.geometry, self.blocks, |run| {
            plan.push_run(home.locate(run).0.offset - home.begin.offset, run.len, home.size, LIMIT);
        });
        begin..plan.lengths.len()
    }

    /// Ends the round, if there is one.
    fn close(&mut self) {
        let plan = &mut *self.plan;
        plan.end_round(self.round);
        match plan.combinations[self.combined_from..] {
            [] => {}
            [one] => plan.steps.push(PlanStep::CombineOne(one)),
            _ => plan.steps.push(PlanStep::Combine { combinations: self.combined_from..plan.combinations.len() }),
        }
        self.combined_from = plan.combinations.len();
        self.round = plan.begin_round();
        self.used = self.free;
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Out,
    In,
}

impl<G: Geometry> Sink for Builder<'_, G> {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let parcel = self.parcel(to, &blocks, site, Direction::Out);
        self.plan.departures.push(parcel);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        let parcel = self.parcel(from, &blocks, site, Direction::In);
        self.plan.arrivals.push(parcel);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        self.close();
        Ok(())
    }
}

/// Ends the job if a schedule panics. Dropped only then.
pub(crate) struct EndsTheJob {
    pub(crate) rank: usize,
}

impl Drop for EndsTheJob {
    fn drop(&mut self) {
        end_the_job(format_args!("a collective panicked on rank {}", self.rank))
    }
}
