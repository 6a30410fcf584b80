//! How a round changes what is held.

use super::sets::{MovedSet, any_has};
use super::{HeldSet, ProofContext, Prover, Step, SymbolicBlock};
use crate::proving::smt::context::TermValues;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{and, eq, implies, not, or};
use roundel_spec::Direction;
use roundel_spec::schedule::Loop;

/// The comprehensions of all clauses of one direction.
pub(super) fn carried(l: &Loop, direction: Direction, values: &TermValues) -> Step<Vec<MovedSet>> {
    let mut all = Vec::new();
    for t in l.transfers.iter().filter(|t| t.direction == direction) {
        all.extend(MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), values)?);
    }
    Ok(all)
}

impl<'a> Prover<'a> {
    /// Proves that each sent block is held and sent once, and that each arriving block is not held and arrives once.
    pub(super) fn flow(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>, before: &HeldSet) {
        self.attempt(Property::SendsHeld, |prover| {
            let sends = carried(l, Direction::Send, &frame.values)?;
            for (i, one) in sends.iter().enumerate() {
                let mut inner = frame.clone();
                let block = SymbolicBlock::any(&mut inner);
                let sent = one.has_in_any(&mut inner.cx, &block)?;
                inner.assume(sent);
                let goal = before.has(&mut inner.cx, &block)?;
                let claim = format!("`{}` is held when it is sent", one.text);
                prover.prove(&inner, Property::SendsHeld, &format!("round{n}-send{i}"), &claim, goal);
            }
            prover.goes_one_way(&format!("round{n}-send"), frame, &sends, "is sent")
        });
        self.attempt(Property::SingleWrite, |prover| {
            let recvs = carried(l, Direction::Recv, &frame.values)?;
            for (i, one) in recvs.iter().enumerate() {
                let mut inner = frame.clone();
                let block = SymbolicBlock::any(&mut inner);
                let arrives = one.has_in_any(&mut inner.cx, &block)?;
                inner.assume(arrives);
                let goal = not(&before.has(&mut inner.cx, &block)?);
                let claim = format!("`{}` is not held yet when it arrives", one.text);
                prover.prove(&inner, Property::SingleWrite, &format!("round{n}-recv{i}"), &claim, goal);
            }
            prover.goes_one_way(&format!("round{n}-recv"), frame, &recvs, "arrives")
        });
    }

    /// No block is in two comprehensions, nor in two messages of one clause.
    pub(super) fn goes_one_way(
        &mut self,
        name: &str,
        frame: &ProofContext<'a>,
        all: &[MovedSet],
        what: &str,
    ) -> Step<()> {
        for (i, one) in all.iter().enumerate() {
            if let Some(each) = &one.each {
                let mut inner = frame.clone();
                let block = SymbolicBlock::any(&mut inner);
                let z = inner.cx.constant(&each.var.name);
                let there = one.has(&mut inner.cx, &z, &block)?;
                let which = one.which(&mut inner.cx, &block)?;
                let claim = format!("a block of `{}` {what} in one message", one.text);
                let goal = implies(&there, &eq(&z, &which));
                self.prove(&inner, Property::SingleWrite, &format!("{name}{i}-message"), &claim, goal);
            }
            for (k, other) in all.iter().enumerate().skip(i + 1) {
                let mut inner = frame.clone();
                let block = SymbolicBlock::any(&mut inner);
                let there = one.has_in_any(&mut inner.cx, &block)?;
                let goal = not(&and([there, other.has_in_any(&mut inner.cx, &block)?]));
                let claim = format!("no block of `{}` {what} as one of `{}`, too", one.text, other.text);
                self.prove(&inner, Property::SingleWrite, &format!("{name}{i}-{k}"), &claim, goal);
            }
        }
        Ok(())
    }

    /// What is held after a round is what was held and not sent, and what arrived.
    pub(super) fn step(
        &mut self,
        name: &str,
        l: &'a Loop,
        frame: &ProofContext<'a>,
        before: &HeldSet,
        after: &HeldSet,
    ) {
        self.attempt(Property::Invariant, |prover| {
            let mut frame = frame.clone();
            let block = SymbolicBlock::any(&mut frame);
            let (sends, recvs) =
                (carried(l, Direction::Send, &frame.values)?, carried(l, Direction::Recv, &frame.values)?);
            let before = before.has(&mut frame.cx, &block)?;
            let sent = any_has(&sends, &mut frame.cx, &block)?;
            let arrived = any_has(&recvs, &mut frame.cx, &block)?;
            let after = after.has(&mut frame.cx, &block)?;
            let kept = and([before, not(&sent)]);
            let mut prove = |what: &str, given: &str, goal: &str| {
                let mut frame = frame.clone();
                frame.assume(given.into());
                let claim = format!("`holds` is preserved: {what}");
                prover.prove(&frame, Property::Invariant, &format!("{name}-{what}"), &claim, goal.into());
            };
            prove("kept", &kept, &after);
            prove("gained", &arrived, &after);
            prove("nothing-else", &after, &or([kept.clone(), arrived.clone()]));
            Ok(())
        });
    }
}
