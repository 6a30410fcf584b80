//! Index arithmetic fits the machine.

use super::{ProofContext, Prover, Step};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SetPiece, SymbolicSet};
use crate::proving::smt::term::{Term, and, implies, lt};
use roundel_spec::schedule::Loop;

impl<'a> Prover<'a> {
    /// Proves that every intermediate result since the last call fits 64 bits for every p below 2^31.
    pub(super) fn fits(&mut self, frame: &mut ProofContext<'_>, name: &str, what: &str) {
        let computed = frame.cx.take_computed();
        let mut small = frame.clone();
        let numbers = self.schedule.numbers.iter().filter_map(|number| {
            // Parameters have a value in every frame.
            frame.values.get(number.var.slot, &number.var.name).ok()
        });
        let elements = frame.cx.elements().cloned();
        let limited = numbers.chain(elements).chain(["p".to_string()]).map(|x| lt(&x, "2147483648"));
        small.hypotheses.extend(limited);
        let fits = |(condition, term): (Term, Term)| {
            let in_range = and([lt("(- 4611686018427387904)", &term), lt(&term, "4611686018427387904")]);
            implies(&condition, &in_range)
        };
        let goal = and(computed.into_iter().map(fits));
        let claim = format!("every intermediate result of {what} fits 64 bits for p < 2^31");
        self.prove(&small, Property::MachineWidth, name, &claim, goal);
    }

    /// Where possible, generated code computes a comprehension from its first block and a step, not block by block. So
    /// these must fit, even if there is no block and they are computed anyway.
    fn stripe_fits(&mut self, piece: &SetPiece, frame: &ProofContext<'a>, name: &str) -> Step<()> {
        let mut inner = frame.clone();
        inner.cx.settle();
        for computed in piece.computed(self.wheel, &self.schedule.functions) {
            computed.any(&mut inner.cx, "")?;
        }
        self.fits(&mut inner, &format!("{name}-stripe"), &format!("`{}` as a stripe", piece.part));
        Ok(())
    }

    /// Every intermediate result of a block, and of the stripe it is part of.
    fn blocks_fit(
        &mut self,
        piece: &SetPiece,
        frame: &ProofContext<'a>,
        name: &str,
    ) -> Step<(ProofContext<'a>, SetElement)> {
        let mut inner = frame.clone();
        inner.cx.settle();
        let element = piece.any(&mut inner.cx, "")?;
        self.fits(&mut inner, name, &format!("`{}`", piece.part));
        self.stripe_fits(piece, frame, name)?;
        Ok((inner, element))
    }

    /// Every intermediate result of the clauses fits the machine.
    pub(super) fn width(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>) {
        for within in &l.within {
            self.attempt(Property::MachineWidth, |prover| {
                let set = SymbolicSet::new(&within.brings, &[], within.when.as_ref(), &frame.values);
                let name = format!("round{n}-clause{}", within.site.number);
                set.pieces.iter().try_for_each(|piece| prover.blocks_fit(piece, frame, &name).map(drop))
            });
        }
        for t in &l.transfers {
            self.attempt(Property::MachineWidth, |prover| {
                let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
                for piece in &set.pieces {
                    let name = format!("round{n}-clause{}", t.site.number);
                    let (mut inner, element) = prover.blocks_fit(piece, frame, &name)?;
                    inner.assume(element.condition.clone());
                    prover.peer(t, &mut inner, &element)?;
                    prover.fits(&mut inner, &format!("{name}-peer"), &format!("the peer `{}`", t.peer));
                }
                Ok(())
            });
        }
    }
}
