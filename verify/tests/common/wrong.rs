//! Wrong collectives, made from entries of the catalogue: the exact check must find the fault, and no prover may prove
//! them.

#![allow(dead_code)] // Each test uses some of it.

use super::{every, z3};
use roundel_spec::{Schedule, Violation, syntax};
use roundel_verify::attack::mutants::induction;
use roundel_verify::proving::invariants::written::with_clauses;
use roundel_verify::proving::smt::{Effort, Portfolio};
use roundel_verify::recorded;
use std::path::Path;

/// The entry, what is replaced, by what.
pub(crate) type Replacement = (&'static str, &'static str, &'static str);

/// The declaration of a catalogue entry, with what its record says was found written below each round.
pub(crate) fn catalogue_text(name: &str) -> String {
    let folder = Path::new(roundel::algorithms::CRATE_ROOT).join("src/algorithms");
    let file = folder.join(format!("{}.rs", name.replace('-', "_")));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let start = text.find("///").unwrap_or_else(|| panic!("{name} has no declaration"));
    let entry = roundel::algorithms::find(name).unwrap_or_else(|unknown| panic!("{unknown}"));
    let found = recorded::found(&(entry.schedule)(), Some(Path::new(roundel::algorithms::CRATE_ROOT)));
    let written = with_clauses(&text[start..], entry.type_name, &found);
    written.unwrap_or_else(|| panic!("{name} does not declare {}", entry.type_name))
}

/// A catalogue entry with one thing replaced.
pub(crate) fn replaced(name: &str, old: &str, new: &str) -> Schedule {
    replaced_in(&catalogue_text(name), name, old, new)
}

/// A declaration with one thing replaced.
pub(crate) fn replaced_in(text: &str, name: &str, old: &str, new: &str) -> Schedule {
    assert!(text.contains(old), "{name} has no `{old}`");
    let input = syn::parse_str(&text.replacen(old, new, 1)).unwrap_or_else(|error| panic!("{name}, {new}: {error}"));
    syntax::parse(&input).unwrap_or_else(|error| panic!("{name}, {new}: {error}")).schedule
}

/// The solvers, if there are any, with this many seconds for each question.
pub(crate) fn solvers(seconds: u64) -> Option<Portfolio> {
    z3().map(|_| Portfolio { limit: Effort::seconds(seconds), ..Portfolio::installed() })
}

/// Tries to prove every `step`-th of `wrong`, in which `fault` must find a fault.
pub(crate) fn none_is_proved(
    step: usize,
    wrong: &[Replacement],
    schedule: impl Fn(&Replacement) -> Schedule,
    fault: impl Fn(&Replacement, &Schedule) -> Option<Violation>,
) {
    let Some(portfolio) = solvers(2) else { return };
    let mut proved = Vec::new();
    for replacement in every(step, wrong) {
        let (name, _, new) = replacement;
        let schedule = schedule(replacement);
        let violation = fault(replacement, &schedule).unwrap_or_else(|| panic!("{name} with `{new}` is not wrong"));
        let kept = induction::kept_by(&schedule, &violation, &portfolio);
        println!("{name}, {new}: {} -> {kept:?}", violation.code());
        // The fault must prevent the proof, not a missing encoding.
        if matches!(kept, None | Some("not-encoded")) {
            proved.push((*name, *new));
        }
    }
    assert!(proved.is_empty(), "proved for all p, but wrong: {proved:?}");
}
