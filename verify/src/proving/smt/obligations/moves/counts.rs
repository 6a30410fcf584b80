//! What an all-to-all costs: rounds, messages and blocks.
//!
//! The number of blocks of a filtered comprehension over `0..p` is shown by induction over p: with p = 0 there is none,
//! and from p to p + 1 there is one more exactly where the filter is true at p. No facts about the real p, or about a
//! rank, may be used there. So the frame of that induction has no values for either: a fact that mentions one of them,
//! directly or through a definition, is left out, and a claim that does is not encoded. A condition of the set that
//! mentions p is shown, in the round itself, to follow from the others for offsets below p.

use super::super::end::{compare, not_of_a_node};
use super::flow::carried;
use super::rounds::Next;
use super::sets::MovedSet;
use super::{MovesEntry, P, ProofContext, Prover, Step, SymbolicBlock};
use crate::proving::smt::context::{Context, NoEncoding, TermValues};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, ge, int, ite, le, mul, sub, within};
use roundel_spec::Direction;
use roundel_spec::expr::{Binary, Expr};
use roundel_spec::schedule::{Bound, BoundScope, Hold, Loop, Metric};

/// The direction of the messages that a metric counts.
fn direction(metric: Metric) -> Step<Direction> {
    match metric {
        Metric::MessagesSent | Metric::BlocksSent => Ok(Direction::Send),
        Metric::MessagesReceived | Metric::BlocksReceived => Ok(Direction::Recv),
        _ => Err(NoEncoding::new(format!("the {metric} of a round"))),
    }
}

/// The size of a range.
fn size(lo: &str, hi: &str) -> Term {
    ite(&le(lo, hi), &sub(hi, lo), "0")
}

impl<'a> Prover<'a> {
    /// Whether any claim is about the total of a metric.
    fn is_counted(&self, metric: Metric) -> bool {
        let total = |bound: &Bound| !matches!(bound.scope, BoundScope::PerRound(_)) && !bound.checked;
        let bounded = self.schedule.bounds.iter().any(|bound| bound.metric == metric && total(bound));
        bounded || self.schedule.loops.iter().any(|l| has_counter(l, metric))
    }

    /// What one rank uses of a metric in a round, exactly, given what [`prove_use`](Prover::prove_use) adds.
    fn use_of(&self, l: &'a Loop, frame: &mut ProofContext<'_>, metric: Metric) -> Step<Term> {
        if metric == Metric::Rounds {
            let active = self.is_active(l, frame)?;
            return Ok(ite(&active, "1", "0"));
        }
        let (direction, values) = (direction(metric)?, frame.values.clone());
        let mut total = "0".to_string();
        for t in l.transfers.iter().filter(|t| t.direction == direction) {
            let clause = match t.each.as_slice() {
                [] => None,
                [index] => {
                    let (lo, hi) = (frame.cx.lower(&index.lo, &values)?, frame.cx.lower(&index.hi, &values)?);
                    Some(size(&lo, &hi))
                }
                _ => return Err(NoEncoding::new("a clause with several indices".into())),
            };
            let amount = match (metric, clause) {
                (Metric::MessagesSent | Metric::MessagesReceived, None) => {
                    ite(&self.has_message(t, frame)?, "1", "0")
                }
                (Metric::MessagesSent | Metric::MessagesReceived, Some(clause)) => clause,
                (_, clause) => {
                    let mut blocks = "0".to_string();
                    for one in MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), &values)? {
                        let count = one.plain_size(&mut frame.cx)?;
                        blocks = add(&blocks, &count);
                    }
                    match clause {
                        None => blocks,
                        Some(clause) => frame.cx.product(&clause, &blocks),
                    }
                }
            };
            total = add(&total, &amount);
        }
        Ok(total)
    }

    /// Adds the obligations that [`use_of`](Prover::use_of) relies on.
    fn prove_use(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>, metric: Metric) -> Step<()> {
        match metric {
            Metric::Rounds => self.active_where_sent(n, l, frame),
            Metric::MessagesSent | Metric::MessagesReceived => {
                let direction = direction(metric)?;
                let clauses = l.transfers.iter().filter(|t| t.direction == direction);
                clauses.collect::<Vec<_>>().into_iter().try_for_each(|t| self.messages_counted(n, t, frame))
            }
            _ => Ok(()),
        }
    }

    /// The totals after a round without an index.
    pub(super) fn used_by(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &mut ProofContext<'a>,
        entry: &MovesEntry<'a>,
    ) -> Vec<(Metric, Term)> {
        let mut used = Vec::new();
        for (metric, before) in &entry.used {
            if !self.is_counted(*metric) {
                continue;
            }
            if let Ok(in_round) = self.use_of(l, frame, *metric) {
                self.attempt(Property::Counters, |prover| prover.prove_use(n, l, frame, *metric));
                used.push((*metric, add(before, &in_round)));
            }
        }
        used
    }

    /// Proves that counters are right where a loop begins.
    pub(super) fn counters_at_start(
        &mut self,
        n: usize,
        l: &'a Loop,
        start: &ProofContext<'a>,
        entry: &MovesEntry<'a>,
    ) {
        for (metric, value) in counters(l) {
            self.attempt(Property::Counters, |prover| {
                prover.counter_starts(n, (metric, value), start, entry.used(metric))
            });
        }
    }

    /// Adds the obligations that the counters of a loop rely on.
    pub(super) fn usages(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>) {
        for (metric, _) in counters(l) {
            self.attempt(Property::Counters, |prover| prover.prove_use(n, l, frame, metric));
        }
    }

    /// Proves that counters advance by what a round uses.
    pub(super) fn counters_advance(&mut self, name: &str, l: &'a Loop, next: &Next<'a>) {
        for (metric, value) in counters(l) {
            self.attempt(Property::Counters, |prover| {
                let mut frame = next.frame.clone();
                frame.cx.settle();
                let values = frame.values.clone();
                let (now, then) = (frame.cx.lower(value, &values)?, frame.cx.lower(value, &next.values)?);
                let defined = and(frame.cx.take_defined());
                let used = prover.use_of(l, &mut frame, metric)?;
                let claim = format!("`{metric} = {value}` advances by what a round uses");
                let goal = and([defined, eq(&then, &add(&now, &used))]);
                prover.prove(&frame, Property::Counters, &format!("{name}-{metric}-step"), &claim, goal);
                Ok(())
            });
        }
    }

    /// Bounds on single rounds, and that no round is silent if all are counted.
    pub(super) fn bounds_of_round(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>) {
        for (i, bound) in self.schedule.bounds.iter().enumerate() {
            if bound.scope != BoundScope::PerRound(n) || bound.checked {
                continue;
            }
            self.attempt(Property::Bounds, |prover| match bound.metric {
                Metric::MessagesSent | Metric::MessagesReceived => prover.messages_bound(n, l, frame, i, bound),
                Metric::BlocksSent | Metric::BlocksReceived => prover.blocks_bound(n, l, frame, i, bound),
                metric => Err(NoEncoding::new(format!("a bound on the {metric} of a round"))),
            });
        }
        let exact = |bound: &Bound| bound.metric == Metric::Rounds && bound.exact && !bound.checked;
        if !l.indices.is_empty() && !self.rounds_are_known() && self.schedule.bounds.iter().any(exact) {
            self.attempt(Property::Rounds, |prover| {
                let mut frame = frame.clone();
                let active = prover.is_active(l, &mut frame)?;
                let claim = "there is a message in every round";
                prover.prove(&frame, Property::Rounds, &format!("round{n}-not-silent"), claim, active);
                Ok(())
            });
        }
    }

    /// Whether counters give the number of rounds after the last one.
    fn rounds_are_known(&self) -> bool {
        let counts =
            |known: bool, l: &Loop| if l.indices.is_empty() { known } else { has_counter(l, Metric::Rounds) };
        self.schedule.loops.iter().fold(true, counts)
    }

    /// A bound on the messages of a round that has some.
    fn messages_bound(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &ProofContext<'a>,
        i: usize,
        bound: &Bound,
    ) -> Step<()> {
        let mut frame = frame.clone();
        frame.cx.settle();
        let values = frame.values.clone();
        let value = frame.cx.lower(&bound.value, &values)?;
        let defined = and(frame.cx.take_defined());
        let used = if bound.exact {
            let mut here = frame.clone();
            if let Ok(active) = self.is_active(l, &mut here) {
                // Only rounds with messages count.
                self.active_where_sent(n, l, &frame)?;
                here.assume(active);
                frame = here;
            }
            self.prove_use(n, l, &frame, bound.metric)?;
            self.use_of(l, &mut frame, bound.metric)?
        } else {
            let direction = direction(bound.metric)?;
            let mut most = "0".to_string();
            for t in l.transfers.iter().filter(|t| t.direction == direction) {
                let mut messages = "1".to_string();
                for index in &t.each {
                    let (lo, hi) = (frame.cx.lower(&index.lo, &values)?, frame.cx.lower(&index.hi, &values)?);
                    messages = mul(&messages, &size(&lo, &hi));
                }
                most = add(&most, &messages);
            }
            most
        };
        let goal = and([defined, compare(bound, &used, &value)]);
        self.prove(&frame, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
        Ok(())
    }

    /// A bound on the blocks of a round: by their ranges or, where a filter hides some, by induction over p.
    fn blocks_bound(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>, i: usize, bound: &Bound) -> Step<()> {
        let mut here = frame.clone();
        if let Ok(used) = self.use_of(l, &mut here, bound.metric) {
            here.cx.settle();
            let value = here.cx.lower(&bound.value, &here.values.clone())?;
            let goal = and(here.cx.take_defined().into_iter().chain([compare(bound, &used, &value)]));
            self.prove(&here, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
            return Ok(());
        }
        let all = carried(l, direction(bound.metric)?, &frame.values)?;
        let free = self.without_p(l)?;
        let mut frame_of_count = free.clone();
        let count = frame_of_count.cx.constant("p");
        frame_of_count.assume(ge(&count, "0"));
        let mut more = "0".to_string();
        for (k, one) in all.iter().enumerate() {
            if !one.is_over_all() {
                return Err(NoEncoding::new(format!(
                    "the number of blocks of `{}`, which is not over 0..p,",
                    one.text
                )));
            }
            let counted = one.with_values(&free.values);
            let mut kept = Vec::new();
            let mut left = Vec::new();
            for condition in one.conditions_but_range() {
                match counted.lower_at(&mut frame_of_count.cx, &condition, &count) {
                    Ok(term) => kept.push((condition, term)),
                    Err(_) => left.push(condition),
                }
            }
            more = add(&more, &ite(&and(kept.iter().map(|(_, term)| term.clone())), "1", "0"));
            self.conditions_follow(&format!("round{n}-bound{i}-{k}"), one, frame, &kept, &left)?;
        }
        frame_of_count.cx.settle();
        let mut at = |p: &str| -> Step<Term> {
            let values = free.values.with(P, p);
            frame_of_count.cx.lower(&bound.value, &values)
        };
        let (none, now, then) = (at("0")?, at(&count)?, at(&add(&count, "1"))?);
        let defined = and(frame_of_count.cx.take_defined());
        let claim = format!("`{bound}`, with no blocks at all");
        let goal = and([defined.clone(), compare(bound, "0", &none)]);
        self.prove(&frame_of_count, Property::Bounds, &format!("bound{i}-none"), &claim, goal);
        let claim = format!("`{bound}`, with one rank more");
        // One more offset adds exactly what the bound allows, or at most that.
        let goal = and([defined, compare(bound, &add(&now, &more), &then)]);
        self.prove(&frame_of_count, Property::Bounds, &format!("bound{i}-more"), &claim, goal);
        Ok(())
    }

    /// For offsets below p, the conditions that the count leaves out follow from those that it keeps.
    fn conditions_follow(
        &mut self,
        name: &str,
        one: &MovedSet,
        frame: &ProofContext<'a>,
        kept: &[(Expr, Term)],
        left: &[Expr],
    ) -> Step<()> {
        if left.is_empty() {
            return Ok(());
        }
        let mut frame = frame.clone();
        let j = frame.cx.constant("offset!");
        frame.assume(within(&j, "0", "p"));
        for (condition, _) in kept {
            let condition = one.lower_at(&mut frame.cx, condition, &j)?;
            frame.assume(condition);
        }
        let left = left.iter().map(|condition| one.lower_at(&mut frame.cx, condition, &j));
        let goal = and(left.collect::<Step<Vec<Term>>>()?);
        let claim = format!("which blocks `{}` has does not depend on p", one.text);
        self.prove(&frame, Property::Bounds, name, &claim, goal);
        Ok(())
    }

    /// The facts about a round of a loop that mention neither p nor the rank.
    fn without_p(&self, l: &'a Loop) -> Step<ProofContext<'a>> {
        let mut cx = Context::new(self.schedule);
        let mut values = TermValues::new(self.schedule.slots + 1);
        let mut hypotheses = Vec::new();
        for number in &self.schedule.numbers {
            let name = cx.constant(&number.var.name);
            hypotheses.push(ge(&name, &int(number.domain.lo)));
            number.domain.hi.iter().for_each(|hi| hypotheses.push(le(&name, &int(*hi))));
            values.set(number.var.slot, name);
        }
        let mut frame = ProofContext { cx, values, hypotheses, levels: None };
        for clause in &self.schedule.requires {
            if let Ok(clause) = frame.cx.assume(clause, &frame.values) {
                frame.assume(clause);
            }
        }
        for state in &l.states {
            let name = frame.cx.constant(&state.var.name);
            frame.values.set(state.var.slot, name);
        }
        for index in &l.indices {
            let s = frame.cx.constant(&index.var.name);
            if let Ok(lo) = frame.cx.lower(&index.lo, &frame.values) {
                frame.assume(le(&lo, &s));
            }
            if let Ok(hi) = frame.cx.lower(&index.hi, &frame.values) {
                frame.assume(le(&add(&s, "1"), &hi));
            }
            frame.values.set(index.var.slot, s);
        }
        for hold in &l.holds {
            if let Hold::Fact(fact) = hold {
                // A fact that mentions p or the rank is not known here.
                let _ = frame.adopt(fact, l);
            }
        }
        frame.cx.settle();
        Ok(frame)
    }

    /// Bounds on the whole run.
    pub(super) fn total_bounds(&mut self, entry: &MovesEntry<'a>) {
        for (i, bound) in self.bounds_of_the_run() {
            self.attempt(Property::Bounds, |prover| {
                not_of_a_node(bound)?;
                if bound.metric == Metric::Scratch {
                    return prover.scratch_bound(i, bound);
                }
                let mut frame = entry.frame.clone();
                frame.cx.settle();
                let value = frame.cx.lower(&bound.value, &frame.values.clone())?;
                let defined = and(frame.cx.take_defined());
                let used = match (entry.used(bound.metric), bound.metric) {
                    (Some(used), _) => used,
                    (None, Metric::Rounds) => prover.rounds_in_all(&mut frame)?,
                    (None, metric) => {
                        return Err(NoEncoding::new(format!("the bound `{bound}` without `holds({metric} = …)`")));
                    }
                };
                let goal = and([defined, compare(bound, &used, &value)]);
                prover.prove(&frame, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
                Ok(())
            });
        }
    }

    /// The number of rounds of all loops; only those without an index may be silent.
    fn rounds_in_all(&self, frame: &mut ProofContext<'_>) -> Step<Term> {
        if self.rounds_are_known() && !self.schedule.loops.iter().all(|l| l.indices.is_empty()) {
            return Err(NoEncoding::new("the number of rounds where the last loop ends".into()));
        }
        let mut total = "0".to_string();
        for l in &self.schedule.loops {
            let rounds = match l.indices.as_slice() {
                [] => self.use_of(l, frame, Metric::Rounds)?,
                [index] => {
                    let values = frame.values.clone();
                    let (lo, hi) = (frame.cx.lower(&index.lo, &values)?, frame.cx.lower(&index.hi, &values)?);
                    size(&lo, &hi)
                }
                _ => return Err(NoEncoding::new("the number of nested rounds without `holds(rounds = …)`".into())),
            };
            total = add(&total, &rounds);
        }
        Ok(total)
    }
}

/// The counters of `holds`.
fn counters(l: &Loop) -> impl Iterator<Item = (Metric, &Expr)> {
    l.holds.iter().filter_map(|hold| match hold {
        Hold::Counter(metric, value) => Some((*metric, value)),
        _ => None,
    })
}

fn has_counter(l: &Loop, metric: Metric) -> bool {
    counters(l).any(|(known, _)| known == metric)
}

impl MovedSet {
    /// The number of blocks of a message without conditions; the range must not depend on the clause's index.
    fn plain_size(&self, cx: &mut Context<'_>) -> Step<Term> {
        if self.is_conditional() {
            return Err(NoEncoding::new(format!("the number of blocks of `{}`", self.text)));
        }
        match &self.over {
            None => Ok("1".into()),
            Some(index) => {
                let (lo, hi) = (cx.lower(&index.lo, &self.values)?, cx.lower(&index.hi, &self.values)?);
                Ok(size(&lo, &hi))
            }
        }
    }

    /// Whether its index runs through `0..p`.
    fn is_over_all(&self) -> bool {
        let p = |e: &Expr| matches!(e, Expr::Var(v) if v.slot == P);
        self.over.as_ref().is_some_and(|index| index.lo == Expr::Int(0) && p(&index.hi))
    }

    /// The conditions under which there is a block, except the range of the comprehension.
    fn conditions_but_range(&self) -> Vec<Expr> {
        let mut all = Vec::new();
        if let Some(index) = &self.each {
            let z = || Expr::Var(index.var.clone());
            all.push(Expr::binary(Binary::Le, index.lo.clone(), z()));
            all.push(Expr::binary(Binary::Lt, z(), index.hi.clone()));
        }
        all.extend(self.conditions_declared());
        all
    }

    /// A condition at an offset, in the message of the clause that the offset determines.
    fn lower_at(&self, cx: &mut Context<'_>, condition: &Expr, offset: &str) -> Step<Term> {
        let block = SymbolicBlock { source: "0".into(), offset: offset.into() };
        let mut values = self.values.clone();
        if let Some(index) = &self.each {
            let z = self.which(cx, &block)?;
            values.set(index.var.slot, z);
        }
        self.over.iter().for_each(|index| values.set(index.var.slot, offset));
        cx.lower(condition, &values)
    }
}
