//! Collectives with a root: what the root has and must get, and the rule that one root stands for all.
//!
//! Most of them count ranks from the root, so that rank r with root t does what rank `r - t` does with root 0, and only
//! the numbers of its peers and blocks are turned by t. Then the run at root t is the run at root 0 with other numbers,
//! and so is the contract: a proof at root 0 is one for every root. Whether a collective is like that is guessed from
//! few ranks and then proved, clause by clause, for all p (`root`); a wrong guess can only make a proof fail. One that
//! is not like that, because it reduces in the order of ranks, is proved with the root as a parameter like any other.

mod turned;

use super::{CyclicTerm, ProofContext, Prover, RANK, Step};
use crate::proving::smt::context::TermValues;
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{Reach, SymbolicSet, member};
use crate::proving::smt::term::{Term, add, and, eq, implies, or, within};
use crate::proving::smt::windows::NumberWindow;
use roundel_spec::blocks::{Comprehension, Index};
use roundel_spec::expr::{Binary, Expr, Var};
use roundel_spec::schedule::{Bound, BoundScope, Hold, Layout, Loop, Number, ROOT};
use roundel_spec::{Kind, Schedule};
pub(super) use turned::AtRootZero;

/// The root as it is declared; 0 where the parameter was replaced by it.
pub(super) fn declared_root(schedule: &Schedule) -> Expr {
    let named = |number: &&Number| number.var.name == ROOT;
    schedule.numbers.iter().find(named).map_or(Expr::Int(0), |number| Expr::Var(number.var.clone()))
}

impl<'a> Prover<'a> {
    /// The root.
    pub(super) fn root(&self, frame: &mut ProofContext<'_>) -> Step<Term> {
        frame.cx.lower(&declared_root(self.schedule), &frame.values)
    }

    /// Whether all data is at the root before the first round.
    pub(super) fn starts_at_root(&self) -> bool {
        matches!(self.schedule.kind, Kind::Broadcast | Kind::Scatter)
    }

    /// What the root has before the first round: all blocks.
    pub(super) fn everything_of_root(&self) -> Comprehension {
        // The variable beyond those of the schedule.
        let var = Var { name: "b".into(), slot: self.schedule.slots };
        let root = declared_root(self.schedule);
        let is_root = Expr::binary(Binary::Eq, Expr::var("rank", RANK), root);
        let over = vec![Index { var: var.clone(), lo: 0.into(), hi: self.schedule.blocks.clone() }];
        Comprehension { item: Expr::Var(var), over, filter: Some(is_root) }
    }

    /// After the last round every rank holds what the contract promises it.
    pub(super) fn held_as_promised(&mut self, mut frame: ProofContext<'a>, held: &SymbolicSet) -> Step<()> {
        let block = match self.schedule.kind {
            Kind::Scatter => "rank".into(),
            kind => {
                if kind == Kind::Gather {
                    let root = self.root(&mut frame)?;
                    frame.assume(eq("rank", &root));
                }
                self.any_block(&mut frame)?
            }
        };
        let block = CyclicTerm { number: block, seat: "0".into() };
        let goal = member(&mut frame.cx, &block, held, &["0".into()], Reach::Quotients)?;
        let claim = match self.schedule.kind {
            Kind::Scatter => "a rank holds its block after the last round",
            Kind::Gather => "the root holds every block after the last round",
            _ => "every rank holds every block after the last round",
        };
        self.prove(&frame, Property::Coverage, "every-block", claim, goal);
        Ok(())
    }

    /// The root is a rank, as the domain says: nothing is said of other roots, so they must not be let through.
    pub(super) fn root_is_a_rank(&mut self) {
        if !self.schedule.kind.has_root() || declared_root(self.schedule) == Expr::Int(0) {
            return;
        }
        self.attempt(Property::Root, |prover| {
            let mut frame = prover.base()?;
            let root = prover.root(&mut frame)?;
            prover.prove(&frame, Property::Root, "rank", "the root is a rank", within(&root, "0", "p"));
            Ok(())
        });
    }

    /// Everything has a value and fits the machine with any root. The facts of `holds` are those of root 0, which is
    /// proved apart.
    pub(super) fn any_root_fits(&mut self) {
        self.domain();
        self.root_is_a_rank();
        self.rotation();
        self.split();
        for (n, l) in self.schedule.loops.iter().enumerate() {
            self.attempt(Property::MachineWidth, |prover| {
                let mut frame = prover.arbitrary(l)?;
                for state in &l.states {
                    frame.cx.lower(&state.next, &frame.values)?;
                }
                prover.computable(&mut frame, &format!("round{n}-next"), "the next state");
                prover.width(n, l, &frame);
                let mut first = prover.base()?;
                let ends = l.indices.iter().flat_map(|index| [&index.lo, &index.hi]);
                for e in ends.chain(l.states.iter().map(|state| &state.init)) {
                    first.cx.lower(e, &first.values)?;
                }
                prover.computable(
                    &mut first,
                    &format!("round{n}-first"),
                    "the range of the rounds and the first state",
                );
                Ok(())
            });
        }
    }

    /// Any round of a loop, with the facts that are known of it.
    fn arbitrary(&self, l: &'a Loop) -> Step<ProofContext<'a>> {
        let mut frame = self.base()?;
        for var in l.indices.iter().map(|index| &index.var).chain(l.states.iter().map(|state| &state.var)) {
            let constant = frame.cx.constant(&var.name);
            frame.values.set(var.slot, constant);
        }
        for index in &l.indices {
            let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
            let value = frame.values.get(index.var.slot, &index.var.name)?;
            frame.assume(within(&value, &lo, &hi));
        }
        for fact in facts(l) {
            frame.adopt(fact, l)?;
        }
        frame.cx.settle();
        Ok(frame)
    }

    /// Rank r with the root does what the rank counted from the root does with root 0, and its peers and blocks are
    /// turned by the root.
    pub(super) fn turns_with_the_root(&mut self, at_zero: &'a AtRootZero) {
        self.attempt(Property::Root, |prover| prover.turned_as_a_whole(at_zero));
        for (n, (l, zero)) in self.schedule.loops.iter().zip(&at_zero.shifted.loops).enumerate() {
            self.attempt(Property::Root, |prover| prover.turned_loop(n, l, zero, at_zero));
            self.attempt(Property::Root, |prover| prover.turned_clauses(n, l, zero, at_zero));
        }
    }

    /// The domain, the number of blocks, rotations and bounds are those of root 0.
    fn turned_as_a_whole(&mut self, at_zero: &AtRootZero) -> Step<()> {
        let mut frame = self.base()?;
        let zero = at_zero.counted_from_root(&mut frame)?;
        let mut goals = Vec::new();
        for clause in &at_zero.shifted.requires {
            goals.push(frame.cx.lower(clause, &zero)?);
        }
        goals.push(frame.same(&self.schedule.blocks, &at_zero.shifted.blocks, &zero)?);
        let whole = |bound: &Bound| !bound.checked && !matches!(bound.scope, BoundScope::PerRound(_));
        for (here, there) in self.schedule.bounds.iter().zip(&at_zero.shifted.bounds).filter(|(b, _)| whole(b)) {
            goals.push(frame.same(&here.value, &there.value, &zero)?);
        }
        for layout in &self.schedule.layouts {
            if let Layout::Rotated(by) = layout {
                frame.cx.lower(by, &frame.values)?;
            }
        }
        let goal = and(frame.cx.take_defined().into_iter().chain(goals));
        // Where nothing depends on the root, there is still something to say.
        let goal = and([goal, within(&zero.get(RANK, "rank")?, "0", "p")]);
        let claim = "domain, number of blocks and bounds are those of root 0";
        self.prove(&frame, Property::Root, "domain", claim, goal);
        Ok(())
    }

    /// The rounds, states and facts of a loop are those of root 0.
    fn turned_loop(&mut self, n: usize, l: &'a Loop, zero_loop: &Loop, at_zero: &AtRootZero) -> Step<()> {
        let (mut frame, zero) = self.between_rounds(l, zero_loop, at_zero)?;
        let mut goals = Vec::new();
        for (here, there) in l.indices.iter().zip(&zero_loop.indices) {
            goals.push(frame.same(&here.lo, &there.lo, &zero)?);
            goals.push(frame.same(&here.hi, &there.hi, &zero)?);
        }
        for (here, there) in l.states.iter().zip(&zero_loop.states) {
            goals.push(frame.same(&here.init, &there.init, &zero)?);
        }
        let ends = l.ends_with.iter().zip(&zero_loop.ends_with);
        for (here, there) in held_facts(l).zip(held_facts(zero_loop)).chain(ends) {
            goals.push(frame.same(here, there, &zero)?);
        }
        let goal = and(frame.cx.take_defined().into_iter().chain(goals));
        let claim = "the range of the rounds, the first state and `holds` are those of root 0";
        self.prove(&frame, Property::Root, &format!("round{n}"), claim, goal);
        let (mut frame, zero) = self.in_a_round(l, zero_loop, at_zero)?;
        let mut goals = Vec::new();
        for (here, there) in l.states.iter().zip(&zero_loop.states) {
            goals.push(frame.same(&here.next, &there.next, &zero)?);
        }
        for (here, there) in l.hints.iter().zip(&zero_loop.hints) {
            goals.push(frame.same(here, there, &zero)?);
        }
        let of_round = |bound: &Bound| !bound.checked && bound.scope == BoundScope::PerRound(n);
        for (here, there) in self.schedule.bounds.iter().zip(&at_zero.shifted.bounds).filter(|(b, _)| of_round(b)) {
            goals.push(frame.same(&here.value, &there.value, &zero)?);
        }
        let goal = and(frame.cx.take_defined().into_iter().chain(goals));
        let claim = "the next state, hints and bounds of a round are those of root 0";
        self.prove(&frame, Property::Root, &format!("round{n}-next"), claim, goal);
        Ok(())
    }

    /// The messages of a round are those of root 0, turned by the root.
    fn turned_clauses(&mut self, n: usize, l: &'a Loop, zero_loop: &Loop, at_zero: &AtRootZero) -> Step<()> {
        for (here, there) in l.transfers.iter().zip(&zero_loop.transfers) {
            let (frame, zero) = self.in_a_round(l, zero_loop, at_zero)?;
            let mine = SymbolicSet::new(&here.blocks, &here.each, here.when.as_ref(), &frame.values);
            let theirs = SymbolicSet::new(&there.blocks, &there.each, there.when.as_ref(), &zero);
            for (i, (mine, theirs)) in mine.pieces.iter().zip(&theirs.pieces).enumerate() {
                let mut frame = frame.clone();
                frame.cx.settle();
                let root = self.root(&mut frame)?;
                let element = mine.any(&mut frame.cx, "")?;
                let turned = theirs.at(&mut frame.cx, &element.indices)?;
                let values = super::round::bind(&frame.values, here, &element);
                let zero_values = super::round::bind(&zero, there, &turned);
                frame.cx.enter(element.condition.clone());
                let peer = frame.cx.lower(&here.peer, &values)?;
                let zero_peer = frame.cx.lower(&there.peer, &zero_values)?;
                frame.cx.leave(1);
                let by = |number: &str| add(number, &root);
                let block = if at_zero.blocks_turn {
                    self.wheel.same_number(&element.block, &by(&turned.block))
                } else {
                    eq(&element.block, &turned.block)
                };
                let near =
                    [self.wide(&peer), if at_zero.blocks_turn { self.wide(&element.block) } else { "true".into() }];
                let same = and([self.wheel.same_number(&peer, &by(&zero_peer)), block, and(near)]);
                let goals = [eq(&element.condition, &turned.condition), implies(&element.condition, &same)];
                let goal = and(frame.cx.take_defined().into_iter().chain(goals));
                let name = format!("round{n}-clause{}-{i}", here.site.number);
                let claim = format!("`{}` and `{}` are those of root 0, turned by the root", here.peer, here.blocks);
                self.prove(&frame, Property::Root, &name, &claim, goal);
            }
        }
        Ok(())
    }

    /// That a number lies in the window in which wrapping is exact.
    fn wide(&self, number: &str) -> Term {
        NumberWindow::Wide.contains(self.wheel, number)
    }

    /// Any point between the rounds of a loop, and its values for the rank counted from the root, at root 0. What is
    /// known of it is known there. Hints are not: where a loop has no round, they may be false.
    fn between_rounds(
        &self,
        l: &'a Loop,
        zero_loop: &Loop,
        at_zero: &AtRootZero,
    ) -> Step<(ProofContext<'a>, TermValues)> {
        let mut frame = self.base()?;
        let mut zero = at_zero.counted_from_root(&mut frame)?;
        for var in l.indices.iter().map(|index| &index.var).chain(l.states.iter().map(|state| &state.var)) {
            let constant = frame.cx.constant(&var.name);
            frame.values.set(var.slot, constant.clone());
            zero.set(var.slot, constant);
        }
        for index in &zero_loop.indices {
            let (lo, hi) = (frame.cx.lower(&index.lo, &zero)?, frame.cx.lower(&index.hi, &zero)?);
            let value = zero.get(index.var.slot, &index.var.name)?;
            // Also after the last round, and where there is none.
            frame.assume(or([within(&value, &lo, &hi), eq(&value, &hi), eq(&value, &lo)]));
        }
        for fact in held_facts(zero_loop) {
            let fact = frame.cx.assume(fact, &zero)?;
            frame.assume(fact);
        }
        frame.cx.settle();
        Ok((frame, zero))
    }

    /// The same in any round.
    fn in_a_round(
        &self,
        l: &'a Loop,
        zero_loop: &Loop,
        at_zero: &AtRootZero,
    ) -> Step<(ProofContext<'a>, TermValues)> {
        let (mut frame, zero) = self.between_rounds(l, zero_loop, at_zero)?;
        for index in &zero_loop.indices {
            let (lo, hi) = (frame.cx.lower(&index.lo, &zero)?, frame.cx.lower(&index.hi, &zero)?);
            let value = zero.get(index.var.slot, &index.var.name)?;
            frame.assume(within(&value, &lo, &hi));
        }
        for hint in &zero_loop.hints {
            let hint = frame.cx.assume(hint, &zero)?;
            frame.assume(hint);
        }
        frame.cx.settle();
        Ok((frame, zero))
    }
}

impl ProofContext<'_> {
    /// That an expression has the value that another one has elsewhere.
    fn same(&mut self, here: &Expr, there: &Expr, elsewhere: &TermValues) -> Step<Term> {
        let (a, b) = (self.cx.lower(here, &self.values)?, self.cx.lower(there, elsewhere)?);
        Ok(eq(&a, &b))
    }
}

/// What is known in every round of a loop.
fn facts(l: &Loop) -> impl Iterator<Item = &Expr> {
    held_facts(l).chain(&l.hints)
}

/// What is known before every round of a loop and after the last, also if it has none.
fn held_facts(l: &Loop) -> impl Iterator<Item = &Expr> {
    l.holds.iter().filter_map(|hold| match hold {
        Hold::Fact(fact) => Some(fact),
        _ => None,
    })
}
