//! Which rounds have messages: silent rounds do not count.
//!
//! If ranks fold, the first and the last rank may take part differently; and a fold may be silent for some p. So a
//! round with an index has a message of the first or the last rank, and a round without an index counts if the first
//! rank takes part; otherwise no rank does.

use super::super::{ProofContext, Prover, Step};
use super::claims::first;
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::SymbolicSet;
use crate::proving::smt::term::{Term, implies, ite, or, sub};
use roundel_spec::schedule::Loop;

impl<'a> Prover<'a> {
    /// That a rank sends or receives something in a round.
    fn takes_part(&self, l: &Loop, frame: &mut ProofContext<'_>, rank: &str) -> Step<Term> {
        let mut some = Vec::new();
        for t in &l.transfers {
            let set = SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), &frame.seen_by(rank));
            for piece in &set.pieces {
                some.push(first(&mut frame.cx, piece)?.condition);
            }
        }
        Ok(or(some))
    }

    /// An exact number of rounds requires a message in each round that counts.
    pub(in super::super) fn no_silent_reduction(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) {
        self.attempt(Property::Rounds, |prover| {
            let mut frame = inside.clone();
            let zero = prover.takes_part(l, &mut frame, "0")?;
            let (goal, claim) = if l.indices.is_empty() {
                let any = prover.takes_part(l, &mut frame, "rank")?;
                (implies(&any, &zero), "where rank 0 has no message, nobody has one")
            } else {
                let last = prover.takes_part(l, &mut frame, &sub("p", "1"))?;
                (or([zero, last]), "rank 0 or rank p - 1 has a message in every round")
            };
            prover.prove(&frame, Property::Rounds, &format!("round{n}-not-silent"), claim, goal);
            Ok(())
        });
    }

    /// One if a round without an index has messages, otherwise zero.
    pub(in super::super) fn active(&self, l: &Loop, frame: &mut ProofContext<'_>) -> Step<Term> {
        let zero = self.takes_part(l, frame, "0")?;
        Ok(ite(&zero, "1", "0"))
    }
}
