//! Several messages of a round into one slot: what is right is proved for all p, what is wrong is not.
//!
//! Each declaration has faults under conditions such as `p > 41`, written `@p`, which no check at compile time sees.
//! The exact check first shows that it is right up to 41 and wrong beyond. Without its faults it is proved, so it is
//! the fault that prevents the proof.
//!
//! Tests that need z3 say so and pass where it is not installed.

use crate::common::every;
use crate::common::wrong::solvers;
use roundel_spec::check::{self, Points};
use roundel_spec::{Schedule, syntax};
use roundel_verify::attack::mutants::induction;
use roundel_verify::attack::mutants::{Fate, Original, mutants, sample};
use roundel_verify::proving::prove::InductionResult;

/// Everyone sends to everyone, in one round.
const DIRECT: &str = "
    #[collective(allreduce)]
    #[round]
    #[send(for j in 1..p, to = rank + j)]
    #[recv(for j in 1..p, from = rank - j, combine = left)]
    #[holds(acc = [rank - k; k in 0..p])]
    #[bound(rounds <= 1, per_round blocks_sent = p - 1)]";

/// The same in two rounds, of three neighbours and of those at three times the distance.
const TWO_ROUNDS: &str = "
    #[collective(allreduce)]
    #[requires(p % 3 == 0)]
    #[round]
    #[send(for j in 1..3, to = rank - j)]
    #[recv(for j in 1..3, from = rank + j, combine = right)]
    #[holds(acc = [rank + k; k in 0..3])]
    #[round]
    #[send(for j in 1..p / 3, to = rank - 3 * j)]
    #[recv(for j in 1..p / 3, from = rank + 3 * j, combine = right)]
    #[holds(acc = [rank + k; k in 0..p])]";

/// A second line has what arrives first, and the rest follows; the first line is replaced at the end.
const TWO_LINES: &str = "
    #[collective(allreduce)]
    #[lines(acc, sum)]
    #[round]
    #[send(when = p > 1, to = rank - 1, line = acc)]
    #[recv(when = p > 1, from = rank + 1, into = sum, combine = right, operand = acc)]
    #[send(for j in 2..p - 1, to = rank - j, line = acc)]
    #[recv(for j in 2..p - 1, from = rank + j, into = sum, combine = right)]
    #[send(when = p > 2, to = rank + 1, line = acc)]
    #[recv(when = p > 2, from = rank - 1, into = acc, combine = right, operand = sum)]
    #[send(when = p == 2, to = rank + 1, line = acc)]
    #[recv(when = p == 2, from = rank - 1, into = acc, combine = right)]
    #[holds(acc = [rank + k; k in 0..p], sum = [rank + k; k in 0..if p > 1 { max(2, p - 1) } else { 0 }])]";

const RIGHT: [(&str, &str); 3] = [("direct", DIRECT), ("two rounds", TWO_ROUNDS), ("two lines", TWO_LINES)];

/// The declaration, what is replaced, by what. All are right up to p = 41.
const WRONG: &[(&str, &str, &str)] = &[
    // A message is missing, or there is one too many.
    (DIRECT, "for j in 1..p,", "for j in 1..if @p { p - 1 } else { p },"),
    (DIRECT, "for j in 1..p,", "for j in (if @p { 2 } else { 1 })..p,"),
    (DIRECT, "1..p, from = rank - j", "1..p, when = !@rank, from = rank - j"),
    // A contribution arrives twice: from one rank twice, from two that have it, or because it was there.
    (DIRECT, "for j in 1..p,", "for j in 1..if @p { p + 1 } else { p },"),
    (TWO_ROUNDS, "1..3, to", "1..if @p { 4 } else { 3 }, to"),
    (TWO_ROUNDS, "3 * j)", "(if @p { 2 } else { 3 }) * j)"),
    (TWO_ROUNDS, "for j in 1..p / 3", "for j in 1..if @p { p / 2 } else { p / 3 }"),
    (TWO_ROUNDS, "for j in 1..p / 3", "for j in (if @p { 0 } else { 1 })..p / 3"),
    // The claim is wrong.
    (DIRECT, "k in 0..p]", "k in 0..if @p { p - 1 } else { p }]"),
    (TWO_ROUNDS, "k in 0..3]", "k in 0..if @p { 4 } else { 3 }]"),
    // The bound is wrong.
    (DIRECT, "blocks_sent = p - 1", "blocks_sent = if @p { p } else { p - 1 }"),
    // An operand of another line: it is read too early or too late, or it is not the one that is there.
    (TWO_LINES, "operand = sum", "operand = acc"),
    (TWO_LINES, "operand = acc", "operand = sum"),
    (TWO_LINES, "when = p > 2, to = rank + 1, line = acc", "when = p > 2, to = rank + 1, line = sum"),
    (TWO_LINES, "2..p - 1", "2..if @p { p - 2 } else { p - 1 }"),
    (TWO_LINES, "2..p - 1", "2..if @p { p } else { p - 1 }"),
    (TWO_LINES, "max(2, p - 1)", "max(2, p - if @p { 2 } else { 1 })"),
];

/// The declaration with or without what happens beyond p = 41. A replacement is made on both sides of a message.
fn declared(text: &str, old: &str, new: &str) -> Schedule {
    assert!(text.contains(old), "there is no `{old}` in {text}");
    let mut text = format!("{} pub struct Case;", text.replace(old, new));
    for name in ["p", "rank"] {
        text = text.replace(&format!("@{name}"), &format!("({name} > 41)"));
    }
    let input = syn::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    syntax::parse(&input).unwrap_or_else(|error| panic!("{error}: {text}")).schedule
}

#[test]
fn what_is_right_is_proved_for_all_p() {
    let Some(portfolio) = solvers(10) else { return };
    for (name, text) in RIGHT {
        let schedule = declared(text, "", "");
        check::over(&schedule, &Points::new(&schedule, 1..=44)).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let induction = InductionResult::over(name, &schedule, &portfolio, &|| ());
        let open: Vec<_> = induction.by_property().into_values().flat_map(|summary| summary.open).collect();
        assert!(induction.complete(), "{name}: {open:#?}");
    }
}

#[test]
fn what_is_wrong_is_not_proved() {
    let Some(portfolio) = solvers(2) else { return };
    let mut proved = Vec::new();
    for (text, old, new) in every(3, WRONG) {
        let schedule = declared(text, old, new);
        if new.contains('@') {
            let early = check::over(&schedule, &Points::new(&schedule, 1..=41));
            assert!(early.is_ok(), "`{new}` is wrong too early: {early:?}");
        }
        let violation = [1..=8, 42..=45]
            .into_iter()
            .find_map(|p| check::over(&schedule, &Points::new(&schedule, p)).err())
            .unwrap_or_else(|| panic!("`{new}` is not wrong"));
        let kept = induction::kept_by(&schedule, &violation, &portfolio);
        println!("{new}: {} -> {kept:?}", violation.code());
        // The fault must prevent the proof, not a missing encoding.
        if matches!(kept, None | Some("not-encoded")) {
            proved.push(*new);
        }
    }
    assert!(proved.is_empty(), "not refuted, but wrong: {proved:?}");
}

/// A condition on the index is not encoded, so nothing that has one is proved.
#[test]
fn a_condition_on_the_index_is_not_proved() {
    let Some(portfolio) = solvers(2) else { return };
    let schedule = declared(DIRECT, "for j in 1..p,", "for j in 1..p, when = j != 41 && j != p - 41,");
    let violation = check::over(&schedule, &Points::new(&schedule, 42..=45)).expect_err("two messages are missing");
    assert_eq!(induction::kept_by(&schedule, &violation, &portfolio), Some("not-encoded"));
}

/// An order of reduction is not encoded here, so it is not proved.
#[test]
fn an_order_is_not_proved() {
    let Some(portfolio) = solvers(2) else { return };
    for order in ["rank_order", "same_tree"] {
        let schedule =
            declared(DIRECT, "#[collective(allreduce)]", &format!("#[collective(allreduce)] #[order({order})]"));
        let violation = check::over(&schedule, &Points::new(&schedule, 1..=8)).expect_err("the trees differ");
        assert_eq!(induction::kept_by(&schedule, &violation, &portfolio), Some("not-encoded"), "{order}");
    }
}

#[test]
fn no_mutant_that_is_wrong_is_proved() {
    let Some(portfolio) = solvers(2) else { return };
    let mut wrong = 0;
    for (name, text) in RIGHT {
        let schedule = declared(text, "", "");
        let original = Original::new(&schedule, &Points::new(&schedule, 1..=9)).unwrap();
        for mutant in every(4, sample(mutants(&schedule), 40)) {
            let fate = original.fate_in_proof(&mutant.schedule, &portfolio);
            assert!(!matches!(fate, Fate::Escaped(_)), "{name}: {}: {fate:?}", mutant.description);
            wrong += usize::from(matches!(fate, Fate::Killed(_)));
        }
    }
    assert!(wrong > 10, "{wrong}");
}
