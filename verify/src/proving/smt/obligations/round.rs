//! One round: its clauses have values and stay near `0..p`, ranks hold what they send, `holds` is preserved.

use super::{ProofContext, Prover, Step};
use crate::proving::smt::context::{Context, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SetPiece, SymbolicSet};
use crate::proving::smt::term::{Term, and, within};
use roundel_spec::Direction;
use roundel_spec::schedule::{Loop, Transfer};

impl<'a> Prover<'a> {
    /// All obligations of one round.
    pub(super) fn round(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &ProofContext<'a>,
        before: &SymbolicSet,
        after: &SymbolicSet,
        at_hand: &[Term],
    ) {
        for t in &l.transfers {
            self.clause_is_sound(t, frame);
        }
        for t in l.transfers.iter().filter(|t| t.direction == Direction::Send) {
            let sent = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
            let name = format!("round{n}-clause{}", t.site.number);
            self.subset(
                frame,
                &sent,
                before,
                at_hand,
                Property::SendsHeld,
                &name,
                &format!("`{}` is held when it is sent", t.blocks),
            );
        }
        self.matching(n, l, frame);
        let arrived = arrivals(l, &frame.values);
        self.fresh(n, frame, &arrived, before);
        self.once(n, frame, &arrived);
        let arrived = self.gathered(n, l, frame, before, arrived, at_hand);
        let claim = "`holds` is preserved";
        self.subset(frame, before, after, at_hand, Property::Invariant, &format!("round{n}-kept"), claim);
        self.subset(frame, &arrived, after, at_hand, Property::Invariant, &format!("round{n}-gained"), claim);
        let union = before.clone().union(arrived);
        self.subset(frame, after, &union, at_hand, Property::Invariant, &format!("round{n}-nothing-else"), claim);
    }

    /// Expressions have values, numbers stay near `0..p`, no rank sends to itself.
    pub(super) fn clause_is_sound(&mut self, t: &Transfer, frame: &ProofContext<'a>) {
        let name = format!("clause{}", t.site.number);
        self.attempt(Property::Defined, |prover| {
            let mut frame = frame.clone();
            frame.cx.settle();
            let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
            for piece in &set.pieces {
                let mut inner = frame.clone();
                let element = piece.any(&mut inner.cx, "")?;
                let ranges = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", t.blocks), ranges);
                inner.assume(element.condition.clone());
                let (window, inside) = prover.block_range(&mut inner, piece, &element)?;
                let claim = format!("`{}` lies in {window}", piece.part);
                prover.prove(&inner, Property::WrapRange, &name, &claim, inside);
                let peer = prover.peer(t, &mut inner, &element)?;
                let defined = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", t.peer), defined);
                let (window, wheel) = (prover.windows.of(&t.peer), prover.wheel);
                let claim = format!("the peer `{}` lies in {}", t.peer, window.text(wheel));
                let inside = and([window.contains(wheel, &peer.number), prover.seated(&mut inner.cx, &peer)]);
                prover.prove(&inner, Property::WrapRange, &name, &claim, inside.clone());
                inner.assume(inside);
                let claim = format!("the peer `{}` is another rank", t.peer);
                let other = wheel.different(&peer, &wheel.here(), 2);
                prover.prove(&inner, Property::NoSelfMessage, &name, &claim, other);
            }
            Ok(())
        });
    }

    /// The range of block numbers: a window of length p if there are p blocks; otherwise they do not wrap at all.
    pub(super) fn block_range(
        &self,
        frame: &mut ProofContext<'_>,
        piece: &SetPiece,
        element: &SetElement,
    ) -> Step<(String, Term)> {
        if self.blocks_are_ranks() {
            return Ok(self.in_window(frame, piece, element));
        }
        let blocks = self.blocks(frame)?;
        Ok((format!("[0, {})", self.schedule.blocks), within(&element.block, "0", &blocks)))
    }

    /// The window of a number that wraps, and that an element lies in it.
    pub(super) fn in_window(
        &self,
        frame: &mut ProofContext<'_>,
        piece: &SetPiece,
        element: &SetElement,
    ) -> (String, Term) {
        let window = self.windows.of(&piece.part.item);
        let seated = self.seated(&mut frame.cx, &element.cell());
        let inside = and([window.contains(self.wheel, &element.block), seated]);
        (window.text(self.wheel), inside)
    }

    /// The peer of a message, as declared, before wrapping.
    pub(super) fn peer(&self, t: &Transfer, frame: &mut ProofContext<'_>, element: &SetElement) -> Step<CyclicTerm> {
        let values = bind(&frame.values, t, element);
        frame.cx.cell(&t.peer, &values)
    }

    /// That a seat lies on its node.
    pub(super) fn seated(&self, cx: &mut Context<'_>, cell: &CyclicTerm) -> Term {
        match self.wheel {
            Numbering::Ranks => "true".into(),
            Numbering::Nodes => within(&cell.seat, "0", &cx.node_size(&cell.number)),
        }
    }
}

/// The values of a clause's own indices.
pub(super) fn bind(values: &TermValues, t: &Transfer, element: &SetElement) -> TermValues {
    let mut values = values.clone();
    t.each.iter().zip(&element.indices).for_each(|(index, term)| values.set(index.var.slot, term.clone()));
    values
}

pub(super) fn arrivals(l: &Loop, values: &TermValues) -> SymbolicSet {
    let recvs = l.transfers.iter().filter(|t| t.direction == Direction::Recv);
    recvs.fold(SymbolicSet { pieces: vec![] }, |all, t| {
        all.union(SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), values))
    })
}
