//! The calls that a rule matches: a range on every axis, so that one rule can be subtracted from another.

use super::range::NumberRange;
use crate::choice::question::{NodeSizes, Question};
use roundel_spec::proof::MAX_P;

/// The properties in which calls differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::choice::selection) enum CallAxis {
    /// The number of ranks.
    P,
    /// The number of nodes.
    Nodes,
    /// The smallest number of ranks on a node.
    Least,
    /// The largest number of ranks on a node.
    Most,
    /// The distribution of ranks, as the number of a [`NodeSizes`].
    Shape,
    /// The number of bytes.
    Bytes,
    /// 1 if all ranks must reduce the same tree.
    Tree,
    /// 1 if operands must stay in the order of ranks, 2 if in addition ranks are not numbered node by node.
    Order,
}

/// The number of axes.
const AXES: usize = 8;

impl CallAxis {
    /// All axes, in the order of their numbers.
    const ALL: [CallAxis; AXES] = [
        CallAxis::P,
        CallAxis::Nodes,
        CallAxis::Least,
        CallAxis::Most,
        CallAxis::Shape,
        CallAxis::Bytes,
        CallAxis::Tree,
        CallAxis::Order,
    ];
}

impl Question {
    /// Its coordinate on the axis of orders.
    pub(in crate::choice::selection) fn order(&self) -> u64 {
        match (self.needs_order(), self.sorted) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        }
    }

    /// Its coordinates on all axes.
    fn point(&self) -> [u64; AXES] {
        CallAxis::ALL.map(|axis| match axis {
            CallAxis::P => self.p as u64,
            CallAxis::Nodes => self.nodes as u64,
            CallAxis::Least => self.ppn_min as u64,
            CallAxis::Most => self.ppn_max as u64,
            CallAxis::Shape => self.shape as u64,
            CallAxis::Bytes => self.bytes,
            CallAxis::Tree => u64::from(self.needs_tree()),
            CallAxis::Order => self.order(),
        })
    }
}

/// The valid numbers of ranks, of nodes and of ranks on a node.
pub(in crate::choice::selection) const RANKS: NumberRange = NumberRange { from: 1, to: MAX_P as u64 };

/// The calls of one kind that a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region([NumberRange; AXES]);

impl Region {
    /// All calls.
    pub(in crate::choice::selection) const fn all() -> Self {
        let (shapes, bytes) = (NumberRange::up_to(NodeSizes::Any as u64), NumberRange::up_to(u64::MAX));
        Region([RANKS, RANKS, RANKS, RANKS, shapes, bytes, NumberRange::up_to(1), NumberRange::up_to(2)])
    }

    pub(in crate::choice::selection) const fn on(&self, axis: CallAxis) -> NumberRange {
        self.0[axis as usize]
    }

    pub(in crate::choice::selection) fn set(&mut self, axis: CallAxis, range: NumberRange) {
        self.0[axis as usize] = range;
    }

    /// The numbers of ranks.
    pub const fn p(&self) -> NumberRange {
        self.on(CallAxis::P)
    }

    /// The numbers of nodes.
    pub const fn nodes(&self) -> NumberRange {
        self.on(CallAxis::Nodes)
    }

    /// The numbers of ranks on every node.
    pub const fn ppn(&self) -> NumberRange {
        self.on(CallAxis::Least)
    }

    /// The numbers of bytes.
    pub const fn bytes(&self) -> NumberRange {
        self.on(CallAxis::Bytes)
    }

    /// The loosest distribution of ranks.
    pub fn shape(&self) -> NodeSizes {
        NodeSizes::ALL[self.on(CallAxis::Shape).to.min(2) as usize]
    }

    /// Whether it contains calls for which all ranks must reduce the same tree.
    pub const fn has_tree(&self) -> bool {
        self.on(CallAxis::Tree).to > 0
    }

    /// Whether it contains calls in which operands must stay in the order of ranks.
    pub const fn has_order(&self) -> bool {
        self.on(CallAxis::Order).to > 0
    }

    /// Whether it contains a call.
    pub fn contains(&self, call: &Question) -> bool {
        self.0.iter().zip(call.point()).all(|(range, at)| range.contains(at))
    }

    /// The same region without numbers of ranks and nodes that contradict each other.
    pub(in crate::choice::selection) fn tightened(mut self) -> Self {
        let (p, nodes, ppn) = (self.p(), self.nodes(), self.ppn());
        let least = nodes.from.max(p.from.div_ceil(ppn.to.max(1)));
        let most = nodes.to.min(p.to / ppn.from.max(1));
        let nodes = NumberRange { from: least, to: most };
        let p = p.and(NumberRange { from: nodes.from.saturating_mul(ppn.from), to: nodes.to.saturating_mul(ppn.to) });
        self.set(CallAxis::Nodes, nodes);
        self.set(CallAxis::P, p);
        self
    }

    /// Whether it contains no call. Some empty regions are not detected.
    fn is_empty(&self) -> bool {
        let (least, most) = (self.on(CallAxis::Least), self.on(CallAxis::Most));
        let even = self.on(CallAxis::Shape).to == NodeSizes::Even as u64;
        let sizes = least.from > most.to || even && least.and(most).is_empty();
        let (p, nodes) = (self.p(), self.nodes());
        let fits = nodes.from.saturating_mul(least.from) <= p.to && nodes.to.saturating_mul(most.to) >= p.from;
        sizes || !fits || self.0.iter().any(NumberRange::is_empty)
    }

    /// The difference of two regions, in pieces.
    fn without(self, other: &Region) -> Vec<Region> {
        if (0..AXES).any(|axis| self.0[axis].and(other.0[axis]).is_empty()) {
            return vec![self];
        }
        let (mut rest, mut pieces) = (self, Vec::new());
        for axis in 0..AXES {
            let cut = other.0[axis];
            if rest.0[axis].from < cut.from {
                pieces.push(rest.with(axis, NumberRange { to: cut.from - 1, ..rest.0[axis] }));
                rest.0[axis].from = cut.from;
            }
            if rest.0[axis].to > cut.to {
                pieces.push(rest.with(axis, NumberRange { from: cut.to + 1, ..rest.0[axis] }));
                rest.0[axis].to = cut.to;
            }
        }
        pieces
    }

    fn with(mut self, axis: usize, range: NumberRange) -> Self {
        self.0[axis] = range;
        self
    }

    /// The regions that together contain every call of this one; `None` if they do not, or if it takes too long to
    /// decide.
    pub(in crate::choice::selection) fn covered_by(&self, others: &[Region]) -> Option<Vec<usize>> {
        let (mut left, mut used) = (vec![self.tightened()], Vec::new());
        for (number, other) in others.iter().enumerate() {
            let pieces: Vec<Region> = left.iter().flat_map(|region| region.without(other)).collect();
            if pieces != left {
                used.push(number);
            }
            left = pieces.into_iter().filter(|region| !region.is_empty()).collect();
            if left.is_empty() {
                return Some(used);
            }
            if left.len() > MOST_PIECES {
                return None;
            }
        }
        None
    }
}

/// The most pieces, which real rules do not reach.
const MOST_PIECES: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roundel_spec::{Kind, Placement};

    /// All calls of up to 6 ranks on consecutive, cyclic and some other nodes, with 0 to 3 bytes and all
    /// requirements.
    fn calls() -> Vec<Question> {
        let mut calls = Vec::new();
        for p in 1..=6usize {
            let filled = (1..=p).map(|ppn| Placement::consecutive(p, ppn));
            let dealt = (1..=p).map(|ppn| Placement::cyclic(p, ppn));
            let odd = (1..p).map(|first| Placement::of_sizes(&[first, p - first]));
            for placement in filled.chain(dealt).chain(odd) {
                for number in 0..16 {
                    let call = Question::at(Kind::Allreduce, &placement, number % 4);
                    calls.push(Question { commutes: number & 4 == 0, reproducible: number & 8 == 0, ..call });
                }
            }
        }
        calls
    }

    fn range(least: u64, most: u64) -> impl Strategy<Value = NumberRange> {
        (least..=most, least..=most).prop_map(|(a, b)| NumberRange { from: a.min(b), to: a.max(b) })
    }

    fn region() -> impl Strategy<Value = Region> {
        let upper =
            (0u64..3, 0u64..2, 0u64..3).prop_map(|(shape, tree, order)| [shape, tree, order].map(NumberRange::up_to));
        (range(1, 6), range(1, 6), range(1, 6), range(0, 3), upper).prop_map(
            |(p, nodes, ppn, bytes, [shape, tree, order])| Region([p, nodes, ppn, ppn, shape, bytes, tree, order]),
        )
    }

    proptest! {
        #[test]
        fn what_is_covered_is_matched_before(one in region(), others in prop::collection::vec(region(), 0..8)) {
            let missed = calls().into_iter().find(|call| {
                one.contains(call) && !others.iter().any(|other| other.contains(call))
            });
            if let Some(by) = one.covered_by(&others) {
                prop_assert_eq!(missed, None);
                prop_assert!(by.iter().all(|&number| number < others.len()));
            }
        }

        #[test]
        fn halves_cover_the_whole(one in region(), axis in 0..AXES, at in 0u64..7) {
            let cut = at.clamp(one.0[axis].from, one.0[axis].to);
            let low = one.with(axis, NumberRange { to: cut, ..one.0[axis] });
            let high = one.with(axis, NumberRange { from: cut + 1, ..one.0[axis] });
            prop_assert!(one.covered_by(&[low, high]).is_some());
            prop_assert!(one.covered_by(&[Region::all()]).is_some());
        }

        #[test]
        fn tightening_loses_no_call(one in region()) {
            let tight = one.tightened();
            prop_assert!(calls().iter().all(|call| one.contains(call) == tight.contains(call)));
        }
    }
}
