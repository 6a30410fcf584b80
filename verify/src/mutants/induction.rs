//! Mutants against the prover: a mutant that is wrong at some small p must not be proved for all p.
//!
//! The exact check and the oracle say which mutants are wrong. For those, the obligations that should fail are asked
//! first, and asking ends at the first one that is not proved: a proof needs all of them. Time limits are short, since
//! a solver that gives up proves nothing.

use super::{Fate, Original};
use crate::smt::{self, Obligation, Portfolio, Property, Refutation, Verdict};
use roundel_spec::check::{self, Point};
use roundel_spec::{Schedule, Violation};

/// What keeps the prover from proving a mutant.
pub const OBSTACLES: [&str; 4] = ["not-encoded", "refuted", "vacuous", "no-answer"];

impl Original {
    /// Has the prover try a mutant, and holds the result against the exact check.
    pub fn fate_in_proof(&self, mutant: &Schedule, portfolio: &Portfolio) -> Fate {
        let exact = self.fate(mutant);
        let code = match exact {
            Fate::Killed(code) => Some(code),
            _ => None,
        };
        match (obstacle(mutant, code, portfolio), exact) {
            (Some(obstacle), Fate::Killed(_)) => Fate::Killed(obstacle.name),
            (Some(_), Fate::Survived(class)) => Fate::Unproved(class),
            // A range without a point in the domain shows no fault; the prover speaks of other points too.
            (None, Fate::Killed("nothing-checked")) => Fate::Killed("nothing-checked"),
            (None, Fate::Killed(code)) if self.right_where_claimed(mutant) => Fate::Unclaimed(code),
            (None, Fate::Killed(code)) => {
                Fate::Escaped(format!("proved for all p, although there is a fault ({code})"))
            }
            (_, other) => other,
        }
    }

    /// Whether nothing is wrong at the placements that the prover speaks of.
    fn right_where_claimed(&self, mutant: &Schedule) -> bool {
        let claimed = |point: &&Point| !mutant.uses_placement() || point.placement.regions().is_even();
        let points = || self.points.iter().map(|(point, _)| point).filter(claimed);
        points().next().is_some() && points().all(|point| check::at_point(mutant, point).is_ok())
    }
}

/// What keeps a schedule from being proved.
struct Obstacle {
    name: &'static str,
    refutation: Option<Refutation>,
}

/// The first thing that keeps a schedule from being proved. `code` is the fault that is known, if any.
fn obstacle(schedule: &Schedule, code: Option<&str>, portfolio: &Portfolio) -> Option<Obstacle> {
    let obligations = smt::obligations(schedule);
    if !obligations.gaps.is_empty() || obligations.all.is_empty() {
        return Some(Obstacle { name: "not-encoded", refutation: None });
    }
    let suspects = code.map_or(&[][..], suspects);
    let (first, later): (Vec<&Obligation>, Vec<&Obligation>) =
        obligations.all.iter().partition(|obligation| suspects.contains(&obligation.property));
    first.into_iter().chain(later).find_map(|one| {
        let verdict = smt::put(&schedule.name, one, portfolio);
        let name = match verdict {
            Verdict::Proved { .. } => return None,
            Verdict::Refuted { .. } => "refuted",
            Verdict::Vacuous => "vacuous",
            Verdict::Open(_) => "no-answer",
        };
        Some(Obstacle { name, refutation: Refutation::of(one, &verdict) })
    })
}

/// What keeps a schedule with a known fault from being proved, in a word; `None` if nothing does.
pub fn kept_by(schedule: &Schedule, violation: &Violation, portfolio: &Portfolio) -> Option<&'static str> {
    obstacle(schedule, Some(violation.code()), portfolio).map(|obstacle| obstacle.name)
}

/// The counterexample to the induction that keeps a wrong mutant from being proved, where it is one.
pub fn refutation(mutant: &Schedule, violation: &Violation, portfolio: &Portfolio) -> Option<Refutation> {
    obstacle(mutant, Some(violation.code()), portfolio)?.refutation
}

/// The properties that a violation is likely to break.
fn suspects(code: &str) -> &'static [Property] {
    match code {
        "domain" => &[Property::Defined, Property::MachineWidth],
        "self-message" => &[Property::NoSelfMessage, Property::WrapRange],
        "unmatched-send" | "unmatched-recv" | "different-blocks" | "confused-messages" => {
            &[Property::SameBlocks, Property::PeerInverse]
        }
        "phantom-data" => &[Property::SendsHeld],
        "written-twice" | "sent-twice" => &[Property::SingleWrite],
        "coverage" => &[Property::Coverage],
        "bound" => &[Property::Bounds, Property::Counters, Property::Rounds],
        "holds" => &[Property::Invariant, Property::Contributors, Property::Initialisation, Property::Counters],
        "empty-line" => &[Property::SendsHeld],
        "overwritten" => &[Property::SingleWrite, Property::Contributors],
        "counted-twice" => &[Property::CountedOnce],
        "order" => &[Property::RankOrder, Property::SameTree],
        "hint" => &[Property::Hints],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smt::{Effort, Solver};
    use roundel_spec::check::Points;

    /// A prover that believes everything, and shows a model of every hypothesis.
    #[cfg(unix)]
    fn credulous(folder: &std::path::Path) -> Portfolio {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("credulous");
        let script = "#!/bin/sh\nif grep -q 'negated goal'; then echo unsat; else echo sat; fi\n";
        std::fs::write(&path, script).expect("writable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("ours");
        Portfolio { solvers: vec![Solver::at(path)], limit: Effort::seconds(5), keep: None }
    }

    #[cfg(unix)]
    #[test]
    fn a_credulous_prover_would_be_found_out() {
        let schedule = (crate::catalogue::find("allgather/ring").expect("in the catalogue").schedule)();
        let original = Original::new(&schedule, &Points::new(&schedule, 1..=5)).expect("right");
        let wrong = super::super::mutants(&schedule)
            .into_iter()
            .find(|mutant| mutant.description == "send #0 to: `rank + 1` -> `rank + 2`")
            .expect("there is one");
        let folder = tempfile::tempdir().expect("a folder");
        let fate = original.fate_in_proof(&wrong.schedule, &credulous(folder.path()));
        assert!(matches!(fate, Fate::Escaped(_)), "{fate:?}");
        let nobody = Portfolio { solvers: vec![], limit: Effort::seconds(1), keep: None };
        assert_eq!(original.fate_in_proof(&wrong.schedule, &nobody), Fate::Killed("no-answer"));
    }
}
