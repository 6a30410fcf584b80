//! A sequence: inner collectives that run one after the other, each by its contract.
//!
//! What a rank has of a block after a stage follows from what ranks had before it and from the contract of the stage
//! alone; what the contract does not promise is gone. So contents are formulas, for an arbitrary rank, block and
//! contributor, and need no `holds`:
//!
//! - before a stage that reduces, no contribution is at two members of a group; afterwards a rank has, of the blocks
//!   that the contract gives it, what the members had together, and nothing else of them;
//! - a stage that moves data needs something in the blocks that the contract starts with; afterwards a rank has what
//!   it brought, and of the blocks that the contract gives it what their source had, which is no less than what it
//!   replaces.
//!
//! What members have together is a union over a group. It has no quantifier, because only one member can have the
//! contribution of a rank: among all ranks that rank itself, on a node the member in its lane, in a lane the member on
//! its node. That it is so is an obligation.
//!
//! At the end, the blocks that the contract of the whole gives to a rank have all contributions. *same_tree*: a tree is
//! named after the stage and the rank that reduced it, or the group where an inner allreduce makes the same of it
//! everywhere. *rank_order*: of two members, all that the first one has comes before what the second one has.

mod contents;
mod stage;

use super::{MissingObligation, ProofContext, Prover, Step};
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::{Attempt, Property};
use crate::proving::smt::term::{Term, and, eq, implies, lt, not, within};
use contents::{Contents, Whole, is};
use roundel_spec::Kind;
use roundel_spec::schedule::{Group, Within};
use stage::{Stage, StageBlocks};

impl<'a> Prover<'a> {
    /// All obligations of a sequence.
    pub(super) fn sequence(&mut self) {
        if let Some(reason) = self.sequence_out_of_reach() {
            return self.gap(Property::Invariant, reason.into());
        }
        self.domain();
        self.root_is_a_rank();
        self.rotation();
        self.split();
        self.attempt(Property::Coverage, |prover| {
            let mut frame = prover.base()?;
            let whole = Whole { kind: prover.schedule.kind, root: prover.root(&mut frame)? };
            let mut stages = Vec::new();
            for clause in prover.schedule.within() {
                let stage = prover.contract(&mut frame, clause)?;
                prover.blocks_of_stage(&frame, &stage)?;
                prover.stage(&frame, &Contents { whole: &whole, stages: &stages }, &stage)?;
                stages.push(stage);
            }
            prover.contract_of_the_whole(&frame, &Contents { whole: &whole, stages: &stages })
        });
        for bound in self.schedule.bounds.iter().filter(|bound| !bound.checked) {
            let reason = format!("`{bound}`: what inner collectives cost is not encoded");
            self.gaps.push(MissingObligation::new(Property::Bounds, reason));
        }
    }

    /// A construct of a sequence that cannot be encoded, if there is one.
    fn sequence_out_of_reach(&self) -> Option<&'static str> {
        let (schedule, loops) = (self.schedule, &self.schedule.loops);
        let kind = |clause: &Within| schedule.inners[clause.inner].kind;
        let same = |clause: &Within| kind(clause) == schedule.kind;
        let on_nodes = self.wheel == Numbering::Nodes;
        let numbers = |clause: &Within| kind(clause).has_a_block_each() || kind(clause).has_root();
        if on_nodes && schedule.kind != Kind::Allreduce {
            Some("a sequence that looks at nodes is not encoded, but for an allreduce")
        } else if schedule.within().any(|clause| !matches!(clause.group, Group::All | Group::Node | Group::Lane)) {
            Some("a sequence inside of other groups than nodes and lanes is not encoded")
        } else if on_nodes && schedule.within().any(|clause| clause.group == Group::All && numbers(clause)) {
            Some("a root or a block of all ranks, in a sequence that looks at nodes, is not encoded")
        } else if schedule.within().any(|clause| same(clause) && schedule.kind == Kind::Allgather) {
            Some("an allgather as a stage of an allgather is not encoded")
        } else if schedule.lines.len() > 1 || schedule.within().any(|clause| clause.site.line > 0) {
            Some("a sequence with several lines is not encoded")
        } else if loops.iter().any(|l| !l.holds.is_empty()) {
            Some("a sequence with `holds` is not encoded: leave it out, it follows from the contracts")
        } else if loops.iter().any(|l| !(l.states.is_empty() && l.hints.is_empty() && l.ends_with.is_empty())) {
            Some("a sequence with states, hints or final conditions is not encoded")
        } else {
            None
        }
    }

    /// The contract of a stage. All members of a group run it, or none, with the same root, which is one of them.
    fn contract(&mut self, frame: &mut ProofContext<'a>, clause: &'a Within) -> Step<Stage<'a>> {
        let kind = self.schedule.inners[clause.inner].kind;
        let blocks = StageBlocks::of(clause, kind)?;
        let mut stage = Stage { kind, clause, root: "0".into(), blocks };
        if let Some(when) = &clause.when {
            let mut frame = frame.clone();
            frame.cx.settle();
            frame.cx.lower(when, &frame.values)?;
            self.computable(&mut frame, &format!("{}-when", stage.name()), &format!("the condition `{when}`"));
            let member = self.other_member(&mut frame, &stage, "member!");
            let (here, there) = (stage.takes_part(&mut frame, &self.here())?, stage.takes_part(&mut frame, &member)?);
            let claim = format!("`{when}` is the same for all members of a group");
            self.prove(&frame, Property::PeerInverse, &format!("{}-when", stage.name()), &claim, eq(&here, &there));
        }
        let Some(root) = &clause.root else { return Ok(stage) };
        frame.cx.settle();
        stage.root = frame.cx.lower(root, &frame.values)?;
        let name = stage.name();
        self.computable(frame, &format!("{name}-root"), &format!("the root `{root}`"));
        let mut inside = frame.clone();
        self.assume_running(&mut inside, &stage)?;
        let size = stage.size(&mut inside.cx, &self.here());
        let claim = format!("`{root}` is a rank");
        self.prove(&inside, Property::Root, &name, &claim, within(&stage.root, "0", &size));
        let mut other = frame.clone();
        let rank = self.any_rank(&mut other, "other!");
        let there = other.cx.lower(root, &other.seen_at(&rank))?;
        let claim = format!("`{root}` is the same on all ranks");
        self.prove(&other, Property::PeerInverse, &format!("{name}-root"), &claim, eq(&stage.root, &there));
        Ok(stage)
    }

    /// The blocks of a stage are blocks of the vector, and the same for all members if it runs on them as one.
    fn blocks_of_stage(&mut self, frame: &ProofContext<'a>, stage: &Stage<'a>) -> Step<()> {
        let name = format!("{}-blocks", stage.name());
        let mut frame = frame.clone();
        let blocks = self.blocks(&mut frame)?;
        let filter = match stage.blocks {
            None => return Ok(()),
            Some(StageBlocks::OfMembers { filter: None }) if stage.clause.group == Group::All => {
                let claim = format!("there is a block for each rank, as {} needs", stage.kind.with_article());
                self.prove(&frame, Property::Defined, &name, &claim, eq(&blocks, "p"));
                return Ok(());
            }
            Some(StageBlocks::OfMembers { filter } | StageBlocks::Named { filter, .. }) => filter,
        };
        self.assume_running(&mut frame, stage)?;
        frame.cx.settle();
        let what = format!("`{}`", stage.clause.brings);
        let block = match stage.blocks {
            Some(StageBlocks::Named { index: Some(index), .. }) => {
                let k = frame.cx.constant(&index.var.name);
                let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
                frame.values.set(index.var.slot, k.clone());
                self.computable(&mut frame, &name, &what);
                frame.assume(within(&k, &lo, &hi));
                k
            }
            Some(StageBlocks::Named { item, .. }) => frame.cx.lower(item, &frame.values)?,
            _ => stage.index(&self.here()),
        };
        let chosen = filter.map_or(Ok("true".into()), |filter| frame.cx.lower(filter, &frame.values))?;
        self.computable(&mut frame, &name, &what);
        let mut inside = frame.clone();
        inside.assume(chosen);
        let claim = format!("{what} are blocks of the vector");
        self.prove(&inside, Property::WrapRange, &name, &claim, within(&block, "0", &blocks));
        if stage.kind.takes_whole() {
            let member = self.other_member(&mut frame, stage, "member!");
            let block = self.any_block(&mut frame)?;
            let (here, there) =
                (stage.touches(&mut frame, &self.here(), &block)?, stage.touches(&mut frame, &member, &block)?);
            let claim = format!("{what} are the same for all members of a group");
            self.prove(&frame, Property::SameBlocks, &name, &claim, eq(&here, &there));
        }
        Ok(())
    }

    /// Ranks have what a stage needs.
    fn stage(&mut self, frame: &ProofContext<'a>, before: &Contents<'_>, stage: &Stage<'a>) -> Step<()> {
        let (mut frame, here) = (frame.clone(), self.here());
        let (block, x) = (self.any_block(&mut frame)?, self.any_rank(&mut frame, "contributor!"));
        let runs = stage.runs_on(&mut frame, &here, &block)?;
        frame.assume(runs);
        if stage.kind.reduces() {
            self.counted_in_groups(&frame, before, stage, &block, &x)?;
        } else if self.schedule.kind.reduces() {
            let mut frame = frame.clone();
            frame.assume(not(&stage.starts(&here, &block)));
            frame.assume(stage.ends(&here, &block));
            let has = before.has(&mut frame, &here, &block, &x)?;
            let arrives = before.has(&mut frame, &stage.source(&here, &block), &block, &x)?;
            let claim = format!("what the {} replaces has no contribution that is lost", stage.kind);
            self.prove(&frame, Property::Contributors, &stage.name(), &claim, implies(&has, &arrives));
        }
        frame.assume(stage.starts(&here, &block));
        let claim = format!("a rank has what it brings to the {}", stage.kind);
        let has = before.has(&mut frame, &here, &block, &here)?;
        self.always(&frame, Property::SendsHeld, &stage.name(), &claim, has);
        Ok(())
    }

    /// The members of a group have different contributions, and what one has is where it is looked for.
    fn counted_in_groups(
        &mut self,
        frame: &ProofContext<'a>,
        before: &Contents<'_>,
        stage: &Stage<'a>,
        block: &str,
        x: &CyclicTerm,
    ) -> Step<()> {
        let (mut frame, here, name) = (frame.clone(), self.here(), stage.name());
        let has = before.has(&mut frame, &here, block, x)?;
        let found = before.witnessed(&mut frame, stage, &here, block, x)?;
        let claim = format!("before the {} only one member of a group may have a contribution", stage.kind);
        self.prove(&frame, Property::Contributors, &name, &claim, implies(&has, &found));
        let member = self.other_member(&mut frame, stage, "member!");
        frame.assume(not(&is(&here, &member)));
        let mut twice = frame.clone();
        let there = before.has(&mut twice, &member, block, x)?;
        let claim = format!("before the {} no contribution is at two members of a group", stage.kind);
        self.prove(&twice, Property::CountedOnce, &name, &claim, not(&and([has.clone(), there])));
        if self.schedule.order.rank_order {
            let y = self.any_rank(&mut frame, "later!");
            let later = before.has(&mut frame, &member, block, &y)?;
            let first = lt(&stage.index(&here), &stage.index(&member));
            let claim = format!("members of the {} are in the order of what they have", stage.kind);
            let goal = implies(&and([first, has, later]), &self.wheel.before(x, &y));
            self.prove(&frame, Property::RankOrder, &name, &claim, goal);
        }
        Ok(())
    }

    /// After the last stage ranks have what the contract of the whole promises, in the order that is claimed.
    fn contract_of_the_whole(&mut self, frame: &ProofContext<'a>, end: &Contents<'_>) -> Step<()> {
        let (mut frame, here) = (frame.clone(), self.here());
        let (block, x) = (self.any_block(&mut frame)?, self.any_rank(&mut frame, "contributor!"));
        frame.assume(end.whole.ends(&here, &block));
        let claim = "a rank has all of what it must have after the last stage";
        let mut complete = frame.clone();
        let has = end.has(&mut complete, &here, &block, &x)?;
        self.always(&complete, Property::Coverage, "complete", claim, has);
        if self.schedule.order.same_tree {
            let other = self.any_rank(&mut frame, "other!");
            frame.assume(end.whole.ends(&other, &block));
            let claim = "all ranks have the tree of one rank, or of an inner allreduce";
            let (here, there) = (end.tree(&mut frame, &here, &block)?, end.tree(&mut frame, &other, &block)?);
            self.always(&frame, Property::SameTree, "one-tree", claim, here.same(&there));
        }
        Ok(())
    }

    /// This rank.
    fn here(&self) -> CyclicTerm {
        self.wheel.here()
    }

    /// Any member of this rank's group, itself included.
    fn other_member(&self, frame: &mut ProofContext<'_>, stage: &Stage<'_>, name: &str) -> CyclicTerm {
        let member = self.any_rank(frame, name);
        let is_member = stage.is_member(&mut frame.cx, &self.here(), &member);
        frame.assume(is_member);
        member
    }

    /// Assumes that this rank takes part in a stage.
    fn assume_running(&self, frame: &mut ProofContext<'_>, stage: &Stage<'_>) -> Step<()> {
        let runs = stage.takes_part(frame, &self.here())?;
        frame.assume(runs);
        Ok(())
    }

    /// Like `prove`, but also asks what is plainly true: every sequence has these obligations.
    fn always(&mut self, frame: &ProofContext<'a>, property: Property, name: &str, claim: &str, goal: Term) {
        self.push(property, name, claim, vec![Attempt::new(&frame.cx, &frame.hypotheses, goal)]);
    }
}
