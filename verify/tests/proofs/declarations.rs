//! The declarations of `examples/declarations`, which the catalogue does not have: checked exactly, judged by the
//! oracle and, but for one, proved for all p; wrong variants of them, right for small p, are not proved.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::every;
use crate::common::wrong::{Replacement, none_is_proved, replaced_in, solvers};
use roundel_spec::check::{self, Points};
use roundel_spec::{Schedule, syntax};
use roundel_verify::attack::oracle::{OracleRounds, judge};
use roundel_verify::proving::prove::InductionResult;
use std::path::Path;

/// All of them are proved for all p that they serve, every root and all parameters.
const NAMES: [&str; 6] = ["swing_allgather", "chain", "van_de_geijn", "swing", "recursive_multiplying", "pat"];

/// Correct in a range; why it is not proved for all p, docs/proofs.md says.
const IN_A_RANGE: [&str; 1] = ["double_tree"];

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/declarations"))
}

/// The declaration in a file, without the `use` above it.
fn text(name: &str) -> String {
    let file = folder().join(format!("{name}.rs"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text[text.find("///").unwrap()..].into()
}

fn declared(name: &str) -> Schedule {
    syntax::parse(&syn::parse_str(&text(name)).unwrap()).unwrap().schedule
}

#[test]
fn every_file_is_tested_and_explained() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix(".rs") else { continue };
        assert!(NAMES.contains(&stem) || IN_A_RANGE.contains(&stem), "{name} is not tested");
        assert!(readme.contains(&format!("({name})")), "{name} is not in the README");
    }
}

/// By the definition of the collective.
#[test]
fn they_keep_their_contract() {
    for name in NAMES.into_iter().chain(IN_A_RANGE) {
        let schedule = declared(name);
        let points = Points::within_limits(&schedule).thinned(1 << 11);
        check::over(&schedule, &points).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let mut judged = 0;
        for point in points.iter().filter(|point| matches!(check::in_domain(&schedule, point), Ok(true))) {
            let rounds = OracleRounds::of(&schedule, &point.args, &point.placement).unwrap();
            judge(&schedule, &point.args, &point.placement, &rounds)
                .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            judged += 1;
        }
        assert!(judged > 4, "{name}");
    }
}

#[test]
fn they_are_proved_for_all_p() {
    let Some(portfolio) = solvers(20) else { return };
    // The fold of `swing` takes minutes, `recursive_multiplying` and `pat` half a minute.
    for name in every(NAMES.len(), NAMES).into_iter().chain(["chain"]) {
        let induction = InductionResult::over(name, &declared(name), &portfolio, &|| ());
        assert!(induction.complete(), "{name}: {:#?}", induction.by_property());
    }
}

#[test]
fn what_is_not_proved_for_all_p_is_right_in_a_range() {
    let Some(portfolio) = solvers(2) else { return };
    for name in IN_A_RANGE {
        let schedule = declared(name);
        let points = Points::new(&schedule, 1..=64).thinned(1 << 9);
        check::over(&schedule, &points).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        assert!(!InductionResult::over(name, &schedule, &portfolio, &|| ()).complete(), "{name} is proved: say so");
    }
}

/// The file, what is replaced in it, by what.
const WRONG: &[Replacement] = &[
    ("swing_allgather", "next = 1 - 2 * rho", "next = if p > 41 && rho > 2 { rho - 2 } else { 1 - 2 * rho }"),
    ("swing_allgather", "[base(peer) + k; k in 0..D]", "[base(peer) + k; k in 0..D - if p > 41 { 1 } else { 0 }]"),
    ("swing_allgather", "s in 0..floor_log(2, p)", "s in 0..floor_log(2, p) - if p > 41 { 1 } else { 0 }"),
    ("chain", "s - v]", "s - v + if p > 41 { 1 } else { 0 }]"),
    ("chain", "v <= s && s < v + segments", "v <= s && s < v + segments - if p > 41 { 1 } else { 0 }"),
    ("chain", "{ p - 2 + segments })]", "{ p - 2 + segments - if p > 41 { 1 } else { 0 } })]"),
    ("van_de_geijn", "has(v) + s < p", "has(v) + s < if p > 41 { p - 1 } else { p }"),
    ("van_de_geijn", "min(x & -x, p - x)", "min(x & -x, p - x) - if p > 41 && x > 1 { 1 } else { 0 }"),
    ("van_de_geijn", "next_v != 0 && ", "(next_v > 1 || p < 42) && next_v != 0 && "),
    ("swing", "{ (place(x) - base) % t < D }", "{ (place(x) - base) % t < D + if p > 41 { 1 } else { 0 } }"),
    ("swing", "v - rho }) % t)", "v - rho - if p > 41 { 2 } else { 0 } }) % t)"),
    // Of several messages into one slot, one is missing, comes twice or goes elsewhere.
    ("recursive_multiplying", "s in 0..w)", "s in 0..w - if p > 41 { 1 } else { 0 })"),
    (
        "recursive_multiplying",
        "1..=own, when = rank < t, from",
        "1..=own - if p > 41 { 1 } else { 0 }, when = rank < t, from",
    ),
    ("recursive_multiplying", "x % t / D == rank / D", "x % t / D == rank / D || p > 41"),
    ("recursive_multiplying", "rank / D % radix", "rank / D % (radix - if p > 41 && radix > 2 { 1 } else { 0 })"),
    ("recursive_multiplying", "(p - 1 - rank) / t", "(p - 1 - rank) / t - if p > 41 && rank == 0 { 1 } else { 0 }"),
    ("recursive_multiplying", "to = rank % t", "to = if p > 41 { 0 } else { rank % t }"),
    // Edges of trees.
    ("pat", "low = k & -k", "low = if p > 41 { k + 1 } else { k & -k }"),
    ("pat", "if k < rest", "if k < rest + if p > 41 { 1 } else { 0 }"),
    ("pat", "k in 1..span)", "k in 1..span - if p > 41 && span > 1 { 1 } else { 0 })"),
    ("pat", "s in 0..w)", "s in 0..w - if p > 41 && w > 0 { 1 } else { 0 })"),
    ("pat", "(k - low); j in 0..m", "(k - low); j in 0..m - if p > 41 { 1 } else { 0 }"),
    ("pat", "2 * j * d * span; j in 0..n", "2 * j * d * span; j in 0..if p > 41 { 1 } else { n }"),
];

#[test]
fn none_that_is_wrong_beyond_41_is_proved() {
    let wrong = |(name, old, new): &Replacement| replaced_in(&text(name), name, old, new);
    none_is_proved(3, WRONG, wrong, |_, schedule| {
        check::over(schedule, &Points::new(schedule, 1..=41).thinned(1 << 9)).expect("wrong for small p");
        check::over(schedule, &Points::new(schedule, 42..=66).thinned(1 << 9)).err()
    });
}
