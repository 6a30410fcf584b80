//! The generated code and the schedule are two readings of one declaration; this holds them equal.

use crate::check::{self, Points};
use crate::collective::Collective;
use crate::record::Trace;
use crate::violation::Violation;

/// How much is compared at one p, in pairs of ranks: three combinations of parameters with 128 ranks, thirty with 40.
const SHARE: u64 = 3 * 128 * 128;

/// The first point where code and schedule differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One of them refuses the call.
    Domain {
        /// The call.
        case: String,
        /// What the code says.
        code: bool,
        /// What the schedule says.
        schedule: bool,
    },
    /// They do different things.
    Rounds {
        /// The call.
        case: String,
        /// The first rank that does.
        rank: usize,
    },
    /// The schedule has no meaning there.
    Fault(Box<Violation>),
}

/// Compares both readings at every rank and round of every p up to `max_p`, with some placements and
/// combinations of parameters; gives the number of points compared.
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

/// The test that the derive emits beside every collective.
///
/// # Panics
/// When the two readings differ, or when no point lies in the domain.
pub fn assert_code_equals_schedule<C: Collective>(max_p: usize) {
    match compare::<C>(max_p) {
        Ok(0) => panic!("no p up to {max_p} lies in the domain of {}", C::NAME),
        Ok(_) => {}
        Err(difference) => panic!("generated code of {} differs from its schedule: {difference:?}", C::NAME),
    }
}
