//! A loop of rounds: true at its entry, preserved by an arbitrary round, known at its end.

use super::counters::usage;
use super::round::arrivals;
use super::{LOCAL, LoopEntry, NODE, PPN, ProofContext, Prover, RANK, ReductionRound, Step, SymbolicMemory};
use crate::proving::smt::context::{NoEncoding, TermValues};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, ite, le, lt, or, sub};
use roundel_spec::Schedule;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Hold, Loop};

/// An arbitrary point between the rounds of a loop. Index and bounds are terms of the frame: a term is only meaningful
/// together with the context that created it.
struct Somewhere<'a> {
    frame: ProofContext<'a>,
    s: Term,
    lo: Term,
    hi: Term,
}

impl<'a> Prover<'a> {
    pub(super) fn a_loop(&mut self, n: usize, entry: LoopEntry<'a>) -> Step<LoopEntry<'a>> {
        let l = &self.schedule.loops[n];
        if l.holds.iter().filter(|hold| matches!(hold, Hold::Blocks(_))).count() > 1 {
            return Err(NoEncoding::new(format!("round {n} has several `holds(blocks = …)`, which is not encoded")));
        }
        match () {
            () if l.indices.is_empty() => self.bare_round(n, l, entry),
            () if l.indices.len() > 1 || l.states.iter().any(|state| state.backward) => self.levelled(n, l, entry),
            () => self.indexed(n, l, entry),
        }
    }

    /// A round without an index: afterwards a rank holds what it held before and what arrived.
    pub(super) fn bare_round(&mut self, n: usize, l: &'a Loop, entry: LoopEntry<'a>) -> Step<LoopEntry<'a>> {
        let after = match (self.declared(l, &entry.frame.values), &entry.held) {
            (Some(declared), _) => declared,
            (None, SymbolicMemory::Blocks(held)) => {
                let arrived = arrivals(l, &entry.frame.values).union(self.brought(l, &entry.frame.values));
                SymbolicMemory::Blocks(held.clone().union(arrived))
            }
            (None, SymbolicMemory::Lines(_)) => return Err(self.undeclared(n)),
        };
        let mut frame = entry.frame.clone();
        self.hints(n, l, &mut frame)?;
        if let Some(declared) = self.declared(l, &frame.values) {
            self.names_once(n, &frame, &declared);
            self.nothing_else(n, l, &frame);
        }
        self.one_round(n, l, &frame, &entry.held, &after, &[]);
        self.width(n, l, &frame);
        self.per_round_bounds(n, l, &frame);
        self.messages_have_first(n, l, &frame);
        self.rounds_between_nodes(n, l, &frame);
        self.no_silent_round(n, l, &frame);
        let mut used = Vec::new();
        for (metric, before) in &entry.used {
            if let Ok(in_round) = usage(&mut frame, l, *metric) {
                used.push((*metric, add(before, &in_round)));
            }
        }
        self.facts(n, l, &frame, &frame.values.clone(), Property::Invariant, "after the round");
        self.counted(n, l, &frame, &used);
        Ok(LoopEntry { frame, held: after, used })
    }

    pub(super) fn indexed(&mut self, n: usize, l: &'a Loop, entry: LoopEntry<'a>) -> Step<LoopEntry<'a>> {
        let index = &l.indices[0];
        if states_vary(self.schedule, l) {
            return Err(NoEncoding::new("a state that differs between ranks is not encoded".into()));
        }
        if bounds_vary(self.schedule, l) {
            return Err(NoEncoding::new("a number of rounds that differs between ranks is not encoded".into()));
        }
        // Initialisation, at the entry of the loop.
        let mut at_start = entry.frame.clone();
        at_start.cx.settle();
        let first = at_start.cx.lower(&index.lo, &at_start.values)?;
        at_start.cx.lower(&index.hi, &at_start.values)?;
        at_start.values.set(index.var.slot, first);
        for state in &l.states {
            let init = at_start.cx.lower(&state.init, &at_start.values)?;
            at_start.values.set(state.var.slot, init);
        }
        self.computable(&mut at_start, &format!("round{n}-first"), "the range of the rounds and the first state");
        self.initialisation(n, l, &at_start, &entry);

        // An arbitrary round.
        let suffix = if n == 0 { String::new() } else { format!(".{n}") };
        let Somewhere { frame: somewhere, s, lo, hi } = self.somewhere(l, &suffix)?;
        let mut inside = somewhere.clone();
        inside.assume(lt(&s, &hi));
        self.hints(n, l, &mut inside)?;
        inside.cx.settle();
        let next = self.next_values(l, &mut inside, &s)?;
        self.computable(&mut inside, &format!("round{n}-next"), "the next state");
        let (before, after) = (self.declared(l, &inside.values), self.declared(l, &next));
        let (Some(before), Some(after)) = (before, after) else { return Err(self.undeclared(n)) };
        if let Some(held) = self.declared(l, &somewhere.values) {
            self.names_once(n, &somewhere, &held);
            self.nothing_else(n, l, &somewhere);
        }
        self.one_round(n, l, &inside, &before, &after, &[s.clone(), sub(&s, "1")]);
        self.facts(n, l, &inside, &next, Property::Invariant, "after the round");
        self.width(n, l, &inside);
        self.counters(n, l, &at_start, &inside, &next, &entry);
        self.per_round_bounds(n, l, &inside);
        self.messages_have_first(n, l, &inside);
        self.rounds_between_nodes(n, l, &inside);
        self.no_silent_round(n, l, &inside);

        // The end.
        let mut exit = somewhere;
        exit.assume(eq(&s, &ite(&le(&lo, &hi), &hi, &lo)));
        for (i, clause) in l.ends_with.iter().enumerate() {
            let formula = exit.cx.assume(clause, &exit.values)?;
            self.computable(&mut exit, &format!("round{n}-final{i}"), &format!("`{clause}`"));
            exit.assume(formula);
        }
        let held = self.declared(l, &exit.values).unwrap_or(before);
        let used = self.used_at(l, &mut exit);
        Ok(LoopEntry { frame: exit, held, used })
    }

    /// A frame at any value of the index between its bounds, with the facts of `holds`.
    fn somewhere(&self, l: &'a Loop, suffix: &str) -> Step<Somewhere<'a>> {
        let mut frame = self.base()?;
        let index = &l.indices[0];
        let lo = frame.cx.lower(&index.lo, &frame.values)?;
        let hi = frame.cx.lower(&index.hi, &frame.values)?;
        let s = frame.cx.constant(&format!("{}{suffix}", index.var.name));
        frame.values.set(index.var.slot, s.clone());
        frame.assume(le(&lo, &s));
        frame.assume(or([le(&s, &hi), eq(&s, &lo)]));
        for state in &l.states {
            let name = frame.cx.constant(&format!("{}{suffix}", state.var.name));
            frame.values.set(state.var.slot, name);
        }
        for hold in &l.holds {
            if let Hold::Fact(fact) = hold {
                frame.adopt(fact, l)?;
            }
        }
        frame.cx.settle();
        Ok(Somewhere { frame, s, lo, hi })
    }

    /// Proves the hints one after another, and assumes each one afterwards.
    pub(super) fn hints(&mut self, n: usize, l: &Loop, frame: &mut ProofContext<'a>) -> Step<()> {
        for (i, hint) in l.hints.iter().enumerate() {
            let mut before = frame.clone();
            before.cx.settle();
            let hinted = before.cx.lower(hint, &before.values)?;
            let goal = and(before.cx.take_defined().into_iter().chain([hinted]));
            self.prove(
                &before,
                Property::Hints,
                &format!("round{n}-hint{i}"),
                &format!("`{hint}` in every round"),
                goal,
            );
            frame.adopt(hint, l)?;
        }
        Ok(())
    }

    pub(super) fn next_values(&self, l: &Loop, frame: &mut ProofContext<'_>, s: &str) -> Step<TermValues> {
        let mut next = frame.values.clone();
        for state in &l.states {
            let value = frame.cx.lower(&state.next, &frame.values)?;
            next.set(state.var.slot, value);
        }
        next.set(l.indices[0].var.slot, add(s, "1"));
        Ok(next)
    }

    pub(super) fn initialisation(&mut self, n: usize, l: &Loop, at_start: &ProofContext<'a>, entry: &LoopEntry<'a>) {
        self.facts(n, l, at_start, &at_start.values.clone(), Property::Initialisation, "before the first round");
        match (&entry.held, self.declared(l, &at_start.values)) {
            (SymbolicMemory::Blocks(held), Some(SymbolicMemory::Blocks(claimed))) => {
                let when = "before the first round";
                self.equal_sets(n, at_start, held, &claimed, Property::Initialisation, when);
            }
            (SymbolicMemory::Lines(held), Some(SymbolicMemory::Lines(claimed))) => {
                self.equal_lines(n, at_start, held, &claimed)
            }
            // Without a claim there is no induction; this is reported elsewhere.
            _ => {}
        }
    }

    /// The claim of `holds` about the whole memory, if there is one.
    fn declared(&self, l: &Loop, values: &TermValues) -> Option<SymbolicMemory> {
        if self.schedule.kind.reduces() {
            self.lines_of(l, values).map(SymbolicMemory::Lines)
        } else {
            self.held_set(l, values).map(SymbolicMemory::Blocks)
        }
    }

    /// Why there is no induction if `holds` does not describe the whole memory.
    pub(super) fn undeclared(&self, n: usize) -> NoEncoding {
        let missing = if self.schedule.kind.reduces() {
            let lines = self.schedule.lines.iter().map(|line| format!("{line} = …"));
            lines.collect::<Vec<_>>().join(", ")
        } else {
            "blocks = …".into()
        };
        NoEncoding::without_holds(format!("round {n} has no `holds({missing})`, so there is no induction over it"))
    }

    /// `holds` names everything only once.
    fn names_once(&mut self, n: usize, frame: &ProofContext<'a>, memory: &SymbolicMemory) {
        match memory {
            SymbolicMemory::Blocks(held) => self.distinct(n, frame, held),
            SymbolicMemory::Lines(lines) => self.distinct_contributors(n, frame, lines),
        }
    }

    /// All obligations of one round.
    fn one_round(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &ProofContext<'a>,
        before: &SymbolicMemory,
        after: &SymbolicMemory,
        at_hand: &[Term],
    ) {
        match (before, after) {
            (SymbolicMemory::Blocks(before), SymbolicMemory::Blocks(after)) => {
                self.round(n, l, frame, before, after, at_hand)
            }
            (SymbolicMemory::Lines(before), SymbolicMemory::Lines(after)) => {
                self.reduction_round(ReductionRound { n, l, frame, before, after })
            }
            _ => self.gap(Property::Invariant, "blocks and contributions in one memory are not encoded".into()),
        }
    }

    /// The facts of `holds`, at given values.
    pub(super) fn facts(
        &mut self,
        n: usize,
        l: &Loop,
        frame: &ProofContext<'a>,
        values: &TermValues,
        property: Property,
        when: &str,
    ) {
        for (i, hold) in l.holds.iter().enumerate() {
            let Hold::Fact(fact) = hold else { continue };
            self.attempt(property, |prover| {
                let mut frame = frame.clone();
                frame.cx.settle();
                let fact_holds = frame.cx.lower(fact, values)?;
                let goal = and(frame.cx.take_defined().into_iter().chain([fact_holds]));
                prover.prove(&frame, property, &format!("round{n}-fact{i}"), &format!("`{fact}` {when}"), goal);
                Ok(())
            });
        }
    }
}

/// Whether a state's value may differ between ranks.
pub(super) fn states_vary(schedule: &Schedule, l: &Loop) -> bool {
    l.states.iter().any(|state| varies(schedule, &state.init) || varies(schedule, &state.next))
}

/// Whether the number of rounds may differ between ranks. The parser refuses that, and the induction relies on it.
pub(super) fn bounds_vary(schedule: &Schedule, l: &Loop) -> bool {
    l.indices.iter().any(|index| varies(schedule, &index.lo) || varies(schedule, &index.hi))
}

/// Whether an expression depends on something that differs between ranks, directly or through definitions.
pub(super) fn varies(schedule: &Schedule, e: &Expr) -> bool {
    depends_on(schedule, e, &[RANK, NODE, LOCAL, PPN])
}

/// Whether an expression depends on something that differs between the ranks of a node.
pub(super) fn differs_on_node(schedule: &Schedule, e: &Expr) -> bool {
    depends_on(schedule, e, &[RANK, LOCAL])
}

fn depends_on(schedule: &Schedule, e: &Expr, slots: &[usize]) -> bool {
    let mut found = false;
    e.walk(&mut |e| match e {
        Expr::Var(v) => found |= slots.contains(&v.slot),
        Expr::Call(_, index, _) => found |= depends_on(schedule, &schedule.functions[*index].body, slots),
        _ => {}
    });
    found
}
