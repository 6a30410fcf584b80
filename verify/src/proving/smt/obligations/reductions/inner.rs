//! Reductions inside of nodes, or among all ranks, by their contract.
//!
//! An inner allreduce makes every member of a group hold the contributions of all members, in the order of members; it
//! changes nothing else. Nothing more is assumed of it, and its own proof shows that it does so. It is encoded where it
//! is plain what all members have together:
//!
//! - at the beginning, where each has its own contribution: the members of the group;
//! - where what the members have are nodes one after the other: what the first member has begins at some node, and what
//!   the next one has begins where the one before ends. By induction over the members, all of them together have the
//!   nodes from where the first begins to where the last ends, none of them twice, and in their order.
//!
//! *same_tree*: an inner allreduce that keeps it makes one tree of what its members have. Two ranks with the same
//! contributors afterwards must have taken part in groups of as many members, which had the same, member by member.

use super::super::{ProofContext, Prover, Step};
use super::ReductionRound;
use super::claims::ContributorClaim;
use crate::proving::smt::context::{Context, NoEncoding};
use crate::proving::smt::numbering::CyclicTerm;
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetPiece, seat_index};
use crate::proving::smt::term::{Term, add, and, eq, implies, ite, le, lt, not, or, sub, within};
use roundel_spec::affine::affine;
use roundel_spec::expr::{Builtin, Expr};
use roundel_spec::schedule::{Group, Within};

/// The nodes that a member has: from one up to another.
struct Stretch {
    begin: Term,
    end: Term,
}

impl<'a> Prover<'a> {
    /// A round without messages: inner reductions, of which at most one runs on a rank.
    pub(super) fn reduced_inside(&mut self, round: ReductionRound<'_, 'a>) {
        let ReductionRound { n, l, frame, before, after } = round;
        self.attempt(Property::Contributors, |prover| {
            let ([before], [after]) = (before, after) else {
                return Err(NoEncoding::new("an inner reduction of several lines".into()));
            };
            // Conditions are terms of this frame, and of those that are cloned from it.
            let mut frame = frame.clone();
            let mut whens = Vec::new();
            for clause in &l.within {
                prover.run_together(n, clause, &frame)?;
                whens.push(frame.cx.lower(&condition(clause), &frame.values)?);
            }
            frame.cx.settle();
            let frame = &frame;
            for (i, one) in whens.iter().enumerate() {
                for other in &whens[i + 1..] {
                    let claim = "one inner collective of a round runs";
                    let goal = not(&and([one.clone(), other.clone()]));
                    prover.prove(frame, Property::PeerInverse, &format!("round{n}-one-inner"), claim, goal);
                }
            }
            for (clause, when) in l.within.iter().zip(&whens) {
                let mut frame = frame.clone();
                frame.assume(when.clone());
                match before.is_own() {
                    true => prover.own_together(n, clause, &frame, after)?,
                    false => prover.one_after_the_other(n, clause, &frame, before, after)?,
                }
            }
            prover.unchanged(n, "without", frame, &not(&or(whens)), before, after)
        });
    }

    /// All members of a group agree on whether a clause runs, and on how many they are.
    fn run_together(&mut self, n: usize, clause: &Within, frame: &ProofContext<'a>) -> Step<()> {
        if !matches!(clause.group, Group::Node | Group::All) || clause.group == Group::All && clause.members.is_some()
        {
            return Err(NoEncoding::new("a reduction inside of other groups than nodes".into()));
        }
        let name = format!("round{n}-clause{}", clause.site.number);
        let when = condition(clause);
        let mut shared = frame.clone();
        shared.cx.settle();
        let member = self.any_member(&mut shared, &clause.group);
        shared.meet_node(&member)?;
        let mine = shared.cx.lower(&when, &shared.values)?;
        let mut same = vec![eq(&mine, &shared.cx.lower(&when, &shared.seen_at(&member))?)];
        if let Some(members) = &clause.members {
            let (mine, theirs) =
                (shared.cx.lower(members, &shared.values)?, shared.cx.lower(members, &shared.seen_at(&member))?);
            same.push(eq(&mine, &theirs));
        }
        let goal = and(shared.cx.take_defined().into_iter().chain(same));
        let claim = "all members of a group take part in the same inner collective";
        self.prove(&shared, Property::PeerInverse, &format!("{name}-together"), claim, goal);
        let mut frame = frame.clone();
        frame.cx.settle();
        for e in clause.members.iter().chain([&when]) {
            frame.cx.lower(e, &frame.values)?;
        }
        self.fits(&mut frame, &name, "the condition of the inner collective");
        Ok(())
    }

    /// Each member has its own contribution: afterwards all have those of the group.
    fn own_together(
        &mut self,
        n: usize,
        clause: &Within,
        frame: &ProofContext<'a>,
        after: &ContributorClaim,
    ) -> Step<()> {
        if clause.members.is_some() {
            return Err(NoEncoding::new("an inner reduction of some members, of their own contributions,".into()));
        }
        let name = format!("round{n}-clause{}", clause.site.number);
        let mut inner = frame.clone();
        let (block, x) = (self.any_block(&mut inner)?, self.any_rank(&mut inner, "contributor!"));
        let member = match clause.group {
            Group::Node => eq(&x.number, "node"),
            _ => "true".into(),
        };
        let has = self.contributes(&mut inner.cx, &x, &after.at(&self.wheel.here(), &block))?;
        let claim = "after the inner collective a rank has the contributions of its group, no less and no more";
        self.prove(&inner, Property::Contributors, &format!("{name}-own"), claim, eq(&has, &member));
        if self.schedule.order.same_tree && clause.group == Group::Node {
            // A rank of another node does not have this rank's contribution.
            let mut inner = frame.clone();
            let (block, other) = (self.any_block(&mut inner)?, self.any_rank(&mut inner, "other!"));
            let has = self.contributes(&mut inner.cx, &self.wheel.here(), &after.at(&other, &block))?;
            let claim = "ranks with the same contributors are in the same group";
            let goal = implies(&has, &eq(&other.number, "node"));
            self.prove(&inner, Property::SameTree, &format!("{name}-own"), claim, goal);
        }
        Ok(())
    }

    /// The members have nodes one after the other.
    fn one_after_the_other(
        &mut self,
        n: usize,
        clause: &Within,
        frame: &ProofContext<'a>,
        before: &ContributorClaim,
        after: &ContributorClaim,
    ) -> Step<()> {
        if clause.group != Group::Node {
            return Err(NoEncoding::new(
                "a reduction among all ranks, other than of their own contributions,".into(),
            ));
        }
        let name = format!("round{n}-clause{}", clause.site.number);
        let here = self.wheel.here();
        let mut inner = frame.clone();
        let size = self.members_of(clause, &mut inner, &here)?;
        let l = inner.cx.constant("member!");
        let next = add(&l, "1");
        let block = self.any_block(&mut inner)?;
        let at = |seat: &str| before.at(&CyclicTerm { number: "node".into(), seat: seat.into() }, &block);
        let stretch = |cx: &mut Context<'_>, seat: &str| self.stretch(cx, &at(seat).pieces);
        let (this, following) = (stretch(&mut inner.cx, &l)?, stretch(&mut inner.cx, &next)?);
        let (first, last) = (stretch(&mut inner.cx, "0")?, stretch(&mut inner.cx, &sub(&size, "1"))?);
        let member = within(&l, "0", &size);
        let claim = "a member of the group has something to combine";
        let some = implies(&member, &lt(&this.begin, &this.end));
        self.prove(&inner, Property::SendsHeld, &format!("{name}-operand"), claim, some);
        let claim = "what a member has begins where the one before it ends";
        let goal = implies(&and([member, lt(&next, &size)]), &eq(&this.end, &following.begin));
        self.prove(&inner, Property::CountedOnce, &format!("{name}-stretches"), claim, goal);
        let x = self.any_rank(&mut inner, "contributor!");
        let has = self.contributes(&mut inner.cx, &x, &after.at(&here, &block))?;
        let all = within(&x.number, &first.begin, &last.end);
        let takes_part = lt("local", &size);
        let claim = "after the inner collective a member has what all had, no less and no more";
        let goal = implies(&takes_part, &eq(&has, &all));
        self.prove(&inner, Property::Contributors, &format!("{name}-together"), claim, goal);
        self.unchanged(n, "outside", &inner, &not(&takes_part), before, after)?;
        if self.schedule.order.same_tree {
            self.same_groups(&name, clause, frame, before, after)?;
        }
        Ok(())
    }

    /// Ranks with the same contributors were in groups that had the same, member by member.
    fn same_groups(
        &mut self,
        name: &str,
        clause: &Within,
        frame: &ProofContext<'a>,
        before: &ContributorClaim,
        after: &ContributorClaim,
    ) -> Step<()> {
        let mut frame = frame.clone();
        let here = self.wheel.here();
        let size = self.members_of(clause, &mut frame, &here)?;
        // One member has nothing to combine.
        frame.assume(and([lt("local", &size), lt("1", &size)]));
        let other = self.any_rank(&mut frame, "other!");
        frame.meet_node(&other)?;
        let block = self.any_block(&mut frame)?;
        let (mine, theirs) = (after.at(&here, &block), after.at(&other, &block));
        let mut instances = vec![here.clone(), other.clone()];
        instances.extend(self.ends(&mut frame, &mine)?);
        instances.extend(self.ends(&mut frame, &theirs)?);
        self.same_at(&mut frame, &instances, &mine, &theirs)?;
        let their_size = self.members_of(clause, &mut frame, &other)?;
        let l = frame.cx.constant("member!");
        frame.assume(within(&l, "0", &size));
        let at = |node: &CyclicTerm| before.at(&CyclicTerm { seat: l.clone(), ..node.clone() }, &block);
        let mine = self.stretch(&mut frame.cx, &at(&here).pieces)?;
        let theirs = self.stretch(&mut frame.cx, &at(&other).pieces)?;
        let runs = frame.cx.lower(&condition(clause), &frame.seen_at(&other))?;
        let same = [eq(&mine.begin, &theirs.begin), eq(&mine.end, &theirs.end)];
        let goal = and([runs, lt(&other.seat, &their_size), eq(&size, &their_size)].into_iter().chain(same));
        let claim = "ranks with the same contributors combined the same, member by member";
        self.prove(&frame, Property::SameTree, &format!("{name}-groups"), claim, goal);
        Ok(())
    }

    /// How many members of a node take part.
    fn members_of(&self, clause: &Within, frame: &mut ProofContext<'_>, rank: &CyclicTerm) -> Step<Term> {
        let all = frame.cx.node_size(&rank.number);
        let Some(members) = &clause.members else { return Ok(all) };
        let members = frame.cx.lower(members, &frame.seen_at(rank))?;
        Ok(ite(&le(&members, &all), &members, &all))
    }

    /// The nodes of a claim that is written `[region(first + j); j in 0..count]`, and does not wrap.
    fn stretch(&self, cx: &mut Context<'_>, pieces: &[SetPiece]) -> Step<Stretch> {
        let [piece] = pieces else {
            return Err(NoEncoding::new("an inner reduction of several stretches of nodes".into()));
        };
        let other =
            || NoEncoding::new(format!("an inner reduction of `{}`, which is no stretch of nodes,", piece.part));
        let (number, seat) = cx.coordinates(&piece.part.item)?;
        let seated = seat_index(&piece.indices, &number, &seat).ok_or_else(other)?;
        let whole = Expr::Builtin(Builtin::NodeSize, vec![number.clone()]);
        let seats = &piece.indices[seated];
        let all_seats = seats.lo == Expr::Int(0) && seats.hi == whole && seat == Expr::Var(seats.var.clone());
        let [index] = [0, 1].into_iter().filter(|i| *i != seated).collect::<Vec<_>>()[..] else {
            return Err(other());
        };
        let unwrapped = self.windows.of(&piece.part.item).turns() == [0];
        let plain = piece.part.filter.is_none() && piece.guard.is_none() && piece.indices.len() == 2;
        let index = &piece.indices[index];
        let Some((base, Expr::Int(1))) = affine(&number, index.var.slot).filter(|_| all_seats && unwrapped && plain)
        else {
            return Err(other());
        };
        let values = piece.values.with(index.var.slot, "0");
        let base = cx.lower(&base, &values)?;
        let (lo, hi) = (cx.lower(&index.lo, &values)?, cx.lower(&index.hi, &values)?);
        Ok(Stretch { begin: add(&base, &lo), end: add(&base, &hi) })
    }

    /// Where a condition is true, nothing changes.
    fn unchanged(
        &mut self,
        n: usize,
        what: &str,
        frame: &ProofContext<'a>,
        when: &str,
        before: &ContributorClaim,
        after: &ContributorClaim,
    ) -> Step<()> {
        let mut frame = frame.clone();
        let here = self.wheel.here();
        let (block, x) = (self.any_block(&mut frame)?, self.any_rank(&mut frame, "contributor!"));
        let had = self.contributes(&mut frame.cx, &x, &before.at(&here, &block))?;
        let has = self.contributes(&mut frame.cx, &x, &after.at(&here, &block))?;
        let claim = "a rank that takes part in no inner collective has what it had";
        let goal = implies(when, &eq(&had, &has));
        self.prove(&frame, Property::Contributors, &format!("round{n}-{what}"), claim, goal);
        Ok(())
    }
}

/// When a clause runs.
fn condition(clause: &Within) -> Expr {
    clause.when.clone().unwrap_or(Expr::Bool(true))
}
