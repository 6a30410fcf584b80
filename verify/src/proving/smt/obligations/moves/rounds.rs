//! Rounds with none, one or two indices: where they begin, any one of them, what comes next, where they end.

use super::super::loops::{bounds_vary, states_vary};
use super::{HeldSet, MovesEntry, ProofContext, Prover, Step, SymbolicBlock};
use crate::proving::smt::context::{NoEncoding, TermValues};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, eq, ite, le, lt, within};
use roundel_spec::Schedule;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Hold, Loop, State};

/// A round, or the point where one would be: what is known there, and the last index with its end.
pub(super) struct RoundPoint<'a> {
    pub(super) frame: ProofContext<'a>,
    /// The index that grows with every round, and one past its last value.
    last: (Term, Term),
}

/// What comes after a round.
pub(super) struct Next<'a> {
    /// What is known about the round.
    pub(super) frame: ProofContext<'a>,
    /// The values afterwards.
    pub(super) values: TermValues,
    /// The kind of transition, for names.
    pub(super) way: &'static str,
}

impl<'a> Prover<'a> {
    pub(super) fn moving_loop(&mut self, n: usize, entry: MovesEntry<'a>) -> Step<MovesEntry<'a>> {
        let l = &self.schedule.loops[n];
        if states_vary(self.schedule, l) {
            return Err(NoEncoding::new("a state that differs between ranks".into()));
        }
        if bounds_vary(self.schedule, l) {
            return Err(NoEncoding::new("a number of rounds that differs between ranks".into()));
        }
        if l.indices.is_empty() { self.moving_round(n, l, entry) } else { self.moving_rounds(n, l, entry) }
    }

    /// A round without an index: `holds` states what is true after it.
    fn moving_round(&mut self, n: usize, l: &'a Loop, entry: MovesEntry<'a>) -> Step<MovesEntry<'a>> {
        let mut frame = entry.frame.clone();
        if !l.states.is_empty() {
            return Err(NoEncoding::new("a state without an index".into()));
        }
        self.hints(n, l, &mut frame)?;
        let after = declared(l, &frame.values)?;
        self.one_moving_round(n, l, &frame, &entry.held);
        self.names_blocks_once(&format!("round{n}-after"), &frame, &after);
        self.step(&format!("round{n}"), l, &frame, &entry.held, &after);
        self.facts(n, l, &frame, &frame.values.clone(), Property::Invariant, "after the round");
        self.scratch_at(&format!("round{n}-after"), &frame, &after);
        let used = self.used_by(n, l, &mut frame, &entry);
        self.counted(n, l, &frame, &used);
        self.bounds_of_round(n, l, &frame);
        // From here on, what `holds` says is known; earlier facts are not needed.
        for hold in &l.holds {
            if let Hold::Fact(fact) = hold {
                frame.adopt(fact, l)?;
            }
        }
        Ok(MovesEntry { frame, held: after, used })
    }

    /// Rounds with indices.
    fn moving_rounds(&mut self, n: usize, l: &'a Loop, entry: MovesEntry<'a>) -> Step<MovesEntry<'a>> {
        self.states_are_plain(l)?;
        let start = self.first_point(n, l, &entry)?;
        self.moving_start(n, l, &start, &entry)?;

        let suffix = if n == 0 { String::new() } else { format!(".{n}") };
        if let [_, inner] = l.indices.as_slice() {
            let (mut frame, _) = self.outer_point(l, &suffix, false)?;
            frame.cx.settle();
            let (lo, hi) = (frame.cx.lower(&inner.lo, &frame.values)?, frame.cx.lower(&inner.hi, &frame.values)?);
            self.computable(&mut frame, &format!("round{n}-inner"), &format!("`{inner}`"));
            let claim = format!("`{inner}` has a round for every outer index");
            self.prove(&frame, Property::Invariant, &format!("round{n}-inner"), &claim, lt(&lo, &hi));
        }

        // An arbitrary round.
        let RoundPoint { frame: mut inside, last } = self.inside(l, &suffix)?;
        self.hints(n, l, &mut inside)?;
        inside.cx.settle();
        let before = declared(l, &inside.values)?;
        self.one_moving_round(n, l, &inside, &before);
        self.names_blocks_once(&format!("round{n}"), &inside, &before);
        self.scratch_at(&format!("round{n}"), &inside, &before);
        self.bounds_of_round(n, l, &inside);
        self.counters_at_start(n, l, &start, &entry);
        self.usages(n, l, &inside);
        for next in self.nexts(n, l, &inside, &last)? {
            let name = format!("round{n}{}", next.way);
            let after = declared(l, &next.values)?;
            self.step(&name, l, &next.frame, &before, &after);
            self.facts(n, l, &next.frame, &next.values, Property::Invariant, "after the round");
            self.counters_advance(&name, l, &next);
        }

        // The end.
        let (mut exit, _) = self.outer_point(l, &suffix, true)?;
        exit.cx.settle();
        for (i, clause) in l.ends_with.iter().enumerate() {
            let formula = exit.cx.assume(clause, &exit.values)?;
            self.computable(&mut exit, &format!("round{n}-final{i}"), &format!("`{clause}`"));
            exit.assume(formula);
        }
        let held = declared(l, &exit.values)?;
        self.names_blocks_once(&format!("round{n}-end"), &exit, &held);
        self.scratch_at(&format!("round{n}-end"), &exit, &held);
        let used = self.used_at(l, &mut exit);
        Ok(MovesEntry { frame: exit, held, used })
    }

    /// Clauses, matching, flow.
    fn one_moving_round(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>, before: &HeldSet) {
        for t in &l.transfers {
            self.moving_clause(n, t, frame);
        }
        self.moves_meet(n, l, frame);
        self.flow(n, l, frame, before);
    }

    /// Proves that the blocks of `holds` are given by offset, and that none is named twice.
    fn names_blocks_once(&mut self, name: &str, frame: &ProofContext<'a>, held: &HeldSet) {
        self.attempt(Property::Invariant, |prover| {
            prover.by_offset(&format!("{name}-holds"), &held.parts, frame)?;
            prover.goes_one_way(&format!("{name}-holds"), frame, &held.parts, "is named")
        });
    }

    /// Checks that states advance with an index of the loop, by values that are known at that index.
    fn states_are_plain(&self, l: &Loop) -> Step<()> {
        let [_, inner] = l.indices.as_slice() else { return Ok(()) };
        let mixed = |state: &&State| state.each == 0 && mentions(self.schedule, &state.next, inner.var.slot);
        match l.states.iter().find(mixed) {
            Some(state) => Err(NoEncoding::new(format!("`{}`, which advances by an inner index,", state.var.name))),
            None => Ok(()),
        }
    }

    /// Where a loop begins.
    fn first_point(&mut self, n: usize, l: &'a Loop, entry: &MovesEntry<'a>) -> Step<ProofContext<'a>> {
        let mut start = entry.frame.clone();
        start.cx.settle();
        let inits =
            l.states.iter().map(|state| start.cx.lower(&state.init, &start.values)).collect::<Step<Vec<_>>>()?;
        let outer = &l.indices[0];
        let lo = start.cx.lower(&outer.lo, &start.values)?;
        start.cx.lower(&outer.hi, &start.values)?;
        start.values.set(outer.var.slot, lo);
        l.states.iter().zip(inits).for_each(|(state, init)| start.values.set(state.var.slot, init));
        for inner in &l.indices[1..] {
            let lo = start.cx.lower(&inner.lo, &start.values)?;
            start.values.set(inner.var.slot, lo);
        }
        self.computable(&mut start, &format!("round{n}-first"), "the range of the rounds and the first state");
        Ok(start)
    }

    /// `holds` is true where a loop begins.
    fn moving_start(&mut self, n: usize, l: &'a Loop, start: &ProofContext<'a>, entry: &MovesEntry<'a>) -> Step<()> {
        let when = "before the first round";
        self.facts(n, l, start, &start.values.clone(), Property::Initialisation, when);
        let mut frame = start.clone();
        let block = SymbolicBlock::any(&mut frame);
        let found = entry.held.has(&mut frame.cx, &block)?;
        let claimed = declared(l, &start.values)?.has(&mut frame.cx, &block)?;
        for (what, given, goal) in [("held", &found, &claimed), ("nothing-else", &claimed, &found)] {
            let mut frame = frame.clone();
            frame.assume(given.clone());
            let claim = format!("`holds` is true {when}: {what}");
            self.prove(&frame, Property::Initialisation, &format!("round{n}-{what}"), &claim, goal.clone());
        }
        Ok(())
    }

    /// A frame at an outer index: before its first round or, at the `end`, after the last round of all. Inner indices
    /// have their first values, and the facts of `holds` are true.
    fn outer_point(&self, l: &'a Loop, suffix: &str, end: bool) -> Step<(ProofContext<'a>, Term)> {
        let mut frame = self.base()?;
        let outer = &l.indices[0];
        let (lo, hi) = (frame.cx.lower(&outer.lo, &frame.values)?, frame.cx.lower(&outer.hi, &frame.values)?);
        let s = frame.cx.constant(&format!("{}{suffix}", outer.var.name));
        frame.values.set(outer.var.slot, s.clone());
        frame.assume(if end { eq(&s, &ite(&le(&lo, &hi), &hi, &lo)) } else { within(&s, &lo, &hi) });
        let depth = l.indices.len();
        states_of(l, 0, depth, suffix, &mut frame);
        for inner in &l.indices[1..] {
            let lo = frame.cx.lower(&inner.lo, &frame.values)?;
            frame.values.set(inner.var.slot, lo);
        }
        states_of(l, 1, depth, suffix, &mut frame);
        facts_of(l, &mut frame)?;
        frame.cx.settle();
        Ok((frame, s))
    }

    /// A frame before an arbitrary round, with the facts of `holds`.
    fn inside(&self, l: &'a Loop, suffix: &str) -> Step<RoundPoint<'a>> {
        let mut frame = self.base()?;
        let mut last = Default::default();
        for (level, index) in l.indices.iter().enumerate() {
            let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
            let s = frame.cx.constant(&format!("{}{suffix}", index.var.name));
            frame.values.set(index.var.slot, s.clone());
            frame.assume(within(&s, &lo, &hi));
            states_of(l, level, l.indices.len(), suffix, &mut frame);
            last = (s, hi);
        }
        facts_of(l, &mut frame)?;
        frame.cx.settle();
        Ok(RoundPoint { frame, last })
    }

    /// What may come after a round: the next value of the last index or, after its last value, the next one of the
    /// outer index.
    fn nexts(
        &mut self,
        n: usize,
        l: &'a Loop,
        inside: &ProofContext<'a>,
        (s, hi): &(Term, Term),
    ) -> Step<Vec<Next<'a>>> {
        let mut frame = inside.clone();
        frame.cx.settle();
        let level = l.indices.len() - 1;
        let mut values = advanced(l, level, &mut frame, &inside.values.clone())?;
        values.set(l.indices[level].var.slot, add(s, "1"));
        self.computable(&mut frame, &format!("round{n}-next"), "the next state");
        let [outer, inner] = l.indices.as_slice() else { return Ok(vec![Next { frame, values, way: "" }]) };
        let mut same = frame.clone();
        same.assume(lt(&add(s, "1"), hi));
        let mut carry = frame;
        carry.assume(eq(&add(s, "1"), hi));
        let mut carried = advanced(l, 0, &mut carry, &values)?;
        let x = carry.values.get(outer.var.slot, &outer.var.name)?;
        carried.set(outer.var.slot, add(&x, "1"));
        let first = carry.cx.lower(&inner.lo, &carried)?;
        carried.set(inner.var.slot, first);
        self.computable(&mut carry, &format!("round{n}-next-outer"), "the next state of the outer index");
        let next = Next { frame: same, values, way: "" };
        Ok(vec![next, Next { frame: carry, values: carried, way: "-outer" }])
    }
}

/// New constants for the states that advance with an index.
fn states_of(l: &Loop, level: usize, depth: usize, suffix: &str, frame: &mut ProofContext<'_>) {
    for state in l.states.iter().filter(|state| state.each == level && level < depth) {
        let name = frame.cx.constant(&format!("{}{suffix}", state.var.name));
        frame.values.set(state.var.slot, name);
    }
}

/// The facts of `holds`.
fn facts_of(l: &Loop, frame: &mut ProofContext<'_>) -> Step<()> {
    l.holds.iter().try_for_each(|hold| match hold {
        Hold::Fact(fact) => frame.adopt(fact, l),
        _ => Ok(()),
    })
}

/// The values after the states of one index have advanced, all at once.
fn advanced(l: &Loop, level: usize, frame: &mut ProofContext<'_>, values: &TermValues) -> Step<TermValues> {
    let mut next = values.clone();
    for state in l.states.iter().filter(|state| state.each == level) {
        let value = frame.cx.lower(&state.next, values)?;
        next.set(state.var.slot, value);
    }
    Ok(next)
}

/// The blocks that `holds` declares.
fn declared(l: &Loop, values: &TermValues) -> Step<HeldSet> {
    let mut sets = l.holds.iter().filter_map(|hold| match hold {
        Hold::Blocks(set) => Some(set),
        _ => None,
    });
    match (sets.next(), sets.next()) {
        (Some(set), None) => HeldSet::new(set, values),
        (Some(_), Some(_)) => Err(NoEncoding::new("more than one `holds(blocks = …)`".into())),
        _ => {
            let what = "a round without `holds(blocks = …)`, over which there is no induction,";
            Err(NoEncoding::without_holds(what.into()))
        }
    }
}

/// Whether a variable occurs in an expression, directly or inside definitions.
pub(super) fn mentions(schedule: &Schedule, e: &Expr, slot: usize) -> bool {
    let mut found = false;
    e.walk(&mut |e| match e {
        Expr::Var(v) => found |= v.slot == slot,
        Expr::Call(_, index, _) => found |= mentions(schedule, &schedule.functions[*index].body, slot),
        _ => {}
    });
    found
}
