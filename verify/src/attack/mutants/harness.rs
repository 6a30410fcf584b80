//! Tests the bodies of the Kani harnesses with mutants: a mutant that violates one of their claims must not pass.
//!
//! The harnesses claim less than a declaration: nothing about `per_round` bounds, hints, or the blocks of `holds`. So
//! the oracle judges the mutant twice, once as it is and once with only the claims. A mutant that passes but is wrong
//! by the second judgement has *escaped*; one that is wrong only by the first is *not claimed*.

use super::{Fate, Original};
use crate::attack::oracle::{self, OracleRounds};
use crate::proving::harness_bodies::{self, Harness};
use roundel_spec::check::Point;
use roundel_spec::eval::Env;
use roundel_spec::harness::claims::{Relation, claimed, has_steps};
use roundel_spec::schedule::{Bound, Hold, Schedule};

/// No rank sends anything, so the covers of the harnesses are not reached.
const VACUOUS: &str = "vacuous";

/// What kills a mutant here: one of the harnesses, or that all of them are vacuous.
pub const KILLERS: [&str; 6] = {
    let [a, b, c, d, e] = Harness::ALL;
    [a.name(), b.name(), c.name(), d.name(), e.name(), VACUOUS]
};

impl Original {
    /// Runs the harnesses of a mutant, and lets the oracle judge the result.
    pub fn fate_in_harnesses(&self, mutant: &Schedule) -> Fate {
        self.fate_in(&Harness::ALL, mutant)
    }

    fn fate_in(&self, harnesses: &[Harness], mutant: &Schedule) -> Fate {
        let violation = self.violation(mutant);
        // It compiles if the limits of `check` end before the fault; these are then its harnesses.
        let mut compiled = mutant.clone();
        if let Some(violation) = &violation {
            compiled.limits.p = compiled.limits.p.min(violation.case.p as i64 - 1).max(1);
        }
        let steps = self.steps && has_steps(&compiled);
        let points = || self.points.iter().map(|(point, _)| point).filter(|point| harness_bodies::reaches(point));
        let wrong = points().find_map(|point| judged(mutant, point, steps).err());
        let mut messages = 0;
        for harness in harnesses.iter().filter(|harness| steps || **harness == Harness::Whole) {
            for point in points() {
                match harness.run(mutant, point) {
                    Ok(sent) => messages += sent,
                    // It is enough that it is wrong somewhere: another pairing of messages, which is not claimed, may
                    // be correct here.
                    Err(_) if wrong.is_some() => return Fate::Killed(harness.name()),
                    Err(wrong) => {
                        return Fate::FalseAlarm(format!("{}: with {}, {wrong}", harness.name(), point.case(mutant)));
                    }
                }
            }
        }
        if let Some(reason) = wrong {
            return Fate::Escaped(reason);
        }
        match (self.compare(mutant), violation) {
            _ if messages == 0 => Fate::Killed(VACUOUS),
            (Ok(class), _) => Fate::Survived(class),
            (Err(_), Some(violation)) => Fate::Unclaimed(violation.code()),
            (Err(reason), None) => Fate::Escaped(reason),
        }
    }
}

/// The oracle's judgement of the claims at a point. A call whose domain has no value is refused, and nothing is claimed
/// about it.
fn judged(mutant: &Schedule, point: &Point, steps: bool) -> Result<(), String> {
    let (args, placement) = (&point.args, &point.placement);
    if oracle::admits(mutant, args, placement) != Ok(true) {
        return Ok(());
    }
    let tape = OracleRounds::of(mutant, args, placement)?;
    let judge = if steps { oracle::judge } else { oracle::judge_alone };
    judge(&claims(mutant, point, steps, &tape), args, placement, &tape)
}

/// The declaration reduced to what the harnesses claim at a point.
fn claims(mutant: &Schedule, point: &Point, steps: bool, tape: &OracleRounds) -> Schedule {
    let mut all = mutant.clone();
    // A rank only counts the rounds in which it has a message.
    let countable = |bound: &&Bound| !bound.metric.counts_rounds() || !tape.has_idle_rank();
    let bounds = mutant.bounds.iter().filter(countable);
    let as_claimed = |bound: &Bound| Some(Bound { exact: claimed(bound)? == Relation::Met, ..bound.clone() });
    all.bounds = bounds.filter_map(as_claimed).collect();
    let mut env = Env::new(mutant, &point.args, &point.placement.place(0));
    for l in &mut all.loops {
        l.hints.clear();
        // Nothing is claimed about a loop without rounds.
        let begins = l.indices.iter().all(|index| match (env.eval(&index.lo), env.eval(&index.hi)) {
            (Ok(lo), Ok(hi)) => lo < hi,
            _ => false,
        });
        let facts = steps && begins && !l.indices.is_empty();
        l.holds.retain(|hold| facts && matches!(hold, Hold::Fact(_)));
    }
    if !steps {
        all.layouts.clear();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::mutants::mutants;
    use crate::recorded::of_entry;
    use roundel::algorithms::{Entry, catalogue};
    use roundel_spec::check::Points;
    use roundel_spec::harness::claims::has_harnesses;
    use std::collections::BTreeSet;

    fn declared(name: &str) -> Schedule {
        of_entry(crate::catalogue::find(name).expect("in the catalogue"))
    }

    /// The fate of every mutant of a schedule.
    fn fates(schedule: &Schedule, p: std::ops::RangeInclusive<usize>) -> Vec<(String, Fate)> {
        let original = Original::new(schedule, &Points::new(schedule, p)).expect("right");
        mutants(schedule).into_iter().map(|m| (m.description, original.fate_in_harnesses(&m.schedule))).collect()
    }

    fn killers(name: &str, schedule: &Schedule) -> BTreeSet<&'static str> {
        let killer = |(description, fate)| match fate {
            Fate::Killed(by) => Some(by),
            Fate::Survived(_) | Fate::Unclaimed(_) => None,
            disputed => panic!("{name}: {description}: {disputed:?}"),
        };
        fates(schedule, 1..=9).into_iter().filter_map(killer).collect()
    }

    fn with_harnesses() -> impl Iterator<Item = &'static Entry> {
        catalogue().iter().filter(|entry| has_harnesses(&of_entry(entry)))
    }

    #[test]
    fn every_body_kills_and_none_lets_through() {
        let all = with_harnesses().flat_map(|entry| killers(entry.name, &of_entry(entry)));
        assert_eq!(all.collect::<BTreeSet<_>>(), BTreeSet::from(KILLERS));
    }

    /// Bounds detect many faults that the other claims cover; without them each claim has to detect its own.
    #[test]
    fn none_is_let_through_without_bounds_either() {
        for entry in with_harnesses() {
            let mut bare = of_entry(entry);
            bare.bounds.clear();
            assert!(killers(entry.name, &bare).contains("whole"), "{}", entry.name);
        }
    }

    #[test]
    fn what_is_not_claimed_is_said() {
        let of = |fates: &[(String, Fate)], change: &str| {
            fates.iter().find(|(description, _)| description == change).map(|(_, fate)| fate.clone())
        };
        let ring = fates(&declared("allgather/ring"), 1..=6);
        assert_eq!(of(&ring, "send #0 to: `rank + 1` -> `rank + 2`"), Some(Fate::Killed("sends_match")));
        assert_eq!(of(&ring, "bound #3 (blocks_sent): `1` -> `2`"), Some(Fate::Unclaimed("bound")));
        assert_eq!(of(&ring, "holds #0 of round #0: `rank - k` -> `rank + k`"), Some(Fate::Unclaimed("holds")));
        // Without the send there is no pair, and each rank on its own is correct except for the bound.
        assert_eq!(of(&ring, "send #0: removed"), Some(Fate::Killed("whole")));
    }

    #[test]
    fn a_body_that_notices_nothing_would_be_found_out() {
        let schedule = declared("allgather/ring");
        let mut original = Original::new(&schedule, &Points::new(&schedule, 1..=6)).expect("right");
        let wrong = mutants(&schedule)
            .into_iter()
            .find(|mutant| mutant.description == "send #0 to: `rank + 1` -> `rank - 1`")
            .expect("there is one");
        let without_matching = [Harness::Functions, Harness::Facts, Harness::Whole];
        assert!(matches!(original.fate_in(&without_matching, &wrong.schedule), Fate::Escaped(_)));
        assert_eq!(original.fate_in(&[Harness::ReceivesMatch], &wrong.schedule), Fate::Killed("receives_match"));
        // Without the harnesses for single rounds, matching is not claimed, and each rank on its own is correct.
        original.steps = false;
        assert_eq!(original.fate_in_harnesses(&wrong.schedule), Fate::Unclaimed("unmatched-send"));
    }
}
