//! Collectives that are right for every p up to 41 and wrong beyond, which no check of small cases finds. None of them
//! may be proved for all p.
//!
//! Each is a declaration with a fault under a condition such as `p > 41`, written `@p`. The exact check first shows
//! that it is right up to 41 and wrong at some p up to 64. With a few exceptions, the prover proves the same
//! declaration without the fault, which shows that the fault is what prevents the proof.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::{every, everything, z3};
use roundel::algorithms::catalogue;
use roundel_spec::check::{self, Points};
use roundel_spec::{Schedule, Violation, syntax};
use roundel_verify::attack::mutants::beyond::{beyond, points};
use roundel_verify::attack::mutants::{Fate, Mutant, Original, induction, sample};
use roundel_verify::proving::prove::InductionResult;
use roundel_verify::proving::smt::{Effort, Portfolio, Verdict};
use roundel_verify::proving::sweep::parallel;
use roundel_verify::recorded::of_entry;
use std::collections::BTreeMap;

/// A description and the declaration; `@x` is a condition that no p up to 41 meets.
const WRONG: &[(&str, &str)] = &[
    (
        "a peer",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = if @s { rank - s } else { rank + s }, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a peer of one rank",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = if @rank { rank - s } else { rank + s }, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a peer far away",
        "#[collective(allgather)]
         #[define(far = if @p { 4 * p + 1 } else { 0 })]
         #[round(s in 1..p)]
         #[send(to = rank + s + far, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a block",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [if @s { rank - s - 1 } else { rank - s }])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a block that is sent and not held",
        "#[collective(allgather)]
         #[round(s in 0..p - 1)]
         #[send(to = rank + 1, blocks = [if @s { rank - s - 1 } else { rank - s }])]
         #[recv(from = rank - 1, blocks = [if @s { rank - s - 2 } else { rank - s - 1 }])]
         #[holds(blocks = [rank - k; k in 0..s + 1])]",
    ),
    (
        "a count",
        "#[collective(allgather)]
         #[requires(p >= 2)]
         #[define(all = if @p { p - 2 } else { p - 1 })]
         #[round(s in 0..1)]
         #[send(to = rank + 1, blocks = [rank; k in 0..all - (p - 2)])]
         #[recv(from = rank - 1, blocks = [rank - 1; k in 0..all - (p - 2)])]
         #[holds(blocks = [rank - k; k in 0..s + 1])]
         #[round(s in 1..p - 1)]
         #[send(to = rank + 1, blocks = [rank - s])]
         #[recv(from = rank - 1, blocks = [rank - s - 1])]
         #[holds(blocks = [rank - k; k in 0..s + 1])]",
    ),
    (
        "a guard",
        "#[collective(allgather)]
         #[define(last = if @p { p - 1 } else { p })]
         #[round(s in 1..p)]
         #[send(when = s < last, to = rank + s, blocks = [rank])]
         #[recv(when = s < last, from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..min(s, last)])]",
    ),
    (
        "a guard on one side",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(when = !(@s ), from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "the last round",
        "#[collective(allgather)]
         #[round(s in 1..if @p { p - 1 } else { p })]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a state",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[state(D = 1, next = if @s { D + 2 } else { D + 1 })]
         #[send(to = rank + D, blocks = [rank])]
         #[recv(from = rank - D, blocks = [rank - D])]
         #[holds(D == s, blocks = [rank - k; k in 0..s])]",
    ),
    (
        "the first state",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[state(D = if @p { 2 } else { 1 }, next = D + 1)]
         #[send(to = rank + D, blocks = [rank])]
         #[recv(from = rank - D, blocks = [rank - D])]
         #[holds(D == s, blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a state without a value",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[state(D = 1, next = 1 / (if @s { 0 } else { 1 }))]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(D == 1, blocks = [rank - k; k in 0..s])]",
    ),
    (
        "nested definitions",
        "#[collective(allgather)]
         #[define(one(k) = if @k { k + 1 } else { k })]
         #[define(two(s) = one(one(s)))]
         #[round(s in 1..p)]
         #[send(to = rank + two(s), blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a definition in two rounds",
        "#[collective(allgather)]
         #[round(s in 1..2)]
         #[define(c(k) = k)]
         #[send(when = p > 1, to = rank + c(s), blocks = [rank])]
         #[recv(when = p > 1, from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - m; m in 0..min(s, p)])]
         #[round(s in 2..p)]
         #[define(c(k) = if @k { k - 1 } else { k })]
         #[send(to = rank + c(s), blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - m; m in 0..min(s, p)])]",
    ),
    (
        "a loop, then a round with its index",
        "#[collective(allgather)]
         #[round(k in 1..2)]
         #[send(when = p > 1, to = rank + 1, blocks = [rank])]
         #[recv(when = p > 1, from = rank - 1, blocks = [rank - 1])]
         #[holds(blocks = [rank - m; m in 0..min(k, p)])]
         #[round]
         #[send(for k in 2..p, to = rank + k, blocks = [rank])]
         #[recv(for k in 2..p, from = if @k { rank + k - p } else { rank - k }, blocks = [rank - k])]
         #[holds(blocks = [rank - m; m in 0..p])]",
    ),
    (
        "a loop, then a round with its state",
        "#[collective(allgather)]
         #[round(s in 1..2)]
         #[state(j = 1, next = j + 1)]
         #[send(when = p > 1, to = rank + 1, blocks = [rank])]
         #[recv(when = p > 1, from = rank - 1, blocks = [rank - 1])]
         #[holds(j == s, blocks = [rank - m; m in 0..min(s, p)])]
         #[round]
         #[send(for j in 2..p, to = rank + j, blocks = [if @j { rank + 1 } else { rank }])]
         #[recv(for j in 2..p, from = rank - j, blocks = [rank - j])]
         #[holds(blocks = [rank - m; m in 0..p])]",
    ),
    (
        "a loop, then a comprehension with its index",
        "#[collective(allgather)]
         #[requires(p >= 2)]
         #[round(k in 1..2)]
         #[send(to = rank + 1, blocks = [rank])]
         #[recv(from = rank - 1, blocks = [rank - 1])]
         #[holds(blocks = [rank - m; m in 0..k])]
         #[round]
         #[send(for j in 2..p, to = rank + j, blocks = [if @k { rank + 1 } else { rank }; k in j..j + 1])]
         #[recv(for j in 2..p, from = rank - j, blocks = [rank - j; k in j..j + 1])]
         #[holds(blocks = [rank - m; m in 0..p])]",
    ),
    (
        "two loops with one name",
        "#[collective(allgather)]
         #[round(s in 1..min(p, 3))]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]
         #[round(s in 3..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = if @s { rank - s + 1 } else { rank - s }, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..min(s, p)])]",
    ),
    (
        "a sum over `for`",
        "#[collective(allgather)]
         #[requires(p >= 4)]
         #[define(a = if @p { 0 } else { if p % 3 == 0 { 1 } else { if p % 3 == 1 { 2 } else { 0 } } })]
         #[define(b = if @p { 0 } else { 2 - a })]
         #[round(s in 1..p - 2)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]
         #[round]
         #[send(for j in 0..a, to = rank - 2 + j, blocks = [rank])]
         #[recv(for j in 0..a, from = rank + 2 - j, blocks = [rank + 2 - j])]
         #[send(for j in 0..b, to = rank - 1 - j, blocks = [rank])]
         #[recv(for j in 0..b, from = rank + 1 + j, blocks = [rank + 1 + j])]",
    ),
    (
        "a `for` that ends early",
        "#[collective(allgather)]
         #[round]
         #[send(for j in 1..if @p { p - 1 } else { p }, to = rank + j, blocks = [rank])]
         #[recv(for j in 1..if @p { p - 1 } else { p }, from = rank - j, blocks = [rank - j])]",
    ),
    (
        "two `for` in one clause",
        "#[collective(allgather)]
         #[requires(p % 2 == 0)]
         #[define(h = p / 2)]
         #[round]
         #[send(when = p > 1, to = rank + h, blocks = [rank])]
         #[recv(when = p > 1, from = rank + h, blocks = [rank + h])]
         #[holds(blocks = [rank + h * i; i in 0..2])]
         #[round]
         #[send(for i in 0..2, for j in 1..if @p { h - 1 } else { h }, to = rank - h * i - j, blocks = [rank])]
         #[recv(for i in 0..2, for j in 1..if @p { h - 1 } else { h }, from = rank + h * i + j, blocks = [rank + h * i + j])]",
    ),
    (
        "messages of one pair change places",
        "#[collective(allgather)]
         #[requires(p >= 2 && p % 2 == 0)]
         #[define(x = if @p { 1 } else { 0 })]
         #[round]
         #[send(to = rank + 1, blocks = [rank])]
         #[recv(from = rank - 1, blocks = [rank - 1])]
         #[holds(blocks = [rank - k; k in 0..2])]
         #[round(s in 1..p / 2)]
         #[send(to = rank + 2 * s, blocks = [rank])]
         #[send(to = rank + 2 * s, blocks = [rank - 1])]
         #[recv(from = rank - 2 * s, blocks = [rank - 2 * s - x])]
         #[recv(from = rank - 2 * s, blocks = [rank - 2 * s - 1 + x])]
         #[holds(blocks = [rank - k; k in 0..2 * s])]",
    ),
    (
        "blocks of one message change places",
        "#[collective(allgather)]
         #[requires(p >= 2 && p % 2 == 0)]
         #[define(x = if @p { 1 } else { 0 })]
         #[round]
         #[send(to = rank + 1, blocks = [rank])]
         #[recv(from = rank - 1, blocks = [rank - 1])]
         #[holds(blocks = [rank - k; k in 0..2])]
         #[round(s in 1..p / 2)]
         #[send(to = rank + 2 * s, blocks = [rank] + [rank - 1])]
         #[recv(from = rank - 2 * s, blocks = [rank - 2 * s - x] + [rank - 2 * s - 1 + x])]
         #[holds(blocks = [rank - k; k in 0..2 * s])]",
    ),
    (
        "receives change places",
        "#[collective(allgather)]
         #[requires(p >= 3)]
         #[define(x = if @p { 1 } else { 0 })]
         #[round]
         #[send(to = rank + 1, blocks = [rank])]
         #[send(to = rank + 2, blocks = [rank])]
         #[recv(from = rank - 1 - x, blocks = [rank - 1])]
         #[recv(from = rank - 2 + x, blocks = [rank - 2])]
         #[holds(blocks = [rank - k; k in 0..3])]
         #[round(s in 3..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a parameter",
        "#[collective(allgather, n: 1..=2)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = if @s { rank - s * n } else { rank - s }, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a list",
        "#[collective(allgather, ports: list(1..))]
         #[requires(len(ports) > 0)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = if @s { rank - s * ports[0] } else { rank - s }, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a place in a list",
        "#[collective(allgather, ports: list(1..))]
         #[requires(len(ports) > 0)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank; k in 0..min(1, ports[if @s { len(ports) } else { 0 }])])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a filter",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank; k in 0..1, !(@s )])]
         #[recv(from = rank - s, blocks = [rank - s; k in 0..1, !(@s )])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a filter of `holds`",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s, !(@k )])]",
    ),
    (
        "blocks of `holds`",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..if @s { s - 1 } else { s }])]",
    ),
    (
        "a fact",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(s <= if @p { 41 } else { p }, blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a hint",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[hint(!(@s ))]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a counter",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(messages_sent = if @s { s } else { s - 1 }, blocks = [rank - k; k in 0..s])]
         #[bound(messages_sent <= p)]",
    ),
    (
        "a bound",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(messages_sent = s - 1, blocks = [rank - k; k in 0..s])]
         #[bound(messages_sent = if @p { p - 2 } else { p - 1 })]",
    ),
    (
        "a bound on rounds",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]
         #[bound(rounds <= if @p { p - 2 } else { p - 1 })]",
    ),
    (
        "a bound on one round",
        "#[collective(allgather)]
         #[round]
         #[send(for j in 1..p, to = rank + j, blocks = [rank])]
         #[recv(for j in 1..p, from = rank - j, blocks = [rank - j])]
         #[bound(per_round messages_sent <= if @p { 41 } else { p })]",
    ),
    (
        "a round that is silent",
        "#[collective(allgather)]
         #[define(last = if @p { p - 1 } else { p })]
         #[requires(p > 2)]
         #[round(s in 1..p)]
         #[send(when = s < last || s == 1, to = if s == 1 { rank + p - 1 } else { rank + s - 1 }, blocks = [rank])]
         #[recv(when = s < last || s == 1, from = if s == 1 { rank - p + 1 } else { rank - s + 1 }, blocks = [if s == 1 { rank - p + 1 } else { rank - s + 1 }])]
         #[holds(blocks = [rank - k; k in 0..min(s - 1, last - 1) + (if s == 1 { 1 } else { 0 })] + [rank + 1; k in 0..min(1, s - 1)])]
         #[bound(rounds = p - 1)]",
    ),
    (
        "xor",
        "#[collective(allgather)]
         #[requires(p == pow(2, floor_log(2, p)))]
         #[round(s in 0..floor_log(2, p))]
         #[state(D = 1, next = 2 * D)]
         #[send(to = rank ^ D, blocks = [rank - rank % D + k; k in 0..D])]
         #[recv(from = rank ^ D, blocks = [(rank ^ D) - (if @p { 0 } else { rank % D }) + k; k in 0..D])]
         #[holds(D == pow(2, s), blocks = [rank - rank % D + k; k in 0..D])]",
    ),
    (
        "a quotient",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s + (if @s { s / 42 } else { 0 }), blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]
         #[requires(final p > 0)]",
    ),
    (
        "a rotation",
        "#[collective(allgather)]
         #[layout(in_place, rotated(rank / (if @p { 0 } else { 1 })))]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "a domain",
        "#[collective(allgather)]
         #[requires(p / (if @p { 0 } else { 1 }) > 0)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..s])]",
    ),
    (
        "doubling",
        "#[collective(allgather)]
         #[round(s in 0..ceil_log(2, p))]
         #[state(D = 1, next = 2 * D)]
         #[define(n = min(D, p - D))]
         #[send(to = rank - D, blocks = [rank + k; k in 0..n])]
         #[recv(from = rank + D, blocks = [rank + D + k; k in (if @p { 1 } else { 0 })..n])]
         #[holds(D == pow(2, s), blocks = [rank + k; k in 0..min(D, p)])]",
    ),
];

/// Declarations that the prover does not prove even without the fault: an index with only one value makes empty claims,
/// and sets of different forms have no pairing.
const NOT_PROVED_EITHER: [&str; 4] = ["a count", "a place in a list", "a filter", "a round that is silent"];

/// The declaration with its faults, or without.
fn declared(text: &str, wrong: bool) -> Schedule {
    let fields = match () {
        _ if text.contains("allgather, n:") => "{ pub n: i64 }",
        _ if text.contains("allgather, ports:") => "{ pub ports: Vec<i64> }",
        _ => ";",
    };
    let mut text = format!("{text} pub struct Case {fields}");
    for name in ["p", "s", "k", "j", "D", "rank"] {
        let condition = if wrong { format!("{name} > 41") } else { format!("{name} < 0") };
        text = text.replace(&format!("@{name} "), &format!("{condition} "));
    }
    let input = syn::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    syntax::parse(&input).unwrap_or_else(|error| panic!("{error}: {text}")).schedule
}

/// The fault between 42 and 64; up to 41 there is none.
fn fault(name: &str, schedule: &Schedule) -> Violation {
    if let Err(violation) = check::over(schedule, &Points::new(schedule, 1..=41)) {
        panic!("{name} is wrong too early: {violation}");
    }
    let beyond = check::over(schedule, &Points::new(schedule, 42..=64));
    beyond.err().unwrap_or_else(|| panic!("{name} is not wrong"))
}

/// The solvers, with little time: one that gives up proves nothing.
fn portfolio() -> Option<Portfolio> {
    z3().map(|_| Portfolio { limit: Effort::seconds(2), ..Portfolio::installed() })
}

#[test]
fn none_that_is_wrong_beyond_41_is_proved() {
    let Some(portfolio) = portfolio() else { return };
    let mut proved = Vec::new();
    for (name, text) in every(3, WRONG) {
        let schedule = declared(text, true);
        let violation = fault(name, &schedule);
        let kept = induction::kept_by(&schedule, &violation, &portfolio);
        println!("{name}: {} -> {kept:?}", violation.code());
        if kept.is_none() {
            proved.push(*name);
        }
    }
    assert!(proved.is_empty(), "proved for all p, but wrong: {proved:?}");
}

#[test]
fn without_the_fault_they_are_proved() {
    let Some(portfolio) = portfolio() else { return };
    let mut open = Vec::new();
    for (name, text) in every(8, WRONG.iter().filter(|(name, _)| !NOT_PROVED_EITHER.contains(name))) {
        let schedule = declared(text, false);
        check::over(&schedule, &Points::new(&schedule, 1..=48))
            .unwrap_or_else(|violation| panic!("{name}: {violation}"));
        let induction = InductionResult::over(name, &schedule, &portfolio, &|| ());
        let reason = induction.by_property().into_values().flat_map(|summary| summary.open).collect::<Vec<_>>();
        println!("{name}: {reason:?}");
        if !induction.complete() {
            open.push((*name, reason));
        }
    }
    assert!(open.is_empty(), "{open:#?}");
}

/// Tries mutants that are wrong only beyond 41; returns how many of them are wrong.
fn try_mutants(choose: impl Fn(Vec<Mutant>) -> Vec<Mutant>, portfolio: &Portfolio) -> usize {
    let mut wrong = 0;
    for entry in every(2, catalogue()) {
        let original = of_entry(entry);
        // Reductions, and what looks at nodes, have tests of their own.
        if original.kind.reduces() || original.kind.has_root() || original.uses_placement() {
            continue;
        }
        let judged = Original::new(&original, &points(&original).expect("in the domain")).unwrap();
        let all = choose(beyond(&original));
        let found = parallel(all.len(), |n| {
            let Fate::Killed(_) = judged.fate(&all[n].schedule) else { return None };
            let violation = judged.violation(&all[n].schedule)?;
            let kept = induction::kept_by(&all[n].schedule, &violation, portfolio);
            Some((violation, kept))
        });
        let mut obstacles = BTreeMap::new();
        for (mutant, (violation, kept)) in all.iter().zip(found).filter_map(|(mutant, found)| Some((mutant, found?)))
        {
            assert!(kept.is_some(), "{}: {} is proved, but {violation}", entry.name, mutant.description);
            *obstacles.entry(kept).or_insert(0) += 1;
            wrong += 1;
        }
        println!("{}: {} mutants, wrong and not proved: {obstacles:?}", entry.name, all.len());
    }
    wrong
}

#[test]
fn no_mutant_that_is_wrong_beyond_41_is_proved() {
    let Some(portfolio) = portfolio() else { return };
    let (each, least) = if everything() { (usize::MAX, 20) } else { (1, 1) };
    let wrong = try_mutants(|all| sample(all, each), &portfolio);
    assert!(wrong > least, "{wrong}");
}

/// The index of the stripe begins so high that its base, at index zero, does not fit, although every block does.
#[test]
fn machine_width_is_proved_of_what_generated_code_computes() {
    let Some(portfolio) = portfolio() else { return };
    let far = |first: &str| {
        format!(
            "#[collective(allgather)]
             #[round(s in 1..p)]
             #[send(to = rank + s, blocks = [rank + (k - {first}) * (p * 1000000000); k in {first}..{first} + 1])]
             #[recv(from = rank - s, blocks = [rank - s + (k - {first}) * (p * 1000000000); k in {first}..{first} + 1])]
             #[holds(blocks = [rank - k; k in 0..s])]"
        )
    };
    let open = |text: &str| {
        let induction = InductionResult::over("Case", &declared(text, false), &portfolio, &|| ());
        let not_proved = induction.verdicts.iter().filter(|d| !matches!(d.verdict, Verdict::Proved { .. }));
        let claims = not_proved.map(|d| induction.obligations.all[d.obligation].claim.clone());
        claims.filter(|claim| claim.contains("fits 64 bits")).collect::<Vec<_>>()
    };
    assert_eq!(open(&far("0")), Vec::<String>::new());
    let claims = open(&far("4000000000"));
    assert!(claims.len() == 2 && claims.iter().all(|claim| claim.contains("as a stripe")), "{claims:?}");
}
