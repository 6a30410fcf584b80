//! Rounds of a reduction whose states run backwards: groups of nodes that are divided again and again.
//!
//! Such states differ between nodes. They say which group a node is in: the first node of it, and how many it has.
//! Their values after the last round are given, and each value gives the one before it, so what is known of them is
//! shown downwards: it is true at the end, and if it is true after a round, it is true before it. The same holds of
//! what makes them groups: *all nodes of a group have the same values*. At the end all nodes have the same. If the
//! nodes of a group agree after a round, then two nodes of one of its parts have the same values to compute those
//! before the round from; that a part lies in its group, and that its nodes compute the same, are obligations.
//!
//! In a round the states, and those after it, are functions of the node, of which all of that is known at the nodes
//! that occur. An inner index with literal bounds stands for rounds that follow each other.

use super::loops::{bounds_vary, differs_on_node, varies};
use super::{LoopEntry, ProofContext, Prover, ReductionRound, Step, SymbolicMemory, values_at};
use crate::proving::smt::context::{NoEncoding, TermValues};
use crate::proving::smt::numbering::CyclicTerm;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, implies, ite, le, or, within};
use roundel_spec::Schedule;
use roundel_spec::expr::{Binary, Expr};
use roundel_spec::schedule::{Hold, Loop, State};

/// The rounds that a loop has for each value of its first index.
pub(super) struct Phases {
    pub(super) rounds: Vec<(i64, Loop)>,
}

/// The phases of every loop; none where an inner index is not literal.
pub(super) fn phases(schedule: &Schedule) -> Vec<Phases> {
    let literal = |l: &Loop| match l.indices.as_slice() {
        [_, inner] => match (&inner.lo, &inner.hi) {
            (Expr::Int(lo), Expr::Int(hi)) if lo < hi && hi - lo <= 8 => {
                (*lo..*hi).map(|value| (value, phase(l, inner.var.slot, value))).collect()
            }
            _ => vec![],
        },
        _ => vec![],
    };
    schedule.loops.iter().map(|l| Phases { rounds: literal(l) }).collect()
}

/// The clauses that do not exclude a value of the inner index.
fn phase(l: &Loop, slot: usize, value: i64) -> Loop {
    let mut l = l.clone();
    l.indices.truncate(1);
    let is = |e: &Expr| matches!(e, Expr::Var(v) if v.slot == slot);
    let excludes = |when: &Expr| {
        let other = |e: &Expr| matches!(e, Expr::Int(n) if *n != value);
        conjuncts(when).iter().any(|part| match part {
            Expr::Binary(Binary::Eq, a, b) => is(a) && other(b) || is(b) && other(a),
            _ => false,
        })
    };
    l.transfers.retain(|t| !t.when.as_ref().is_some_and(excludes));
    l.within.retain(|within| !within.when.as_ref().is_some_and(excludes));
    l
}

fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match e {
        Expr::Binary(Binary::And, a, b) => [conjuncts(a), conjuncts(b)].concat(),
        other => vec![other],
    }
}

/// What is known, in a round, of states that differ between nodes.
#[derive(Clone)]
pub(super) struct Levels<'a> {
    l: &'a Loop,
    /// The values in the round and, inside of one, after it.
    values: Vec<TermValues>,
    /// The nodes of which it is known.
    nodes: Vec<CyclicTerm>,
}

impl<'a> Levels<'a> {
    fn states(&self) -> (&'a State, &'a State) {
        (&self.l.states[0], &self.l.states[1])
    }
}

impl<'a> ProofContext<'a> {
    /// Makes known what is known of the states on a rank's node.
    pub(super) fn meet_node(&mut self, rank: &CyclicTerm) -> Step<()> {
        let Some(levels) = self.levels.clone() else { return Ok(()) };
        if levels.nodes.iter().any(|known| known.number == rank.number) {
            return Ok(());
        }
        let wheel = self.cx.wheel();
        for values in &levels.values {
            let there = values_at(wheel, values, rank);
            for fact in facts(levels.l) {
                let fact = self.cx.lower(fact, &there)?;
                self.assume(fact);
            }
            for known in &levels.nodes {
                let here = values_at(wheel, values, known);
                for (a, b, node) in [(&here, &there, &rank.number), (&there, &here, &known.number)] {
                    let agreed = agreement(levels.states(), a, b, node)?;
                    self.assume(agreed);
                }
            }
        }
        if let [now, next] = levels.values.as_slice() {
            let (now, next) = (values_at(wheel, now, rank), values_at(wheel, next, rank));
            for state in &levels.l.states {
                let value = self.cx.lower(&state.next, &next)?;
                let state = now.get(state.var.slot, &state.var.name)?;
                self.assume(eq(&state, &value));
            }
        }
        if let Some(levels) = &mut self.levels {
            levels.nodes.push(rank.clone());
        }
        Ok(())
    }
}

/// That a node has the values of another one, if it is in the group of that one.
fn agreement((first, count): (&State, &State), of: &TermValues, on_node: &TermValues, node: &str) -> Step<Term> {
    let value = |values: &TermValues, state: &State| values.get(state.var.slot, &state.var.name);
    let (begin, size) = (value(of, first)?, value(of, count)?);
    let same = and([eq(&value(on_node, first)?, &begin), eq(&value(on_node, count)?, &size)]);
    Ok(implies(&within(node, &begin, &add(&begin, &size)), &same))
}

fn facts(l: &Loop) -> impl Iterator<Item = &Expr> {
    l.holds.iter().filter_map(|hold| match hold {
        Hold::Fact(fact) => Some(fact),
        _ => None,
    })
}

impl<'a> Prover<'a> {
    /// Refuses what the encoding of levels does not have.
    fn has_levels(&self, l: &Loop) -> Step<()> {
        if bounds_vary(self.schedule, l) {
            return Err(NoEncoding::new("a number of rounds that differs between ranks is not encoded".into()));
        }
        let counts = l.holds.iter().any(|hold| matches!(hold, Hold::Counter(..)));
        if counts || !l.ends_with.is_empty() {
            return Err(NoEncoding::new("counters and final conditions of nested rounds are not encoded".into()));
        }
        let two = l.states.len() == 2 && l.states.iter().all(|state| state.backward && state.each == 0);
        if !two || l.states.iter().any(|state| varies(self.schedule, &state.init)) || !l.hints.is_empty() {
            return Err(NoEncoding::new(
                "states other than a first node and a number of nodes are not encoded".into(),
            ));
        }
        if l.states.iter().any(|state| differs_on_node(self.schedule, &state.next)) {
            return Err(NoEncoding::new("a state that differs between the ranks of a node is not encoded".into()));
        }
        Ok(())
    }

    /// A loop with states that run backwards, and with an inner index or without one.
    pub(super) fn levelled(&mut self, n: usize, l: &'a Loop, entry: LoopEntry<'a>) -> Step<LoopEntry<'a>> {
        self.has_levels(l)?;
        self.downwards(n, l)?;
        self.levels_begin(n, l, &entry)?;
        self.level(n, l)?;
        self.levels_end(n, l)
    }

    /// Sets the inner index, if there is one, to that of the first phase.
    fn first_phase(&self, n: usize, l: &Loop, values: &mut TermValues) {
        if let (Some(inner), Some((value, _))) = (l.indices.get(1), self.phases[n].rounds.first()) {
            values.set(inner.var.slot, value.to_string());
        }
    }

    /// What the lines hold where the loop begins.
    fn levels_begin(&mut self, n: usize, l: &'a Loop, entry: &LoopEntry<'a>) -> Step<()> {
        let mut start = entry.frame.clone();
        start.cx.settle();
        let first = start.cx.lower(&l.indices[0].lo, &start.values)?;
        start.cx.lower(&l.indices[0].hi, &start.values)?;
        self.computable(&mut start, &format!("round{n}-first"), "the range of the rounds");
        start.values.set(l.indices[0].var.slot, first);
        self.first_phase(n, l, &mut start.values);
        self.at_level(l, &mut start, false)?;
        let claimed = self.lines_of(l, &start.values).ok_or_else(|| self.undeclared(n))?;
        let SymbolicMemory::Lines(held) = &entry.held else { return Err(self.undeclared(n)) };
        self.equal_lines(n, &start, held, &claimed);
        Ok(())
    }

    /// An arbitrary value of the outer index: the rounds of all phases.
    fn level(&mut self, n: usize, l: &'a Loop) -> Step<()> {
        let phases: &'a [(i64, Loop)] = &self.phases[n].rounds;
        let mut inside = self.base()?;
        let (s, _, hi) = self.index_of(l, &mut inside)?;
        inside.assume(le(&add(&s, "1"), &hi));
        self.first_phase(n, l, &mut inside.values);
        let next = self.at_level(l, &mut inside, true)?;
        inside.cx.settle();
        if phases.is_empty() {
            return Err(NoEncoding::new("states that run backwards without an inner index are not encoded".into()));
        }
        for (k, (value, round)) in phases.iter().enumerate() {
            let inner = l.indices.get(1).ok_or_else(|| NoEncoding::new("a phase without an index".into()))?;
            let slot = inner.var.slot;
            let mut frame = inside.clone();
            frame.values.set(slot, value.to_string());
            if let Some(levels) = &mut frame.levels {
                levels.values.iter_mut().for_each(|values| values.set(slot, value.to_string()));
            }
            let after = match phases.get(k + 1) {
                Some((next_value, _)) => frame.values.with(slot, next_value.to_string()),
                None => next.clone(),
            };
            let lines = |values: &TermValues| self.lines_of(l, values).ok_or_else(|| self.undeclared(n));
            let (before, after) = (lines(&frame.values)?, lines(&after)?);
            self.distinct_contributors(n, &frame, &before);
            self.reduction_round(ReductionRound { n, l: round, frame: &frame, before: &before, after: &after });
            self.width(n, round, &frame);
            self.per_round_bounds(n, round, &frame);
            self.messages_have_first(n, round, &frame);
        }
        Ok(())
    }

    /// What the lines hold after the last round.
    fn levels_end(&mut self, n: usize, l: &'a Loop) -> Step<LoopEntry<'a>> {
        let mut exit = self.base()?;
        let (s, lo, hi) = self.index_of(l, &mut exit)?;
        exit.assume(eq(&s, &ite(&le(&lo, &hi), &hi, &lo)));
        for state in &l.states {
            let last = exit.cx.lower(&state.init, &exit.values)?;
            exit.values.set(state.var.slot, last);
        }
        self.first_phase(n, l, &mut exit.values);
        exit.cx.settle();
        let lines = self.lines_of(l, &exit.values).ok_or_else(|| self.undeclared(n))?;
        self.distinct_contributors(n, &exit, &lines);
        Ok(LoopEntry { frame: exit, held: SymbolicMemory::Lines(lines), used: Vec::new() })
    }

    /// A value of the first index, between its bounds.
    fn index_of(&self, l: &'a Loop, frame: &mut ProofContext<'a>) -> Step<(Term, Term, Term)> {
        let index = &l.indices[0];
        let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
        let s = frame.cx.constant(&index.var.name);
        frame.values.set(index.var.slot, s.clone());
        frame.assume(le(&lo, &s));
        frame.assume(or([le(&s, &hi), eq(&s, &lo)]));
        Ok((s, lo, hi))
    }

    /// Makes the states functions of the node, with what is known of them; inside of a round, also those after it.
    /// Returns the values after the round.
    fn at_level(&self, l: &'a Loop, frame: &mut ProofContext<'a>, inside: bool) -> Step<TermValues> {
        for state in &l.states {
            let function = frame.cx.function(&state.var.name);
            frame.values.vary(state.var.slot, function, "node");
        }
        let mut next = frame.values.clone();
        let mut values = vec![frame.values.clone()];
        if inside {
            let index = &l.indices[0].var;
            next.set(index.slot, add(&frame.values.get(index.slot, &index.name)?, "1"));
            for state in &l.states {
                let function = frame.cx.function(&format!("{}.next", state.var.name));
                next.vary(state.var.slot, function, "node");
            }
            values.push(next.clone());
        }
        frame.levels = Some(Levels { l, values, nodes: Vec::new() });
        frame.meet_node(&self.wheel.here())?;
        Ok(next)
    }

    /// What is known of the states is true at the end, and before a round if it is true after it; and the nodes of a
    /// group agree.
    fn downwards(&mut self, n: usize, l: &'a Loop) -> Step<()> {
        let mut last = self.base()?;
        let (s, lo, hi) = self.index_of(l, &mut last)?;
        last.assume(eq(&s, &ite(&le(&lo, &hi), &hi, &lo)));
        last.cx.settle();
        for state in &l.states {
            let value = last.cx.lower(&state.init, &last.values)?;
            last.values.set(state.var.slot, value);
        }
        self.computable(&mut last, &format!("round{n}-last"), "the last state");
        let values = last.values.clone();
        self.facts_in_turn(n, l, &mut last, &values, Property::Initialisation, "after the last round")?;

        let mut frame = self.base()?;
        let (s, _, hi) = self.index_of(l, &mut frame)?;
        frame.assume(le(&add(&s, "1"), &hi));
        let mut later = frame.values.with(l.indices[0].var.slot, add(&s, "1"));
        for state in &l.states {
            let value = frame.cx.constant(&format!("{}.next", state.var.name));
            later.set(state.var.slot, value);
        }
        for fact in facts(l) {
            let fact = frame.cx.lower(fact, &later)?;
            frame.assume(fact);
        }
        frame.cx.settle();
        let before = self.earlier(l, &mut frame, &later, &s)?;
        self.computable(&mut frame, &format!("round{n}-previous"), "the state before");
        self.facts_in_turn(n, l, &mut frame, &before, Property::Invariant, "before a round, if after it")?;

        // Another node of the same part.
        let other = self.any_rank(&mut frame, "other!");
        let there = values_at(self.wheel, &later, &other);
        let (first, count) = (&l.states[0], &l.states[1]);
        let value = |values: &TermValues, state: &State| values.get(state.var.slot, &state.var.name);
        let (begin, size) = (value(&before, first)?, value(&before, count)?);
        frame.assume(within(&other.number, &begin, &add(&begin, &size)));
        let (group, all) = (value(&later, first)?, value(&later, count)?);
        let inside = within(&other.number, &group, &add(&group, &all));
        let claim = "a part of a group lies in the group";
        self.prove(&frame, Property::Invariant, &format!("round{n}-part"), claim, inside);
        for fact in facts(l) {
            // It is in the group, so its states after the round are the same.
            let fact = frame.cx.lower(fact, &there)?;
            frame.assume(fact);
        }
        let theirs = self.earlier(l, &mut frame, &there, &s)?;
        let same = [first, count].map(|state| Ok(eq(&value(&theirs, state)?, &value(&before, state)?)));
        let goal = and(same.into_iter().collect::<Step<Vec<Term>>>()?);
        let claim = "the nodes of a part have the same states";
        self.prove(&frame, Property::Invariant, &format!("round{n}-agree"), claim, goal);
        Ok(())
    }

    /// Proves the facts of `holds` one after the other, each with those before it.
    fn facts_in_turn(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &mut ProofContext<'a>,
        values: &TermValues,
        property: Property,
        when: &str,
    ) -> Step<()> {
        for (i, fact) in facts(l).enumerate() {
            frame.cx.settle();
            let holds = frame.cx.lower(fact, values)?;
            let goal = and(frame.cx.take_defined().into_iter().chain([holds.clone()]));
            self.prove(frame, property, &format!("round{n}-fact{i}"), &format!("`{fact}` {when}"), goal);
            frame.assume(holds);
        }
        Ok(())
    }

    /// The values before a round, from those after it.
    fn earlier(&self, l: &Loop, frame: &mut ProofContext<'_>, later: &TermValues, s: &str) -> Step<TermValues> {
        let mut before = later.with(l.indices[0].var.slot, s);
        for state in &l.states {
            let value = frame.cx.lower(&state.next, later)?;
            before.set(state.var.slot, value);
        }
        Ok(before)
    }

    /// How many rounds between nodes a loop with phases has, and how many clauses send in them.
    pub(super) fn phases_between_nodes(&self, n: usize) -> Option<Vec<&'a Loop>> {
        let rounds = &self.phases[n].rounds;
        let leaving = rounds.iter().map(|(_, l)| l).filter(|l| !l.transfers.is_empty() && !self.stays_on_node(l));
        (!rounds.is_empty()).then(|| leaving.collect())
    }
}
