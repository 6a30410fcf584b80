//! A sequence: inner collectives that all ranks run one after the other, each by its contract.
//!
//! What a rank has of a block after a stage follows from what ranks had before it and from the contract of the stage
//! alone; what the contract does not promise is gone. So contents are formulas, for an arbitrary rank, block and
//! contributor, and need no `holds`:
//!
//! - a stage that reduces needs that every rank has its own contribution and no other; afterwards a rank has all
//!   contributions to the blocks that the contract gives it, and nothing else;
//! - a stage that moves data needs something in the blocks that the contract starts with; afterwards a rank has what
//!   it brought, and of the blocks that the contract gives it what their source had, which is no less than what it
//!   replaces.
//!
//! At the end, the blocks that the contract of the whole gives to a rank have all contributions. *same_tree*: a tree is
//! named after the rank that reduced it, or has one name where an inner allreduce makes the same of it everywhere.
//! *rank_order*: a stage reduces the contributions of all ranks at once, so its order is that of the whole.

use super::{MissingObligation, ProofContext, Prover, Step};
use crate::proving::smt::numbering::Numbering;
use crate::proving::smt::query::{Attempt, Property};
use crate::proving::smt::term::{Term, and, eq, implies, ite, not, or, within};
use roundel_spec::Kind;
use roundel_spec::schedule::Within;

/// The contract of a collective, in terms of a proof. It is a second reading of that of the checks.
#[derive(Clone)]
struct Contract {
    kind: Kind,
    /// The root; 0 if there is none.
    root: Term,
}

impl Contract {
    /// That a rank has a block before the collective, or its own contribution to it.
    fn starts(&self, rank: &str, block: &str) -> Term {
        match self.kind {
            Kind::Allgather | Kind::Gather => eq(rank, block),
            Kind::Broadcast | Kind::Scatter => eq(rank, &self.root),
            _ => "true".into(),
        }
    }

    /// That a rank must have a block after it.
    fn ends(&self, rank: &str, block: &str) -> Term {
        match self.kind {
            Kind::ReduceScatter | Kind::Scatter => eq(rank, block),
            Kind::Reduce | Kind::Gather => eq(rank, &self.root),
            _ => "true".into(),
        }
    }

    /// The rank from which a block comes, if data only moves.
    fn source<'t>(&'t self, block: &'t str) -> &'t str {
        if matches!(self.kind, Kind::Broadcast | Kind::Scatter) { &self.root } else { block }
    }
}

/// What ranks have after some stages.
struct Contents<'s> {
    whole: &'s Contract,
    stages: &'s [Contract],
}

impl Contents<'_> {
    fn before(&self) -> Option<(Contents<'_>, &Contract)> {
        let (last, earlier) = self.stages.split_last()?;
        Some((Contents { whole: self.whole, stages: earlier }, last))
    }

    /// That `x` has contributed to what a rank has of a block; where nothing is reduced, that the rank has it.
    fn has(&self, rank: &str, block: &str, x: &str) -> Term {
        let Some((before, stage)) = self.before() else {
            return if self.whole.kind.reduces() { eq(x, rank) } else { self.whole.starts(rank, block) };
        };
        if stage.kind.reduces() {
            return stage.ends(rank, block);
        }
        let brought = stage.starts(rank, block);
        let stays = and([brought.clone(), before.has(rank, block, x)]);
        let comes = and([not(&brought), stage.ends(rank, block), before.has(stage.source(block), block, x)]);
        or([stays, comes])
    }

    /// The name of the tree that a rank has of a block: the rank that reduced it, as far as trees may differ.
    fn tree(&self, rank: &str, block: &str) -> Term {
        let Some((before, stage)) = self.before() else { return rank.into() };
        match stage.kind {
            Kind::Allreduce => "0".into(),
            kind if kind.reduces() => rank.into(),
            _ => {
                let (own, other) = (before.tree(rank, block), before.tree(stage.source(block), block));
                ite(&stage.starts(rank, block), &own, &other)
            }
        }
    }
}

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
            let whole = Contract { kind: prover.schedule.kind, root: prover.root(&mut frame)? };
            let mut stages = Vec::new();
            for clause in prover.schedule.within() {
                let stage = prover.contract(&mut frame, clause)?;
                prover.stage(&frame, clause, &Contents { whole: &whole, stages: &stages }, &stage)?;
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
        let same = |clause: &Within| schedule.inners[clause.inner].kind == schedule.kind;
        if self.wheel == Numbering::Nodes {
            Some("a sequence that looks at nodes is not encoded")
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

    /// The contract of a stage. Its root is a rank, the same for all, and there are as many blocks as it has.
    fn contract(&mut self, frame: &mut ProofContext<'a>, clause: &Within) -> Step<Contract> {
        let (kind, name) = (self.schedule.inners[clause.inner].kind, stage_name(clause));
        if kind.has_a_block_each() {
            let mut frame = frame.clone();
            let blocks = self.blocks(&mut frame)?;
            let claim = format!("there is a block for each rank, as {} needs", kind.with_article());
            self.prove(&frame, Property::Defined, &format!("{name}-blocks"), &claim, eq(&blocks, "p"));
        }
        let Some(root) = &clause.root else { return Ok(Contract { kind, root: "0".into() }) };
        frame.cx.settle();
        let here = frame.cx.lower(root, &frame.values)?;
        self.computable(frame, &format!("{name}-root"), &format!("the root `{root}`"));
        let claim = format!("`{root}` is a rank");
        self.prove(frame, Property::Root, &name, &claim, within(&here, "0", "p"));
        let mut other = frame.clone();
        let rank = self.any_rank(&mut other, "other!");
        let there = other.cx.lower(root, &other.seen_at(&rank))?;
        let claim = format!("`{root}` is the same on all ranks");
        self.prove(&other, Property::PeerInverse, &format!("{name}-root"), &claim, eq(&here, &there));
        Ok(Contract { kind, root: here })
    }

    /// Ranks have what a stage needs.
    fn stage(
        &mut self,
        frame: &ProofContext<'a>,
        clause: &Within,
        before: &Contents<'_>,
        stage: &Contract,
    ) -> Step<()> {
        let (mut frame, name) = (frame.clone(), stage_name(clause));
        let (block, x) = (self.any_block(&mut frame)?, self.any_rank(&mut frame, "contributor!").number);
        let has = before.has("rank", &block, &x);
        if stage.kind.reduces() {
            let claim = format!("before the {} a rank has its own contribution, and no other", stage.kind);
            self.prove(&frame, Property::CountedOnce, &name, &claim, eq(&has, &eq(&x, "rank")));
        } else if self.schedule.kind.reduces() {
            let starts = stage.starts("rank", &block);
            let replaced = and([not(&starts), stage.ends("rank", &block), has]);
            let arrives = before.has(stage.source(&block), &block, &x);
            let claim = format!("what the {} replaces has no contribution that is lost", stage.kind);
            self.prove(&frame, Property::Contributors, &name, &claim, implies(&replaced, &arrives));
        }
        frame.assume(stage.starts("rank", &block));
        let claim = format!("a rank has what it brings to the {}", stage.kind);
        self.always(&frame, Property::SendsHeld, &name, &claim, before.has("rank", &block, "rank"));
        Ok(())
    }

    /// After the last stage ranks have what the contract of the whole promises, in the order that is claimed.
    fn contract_of_the_whole(&mut self, frame: &ProofContext<'a>, end: &Contents<'_>) -> Step<()> {
        let mut frame = frame.clone();
        let (block, x) = (self.any_block(&mut frame)?, self.any_rank(&mut frame, "contributor!").number);
        frame.assume(end.whole.ends("rank", &block));
        let claim = "a rank has all of what it must have after the last stage";
        self.always(&frame, Property::Coverage, "complete", claim, end.has("rank", &block, &x));
        if self.schedule.order.same_tree {
            let other = self.any_rank(&mut frame, "other!").number;
            frame.assume(end.whole.ends(&other, &block));
            let claim = "all ranks have the tree of one rank, or of an inner allreduce";
            let goal = eq(&end.tree("rank", &block), &end.tree(&other, &block));
            self.always(&frame, Property::SameTree, "one-tree", claim, goal);
        }
        Ok(())
    }

    /// Like `prove`, but also asks what is plainly true: every sequence has these obligations.
    fn always(&mut self, frame: &ProofContext<'a>, property: Property, name: &str, claim: &str, goal: Term) {
        self.push(property, name, claim, vec![Attempt::new(&frame.cx, &frame.hypotheses, goal)]);
    }
}

fn stage_name(clause: &Within) -> String {
    format!("clause{}", clause.site.number)
}
