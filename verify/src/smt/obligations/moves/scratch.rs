//! What a rank keeps for others between rounds.
//!
//! A bound E(p) is shown offset by offset. If E does not fall as p grows, if a rank holds at most one block of each offset, and
//! if every offset `o >= 1` of which it ever holds a block in transit is one where E grows, from `E(o)` to `E(o + 1)`, then it
//! holds at most `E(p) - E(1)` of them at a time.

use super::{Block, Frame, Held, P, Prover, Step};
use crate::smt::context::Unsupported;
use crate::smt::query::Property;
use crate::smt::term::{add, and, eq, ge, le, lt, not};
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Bound, Metric};

impl<'a> Prover<'a> {
    /// What is held at a point of the run, against the bounds on what is kept for others.
    pub(super) fn scratch_at(&mut self, name: &str, frame: &Frame<'a>, held: &Held) {
        let scratch = |bound: &&Bound| bound.metric == Metric::Scratch && !bound.checked;
        for (i, bound) in self.schedule.bounds.iter().enumerate().filter(|(_, bound)| scratch(bound)) {
            self.attempt(Property::Bounds, |prover| {
                let name = format!("{name}-bound{i}");
                let mut frame = frame.clone();
                let block = Block::any(&mut frame);
                let there = held.has(&mut frame.cx, &block)?;
                frame.assume(there);
                if bound.value == Expr::Int(0) {
                    let goal = not(&block.in_transit());
                    prover.prove(&frame, Property::Bounds, &name, "nothing is kept for others", goal);
                    return Ok(());
                }
                let mut twin = frame.clone();
                let other = Block { source: Block::any(&mut twin).source, ..block.clone() };
                let there = held.has(&mut twin.cx, &other)?;
                twin.assume(there);
                let claim = "a rank holds one block of an offset";
                let goal = eq(&block.source, &other.source);
                prover.prove(&twin, Property::Bounds, &format!("{name}-one"), claim, goal);
                frame.assume(block.in_transit());
                let now = frame.cx.lower(&bound.value, &frame.values.with(P, block.offset.clone()))?;
                let then = frame.cx.lower(&bound.value, &frame.values.with(P, add(&block.offset, "1")))?;
                let goal = and([ge(&block.offset, "1"), lt(&now, &then)]);
                let claim = format!("`{bound}`: it grows at every offset of which a block is kept for others");
                prover.prove(&frame, Property::Bounds, &name, &claim, goal);
                Ok(())
            });
        }
    }

    /// What the bound itself must be like.
    pub(super) fn scratch_bound(&mut self, i: usize, bound: &Bound) -> Step<()> {
        if bound.value == Expr::Int(0) {
            return Ok(());
        }
        if bound.exact {
            return Err(Unsupported(format!("`{bound}`, which is exact and not 0,")));
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
        // Without another rank, too.
        let claim = format!("`{bound}` is not negative with one rank");
        let mut one = self.base()?;
        one.cx.settle();
        let alone = one.cx.lower(&bound.value, &one.values.with(P, "1"))?;
        let defined_alone = and(one.cx.take_defined());
        self.prove(&one, Property::Bounds, &format!("bound{i}-first"), &claim, and([defined_alone, ge(&alone, "0")]));
        Ok(())
    }
}
