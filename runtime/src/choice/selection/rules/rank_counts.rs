//! Ranks on nodes, as far as an algorithm depends on them: one value stands for all placements of the same shape.

use super::range::NumberRange;
use super::region::Region;
use crate::choice::question::{NodeSizes, Question};
use roundel_spec::{Place, Placement};
use std::fmt;

/// The most ranks on nodes of different sizes for which an algorithm is chosen: a placement takes memory for each rank.
pub(in crate::choice::selection) const UNEVEN: u64 = 1 << 20;

/// A number of ranks on a number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::choice::selection) struct RankCounts {
    pub(in crate::choice::selection) p: u64,
    pub(in crate::choice::selection) nodes: u64,
    pub(in crate::choice::selection) least: u64,
    pub(in crate::choice::selection) most: u64,
    pub(in crate::choice::selection) shape: NodeSizes,
}

impl From<&Question> for RankCounts {
    fn from(call: &Question) -> Self {
        let [p, nodes, least, most] = [call.p, call.nodes, call.ppn_min, call.ppn_max].map(|number| number as u64);
        RankCounts { p, nodes, least, most, shape: call.shape }
    }
}

impl RankCounts {
    /// All ranks on one node.
    pub(in crate::choice::selection) const fn flat(p: u64) -> Self {
        RankCounts { p, nodes: 1, least: p, most: p, shape: NodeSizes::Even }
    }

    /// Nodes of `ppn` ranks each.
    pub(in crate::choice::selection) const fn even(p: u64, ppn: u64) -> Self {
        RankCounts { p, nodes: p / ppn, least: ppn, most: ppn, shape: NodeSizes::Even }
    }

    /// Asks about the place of the first rank; `None` if there is no such distribution, or there are too many ranks.
    pub(in crate::choice::selection) fn ask<A>(&self, question: impl FnOnce(&Place<'_>) -> A) -> Option<A> {
        match self.shape {
            _ if !self.exists() => None,
            NodeSizes::Even => Some(question(&self.even_place())),
            _ if self.p > UNEVEN => None,
            NodeSizes::Regular => {
                Some(question(&Placement::consecutive(self.p as usize, self.most as usize).place(0)))
            }
            NodeSizes::Any => Some(question(&Placement::of_sizes(&self.sizes()).place(0))),
        }
    }

    /// Whether such a distribution of ranks exists.
    fn exists(&self) -> bool {
        let RankCounts { p, nodes, least, most, shape } = *self;
        let some = 1 <= least && least <= most && nodes >= 1 && p <= i32::MAX as u64;
        some && match shape {
            NodeSizes::Even => least == most && nodes.checked_mul(most) == Some(p),
            NodeSizes::Regular => nodes == p.div_ceil(most) && least == p % most,
            NodeSizes::Any => {
                let rest = p.checked_sub(least + most).zip(nodes.checked_sub(2));
                least < most && rest.is_some_and(|(ranks, nodes)| nodes * least <= ranks && ranks <= nodes * most)
            }
        }
    }

    fn even_place(&self) -> Place<'static> {
        let [p, nodes, ppn] = [self.p, self.nodes, self.most].map(|number| number as i64);
        Place { rank: 0, p, node: 0, nodes, local: 0, ppn, lanes: ppn, regions: None }
    }

    /// An irregular placement: the first node has the fewest ranks and the last the most.
    fn sizes(&self) -> Vec<usize> {
        let (between, rest) = (self.nodes - 2, self.p - self.least - self.most);
        let each = |node: u64| rest / between + u64::from(node < rest % between);
        let middle = (0..between).map(each);
        [self.least].into_iter().chain(middle).chain([self.most]).map(|size| size as usize).collect()
    }
}

impl fmt::Display for RankCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankCounts { p, nodes, least, most, shape } = self;
        match shape {
            NodeSizes::Even => write!(f, "p = {p} on {nodes} nodes of {most}"),
            NodeSizes::Regular => write!(f, "p = {p} on {nodes} nodes of {most}, the last one of {least}"),
            NodeSizes::Any => write!(f, "p = {p} on {nodes} nodes of {least} to {most}"),
        }
    }
}

/// The distributions in a region with `p` ranks. One irregular placement stands for all.
pub(in crate::choice::selection) fn rank_counts(region: &Region, p: u64) -> impl Iterator<Item = RankCounts> + use<> {
    let (nodes, ppn, shape) = (region.nodes(), region.ppn(), region.shape());
    let sizes = ppn.and(NumberRange { from: 1, to: p });
    let full = (sizes.from..=sizes.to).filter_map(move |most| {
        let (rest, counts) = (p % most, RankCounts::even(p, most));
        let regular = RankCounts { nodes: p / most + 1, least: rest, shape: NodeSizes::Regular, ..counts };
        let counts = if rest == 0 { counts } else { regular };
        let inside = counts.shape <= shape && ppn.contains(counts.least) && nodes.contains(counts.nodes);
        inside.then_some(counts)
    });
    full.chain(irregular(region, p))
}

/// An irregular distribution in the region.
fn irregular(region: &Region, p: u64) -> Option<RankCounts> {
    let (NumberRange { from, to }, shape) = (region.ppn(), region.shape());
    let fewest = (p / to).saturating_add(1).max(2).max(region.nodes().from);
    let nodes = (fewest <= p.div_ceil(from).saturating_sub(1).min(region.nodes().to)).then_some(fewest)?;
    let (floor, rest) = (p / nodes, p % nodes);
    let (least, most) = if rest == 0 { (floor - 1, floor + 1) } else { (floor, floor + 1) };
    (shape == NodeSizes::Any).then_some(RankCounts { p, nodes, least, most, shape })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::selection::rules::region::CallAxis;

    fn region(nodes: NumberRange, ppn: NumberRange, shape: NodeSizes) -> Region {
        let mut region = Region::all();
        region.set(CallAxis::Nodes, nodes);
        region.set(CallAxis::Least, ppn);
        region.set(CallAxis::Most, ppn);
        region.set(CallAxis::Shape, NumberRange::up_to(shape as u64));
        region
    }

    /// All ways to put ranks on nodes, by definition: the sizes in order.
    fn compositions(p: usize) -> Vec<Vec<usize>> {
        (0..1usize << (p - 1))
            .map(|cuts| {
                let mut sizes = vec![1];
                for rank in 1..p {
                    match cuts >> (rank - 1) & 1 {
                        1 => sizes.push(1),
                        _ => *sizes.last_mut().expect("has one") += 1,
                    }
                }
                sizes
            })
            .collect()
    }

    #[test]
    fn a_region_has_the_spots_of_its_placements() {
        let ranges = [(1, 9), (2, 3), (2, 2), (3, 9), (1, 2)].map(|(from, to)| NumberRange { from, to });
        for p in 1..=9usize {
            let calls: Vec<Question> = compositions(p)
                .iter()
                .map(|sizes| Question::at(roundel_spec::Kind::Allgather, &Placement::of_sizes(sizes), 8))
                .collect();
            for (nodes, ppn) in ranges.iter().flat_map(|&nodes| ranges.map(|ppn| (nodes, ppn))) {
                for shape in NodeSizes::ALL {
                    let region = region(nodes, ppn, shape);
                    let found: Vec<RankCounts> = rank_counts(&region, p as u64).collect();
                    let inside: Vec<&Question> = calls.iter().filter(|call| region.contains(call)).collect();
                    for wanted in [NodeSizes::Even, NodeSizes::Regular] {
                        let count = inside.iter().filter(|call| call.shape == wanted).count();
                        let rank_counts = found.iter().filter(|counts| counts.shape == wanted).count();
                        assert_eq!(rank_counts, count, "{p} {nodes} {ppn} {shape:?}");
                    }
                    let irregular = inside.iter().any(|call| call.shape == NodeSizes::Any);
                    let one = found.iter().find(|counts| counts.shape == NodeSizes::Any);
                    assert!(irregular || one.is_none(), "{p} {nodes} {ppn} {one:?}");
                    // With an irregular placement such as 2, 1, 2, 1 there is one whose last node is the largest.
                    assert_eq!(irregular, one.is_some(), "{p} {nodes} {ppn} {inside:?}");
                }
            }
        }
    }

    #[test]
    fn spots_are_placements_of_their_shape() {
        for p in 1..=40 {
            for counts in rank_counts(&Region::all(), p) {
                let said =
                    counts.ask(|place| (place.p as u64, place.nodes as u64, place.lanes as u64, place.is_regular()));
                assert_eq!(said, Some((p, counts.nodes, counts.least, counts.shape != NodeSizes::Any)), "{counts}");
            }
        }
    }

    #[test]
    fn ranks_that_cannot_be_are_not_asked_about() {
        let counts = RankCounts { p: 10, nodes: 3, least: 3, most: 3, shape: NodeSizes::Even };
        assert_eq!(counts.ask(|_| ()), None);
        assert_eq!(RankCounts { nodes: 2, least: 1, most: 2, shape: NodeSizes::Any, ..counts }.ask(|_| ()), None);
        assert_eq!(RankCounts { p: 0, nodes: 0, least: 0, most: 0, ..counts }.ask(|_| ()), None);
        let p = 2 * UNEVEN;
        let many = RankCounts { p, nodes: 2, least: UNEVEN - 1, most: UNEVEN + 1, shape: NodeSizes::Any };
        assert_eq!(many.ask(|_| ()), None);
    }
}
