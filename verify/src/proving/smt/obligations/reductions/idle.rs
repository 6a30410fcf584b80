//! Which rounds have messages: silent rounds do not count.
//!
//! If ranks fold, the first and the last rank may take part differently; and a fold may be silent for some p. So a
//! round with an index has a message of the first or the last rank, and a round without an index counts if the first
//! rank takes part; otherwise no rank does. On nodes, that is the first seat of the first and of the last node, and
//! only messages between nodes count.

use super::super::counters::stays_on_node;
use super::super::{ProofContext, Prover, Step};
use super::claims::first;
use crate::proving::smt::context::Context;
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SetPiece, SymbolicSet};
use crate::proving::smt::term::{Term, and, implies, ite, or, sub};
use roundel_spec::schedule::{Bound, Loop, Metric};

impl<'a> Prover<'a> {
    /// That a rank sends or receives something in a round; on nodes, from or to another node. Of every set it is the
    /// first element that counts: one that is there is a message, but where it is missing there may be others.
    fn takes_part(&self, l: &Loop, frame: &mut ProofContext<'_>, rank: &CyclicTerm) -> Step<Term> {
        self.elements(l, frame, rank, first)
    }

    /// The same, without an oversight: any element counts where the first one does not tell whether there are others.
    fn has_any(&self, l: &Loop, frame: &mut ProofContext<'_>, rank: &CyclicTerm) -> Step<Term> {
        self.elements(
            l,
            frame,
            rank,
            |cx, piece| if piece.first_tells() { first(cx, piece) } else { piece.any(cx, "") },
        )
    }

    fn elements(
        &self,
        l: &Loop,
        frame: &mut ProofContext<'_>,
        rank: &CyclicTerm,
        chosen: impl Fn(&mut Context<'_>, &SetPiece) -> Step<SetElement>,
    ) -> Step<Term> {
        let mut some = Vec::new();
        for t in &l.transfers {
            let values = frame.seen_at(rank);
            let set = SymbolicSet::of_clause(&frame.cx, t, &values);
            for piece in &set.pieces {
                let element = chosen(&mut frame.cx, piece)?;
                let mut there = vec![element.condition.clone()];
                if self.wheel == Numbering::Nodes {
                    let peer = frame.cx.cell(&t.peer, &super::super::round::bind(&values, t, &element))?;
                    there.push(self.wheel.different_number(&peer.number, &rank.number, 2));
                }
                some.push(and(there));
            }
        }
        Ok(or(some))
    }

    /// The first and the last rank that may take part.
    fn outermost(&self) -> [CyclicTerm; 2] {
        let last = sub(self.wheel.around(), "1");
        ["0".to_string(), last].map(|number| CyclicTerm { number, seat: "0".into() })
    }

    /// An exact number of rounds requires a message in each round that counts.
    pub(in super::super) fn no_silent_reduction(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) {
        self.attempt(Property::Rounds, |prover| {
            let mut frame = inside.clone();
            let [zero, last] = prover.outermost();
            let zero = prover.takes_part(l, &mut frame, &zero)?;
            let (goal, claim) = if l.indices.is_empty() {
                let any = prover.has_any(l, &mut frame, &prover.wheel.here())?;
                (implies(&any, &zero), "where rank 0 has no message, nobody has one")
            } else {
                let last = prover.takes_part(l, &mut frame, &last)?;
                (or([zero, last]), "rank 0 or rank p - 1 has a message in every round")
            };
            prover.prove(&frame, Property::Rounds, &format!("round{n}-not-silent"), claim, goal);
            Ok(())
        });
    }

    /// One if a round without an index has messages, otherwise zero.
    pub(in super::super) fn active(&self, l: &Loop, frame: &mut ProofContext<'_>) -> Step<Term> {
        let [zero, _] = self.outermost();
        let zero = self.takes_part(l, frame, &zero)?;
        Ok(ite(&zero, "1", "0"))
    }

    /// What a bound on the rounds between nodes rests on.
    pub(in super::super) fn rounds_between_nodes(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) {
        let speaks = |bound: &&Bound| bound.metric == Metric::NonlocalRounds && !bound.checked;
        let bounds: Vec<&Bound> = self.schedule.bounds.iter().filter(speaks).collect();
        let exact = bounds.iter().any(|bound| bound.exact);
        let counted = !bounds.is_empty() && self.schedule.kind.reduces() && !self.stays_on_node(l);
        if counted && (l.indices.is_empty() || exact) {
            self.no_silent_reduction(n, l, inside);
        }
    }

    /// Whether the messages of a round stay on their nodes, because their peers are written `at(node, …)`.
    pub(in super::super) fn stays_on_node(&self, l: &Loop) -> bool {
        self.wheel == Numbering::Nodes && l.transfers.iter().all(stays_on_node)
    }
}
