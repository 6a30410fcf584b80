//! Which receives a send may meet.
//!
//! `combine = by_rank` is two receives of which exactly one happens; both belong to the same send. Receives that differ
//! only in condition and side are one *meeting*: that at most one of them happens is an obligation, and matching is proved
//! for the meeting as a whole.

use super::super::{Frame, Prover, Step};
use crate::smt::query::Property;
use crate::smt::sets::{Element, SymbolicSet};
use crate::smt::term::{Term, and, eq, not, or, within};
use roundel_spec::expr::{Binary, Expr};
use roundel_spec::record::Direction;
use roundel_spec::schedule::{Loop, Transfer};
use roundel_spec::sink::{Action, Line};

/// A send, and what its message becomes at the other end.
pub(super) struct Meeting<'a> {
    pub(super) send: &'a Transfer,
    /// Of these, at most one happens.
    pub(super) ways: Vec<&'a Transfer>,
    /// Any of them.
    pub(super) recv: Transfer,
}

impl Meeting<'_> {
    /// The line that the receive writes.
    pub(super) fn line(&self) -> usize {
        self.recv.site.line as usize
    }

    /// The other operand, if what arrives is combined.
    pub(super) fn operand(&self) -> Option<usize> {
        operand(&self.recv).map(usize::from)
    }

    /// The blocks that arrive on a rank.
    pub(super) fn arriving(&self, values: &crate::smt::context::Values) -> SymbolicSet {
        SymbolicSet::new(&self.recv.blocks, &self.recv.each, self.recv.when.as_ref(), values)
    }
}

fn operand(t: &Transfer) -> Option<Line> {
    match t.site.action {
        Action::CombineLeft { with } | Action::CombineRight { with } => Some(with),
        Action::Copy | Action::Replace | Action::Overwrite => None,
    }
}

/// Whether two receives differ in condition and side only. A clause with indices of its own is none of them: of several
/// messages between two ranks, those of the first clause would come before those of the second.
fn alike(a: &Transfer, b: &Transfer) -> bool {
    let combined = operand(a).is_some() && operand(a) == operand(b);
    let same = a.site.line == b.site.line && a.peer == b.peer && a.blocks == b.blocks;
    let guarded = a.when.is_some() && b.when.is_some();
    combined && same && guarded && a.each.is_empty() && b.each.is_empty()
}

impl<'a> Prover<'a> {
    /// The meetings of a round: the k-th send with the k-th group of receives; `None` where they have no pairing.
    pub(super) fn meetings(&mut self, n: usize, l: &'a Loop) -> Option<Vec<Meeting<'a>>> {
        let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction);
        let mut groups: Vec<Vec<&'a Transfer>> = Vec::new();
        for t in of(Direction::Recv) {
            match groups.last_mut() {
                Some(group) if group.len() == 1 && alike(group[0], t) => group.push(t),
                _ => groups.push(vec![t]),
            }
        }
        let sends: Vec<&'a Transfer> = of(Direction::Send).collect();
        if sends.len() != groups.len() {
            let (sends, recvs) = (sends.len(), groups.len());
            let why = format!("round {n} has {sends} sends and {recvs} receives, which have no pairing");
            self.gap(Property::PeerInverse, why);
            return None;
        }
        let meeting = |(send, ways): (&'a Transfer, Vec<&'a Transfer>)| {
            let mut recv = ways[0].clone();
            recv.when = ways
                .iter()
                .map(|t| t.when.clone())
                .collect::<Option<Vec<Expr>>>()
                .and_then(|conditions| conditions.into_iter().reduce(|a, b| Expr::binary(Binary::Or, a, b)));
            Meeting { send, ways, recv }
        };
        Some(sends.into_iter().zip(groups).map(meeting).collect())
    }

    /// Sends and receives meet, block by block, and a message is received once.
    pub(super) fn meet(&mut self, n: usize, l: &'a Loop, frame: &Frame<'a>, meetings: &[Meeting<'a>]) {
        for meeting in meetings {
            self.pair(n, l, meeting.send, &meeting.recv, frame);
            self.pair(n, l, &meeting.recv, meeting.send, frame);
            let [one, other] = meeting.ways.as_slice() else { continue };
            self.attempt(Property::PeerInverse, |prover| {
                let mut frame = frame.clone();
                let mut both = Vec::new();
                for when in [&one.when, &other.when].into_iter().flatten() {
                    both.push(frame.cx.lower(when, &frame.values)?);
                }
                let name = format!("round{n}-clause{}-one-way", one.site.number);
                let claim = format!("what arrives from `{}` is combined once", one.peer);
                prover.prove(&frame, Property::PeerInverse, &name, &claim, not(&and(both)));
                Ok(())
            });
        }
    }

    /// The rank at the other end of a message, in `0..p`; what the hints say is true there, too.
    pub(super) fn other_end(
        &self,
        l: &Loop,
        t: &Transfer,
        frame: &mut Frame<'_>,
        rank: &str,
        element: &Element,
    ) -> Step<Term> {
        let values = super::super::round::bind(&frame.seen_by(rank), t, element);
        let declared = frame.cx.lower(&t.peer, &values)?;
        let peer = frame.cx.constant("peer!");
        frame.assume(within(&peer, "0", "p"));
        let turns = self.windows.of(&t.peer).turns();
        frame.assume(or(turns.iter().map(|m| eq(&declared, &super::claims::turned(&peer, *m)))));
        self.hinted(l, frame, &peer)?;
        Ok(peer)
    }

    /// What the hints say was proved for any rank, so it is true for this one.
    pub(super) fn hinted(&self, l: &Loop, frame: &mut Frame<'_>, rank: &str) -> Step<()> {
        for hint in &l.hints {
            let hint = frame.cx.lower(hint, &frame.seen_by(rank))?;
            frame.assume(hint);
        }
        Ok(())
    }
}
