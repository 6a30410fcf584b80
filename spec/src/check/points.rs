//! The points of a check: every p of a range, with placements and parameters if the schedule depends on them.
//!
//! A placement sorted by node is determined by the sizes of its nodes. With few ranks all placements are checked, with
//! more only those with equally many ranks on every node, or fewer on the last.
//!
//! Only what was checked is granted: [`Points::range`] gives the calls that the points cover, and a [`Checked`] exists
//! only for points that were checked. There is no other way to get the range of a check.

use super::arguments::Choices;
use crate::check::range::{Placements, ProvedRange};
use crate::check::violation::Case;
use crate::meaning::place::{Place, Placement};
use crate::schedule::Schedule;
use crate::schedule::arguments::Arguments;
use std::ops::RangeInclusive;

/// One call: the placement of the ranks, and the parameters.
#[derive(Clone, Debug)]
pub struct Point {
    /// The placement of the ranks.
    pub placement: Placement,
    /// The parameters.
    pub args: Arguments,
}

impl Point {
    /// What a rank knows. A schedule that does not look at nodes sees the real ranks.
    pub fn place(&self, schedule: &Schedule, rank: usize) -> Place<'_> {
        // Sorted ranks have only one numbering.
        self.placement.seen(rank, self.placement.is_sorted() || schedule.uses_placement())
    }

    /// Whether the schedule sees ranks numbered by node instead of the real ranks.
    pub fn is_renumbered(&self, schedule: &Schedule) -> bool {
        !self.placement.is_sorted() && schedule.uses_placement()
    }

    /// The point as a case, with everything that the schedule depends on.
    pub fn case(&self, schedule: &Schedule) -> Case {
        let (ppn, nodes) = match schedule.uses_placement() {
            true => (Some(self.placement.ppn()), self.placement.irregular()),
            false => (None, None),
        };
        let params = super::named(schedule, &self.args);
        Case { p: self.placement.p(), ppn, nodes, params, pairs: schedule.kind.moves() }
    }
}

/// A range of points.
#[derive(Clone, Debug)]
pub struct Points {
    p: RangeInclusive<usize>,
    placements: SampledPlacements,
    choices: Choices,
    /// The budget for one p, in pairs of ranks.
    share: Option<u64>,
}

/// Evidence that some points passed their check; [`Points::checked`] creates it.
#[derive(Clone, Debug)]
pub struct Checked {
    range: Option<ProvedRange>,
    cases: usize,
}

impl Checked {
    /// The calls for which the check is a proof; `None` if there are none.
    pub fn range(&self) -> Option<&ProvedRange> {
        self.range.as_ref()
    }

    /// The calls for which the check is a proof, or no call at all.
    pub fn granted(&self, schedule: &Schedule) -> ProvedRange {
        self.range.clone().unwrap_or_else(|| ProvedRange::nothing(schedule))
    }

    /// The number of points in the domain.
    pub fn cases(&self) -> usize {
        self.cases
    }
}

/// The sizes of nodes to check.
#[derive(Clone, Debug)]
enum SampledPlacements {
    /// The schedule does not depend on placement: all ranks on one node.
    One,
    /// Nodes of every size, the last one smaller where necessary; with few ranks, every way to distribute them.
    Every {
        /// The largest number of ranks with which all ways are tried.
        uneven: i64,
    },
    /// A small sample.
    Some,
    /// Those of the given placements that have p ranks.
    These(Vec<Placement>),
}

impl SampledPlacements {
    fn of(schedule: &Schedule) -> Self {
        if schedule.uses_placement() {
            SampledPlacements::Every { uneven: Points::UNEVEN }
        } else {
            SampledPlacements::One
        }
    }

    fn at(&self, p: usize) -> impl Iterator<Item = Placement> + use<'_> {
        let (ppn, uneven, these) = match self {
            SampledPlacements::One => (0..1, 0, &[][..]),
            &SampledPlacements::Every { uneven } => (0..p, uneven, &[][..]),
            SampledPlacements::Some => (0..p.min(5), 5, &[][..]),
            SampledPlacements::These(these) => (0..0, 0, &these[..]),
        };
        let these = these.iter().filter(move |placement| placement.p() == p).cloned();
        // 0 stands for all ranks on one node.
        let regular = ppn
            .clone()
            .skip(1)
            .chain(ppn.take(1))
            .map(move |ppn| if ppn == 0 { p } else { ppn })
            .map(move |ppn| Placement::consecutive(p, ppn));
        // Every way to divide p ranks: one bit per position where a node may end.
        let ways = if p as i64 <= uneven { 1usize << p.saturating_sub(1) } else { 0 };
        let uneven = (0..ways).map(move |ends| {
            Placement::from_nodes((0..p).map(|rank| (ends & ((1 << rank) - 1)).count_ones() as usize).collect())
        });
        these.chain(regular).chain(uneven.filter(|placement| !placement.place(0).is_regular()))
    }
}

impl Points {
    /// The largest p with which every placement is checked, if the check must be quick.
    pub const UNEVEN: i64 = 8;

    /// The largest p with which every placement is checked, for a proof.
    pub const PROVED_UNEVEN: i64 = 12;

    /// Every p of a range with the parameters within the declaration's limits.
    pub fn new(schedule: &Schedule, p: RangeInclusive<usize>) -> Self {
        Points {
            p,
            placements: SampledPlacements::of(schedule),
            choices: Choices::within(schedule, &schedule.limits),
            share: None,
        }
    }

    /// Every p of a range with given parameters.
    pub fn with_args(schedule: &Schedule, p: RangeInclusive<usize>, args: Arguments) -> Self {
        Points { p, placements: SampledPlacements::of(schedule), choices: Choices::only(args), share: None }
    }

    /// The points that the derive checks.
    pub fn within_limits(schedule: &Schedule) -> Self {
        Self::new(schedule, 1..=schedule.limits.p.max(1) as usize)
    }

    /// A sample: few placements, and as many combinations of parameters as fit into `share` pairs of ranks at one p, at
    /// least one, and different ones at different p. For comparisons, not for proofs.
    pub fn thinned(self, share: u64) -> Self {
        let placements = match self.placements {
            SampledPlacements::One => SampledPlacements::One,
            SampledPlacements::Every { .. } | SampledPlacements::Some => SampledPlacements::Some,
            these @ SampledPlacements::These(_) => these,
        };
        Points { placements, share: Some(share), ..self }
    }

    /// With all placements that a proof needs.
    pub fn thorough(self) -> Self {
        let placements = match self.placements {
            SampledPlacements::Every { .. } => SampledPlacements::Every { uneven: Self::PROVED_UNEVEN },
            others => others,
        };
        Points { placements, ..self }
    }

    /// With other parameters.
    pub fn choosing(self, choices: Choices) -> Self {
        Points { choices, ..self }
    }

    /// Only these placements.
    pub fn placed(self, placements: Vec<Placement>) -> Self {
        Points { placements: SampledPlacements::These(placements), ..self }
    }

    /// The largest p.
    pub fn max_p(&self) -> usize {
        *self.p.end()
    }

    /// The range of p.
    pub fn p(&self) -> RangeInclusive<usize> {
        self.p.clone()
    }

    /// The calls that are covered: every call of the range in the domain is one of these points. `None` if the points
    /// are a sample, or leave out small p.
    pub fn range(&self, schedule: &Schedule) -> Option<ProvedRange> {
        let p = self.max_p() as i64;
        let placements = match self.placements {
            SampledPlacements::One => None,
            SampledPlacements::Every { uneven } => Some(Placements::Regular { all_up_to: p.min(uneven) }),
            SampledPlacements::Some | SampledPlacements::These(_) => return None,
        };
        let (numbers, lists) = self.choices.limits(schedule)?;
        let complete = *self.p.start() <= 1 && self.share.is_none();
        complete.then_some(ProvedRange { p: Some(p), numbers, lists, placements })
    }

    /// Marks these points as checked without a fault; `cases` is the number of points in the domain.
    pub fn checked(&self, schedule: &Schedule, cases: usize) -> Checked {
        Checked { range: self.range(schedule).filter(|_| cases > 0), cases }
    }

    /// The points, ordered by p.
    pub fn iter(&self) -> impl Iterator<Item = Point> + '_ {
        self.p.clone().flat_map(move |p| self.at(p))
    }

    /// The points with `p` ranks.
    pub fn at(&self, p: usize) -> impl Iterator<Item = Point> + '_ {
        self.placements.at(p).flat_map(move |placement| {
            self.numbers(p).map(move |n| Point { placement: placement.clone(), args: self.choices.nth(n) })
        })
    }

    /// The numbers of the combinations of parameters at `p`.
    fn numbers(&self, p: usize) -> impl Iterator<Item = u64> + use<> {
        let (all, p) = (self.choices.count(), p as u64);
        let some = self.share.map_or(all, |share| all.min((share / (p * p).max(1)).max(1)));
        // Evenly spread, and shifted with p so that no combination is always left out.
        let shift = if some < all { p } else { 0 };
        (0..some).map(move |i| ((i as u128 * all as u128 / some as u128 + shift as u128) % all as u128) as u64)
    }
}
