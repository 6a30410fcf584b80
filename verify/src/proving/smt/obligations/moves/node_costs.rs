//! What an all-to-all that looks at nodes costs: messages and rounds.
//!
//! A clause has a message for each value of its index, or one, where its condition is true; that the condition does not
//! depend on the index, and that every such message has a block, are obligations. So is where peers are: written
//! `at(node, …)` they are on the rank's own node, and elsewhere all of them are on another one.

use super::super::counters::stays_on_node;
use super::super::end::compare;
use super::super::{ProofContext, Prover, Step};
use super::nodes::bound;
use super::seats::PlacedSet;
use crate::proving::smt::context::NoEncoding;
use crate::proving::smt::numbering::CyclicTerm;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, implies, ite, le, or, sub, within};
use roundel_spec::Direction;
use roundel_spec::schedule::{BoundScope, Loop, Metric, Transfer};

impl<'a> Prover<'a> {
    /// The bounds of an all-to-all that looks at nodes.
    pub(super) fn bounds_on_nodes(&mut self, frame: &ProofContext<'a>) {
        for (i, bound) in self.schedule.bounds.iter().enumerate().filter(|(_, bound)| !bound.checked) {
            self.attempt(Property::Bounds, |prover| {
                if !matches!(bound.scope, BoundScope::Max | BoundScope::Each) {
                    return Err(NoEncoding::new(format!("`{bound}`, which is not about single ranks,")));
                }
                if prover.schedule.within().next().is_some() {
                    return Err(NoEncoding::new(format!("`{bound}`, where inner collectives cost something,")));
                }
                let mut frame = frame.clone();
                frame.cx.settle();
                let value = frame.cx.lower(&bound.value, &frame.values)?;
                let defined = and(frame.cx.take_defined());
                let used = match bound.metric {
                    Metric::Rounds if !bound.exact => prover.schedule.loops.len().to_string(),
                    Metric::NonlocalRounds => prover.rounds_that_leave(&mut frame)?,
                    Metric::MessagesSent | Metric::NonlocalMessagesSent if bound.scope == BoundScope::Each => {
                        prover.messages_sent(&mut frame, bound.metric)?
                    }
                    _ => return Err(NoEncoding::new(format!("`{bound}`"))),
                };
                let goal = and([defined, compare(bound, &used, &value)]);
                prover.prove(&frame, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
                Ok(())
            });
        }
    }

    /// The messages that this rank sends.
    fn messages_sent(&mut self, frame: &mut ProofContext<'a>, metric: Metric) -> Step<Term> {
        let mut total = "0".to_string();
        for l in &self.schedule.loops {
            for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
                if metric == Metric::NonlocalMessagesSent && stays_on_node(t) {
                    continue;
                }
                self.every_message_has_a_block(t, frame)?;
                if metric == Metric::NonlocalMessagesSent {
                    self.all_leave(t, frame)?;
                }
                let mut count = "1".to_string();
                if let Some(index) = t.each.first() {
                    let (lo, hi) =
                        (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
                    count = ite(&le(&lo, &hi), &sub(&hi, &lo), "0");
                }
                let when = match &t.when {
                    // An index has no value here: a condition that depends on one is refused.
                    Some(when) => frame.cx.lower(when, &frame.values)?,
                    None => "true".into(),
                };
                total = add(&total, &ite(&when, &count, "0"));
            }
        }
        Ok(total)
    }

    /// The rounds in which the first rank of all sends to another node; nobody else does where it does not.
    fn rounds_that_leave(&mut self, frame: &mut ProofContext<'a>) -> Step<Term> {
        let mut total = "0".to_string();
        for (n, l) in self.schedule.loops.iter().enumerate() {
            if l.transfers.iter().all(stays_on_node) {
                continue;
            }
            let zero = CyclicTerm { number: "0".into(), seat: "0".into() };
            let mut first = frame.clone();
            let leads = self.leaves_first(l, &mut first, &zero)?;
            for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
                if stays_on_node(t) {
                    continue;
                }
                self.all_leave(t, frame)?;
                for one in PlacedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)? {
                    let mut inner = first.clone();
                    let (_, element) = one.any(&mut inner.cx, "")?;
                    let claim = "where the first rank sends nothing to another node, nobody does";
                    let goal = implies(&element.condition, &leads);
                    self.prove(&inner, Property::Rounds, &format!("round{n}-leaves"), claim, goal);
                }
            }
            *frame = first;
            total = add(&total, &ite(&leads, "1", "0"));
        }
        Ok(total)
    }

    /// That the first message of a clause that leaves the node exists on a rank.
    fn leaves_first(&self, l: &Loop, frame: &mut ProofContext<'a>, rank: &CyclicTerm) -> Step<Term> {
        let values = frame.seen_at(rank);
        let mut some = Vec::new();
        for t in l.transfers.iter().filter(|t| t.direction == Direction::Send && !stays_on_node(t)) {
            for one in PlacedSet::all(&t.blocks, &t.each, t.when.as_ref(), &values)? {
                some.push(first_of(frame, &one, &[])?);
            }
        }
        Ok(or(some))
    }

    /// The messages of a clause go to other nodes.
    fn all_leave(&mut self, t: &Transfer, frame: &ProofContext<'a>) -> Step<()> {
        let name = format!("clause{}-leaves", t.site.number);
        if self.all.iter().any(|known| known.name.ends_with(&name)) {
            return Ok(());
        }
        for one in PlacedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)? {
            let mut inner = frame.clone();
            let (terms, element) = one.any(&mut inner.cx, "")?;
            inner.assume(element.condition);
            let peer = inner.cx.cell(&t.peer, &bound(&inner.values, t, &terms))?;
            let goal = self.wheel.different_number(&peer.number, "node", 2);
            let claim = format!("the peer `{}` is on another node", t.peer);
            self.prove(&inner, Property::Counters, &name, &claim, goal);
        }
        Ok(())
    }

    /// A clause has a block for every value of its index where its condition is true.
    fn every_message_has_a_block(&mut self, t: &Transfer, frame: &ProofContext<'a>) -> Step<()> {
        let name = format!("clause{}-message", t.site.number);
        if self.all.iter().any(|known| known.name.ends_with(&name)) {
            return Ok(());
        }
        if t.each.len() > 1 {
            return Err(NoEncoding::new("a clause with several indices".into()));
        }
        let mut inner = frame.clone();
        let mut terms = Vec::new();
        for index in &t.each {
            let (lo, hi) = (inner.cx.lower(&index.lo, &inner.values)?, inner.cx.lower(&index.hi, &inner.values)?);
            let z = inner.cx.constant(&index.var.name);
            inner.assume(within(&z, &lo, &hi));
            terms.push(z);
        }
        if let Some(when) = &t.when {
            let when = inner.cx.lower(when, &inner.values)?;
            inner.assume(when);
        }
        let mut some = Vec::new();
        for one in PlacedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)? {
            some.push(first_of(&mut inner, &one, &terms)?);
        }
        let claim = format!("`{}` has a block in every message", t.blocks);
        self.prove(&inner, Property::Counters, &name, &claim, or(some));
        Ok(())
    }
}

/// That a set has a block with the first value of every index, after those that are given.
fn first_of(frame: &mut ProofContext<'_>, one: &PlacedSet, given: &[Term]) -> Step<Term> {
    let mut values = one.values.clone();
    let mut terms = Vec::new();
    for (i, index) in one.indices.iter().enumerate() {
        let term = match given.get(i) {
            Some(term) => term.clone(),
            None => frame.cx.lower(&index.lo, &values)?,
        };
        values.set(index.var.slot, term.clone());
        terms.push(term);
    }
    Ok(one.at(&mut frame.cx, &terms)?.condition)
}
