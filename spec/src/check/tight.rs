//! Whether upper bounds are tight: met, and not only kept.
//!
//! A bound is tight in a range if it is met with some p of the upper half. What is met only with p = 1 or 2 says
//! nothing, and what is met with powers of two alone is met there.

use super::bounds::{self, Comparison};
use super::{CheckInput, Points, in_domain, record_schedule};
use crate::check::violation::Case;
use crate::schedule::Schedule;

/// An upper bound that is never met where p is large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseBound {
    /// The number of the bound.
    pub bound: usize,
    /// The largest case in which it came nearest.
    pub case: Case,
    /// The value of the bound there.
    pub value: i64,
    /// What was used there.
    pub found: i64,
}

/// The upper bounds of a correct schedule that are not tight. What is met exactly everywhere is not among them.
pub fn loose_bounds(schedule: &Schedule, points: &Points) -> Vec<LooseBound> {
    let mut nearest: Vec<Option<LooseBound>> = vec![None; schedule.bounds.len()];
    let upper = points.max_p() / 2 + 1..=points.max_p();
    if schedule.bounds.iter().all(|bound| bound.exact) {
        return Vec::new();
    }
    for point in upper.flat_map(|p| points.at(p)) {
        if !in_domain(schedule, &point).unwrap_or(false) {
            continue;
        }
        let Ok(trace) = record_schedule(schedule, &point) else { continue };
        let scene = CheckInput { schedule, point: &point, trace: &trace };
        let census = bounds::Census::of(&scene);
        let mut keep = |comparison: Comparison| {
            let Comparison { bound, value, found, .. } = comparison;
            let nearer = |kept: &LooseBound| value - found <= kept.value - kept.found;
            if nearest[bound].as_ref().is_none_or(nearer) {
                nearest[bound] = Some(LooseBound { bound, case: point.case(schedule), value, found });
            }
            Ok(())
        };
        // The schedule is correct, so that every bound has a value.
        let _ = bounds::compare(&scene, &census, &mut keep);
    }
    nearest.into_iter().flatten().filter(|near| near.found < near.value).collect()
}
