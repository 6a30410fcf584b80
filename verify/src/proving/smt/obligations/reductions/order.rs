//! The order in which contributions are reduced.
//!
//! *rank_order*: in every combination, all contributors of the left operand come before all contributors of the right
//! one. Then the leaves of every tree are in rank order, by induction over the rounds; a tree of all ranks is then in
//! order without a gap.
//!
//! *same_tree*: two slots for the same block with the same contributors hold the same tree, up to swapped operands.
//! This is true at the beginning, where a slot has one contributor. Values that are moved or stay keep their tree. So
//! the claim is preserved if, whenever two slots have the same contributors after a round and one of them was combined,
//! the other was combined too, from the same two sets, in either order. At the end all slots have the contributors of
//! all ranks.

use super::super::{ProofContext, Prover, Step};
use super::ReductionRound;
use super::claims::{first, last};
use super::meetings::Receipt;
use super::memory::Arrival;
use crate::proving::smt::context::NoEncoding;
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::{Attempt, Property};
use crate::proving::smt::sets::SymbolicSet;
use crate::proving::smt::term::{Term, and, eq, implies, or};

/// What two ranks combine for the same block.
struct Combined {
    rank: CyclicTerm,
    peer: CyclicTerm,
    block: Term,
    own: SymbolicSet,
    arrives: SymbolicSet,
    after: SymbolicSet,
}

impl<'a> Prover<'a> {
    /// The left operand comes before the right one, if the schedule claims it.
    pub(super) fn in_order(&mut self, at: &Arrival<'_, 'a>, left: &SymbolicSet, right: &SymbolicSet) -> Step<()> {
        if !self.schedule.order.rank_order {
            return Ok(());
        }
        let mut frame = at.frame.clone();
        let (x, y) = (self.any_rank(&mut frame, "left!"), self.any_rank(&mut frame, "right!"));
        let both = [self.contributes(&mut frame.cx, &x, left)?, self.contributes(&mut frame.cx, &y, right)?];
        both.into_iter().for_each(|has| frame.assume(has));
        let what = "is combined in the order of ranks";
        self.prove(&frame, Property::RankOrder, &at.name("in order"), &at.claim(what), self.wheel.before(&x, &y));
        Ok(())
    }

    /// Slots with the same contributors hold the same tree, before and after a round.
    pub(super) fn same_trees(&mut self, round: ReductionRound<'_, 'a>, receipts: &[Receipt<'a>]) {
        if round.before.len() > 1 {
            return self.gap(Property::SameTree, "`same_tree` with several lines is not encoded".into());
        }
        let combining = receipts.iter().filter(|receipt| receipt.operand().is_some()).collect::<Vec<_>>();
        for (i, one) in combining.iter().enumerate() {
            for other in &combining[i..] {
                self.attempt(Property::SameTree, |prover| prover.same_pair(round, [one, other]));
            }
            self.attempt(Property::SameTree, |prover| prover.also_combined(round, one, &combining));
        }
    }

    /// Two slots with the same contributors are combined from the same two sets.
    fn same_pair(&mut self, round: ReductionRound<'_, 'a>, receipts: [&Receipt<'a>; 2]) -> Step<()> {
        let mut frame = round.frame.clone();
        let one = self.combined(round, &mut frame, &self.wheel.here(), receipts[0])?;
        let other = self.any_rank(&mut frame, "other!");
        frame.meet_node(&other)?;
        self.hinted(round.l, &mut frame, &other)?;
        let two = self.combined(round, &mut frame, &other, receipts[1])?;
        frame.assume(eq(&one.block, &two.block));
        let ranks = [&one.rank, &two.rank, &one.peer, &two.peer].map(Clone::clone);
        let mut ends = self.ends(&mut frame, &one.after)?;
        ends.extend(self.ends(&mut frame, &two.after)?);
        let mut attempts = Vec::new();
        if ends.is_empty() {
            // Often only one rank has these contributors to the block; one slot holds one tree.
            let mut frame = frame.clone();
            self.same_at(&mut frame, &ranks, &one.after, &two.after)?;
            let goal = same_rank(&one.rank, &two.rank);
            attempts.push(Attempt::new(&frame.cx, &frame.hypotheses, goal));
        }
        let (x, y) = (self.any_rank(&mut frame, "x!"), self.any_rank(&mut frame, "y!"));
        let instances: Vec<CyclicTerm> = ranks.into_iter().chain(ends).chain([x.clone(), y.clone()]).collect();
        self.same_at(&mut frame, &instances, &one.after, &two.after)?;
        for z in [&x, &y] {
            // The result of the round is proved elsewhere.
            for combined in [&one, &two] {
                let result = self.contributes(&mut frame.cx, z, &combined.after)?;
                let own = self.contributes(&mut frame.cx, z, &combined.own)?;
                let arrives = self.contributes(&mut frame.cx, z, &combined.arrives)?;
                frame.assume(eq(&result, &or([own, arrives])));
            }
        }
        let mut has = |z: &CyclicTerm, set: &SymbolicSet| self.contributes(&mut frame.cx, z, set);
        let straight = eq(&has(&x, &one.arrives)?, &has(&x, &two.arrives)?);
        let crossed = eq(&has(&y, &one.arrives)?, &has(&y, &two.own)?);
        attempts.push(Attempt::new(&frame.cx, &frame.hypotheses, or([straight, crossed])));
        let sites = receipts.map(|receipt| receipt.recv.site.number);
        let name = format!("round{}-clause{}-clause{}", round.n, sites[0], sites[1]);
        let claim = "slots with the same contributors are combined from the same two sets";
        self.push(Property::SameTree, &name, claim, attempts);
        Ok(())
    }

    /// Assumes that two sets are equal, at some ranks.
    pub(super) fn same_at(
        &self,
        frame: &mut ProofContext<'_>,
        ranks: &[CyclicTerm],
        a: &SymbolicSet,
        b: &SymbolicSet,
    ) -> Step<()> {
        for z in ranks {
            let (a, b) = (self.contributes(&mut frame.cx, z, a)?, self.contributes(&mut frame.cx, z, b)?);
            let is_rank = self.is_rank(&mut frame.cx, z);
            frame.assume(implies(&is_rank, &eq(&a, &b)));
        }
        Ok(())
    }

    /// A slot with the contributors of a combined one is combined, too.
    fn also_combined(
        &mut self,
        round: ReductionRound<'_, 'a>,
        receipt: &Receipt<'a>,
        combining: &[&Receipt<'a>],
    ) -> Step<()> {
        let mut frame = round.frame.clone();
        let one = self.combined(round, &mut frame, &self.wheel.here(), receipt)?;
        let other = self.any_rank(&mut frame, "other!");
        frame.meet_node(&other)?;
        self.hinted(round.l, &mut frame, &other)?;
        let theirs = round.after[0].at(&other, &one.block);
        let mut instances = vec![one.rank.clone(), other.clone(), one.peer.clone()];
        instances.extend(self.ends(&mut frame, &one.after)?);
        instances.extend(self.ends(&mut frame, &theirs)?);
        self.same_at(&mut frame, &instances, &one.after, &theirs)?;
        let mut goal = Vec::new();
        for receipt in combining {
            let arriving = receipt.arriving(&frame.cx, &frame.seen_at(&other));
            goal.push(self.carries(&mut frame.cx, &one.block, &arriving)?);
        }
        let name = format!("round{}-clause{}-alone", round.n, receipt.recv.site.number);
        let claim = "a slot with the contributors of one that is combined is combined, too";
        self.prove(&frame, Property::SameTree, &name, claim, or(goal));
        Ok(())
    }

    /// Any slot of a rank that is combined.
    fn combined(
        &self,
        ReductionRound { l, before, after, .. }: ReductionRound<'_, 'a>,
        frame: &mut ProofContext<'_>,
        rank: &CyclicTerm,
        receipt: &Receipt<'a>,
    ) -> Step<Combined> {
        let set = receipt.arriving(&frame.cx, &frame.seen_at(rank));
        let [piece] = set.pieces.as_slice() else {
            return Err(NoEncoding::new(format!("`same_tree` where `{}` arrives", receipt.recv.blocks)));
        };
        let element = piece.any(&mut frame.cx, "")?;
        frame.assume(element.condition.clone());
        let block = self.slot(frame, piece, &element)?;
        let peer = self.other_end(l, &receipt.recv, frame, rank, &element)?;
        Ok(Combined {
            own: before[0].at(rank, &block),
            arrives: before[0].at(&peer, &block),
            after: after[0].at(rank, &block),
            rank: rank.clone(),
            peer,
            block,
        })
    }

    /// The first and the last number of every comprehension: if they are ranks, facts about whole sets are instantiated
    /// there. The choice of ranks decides only what can be proved, never whether it is true.
    pub(super) fn ends(&self, frame: &mut ProofContext<'_>, set: &SymbolicSet) -> Step<Vec<CyclicTerm>> {
        let mut all = Vec::new();
        for piece in &set.pieces {
            // If a condition selects ranks, the first and the last number are not useful.
            if self.windows.of(&piece.part.item).turns() != [0] || piece.part.filter.is_some() {
                continue;
            }
            all.push(first(&mut frame.cx, piece)?.cell());
            if piece.indices.len() == 1 || self.wheel == Numbering::Nodes {
                all.push(last(&mut frame.cx, piece)?.cell());
            }
        }
        Ok(all)
    }
}

fn same_rank(a: &CyclicTerm, b: &CyclicTerm) -> Term {
    and([eq(&a.number, &b.number), eq(&a.seat, &b.seat)])
}
