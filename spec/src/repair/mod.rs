//! Repairs: a single change that makes a wrong declaration right.
//!
//! Typical mistakes have an obvious repair: the receive that a send asks for (`mirror`), one more or one less, another
//! operator, a clip at p, a smaller domain, another bound (`edits`). Each candidate is checked like any declaration,
//! at every point of the range; the first that passes is suggested. Nothing is suggested that does not pass. A budget
//! keeps the search short, and it counts steps instead of time, so that the answer is the same on every machine.

mod algebra;
mod edits;
mod mirror;
mod words;

pub(crate) use words::clause;

use crate::check::violation::{Problem, Violation};
use crate::check::{self, Point, Points};
use crate::meaning::eval::EvalFault;
use crate::schedule::{Schedule, SchedulePart};
use std::collections::HashSet;

/// The steps of a whole search; a point with p ranks takes p * p.
const BUDGET: usize = 400_000;

/// As many cases with several ranks must be left in a domain that is made smaller.
const ENOUGH: usize = 3;

/// A changed declaration.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The change, as an order: "receive `[rank - 1]` instead of `[rank]`".
    pub(crate) order: String,
    pub(crate) schedule: Schedule,
    /// Whether it is meant for fewer calls.
    pub(crate) narrower: bool,
}

impl Candidate {
    pub(crate) fn new(order: String, schedule: Schedule) -> Self {
        Candidate { order, schedule, narrower: false }
    }
}

/// A change that makes a declaration right at every point of a range.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The change, as an order: "receive `[rank - 1]` instead of `[rank]`".
    pub order: String,
    /// The declaration with the change.
    pub schedule: Schedule,
    /// The largest p at which it was checked.
    pub up_to: usize,
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: then every check up to p = {} passes", self.order, self.up_to)
    }
}

/// Looks for a repair of a declaration that is wrong in a range; the violation is the first one.
pub fn suggest(schedule: &Schedule, violation: &Violation, points: &Points) -> Option<Repair> {
    if !has_repairs(schedule, violation) {
        return None;
    }
    let first = failing_point(schedule, violation, points)?;
    let mut search = Search { original: schedule, points, first, budget: BUDGET };
    let mut seen = HashSet::from([schedule.clone()]);
    let singles = edits::candidates(schedule, violation);
    let pairs = mirror::edited_pairs(schedule, &singles);
    let domains = if is_claim(violation.spot) { Vec::new() } else { edits::domains(schedule) };
    let all = mirror::candidates(schedule, violation).into_iter().chain(singles).chain(pairs).chain(domains);
    for candidate in all {
        if search.budget == 0 {
            return None;
        }
        let new = seen.insert(candidate.schedule.clone());
        if new && search.passes(&candidate) && search.is_tight(&candidate, violation) {
            let Candidate { order, schedule, .. } = candidate;
            return Some(Repair { order, schedule, up_to: points.max_p() });
        }
    }
    None
}

/// Of a reverse the clauses are those of the forward collective; what is too long or too large has no small repair.
fn has_repairs(schedule: &Schedule, violation: &Violation) -> bool {
    let too_large = match &violation.problem {
        Problem::Fault { fault, .. } => {
            matches!(innermost(fault), EvalFault::TooLong { .. } | EvalFault::Overflow { .. })
        }
        _ => false,
    };
    schedule.reverse_of.is_none() && !too_large
}

fn innermost(fault: &EvalFault) -> &EvalFault {
    match fault {
        EvalFault::Inside { fault, .. } => innermost(fault),
        other => other,
    }
}

/// Whether a part says something about the collective, and changes nothing that runs.
fn is_claim(spot: SchedulePart) -> bool {
    use SchedulePart as S;
    matches!(spot, S::Hold(..) | S::Hint(..) | S::Bound(_) | S::SameTree | S::RankOrder | S::Layout)
        || matches!(spot, S::Requires(_) | S::EndsWith(..))
}

/// The point of a violation.
fn failing_point(schedule: &Schedule, violation: &Violation, points: &Points) -> Option<Point> {
    let of_case = |point: &Point| point.case(schedule) == violation.case;
    points.iter().take_while(|point| point.placement.p() <= violation.case.p).find(of_case)
}

struct Search<'a> {
    original: &'a Schedule,
    points: &'a Points,
    /// The point at which the declaration is wrong: most candidates are, too.
    first: Point,
    budget: usize,
}

impl Search<'_> {
    /// Whether a candidate is right everywhere, for as many calls as the original is meant for.
    fn passes(&mut self, candidate: &Candidate) -> bool {
        let first = self.first.clone();
        if self.at(candidate, &first).is_none() {
            return false;
        }
        let points = self.points;
        let mut cases = 0;
        for point in points.iter() {
            match self.at(candidate, &point) {
                Some(admitted) => cases += (admitted && point.placement.p() > 1) as usize,
                None => return false,
            }
        }
        if candidate.narrower { cases >= ENOUGH } else { cases > 0 }
    }

    /// Whether a candidate admits a point; `None` if it is wrong there, or the budget is used up.
    fn at(&mut self, candidate: &Candidate, point: &Point) -> Option<bool> {
        let p = point.placement.p();
        self.budget = self.budget.saturating_sub(p * p);
        if self.budget == 0 {
            return None;
        }
        let admitted = check::at_point(&candidate.schedule, point).ok()?.is_some();
        // Where the domain itself is at fault, it cannot be compared.
        let meant = check::in_domain(self.original, point).unwrap_or(admitted);
        (candidate.narrower || admitted == meant).then_some(admitted)
    }

    /// An upper bound is not repaired by one that is too large.
    fn is_tight(&self, candidate: &Candidate, violation: &Violation) -> bool {
        let SchedulePart::Bound(i) = violation.spot else { return true };
        !check::loose_bounds(&candidate.schedule, self.points).iter().any(|loose| loose.bound == i)
    }
}
