//! The points of a check: every p of a range, with placements and parameters where the schedule depends on them.
//!
//! The placements are the consecutive ones, with every number of ranks per node. What is proved is what was checked, so
//! these are also the placements that a collective which depends on placement is proved for.

use super::arguments::Choices;
use crate::collective::Arguments;
use crate::place::Placement;
use crate::schedule::Schedule;
use crate::violation::Case;
use std::ops::RangeInclusive;

/// One call: where ranks sit, and the parameters.
#[derive(Clone, Debug)]
pub struct Point {
    /// Where the ranks sit.
    pub placement: Placement,
    /// The parameters.
    pub args: Arguments,
}

impl Point {
    /// The point as a case, with what the schedule depends on.
    pub fn case(&self, schedule: &Schedule) -> Case {
        let ppn = schedule.uses_placement().then(|| self.placement.ppn());
        Case { p: self.placement.p(), ppn, params: super::named(schedule, &self.args) }
    }
}

/// A range of points.
#[derive(Clone, Debug)]
pub struct Points {
    p: RangeInclusive<usize>,
    ppns: Ppns,
    choices: Choices,
    /// How much may be spent at one p, in pairs of ranks.
    share: Option<u64>,
}

/// Which numbers of ranks per node.
#[derive(Clone, Copy, Debug)]
enum Ppns {
    /// The schedule does not depend on placement: all ranks on one node.
    One,
    /// Every number.
    Every,
    /// Small numbers, and all ranks on one node.
    Some,
}

impl Ppns {
    fn of(schedule: &Schedule) -> Self {
        if schedule.uses_placement() { Ppns::Every } else { Ppns::One }
    }

    fn at(self, p: usize) -> impl Iterator<Item = usize> {
        let below = match self {
            Ppns::One => 0,
            Ppns::Every => p.saturating_sub(1),
            Ppns::Some => p.saturating_sub(1).min(4),
        };
        (1..=below).chain([p])
    }
}

impl Points {
    /// Every p of a range with the parameters that the declaration's limits name.
    pub fn new(schedule: &Schedule, p: RangeInclusive<usize>) -> Self {
        Points { p, ppns: Ppns::of(schedule), choices: Choices::within(schedule, &schedule.limits), share: None }
    }

    /// Every p of a range with given parameters.
    pub fn with_args(schedule: &Schedule, p: RangeInclusive<usize>, args: Arguments) -> Self {
        Points { p, ppns: Ppns::of(schedule), choices: Choices::only(args), share: None }
    }

    /// What the derive checks.
    pub fn within_limits(schedule: &Schedule) -> Self {
        Self::new(schedule, 1..=schedule.limits.p.max(1) as usize)
    }

    /// Few of the placements, and of many parameters those that `share` pairs of ranks at one p leave room for, at least
    /// one combination, others at other p. For comparisons, not for proofs.
    pub fn thinned(self, share: u64) -> Self {
        let ppns = match self.ppns {
            Ppns::One => Ppns::One,
            Ppns::Every | Ppns::Some => Ppns::Some,
        };
        Points { ppns, share: Some(share), ..self }
    }

    /// The largest p.
    pub fn max_p(&self) -> usize {
        *self.p.end()
    }

    /// The points, the smallest first.
    pub fn iter(&self) -> impl Iterator<Item = Point> + '_ {
        self.p.clone().flat_map(move |p| self.at(p))
    }

    /// The points with `p` ranks.
    pub fn at(&self, p: usize) -> impl Iterator<Item = Point> + '_ {
        self.ppns.at(p).flat_map(move |ppn| {
            let placement = Placement::consecutive(p, ppn);
            self.numbers(p).map(move |n| Point { placement: placement.clone(), args: self.choices.nth(n) })
        })
    }

    /// Which combinations of parameters at `p`, by number.
    fn numbers(&self, p: usize) -> impl Iterator<Item = u64> + use<> {
        let (all, p) = (self.choices.count(), p as u64);
        let some = self.share.map_or(all, |share| all.min((share / (p * p).max(1)).max(1)));
        // Evenly spread, and shifted with p so that none is always left out.
        let shift = if some < all { p } else { 0 };
        (0..some).map(move |i| ((i as u128 * all as u128 / some as u128 + shift as u128) % all as u128) as u64)
    }
}
