//! The budget of a check at compile time.
//!
//! Parameters multiply: six with five values each give 15 625 combinations, at every p. Limits that a declaration does
//! not set are lowered until the check fits the budget; what is checked, and therefore proved, is limited accordingly.
//! Limits that the declaration sets are kept, and cause an error if the compiler would be busy for minutes.

use super::arguments::Choices;
use crate::schedule::{Domain, Limits, Schedule};

/// The default budget of a check: a second or two, in an unoptimised compiler plugin. The unit is a pair of ranks at
/// one point.
const TARGET: f64 = 700e3;

/// The budget if the declaration sets the limits itself.
const CEILING: f64 = 24e6;

/// Which limits a declaration sets itself.
#[derive(Clone, Debug, Default)]
pub struct Explicit {
    /// The limit of p.
    pub p: bool,
    /// The limits of the number parameters.
    pub numbers: Vec<bool>,
    /// The limits of the list parameters: length, value.
    pub lists: Vec<(bool, bool)>,
}

impl Explicit {
    fn any(&self) -> bool {
        self.p || self.numbers.contains(&true) || self.lists.iter().any(|&(len, value)| len || value)
    }
}

/// A check that would take too long, and by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooMuch {
    /// The number of combinations of parameters.
    pub combinations: f64,
    /// The factor by which the check exceeds the budget.
    pub times: f64,
}

/// The lowest limits that are tried: p, the values of a number or of a list's elements, the length of a list.
struct Floor {
    p: i64,
    values: i64,
    len: i64,
}

/// First down to limits that still reveal most mistakes, which show with few ranks but need parameters that differ;
/// then to the smallest check that is worthwhile.
const FLOORS: [Floor; 2] = [Floor { p: 16, values: 3, len: 2 }, Floor { p: 8, values: 2, len: 1 }];

/// Lowers the limits that are not explicit until the check fits.
pub fn fit(schedule: &mut Schedule, explicit: &Explicit) -> Result<(), TooMuch> {
    let asked = schedule.limits.p;
    let enough = if explicit.any() { CEILING } else { TARGET };
    for floor in FLOORS {
        while cost(schedule) > TARGET && lower_a_parameter(schedule, explicit, &floor) {}
        while cost(schedule) > enough && !explicit.p && schedule.limits.p > floor.p {
            schedule.limits.p -= 1;
        }
    }
    let times = cost(schedule) / CEILING;
    if times <= 1.0 {
        return Ok(());
    }
    schedule.limits.p = asked;
    Err(TooMuch { combinations: Choices::within(schedule, &schedule.limits).estimate(), times })
}

/// The cost of a check: pairs of ranks, over all points.
fn cost(schedule: &Schedule) -> f64 {
    let p = schedule.limits.p.max(1) as f64;
    let pairs = match schedule.uses_placement() {
        true => (p * (p + 1.0) / 2.0).powi(2),
        false => p * (p + 1.0) * (2.0 * p + 1.0) / 6.0,
    };
    // In an all-to-all, each pair of ranks has its own block, and every rank looks for it in every round.
    let pairs = if schedule.kind.moves() { pairs * (1.0 + p / 4.0) } else { pairs };
    pairs * Choices::within(schedule, &schedule.limits).estimate()
}

/// Lowers the limit that saves most; `false` when none is left to lower.
fn lower_a_parameter(schedule: &mut Schedule, explicit: &Explicit, floor: &Floor) -> bool {
    let lowered = lowered(schedule, explicit, floor);
    let left = |limits: &Limits| Choices::within(schedule, limits).estimate();
    let Some(best) = lowered.into_iter().min_by(|a, b| left(a).total_cmp(&left(b))) else { return false };
    schedule.limits = best;
    true
}

/// All ways to lower one limit by one that reduce the check.
fn lowered(schedule: &Schedule, explicit: &Explicit, floor: &Floor) -> Vec<Limits> {
    let limits = &schedule.limits;
    let most = |domain: &Domain| domain.lo.saturating_add(floor.values - 1);
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Limits)| {
        let mut changed = limits.clone();
        change(&mut changed);
        all.push(changed);
    };
    for (i, number) in schedule.numbers.iter().enumerate() {
        let limit = number.domain.up_to(limits.numbers[i]);
        if !explicit.numbers.get(i).copied().unwrap_or(false) && limit > most(&number.domain) {
            with(&|limits| limits.numbers[i] = limit - 1);
        }
    }
    for (i, list) in schedule.lists.iter().enumerate() {
        let (len_is_explicit, value_is_explicit) = explicit.lists.get(i).copied().unwrap_or_default();
        let (len, limit) = (limits.lists[i].0, list.domain.up_to(limits.lists[i].1));
        if !len_is_explicit && len > floor.len {
            with(&|limits| limits.lists[i].0 = len - 1);
        }
        if !value_is_explicit && limit > most(&list.domain) {
            with(&|limits| limits.lists[i].1 = limit - 1);
        }
    }
    all
}
