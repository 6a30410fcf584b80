//! Compares the generated code with the schedule: both come from one declaration and must agree.

use crate::check::violation::Violation;
use crate::check::{self, Points};
use crate::meaning::collective::Collective;
use crate::trace::record::Trace;

/// The amount compared at one p, in pairs of ranks: three combinations of parameters with 128 ranks, thirty with 40.
const SHARE: u64 = 3 * 128 * 128;

/// The first point where code and schedule differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Only one of the two refuses the call.
    Domain {
        /// The call.
        case: String,
        /// Whether the code admits the call.
        code: bool,
        /// Whether the schedule admits the call.
        schedule: bool,
    },
    /// Both admit the call, but their rounds differ.
    Rounds {
        /// The call.
        case: String,
        /// The first rank whose rounds differ.
        rank: usize,
    },
    /// The schedule cannot be evaluated there.
    Fault(Box<Violation>),
}

/// Compares code and schedule at every rank and round of every p up to `max_p`, for a sample of placements and
/// parameters. Returns the number of points compared.
pub fn compare<C: Collective>(max_p: usize) -> Result<usize, Difference> {
    let schedule = C::schedule();
    let points = Points::new(&schedule, 1..=max_p).thinned(SHARE);
    let mut compared = 0;
    for point in points.iter() {
        let case = || point.case(&schedule).to_string();
        let fault = |violation| Difference::Fault(Box::new(violation));
        let Some(collective) = C::from_arguments(&point.args) else { continue };
        let admitted = check::in_domain(&schedule, &point).map_err(fault)?;
        let by_code = collective.admits(&point.placement.place(0)).is_ok();
        if admitted != by_code {
            return Err(Difference::Domain { case: case(), code: by_code, schedule: admitted });
        }
        if !admitted {
            continue;
        }
        let interpreted = check::record_schedule(&schedule, &point).map_err(fault)?;
        let generated = check::record_code(&collective, &point.placement);
        if let Some(rank) = first_difference(&interpreted, &generated) {
            return Err(Difference::Rounds { case: case(), rank });
        }
        compared += 1;
    }
    Ok(compared)
}

fn first_difference(a: &Trace, b: &Trace) -> Option<usize> {
    (0..a.p()).find(|&rank| a.ranks[rank] != b.ranks[rank])
}

/// The test that the derive emits next to every collective.
///
/// # Panics
/// Panics if code and schedule differ, or if no point lies in the domain.
pub fn assert_code_equals_schedule<C: Collective>(max_p: usize) {
    match compare::<C>(max_p) {
        Ok(0) => panic!("no p up to {max_p} lies in the domain of {}", C::NAME),
        Ok(_) => {}
        Err(difference) => panic!("generated code of {} differs from its schedule: {difference:?}", C::NAME),
    }
}
