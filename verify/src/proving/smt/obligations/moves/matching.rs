//! Messages of an all-to-all meet, block by block, in both directions.
//!
//! The k-th send of a round is paired with the k-th receive, the same value of the clause's index, the k-th
//! comprehension, the same offset. If one side has a block at an offset, the other side has it at the same offset.
//! Offsets ascend on both sides, so the blocks are in the same order. Clauses and their indices ascend on both sides,
//! too, so several messages of a pair of ranks in one round meet in order.

use super::sets::{MovedSet, around, near};
use super::{ProofContext, Prover, RANK};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{add, and, eq, int, mul, not, within};
use roundel_spec::schedule::{Loop, Transfer};

impl<'a> Prover<'a> {
    pub(super) fn moves_meet(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>) {
        for (send, recv) in self.paired(n, l) {
            self.met(n, l, send, recv, frame);
            self.met(n, l, recv, send, frame);
        }
    }

    /// Proves that the peer's message has every block of a message at the same position.
    fn met(&mut self, n: usize, l: &Loop, here: &Transfer, there: &Transfer, frame: &ProofContext<'a>) {
        let forms = |t: &Transfer| {
            let over = t.blocks.parts.iter().map(|part| part.over.len()).collect::<Vec<_>>();
            (t.each.len(), over)
        };
        if forms(here) != forms(there) {
            let reason = format!("`{}` and `{}` have different forms", here.blocks, there.blocks);
            return self.gap(Property::SameBlocks, reason);
        }
        self.attempt(Property::PeerInverse, |prover| {
            let mine = MovedSet::all(&here.blocks, &here.each, here.when.as_ref(), &frame.values)?;
            for (i, one) in mine.iter().enumerate() {
                let mut frame = frame.clone();
                let (z, j, element) = one.any(&mut frame.cx)?;
                frame.assume(element.condition.clone());
                let values = bound(&frame.values, here, &z);
                let declared = frame.cx.lower(&here.peer, &values)?;
                let peer = frame.cx.constant("peer!");
                frame.assume(within(&peer, "0", "p"));
                frame.assume(around(&declared, &peer));
                let seen = frame.values.with(RANK, peer.clone());
                for hint in &l.hints {
                    // It was proved for any rank, so it is true for the peer too.
                    let hint = frame.cx.lower(hint, &seen)?;
                    frame.assume(hint);
                }
                let theirs = MovedSet::all(&there.blocks, &there.each, there.when.as_ref(), &seen)?;
                let met = theirs[i].at(&mut frame.cx, &z, &j)?;
                let back = frame.cx.lower(&there.peer, &bound(&seen, there, &z))?;
                let name = format!("round{n}-clause{}-{i}", here.site.number);
                let claim = format!("the peer of the peer of `{}` is the rank itself", here.peer);
                prover.prove(&frame, Property::PeerInverse, &name, &claim, around(&back, "rank"));
                let claim = format!("`{}` meets `{}`, block by block", here.blocks, there.blocks);
                let turned = |turns| eq(&met.source, &add(&element.source, &mul(&int(turns), "p")));
                let same_source = crate::proving::smt::term::or((-2..=2).map(turned));
                let goal = and([met.condition.clone(), eq(&met.offset, &element.offset), same_source]);
                prover.prove(&frame, Property::SameBlocks, &name, &claim, goal);
            }
            Ok(())
        });
    }

    /// Proves that a clause has values, its blocks are given by offset, its peer is another rank near `0..p`, and all
    /// of it fits the machine.
    pub(super) fn moving_clause(&mut self, n: usize, t: &Transfer, frame: &ProofContext<'a>) {
        let name = format!("round{n}-clause{}", t.site.number);
        self.attempt(Property::Defined, |prover| {
            let all = MovedSet::all(&t.blocks, &t.each, t.when.as_ref(), &frame.values)?;
            prover.by_offset(&name, &all, frame)?;
            for one in &all {
                let mut inner = frame.clone();
                inner.cx.settle();
                let (z, _, element) = one.any(&mut inner.cx)?;
                prover.fits(&mut inner, &name, &format!("`{}`", one.text));
                inner.cx.settle();
                inner.assume(element.condition.clone());
                let peer = inner.cx.lower(&t.peer, &bound(&inner.values, t, &z))?;
                let defined = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", t.peer), defined);
                prover.fits(&mut inner, &format!("{name}-peer"), &format!("the peer `{}`", t.peer));
                let claim = format!("the peer `{}` lies in [-p, 2p)", t.peer);
                prover.prove(&inner, Property::WrapRange, &format!("{name}-peer"), &claim, near(&peer));
                let claim = format!("the peer `{}` is another rank", t.peer);
                prover.prove(&inner, Property::NoSelfMessage, &name, &claim, not(&around(&peer, "rank")));
            }
            Ok(())
        });
    }
}

/// The values with the index of a clause.
fn bound(
    values: &crate::proving::smt::context::TermValues,
    t: &Transfer,
    z: &str,
) -> crate::proving::smt::context::TermValues {
    match t.each.first() {
        Some(index) => values.with(index.var.slot, z),
        None => values.clone(),
    }
}
