//! Steps in the order of execution; adjacent steps of the same kind are merged.

use super::shape::VectorPiece;
use crate::program::{CombineStep, CopyStep, Op, RegionOffset};

/// Steps of one process. Offsets count elements.
#[derive(Clone, Debug, Default)]
pub(super) struct StepList {
    pub(super) ops: Vec<Op>,
}

impl StepList {
    /// Copies pieces to pieces of the same total length.
    pub(super) fn copy(&mut self, from: &[VectorPiece], to: &[VectorPiece]) {
        for ([from, to], elements) in refine([from, to]) {
            if from != to {
                self.push(Op::Copy(CopyStep { from, to, elements }));
            }
        }
    }

    /// Combines pieces of the same total length.
    pub(super) fn combine(&mut self, left: &[VectorPiece], right: &[VectorPiece], into: &[VectorPiece]) {
        for ([left, right, into], elements) in refine([left, right, into]) {
            self.push(Op::Combine(CombineStep { left, right, into, elements }));
        }
    }

    /// Reduces operands from left to right; a single one is copied.
    pub(super) fn fold(&mut self, operands: &[Vec<VectorPiece>], into: &[VectorPiece]) {
        match operands {
            [] => {}
            [only] => self.copy(only, into),
            [first, second, others @ ..] => {
                self.combine(first, second, into);
                others.iter().for_each(|other| self.combine(into, other, into));
            }
        }
    }

    /// Adds a step, or extends the last one.
    fn push(&mut self, op: Op) {
        let longer = self.ops.last().and_then(|last| joined(last, &op));
        if longer.is_some() {
            self.ops.pop();
        }
        self.ops.push(longer.unwrap_or(op));
    }
}

/// One step that replaces two, if possible: the second continues the first, and neither reads what the other writes.
fn joined(first: &Op, second: &Op) -> Option<Op> {
    match (first, second) {
        (
            &Op::Copy(CopyStep { from, to, elements }),
            &Op::Copy(CopyStep { from: from2, to: to2, elements: more }),
        ) => {
            let follow = from2 == from.after(elements) && to2 == to.after(elements);
            let elements = elements + more;
            (follow && apart(from, to, elements)).then_some(Op::Copy(CopyStep { from, to, elements }))
        }
        (
            &Op::Combine(CombineStep { left, right, into, elements }),
            &Op::Combine(CombineStep { left: left2, right: right2, into: into2, elements: more }),
        ) => {
            let follow = [(left, left2), (right, right2), (into, into2)].iter().all(|(a, b)| *b == a.after(elements));
            let elements = elements + more;
            let clean = [left, right].iter().all(|&spot| spot == into || apart(spot, into, elements));
            (follow && clean).then_some(Op::Combine(CombineStep { left, right, into, elements }))
        }
        _ => None,
    }
}

/// Whether two ranges of `elements` elements do not overlap.
fn apart(a: RegionOffset, b: RegionOffset, elements: usize) -> bool {
    a.region != b.region || a.offset.abs_diff(b.offset) >= elements
}

/// Splits lists of pieces into pieces of equal lengths: cuts wherever one of the lists has a new piece.
pub(super) fn refine<const K: usize>(lists: [&[VectorPiece]; K]) -> Vec<([RegionOffset; K], usize)> {
    let mut cut = Vec::new();
    let mut next = [(0, 0); K];
    loop {
        let rest = |index: usize| lists[index].get(next[index].0).map(|piece| piece.length - next[index].1);
        let Some(length) = (0..K).map(rest).min().flatten() else { return cut };
        let spots = std::array::from_fn(|index| lists[index][next[index].0].spot.after(next[index].1));
        cut.push((spots, length));
        for (list, (number, done)) in lists.iter().zip(&mut next) {
            *done += length;
            if *done == list[*number].length {
                (*number, *done) = (*number + 1, 0);
            }
        }
    }
}
