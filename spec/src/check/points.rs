//! The points of a check: every p of a range, with placements and parameters where the schedule depends on them.
//!
//! The placements are the consecutive ones, with every number of ranks per node. What is proved is what was checked, so
//! these are also the placements that a collective which depends on placement is proved for.

use crate::collective::Arguments;
use crate::place::Placement;
use crate::schedule::{Domain, Schedule};
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
    args: Vec<Arguments>,
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
        Points { p, ppns: Ppns::of(schedule), args: arguments(schedule) }
    }

    /// Every p of a range with given parameters.
    pub fn with_args(schedule: &Schedule, p: RangeInclusive<usize>, args: Arguments) -> Self {
        Points { p, ppns: Ppns::of(schedule), args: vec![args] }
    }

    /// What the derive checks.
    pub fn within_limits(schedule: &Schedule) -> Self {
        Self::new(schedule, 1..=schedule.limits.p.max(1) as usize)
    }

    /// The same points with few of the placements: for comparisons, not for proofs.
    pub fn few_placements(self) -> Self {
        let ppns = match self.ppns {
            Ppns::One => Ppns::One,
            Ppns::Every | Ppns::Some => Ppns::Some,
        };
        Points { ppns, ..self }
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
            self.args.iter().map(move |args| Point { placement: placement.clone(), args: args.clone() })
        })
    }
}

/// All combinations of parameter values within the declaration's limits.
fn arguments(schedule: &Schedule) -> Vec<Arguments> {
    let mut all = vec![Arguments::default()];
    for (number, &limit) in schedule.numbers.iter().zip(&schedule.limits.numbers) {
        let values = values(&number.domain, limit);
        all = extend(&all, &values, |args, value| args.numbers.push(*value));
    }
    for (list, &(len, limit)) in schedule.lists.iter().zip(&schedule.limits.lists) {
        let lists = lists(&values(&list.domain, limit), len);
        all = extend(&all, &lists, |args, value| args.lists.push(value.clone()));
    }
    all
}

fn extend<V>(all: &[Arguments], values: &[V], push: impl Fn(&mut Arguments, &V)) -> Vec<Arguments> {
    let mut out = Vec::with_capacity(all.len() * values.len());
    for args in all {
        for value in values {
            let mut args = args.clone();
            push(&mut args, value);
            out.push(args);
        }
    }
    out
}

fn values(domain: &Domain, limit: i64) -> Vec<i64> {
    (domain.lo..=domain.hi.map_or(limit, |hi| hi.min(limit))).collect()
}

/// All lists of up to `len` of the given values, the shortest first.
fn lists(values: &[i64], len: i64) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    let mut longest = vec![vec![]];
    for _ in 0..len {
        longest = longest
            .iter()
            .flat_map(|list: &Vec<i64>| values.iter().map(|v| [list.as_slice(), &[*v]].concat()))
            .collect();
        all.extend(longest.iter().cloned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_shortest_first() {
        assert_eq!(lists(&[1, 2], 2), [vec![], vec![1], vec![2], vec![1, 1], vec![1, 2], vec![2, 1], vec![2, 2]]);
    }
}
