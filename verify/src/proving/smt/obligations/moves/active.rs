//! Which messages and rounds exist: a message without blocks does not, nor does a round without messages.
//!
//! A set is not empty if it has a certain candidate: the first block of its range or, if a digit must have a value, the
//! number with only that digit. That the set is empty without this candidate is an obligation.

use super::sets::{MovedSet, conjuncts, equation};
use super::{ProofContext, Prover, RANK, Step};
use crate::proving::smt::context::Context;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, and, or, within};
use roundel_spec::Direction;
use roundel_spec::expr::{Binary, Builtin, Expr};
use roundel_spec::schedule::{Loop, Transfer};

impl MovedSet {
    /// The claim that the message with index `z` of the clause has a block, decided by candidates.
    pub(super) fn some(&self, cx: &mut Context<'_>, z: &str) -> Step<Term> {
        let mut values = self.values.clone();
        self.each.iter().for_each(|index| values.set(index.var.slot, z));
        let mut candidates = Vec::new();
        if let Some(over) = &self.over {
            candidates.push(cx.lower(&over.lo, &values)?);
            for (a, b) in self.filter.iter().flat_map(conjuncts).filter_map(equation) {
                for (side, value) in [(&a, &b), (&b, &a)] {
                    if let Some(weight) = weight(side, over.var.slot)
                        && !value.mentions(over.var.slot)
                    {
                        let number = Expr::binary(Binary::Mul, value.clone(), weight);
                        candidates.push(cx.lower(&number, &values)?);
                    }
                }
            }
        } else {
            candidates.push("0".into());
        }
        let found = candidates.iter().map(|j| self.at_indices(cx, z, j).map(and)).collect::<Step<Vec<Term>>>()?;
        Ok(or(found))
    }

    /// The first index of the clause.
    fn first(&self, cx: &mut Context<'_>) -> Step<Term> {
        self.each.as_ref().map_or(Ok("0".into()), |index| cx.lower(&index.lo, &self.values))
    }
}

/// The weight of a digit of `j`: `pow(b, x)` in `digit(j, b, x)`, `d` in `j / d % b`.
fn weight(e: &Expr, j: usize) -> Option<Expr> {
    let is_j = |e: &Expr| matches!(e, Expr::Var(v) if v.slot == j);
    match e {
        Expr::Builtin(Builtin::Digit, args) if is_j(&args[0]) => {
            Some(Expr::Builtin(Builtin::Pow, vec![args[1].clone(), args[2].clone()]))
        }
        Expr::Binary(Binary::Rem, digits, base) if !base.mentions(j) => match &**digits {
            Expr::Binary(Binary::Div, number, weight) if is_j(number) && !weight.mentions(j) => {
                Some((**weight).clone())
            }
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Prover<'a> {
    /// The claim that a round has a message, the same on all ranks: conditions that depend on the rank are not encoded.
    pub(super) fn is_active(&self, l: &Loop, frame: &mut ProofContext<'_>) -> Step<Term> {
        let values = frame.values.without(RANK);
        let mut some = Vec::new();
        for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
            for one in MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), &values)? {
                let first = one.first(&mut frame.cx)?;
                some.push(one.some(&mut frame.cx, &first)?);
            }
        }
        Ok(or(some))
    }

    /// The claim that a clause without an index has a message.
    pub(super) fn has_message(&self, t: &Transfer, frame: &mut ProofContext<'_>) -> Step<Term> {
        let all = MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)?;
        let some = all.iter().map(|one| one.some(&mut frame.cx, "0")).collect::<Step<Vec<Term>>>()?;
        Ok(or(some))
    }

    /// Where any rank has a block to send, the round is active.
    pub(super) fn active_where_sent(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>) -> Step<()> {
        let name = format!("round{n}-loud");
        if self.all.iter().any(|known| known.name.ends_with(&name)) {
            return Ok(());
        }
        for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
            for one in MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)? {
                let mut inner = frame.clone();
                let (_, _, element) = one.any(&mut inner.cx)?;
                inner.assume(element.condition);
                let active = self.is_active(l, &mut inner)?;
                let claim = format!("a round in which `{}` has a block counts", one.text);
                self.prove(&inner, Property::Rounds, &name, &claim, active);
            }
        }
        Ok(())
    }

    /// Proves that the messages of a clause are those that are counted: with an index, one for each of its values;
    /// otherwise one if the candidate exists.
    pub(super) fn messages_counted(&mut self, n: usize, t: &'a Transfer, frame: &ProofContext<'a>) -> Step<()> {
        let all = MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)?;
        let name = format!("round{n}-clause{}-message", t.site.number);
        if let Some(index) = t.each.first() {
            let mut inner = frame.clone();
            let (lo, hi) = (inner.cx.lower(&index.lo, &inner.values)?, inner.cx.lower(&index.hi, &inner.values)?);
            let z = inner.cx.constant(&index.var.name);
            inner.assume(within(&z, &lo, &hi));
            let some = all.iter().map(|one| one.some(&mut inner.cx, &z)).collect::<Step<Vec<Term>>>()?;
            let claim = format!("`{}` has a block for every `{index}`", t.blocks);
            self.prove(&inner, Property::Counters, &name, &claim, or(some));
            return Ok(());
        }
        for one in &all {
            let mut inner = frame.clone();
            let (_, _, element) = one.any(&mut inner.cx)?;
            inner.assume(element.condition);
            let some = self.has_message(t, &mut inner)?;
            let claim = format!("a message of `{}` counts where it has a block", one.text);
            self.prove(&inner, Property::Counters, &name, &claim, some);
        }
        Ok(())
    }
}
