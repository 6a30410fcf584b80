//! Sends and receives of a round match, block by block, in both directions.

use super::round::bind;
use super::{ProofContext, Prover, Step};
use crate::proving::smt::context::NoEncoding;
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SetPiece, SymbolicSet};
use crate::proving::smt::term::{add, and, eq, not, or, sub, within};
use roundel_spec::Direction;
use roundel_spec::affine::affine;
use roundel_spec::expr::{Expr, Unary};
use roundel_spec::schedule::{Loop, Transfer};

impl<'a> Prover<'a> {
    /// Pairs sends and receives of a round in the order of their declaration. Each message of a send matches the
    /// receive with the same clause index at its peer, element by element, and vice versa.
    pub(super) fn matching(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>) {
        for (send, recv) in self.paired(n, l) {
            self.pair(n, l, send, recv, frame);
            self.pair(n, l, recv, send, frame);
        }
    }

    /// The k-th send of a round with its k-th receive. If there are more of one than of the other, that is a gap.
    pub(super) fn paired(&mut self, n: usize, l: &'a Loop) -> Vec<(&'a Transfer, &'a Transfer)> {
        let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction).collect::<Vec<_>>();
        let (sends, recvs) = (of(Direction::Send), of(Direction::Recv));
        if sends.len() != recvs.len() {
            let (sent, received) = (sends.len(), recvs.len());
            let reason = format!("round {n} has {sent} sends and {received} receives, which have no pairing");
            self.gap(Property::PeerInverse, reason);
            return Vec::new();
        }
        sends.into_iter().zip(recvs).collect()
    }

    pub(super) fn pair(&mut self, n: usize, l: &Loop, here: &Transfer, there: &Transfer, frame: &ProofContext<'a>) {
        let one_sided = here.each.len() != there.each.len();
        let told = here.each.len() + there.each.len() == 1;
        if here.blocks.parts.len() != there.blocks.parts.len() || one_sided && !told {
            let reason = format!("`{}` and `{}` have different forms", here.blocks, there.blocks);
            return self.gap(Property::SameBlocks, reason);
        }
        let mine = SymbolicSet::of_clause(&frame.cx, here, &frame.values);
        for (i, piece) in mine.pieces.iter().enumerate() {
            self.attempt(Property::PeerInverse, |prover| {
                let mut frame = frame.clone();
                let element = piece.any(&mut frame.cx, "")?;
                frame.assume(element.condition.clone());
                let wheel = prover.wheel;
                let declared = prover.peer(here, &mut frame, &element)?;
                let mut peer = CyclicTerm { number: declared.number.clone(), seat: declared.seat.clone() };
                if wheel == Numbering::Ranks || declared.number != wheel.here().number {
                    peer.number = frame.cx.constant("peer!");
                    frame.assume(within(&peer.number, "0", wheel.around()));
                    frame.assume(prover.windows.of(&here.peer).contains(wheel, &declared.number));
                    frame.assume(wheel.same_number(&declared.number, &peer.number));
                }
                let seated = prover.seated(&mut frame.cx, &peer);
                frame.assume(seated);
                frame.meet_node(&peer)?;
                for hint in &l.hints {
                    // It was proved for an arbitrary rank, so it also holds for the peer.
                    let hint = frame.cx.lower(hint, &frame.seen_at(&peer))?;
                    frame.assume(hint);
                }
                let theirs = SymbolicSet::of_clause(&frame.cx, there, &frame.seen_at(&peer));
                let met = if one_sided {
                    prover.told_by_peer(&mut frame, there, &theirs.pieces[i], here.each.len(), &element, &peer)?
                } else {
                    prover.counterpart(&mut frame, piece, &theirs.pieces[i], &element)?
                };
                if one_sided && !here.each.is_empty() {
                    prover.other_peers(n, here, &frame, piece, &element, &declared)?;
                }
                let values = bind(&frame.seen_at(&peer), there, &met);
                let back = frame.cx.cell(&there.peer, &values)?;
                let name = format!("round{n}-clause{}-{i}", here.site.number);
                let claim = format!("the peer of the peer of `{}` is the rank itself", here.peer);
                prover.prove(&frame, Property::PeerInverse, &name, &claim, wheel.same(&back, &wheel.here()));
                let claim = format!("`{}` meets `{}`, block by block", here.blocks, there.blocks);
                let same = if prover.blocks_are_ranks() {
                    wheel.same(&met.cell(), &element.cell())
                } else {
                    eq(&met.block, &element.block)
                };
                let goal = and([met.condition.clone(), same]);
                prover.prove(&frame, Property::SameBlocks, &name, &claim, goal);
                Ok(())
            });
        }
    }

    /// The element at the same position on the other side, where only one side has an index: its peer tells which.
    fn told_by_peer(
        &self,
        frame: &mut ProofContext<'_>,
        there: &Transfer,
        theirs: &SetPiece,
        mine: usize,
        element: &SetElement,
        peer: &CyclicTerm,
    ) -> Step<SetElement> {
        let mut indices = Vec::new();
        let (number, seat) = frame.cx.coordinates(&there.peer)?;
        let (to, here) = if self.wheel == Numbering::Nodes { (seat, "local") } else { (number, "rank") };
        for index in &there.each {
            let untold = || NoEncoding::new(format!("`for {index}`, which the peer `{}` does not tell,", there.peer));
            let (base, step) = affine(&to, index.var.slot).ok_or_else(untold)?;
            let (step, down) = distance(step).ok_or_else(untold)?;
            let values = frame.seen_at(peer).with(index.var.slot, "0");
            let (base, step) = (frame.cx.lower(&base, &values)?, frame.cx.lower(&step, &values)?);
            let way = if down { sub(&base, here) } else { sub(here, &base) };
            indices.push(frame.cx.quotient(&way, &step).0);
        }
        indices.extend(element.indices[mine..].iter().cloned());
        theirs.at(&mut frame.cx, &indices)
    }

    /// Messages of one clause have different peers.
    fn other_peers(
        &mut self,
        n: usize,
        t: &Transfer,
        frame: &ProofContext<'a>,
        piece: &SetPiece,
        element: &SetElement,
        peer: &CyclicTerm,
    ) -> Step<()> {
        let mut frame = frame.clone();
        let other = piece.any(&mut frame.cx, ".other")?;
        let second = self.peer(t, &mut frame, &other)?;
        let each = t.each.len();
        let same = and(element.indices[..each].iter().zip(&other.indices[..each]).map(|(a, b)| eq(a, b)));
        let goal = or([not(&other.condition), same, self.wheel.different(peer, &second, 3)]);
        let claim = format!("messages of one clause have different peers `{}`", t.peer);
        self.prove(&frame, Property::PeerInverse, &format!("round{n}-clause{}-peers", t.site.number), &claim, goal);
        Ok(())
    }

    /// The element at the same position on the other side.
    pub(super) fn counterpart(
        &self,
        frame: &mut ProofContext<'_>,
        mine: &SetPiece,
        theirs: &SetPiece,
        element: &SetElement,
    ) -> Step<SetElement> {
        if mine.indices.len() != theirs.indices.len() {
            return Err(NoEncoding::new(format!("the pairing of `{}` with `{}`", mine.part, theirs.part)));
        }
        let mut indices = Vec::new();
        let (mut my_values, mut their_values) = (mine.values.clone(), theirs.values.clone());
        for ((a, b), value) in mine.indices.iter().zip(&theirs.indices).zip(&element.indices) {
            let (lo_a, lo_b) = (frame.cx.lower(&a.lo, &my_values)?, frame.cx.lower(&b.lo, &their_values)?);
            let same_position = if lo_a == lo_b { value.clone() } else { add(&sub(value, &lo_a), &lo_b) };
            my_values.set(a.var.slot, value.clone());
            their_values.set(b.var.slot, same_position.clone());
            indices.push(same_position);
        }
        theirs.at(&mut frame.cx, &indices)
    }
}

/// The distance between the peers of a clause with an index, and whether they go down; `None` if there is none.
pub(super) fn distance(step: Expr) -> Option<(Expr, bool)> {
    match step {
        Expr::Unary(Unary::Neg, step) => Some((*step, true)),
        Expr::Int(n) if n < 0 => Some((Expr::Int(-n), true)),
        Expr::Int(0) => None,
        step => Some((step, false)),
    }
}
