//! What a rank keeps for others between rounds.
//!
//! A bound E(p) is shown offset by offset. If E does not decrease as p grows, if a rank holds at most one block of each
//! offset, and if every offset `o >= 1` of which it ever holds a block in transit is one where E grows, from `E(o)` to
//! `E(o + 1)`, then it holds at most `E(p) - E(1)` of them at a time.

use super::{HeldSet, P, ProofContext, Prover, Step, SymbolicBlock};
use crate::proving::smt::context::NoEncoding;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, le, lt, not};
use roundel_spec::Schedule;
use roundel_spec::expr::{Builtin, Expr};
use roundel_spec::schedule::{Bound, Metric};

impl<'a> Prover<'a> {
    /// Compares what is held at a point of the run with the bounds on what is kept for others.
    pub(super) fn scratch_at(&mut self, name: &str, frame: &ProofContext<'a>, held: &HeldSet) {
        let scratch = |bound: &&Bound| bound.metric == Metric::Scratch && !bound.checked;
        for (i, bound) in self.schedule.bounds.iter().enumerate().filter(|(_, bound)| scratch(bound)) {
            self.attempt(Property::Bounds, |prover| {
                let name = format!("{name}-bound{i}");
                let mut frame = frame.clone();
                let block = SymbolicBlock::any(&mut frame);
                let there = held.has(&mut frame.cx, &block)?;
                // Nothing need be in transit or held: that is part of the claim.
                let kept = and([there.clone(), block.in_transit()]);
                if bound.value == Expr::Int(0) {
                    let goal = not(&kept);
                    prover.prove(&frame, Property::Bounds, &name, "nothing is kept for others", goal);
                    return Ok(());
                }
                let mut twin = frame.clone();
                let other = SymbolicBlock { source: SymbolicBlock::any(&mut twin).source, ..block.clone() };
                let both = and([there, held.has(&mut twin.cx, &other)?]);
                let claim = "a rank holds one block of an offset";
                let goal = implies(&both, &eq(&block.source, &other.source));
                prover.prove(&twin, Property::Bounds, &format!("{name}-one"), claim, goal);
                let goal = match prover.several_digits(&mut frame, bound, &block.offset)? {
                    Some(several) => several,
                    None => grows(&mut frame, bound, &block.offset)?,
                };
                let claim = format!("`{bound}`: it grows at every offset of which a block is kept for others");
                prover.prove(&frame, Property::Bounds, &name, &claim, implies(&kept, &goal));
                Ok(())
            });
        }
    }

    /// The claim that an offset is at least 2 and has several digits that are not 0, to the base of a logarithm in the
    /// bound. If there is such a logarithm, this claim connects the two halves of the proof: blocks in transit have
    /// such offsets, and the bound grows at such offsets.
    fn several_digits(&self, frame: &mut ProofContext<'_>, bound: &Bound, offset: &str) -> Step<Option<Term>> {
        let Some(base) = base_of_logarithm(self.schedule, &bound.value) else { return Ok(None) };
        let values = frame.values.without(P);
        let base = frame.cx.lower(&base, &values)?;
        let (digits, top) = frame.cx.top_digit(&base, offset);
        let (_, rest) = frame.cx.quotient(offset, &top);
        Ok(Some(and([ge(offset, "2"), ge(&digits, "1"), not(&eq(&rest, "0"))])))
    }

    /// Proves what is required of the bound itself.
    pub(super) fn scratch_bound(&mut self, i: usize, bound: &Bound) -> Step<()> {
        if bound.value == Expr::Int(0) {
            return Ok(());
        }
        if bound.exact {
            return Err(NoEncoding::new(format!("`{bound}`, which is exact and not 0,")));
        }
        let mut frame = self.base()?;
        let offset = frame.cx.constant("offset!");
        frame.assume(and([le("1", &offset), lt(&offset, "p")]));
        frame.cx.settle();
        let values = frame.values.clone();
        let now = frame.cx.lower(&bound.value, &values.with(P, offset.clone()))?;
        let then = frame.cx.lower(&bound.value, &values.with(P, add(&offset, "1")))?;
        let defined = and(frame.cx.take_defined());
        let claim = format!("`{bound}`: it does not fall as p grows");
        let goal = and([defined, le(&now, &then)]);
        self.prove(&frame, Property::Bounds, &format!("bound{i}-grows"), &claim, goal);
        if let Some(several) = self.several_digits(&mut frame, bound, &offset)? {
            frame.assume(several);
            let goal = grows(&mut frame, bound, &offset)?;
            let claim = format!("`{bound}`: it grows at offsets of several digits");
            self.prove(&frame, Property::Bounds, &format!("bound{i}-digits"), &claim, goal);
        }
        // Also with a single rank.
        let claim = format!("`{bound}` is not negative with one rank");
        let mut one = self.base()?;
        one.cx.settle();
        let alone = one.cx.lower(&bound.value, &one.values.with(P, "1"))?;
        let defined_alone = and(one.cx.take_defined());
        self.prove(&one, Property::Bounds, &format!("bound{i}-first"), &claim, and([defined_alone, ge(&alone, "0")]));
        Ok(())
    }
}

/// The claim that an offset is at least 1, and that a bound is larger at the offset plus one than at the offset, in
/// place of p.
fn grows(frame: &mut ProofContext<'_>, bound: &Bound, offset: &str) -> Step<Term> {
    let values = frame.values.clone();
    let now = frame.cx.lower(&bound.value, &values.with(P, offset))?;
    let then = frame.cx.lower(&bound.value, &values.with(P, add(offset, "1")))?;
    Ok(and([ge(offset, "1"), lt(&now, &then)]))
}

/// The base of the first logarithm of p in an expression or in its definitions.
fn base_of_logarithm(schedule: &Schedule, e: &Expr) -> Option<Expr> {
    let mut found = None;
    e.walk(&mut |e| match e {
        Expr::Builtin(Builtin::CeilLog, args) if args[1].mentions(P) && found.is_none() => {
            found = Some(args[0].clone())
        }
        Expr::Call(_, index, _) if found.is_none() => {
            found = base_of_logarithm(schedule, &schedule.functions[*index].body);
        }
        _ => {}
    });
    found
}
