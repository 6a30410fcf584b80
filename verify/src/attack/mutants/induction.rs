//! Tests the prover with mutants: a mutant that is wrong at some small p must not be proved for all p.
//!
//! The exact check and the oracle tell which mutants are wrong. For these, the obligations that are likely to fail come
//! first, and the first one that is not proved ends the attempt, since a proof needs all of them. Time limits are
//! short, because a solver that gives up proves nothing.

use super::{Fate, Original};
use crate::proving::smt::{self, Obligation, Portfolio, Property, Refutation, Verdict};
use roundel_spec::{Schedule, Violation};

/// The reasons why the prover does not prove a mutant.
pub const OBSTACLES: [&str; 4] = ["not-encoded", "refuted", "vacuous", "no-answer"];

impl Original {
    /// Lets the prover try a mutant, and compares the result with the exact check.
    pub fn fate_in_proof(&self, mutant: &Schedule, portfolio: &Portfolio) -> Fate {
        let exact = self.fate(mutant);
        let code = match exact {
            Fate::Killed(code) => Some(code),
            _ => None,
        };
        match (obstacle(mutant, code, portfolio, smt::tried), exact) {
            (Some(obstacle), Fate::Killed(_)) => Fate::Killed(obstacle.name),
            (Some(_), Fate::Survived(class)) => Fate::Unproved(class),
            // A range without a point in the domain shows no fault; the prover also covers other points.
            (None, Fate::Killed("nothing-checked")) => Fate::Killed("nothing-checked"),
            (None, Fate::Killed(code)) => {
                Fate::Escaped(format!("proved for all p, although there is a fault ({code})"))
            }
            (_, other) => other,
        }
    }
}

/// The reason why a schedule is not proved.
struct Obstacle {
    name: &'static str,
    refutation: Option<Refutation>,
}

/// The first obstacle to a proof of a schedule. `code` is the known fault, if any; `put` discharges an obligation.
fn obstacle(
    schedule: &Schedule,
    code: Option<&str>,
    portfolio: &Portfolio,
    put: impl Fn(&str, &Obligation, &Portfolio) -> Verdict,
) -> Option<Obstacle> {
    let obligations = smt::obligations(schedule);
    if !obligations.gaps.is_empty() || obligations.all.is_empty() {
        return Some(Obstacle { name: "not-encoded", refutation: None });
    }
    let suspects = code.map_or(&[][..], suspects);
    let suspicious = |one: &&Obligation| one.property == Property::Root || suspects.contains(&one.property);
    let (first, later): (Vec<&Obligation>, Vec<&Obligation>) = obligations.all.iter().partition(suspicious);
    first.into_iter().chain(later).find_map(|one| {
        let verdict = put(&schedule.name, one, portfolio);
        let name = match verdict {
            Verdict::Proved { .. } => return None,
            Verdict::Refuted { .. } => "refuted",
            Verdict::Vacuous => "vacuous",
            Verdict::Open(_) => "no-answer",
        };
        Some(Obstacle { name, refutation: Refutation::of(one, &verdict) })
    })
}

/// The name of the obstacle to a proof of a schedule with a known fault; `None` if it is proved.
pub fn kept_by(schedule: &Schedule, violation: &Violation, portfolio: &Portfolio) -> Option<&'static str> {
    obstacle(schedule, Some(violation.code()), portfolio, smt::tried).map(|obstacle| obstacle.name)
}

/// The counterexample to the induction that prevents the proof of a wrong mutant, if that is the obstacle.
pub fn refutation(mutant: &Schedule, violation: &Violation, portfolio: &Portfolio) -> Option<Refutation> {
    obstacle(mutant, Some(violation.code()), portfolio, smt::put)?.refutation
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
    use crate::proving::smt::{Effort, Solver};
    use roundel_spec::check::Points;

    /// A prover that accepts everything, and has a model of every hypothesis.
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
        let schedule = crate::recorded::of_entry(crate::catalogue::find("allgather/ring").expect("in the catalogue"));
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
