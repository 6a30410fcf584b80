//! Collectives with a root: right ones that are not in the catalogue are proved, and none with a fault is.
//!
//! Most of the faults are an absolute look at the rank or the root where only the way from the root counts, often only
//! beyond 41, which no check at compile time sees. What keeps such a declaration from being proved must be the rule
//! that one root stands for all (`root`), or, where all roots are alike and wrong, the induction at root 0.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::wrong::{Replacement, catalogue_text, none_is_proved, replaced_in, solvers};
use crate::common::{every, everything};
use roundel_spec::check::{self, Points};
use roundel_spec::{Schedule, syntax};
use roundel_verify::proving::prove::InductionResult;
use roundel_verify::proving::smt::Property;

const BROADCAST: &str = "broadcast/binomial";
const REDUCE: &str = "reduce/binomial";
const ORDERED: &str = "reduce/binomial-ordered";
const GATHER: &str = "gather/binomial";
const SCATTER: &str = "scatter/binomial";

/// The entry, what is replaced, by what.
const WRONG: &[Replacement] = &[
    (BROADCAST, "v = (rank - root) % p", "v = (rank - if root > 41 { 0 } else { root }) % p"),
    (BROADCAST, "v = (rank - root) % p", "v = (rank - root - 1) % p"),
    (BROADCAST, "v + D < p, to", "v + D < p && rank <= 41, to"),
    (BROADCAST, "v + D < p, to", "v + D < p && !(root == 42 && rank == 0), to"),
    (BROADCAST, "to = rank + D", "to = if rank > 41 { rank + D - 1 } else { rank + D }"),
    (BROADCAST, "to = rank + D", "to = v + D"),
    (BROADCAST, "from = rank - D", "from = rank - D - if root > 41 { p + 1 } else { p }"),
    (BROADCAST, "s in 0..w", "s in 0..if root > 41 { w - 1 } else { w }"),
    (BROADCAST, "s in 0..w", "s in 0..if p > 41 { w - 1 } else { w }"),
    (BROADCAST, "next = 2 * D", "next = 2 * D + if root > 41 { 1 } else { 0 }"),
    (BROADCAST, "messages_sent = w)", "messages_sent = w - 1)"),
    (BROADCAST, "messages_sent = w)", "messages_sent = w + 1)"),
    (BROADCAST, "messages_sent = w)", "messages_sent = if root > 41 { w + 1 } else { w })"),
    (BROADCAST, "bound(rounds = w", "bound(rounds = if root > 41 { w + 1 } else { w }"),
    // The domain lets roots through that are no ranks.
    (BROADCAST, "#[round(", "#[requires(root < p || p > 41)]\n#[round("),
    (ORDERED, "#[round(s", "#[requires(root < p || p > 41)]\n#[round(s"),
    (GATHER, "#[round(", "#[requires(root <= p)]\n#[round("),
    (REDUCE, "v = (rank - root) % p", "v = rank"),
    (REDUCE, "v = (rank - root) % p", "v = (rank - if root > 41 { root - 1 } else { root }) % p"),
    (REDUCE, "#[send(when = v %", "#[send(when = if p > 41 { rank } else { v } %"),
    (REDUCE, "v + D < p, from", "v + D < p - 1, from"),
    (REDUCE, "#[check(", "#[order(rank_order)]\n#[check("),
    (REDUCE, "messages_sent <= 1", "messages_sent <= 0"),
    (REDUCE, "messages_sent <= 1", "messages_sent <= if root > 41 { 0 } else { 1 }"),
    (GATHER, "v = (rank - root) % p", "v = (rank - root - 1) % p"),
    (GATHER, "v = (rank - root) % p", "v = (root - rank) % p"),
    (GATHER, "k in 0..min(D, p - v)]", "k in 0..min(D, p - if root > 41 { rank } else { v })]"),
    (GATHER, "[rank + D + k;", "[rank + D + k + if root > 41 { 1 } else { 0 };"),
    (GATHER, "v % (2 * D) == 0, from", "v % (2 * D) == 0 && root <= 41, from"),
    (GATHER, "blocks_received = p - 1)", "blocks_received = p)"),
    (SCATTER, "v = (rank - root) % p", "v = (rank - root - 1) % p"),
    (SCATTER, "v % D == 0, to", "v % D == 0 && (v != 0 || rank <= 41), to"),
    (SCATTER, "k in 0..min(d, p - v - d)]", "k in 0..min(d, p - v - d - if root > 41 { 1 } else { 0 })]"),
    (SCATTER, "[rank + d + k;", "[root + v + d + k + if root > 41 { 1 } else { 0 };"),
    (SCATTER, "s in 0..w", "s in 0..if p > 41 { w - 1 } else { w }"),
    (SCATTER, "blocks_sent = p - 1)", "blocks_sent = p - 2)"),
    (ORDERED, "to = root", "to = if root > 41 { root - 1 } else { root }"),
    (ORDERED, "when = rank == 0 && root != 0, to", "when = rank == 0 && root != 0 && root <= 41, to"),
    (ORDERED, "from = 0", "from = if root > 41 { 1 } else { 0 }"),
    (ORDERED, "combine = right", "combine = left"),
    (ORDERED, "rank + D < p, from", "rank + D < p - 1, from"),
    (ORDERED, "replaces = acc", "combine = left"),
    (ORDERED, "s in 0..w", "s in 0..if p > 41 { w - 1 } else { w }"),
    (ORDERED, "if root == 0 { 0 } else { 1 }", "if root <= 41 { 1 } else { 0 }"),
];

/// One clause with an index and one without: the root sends to everybody at once.
const AT_ONCE: &str = "#[collective(broadcast, root: 0..)]
    #[check(p <= 9, root <= 8)]
    #[define(v = (rank - root) % p)]
    #[round]
    #[send(for j in 1..p, when = v == 0, to = rank + j)]
    #[recv(when = v != 0, from = root)]
    #[holds(blocks = [0])]";

/// Right ones, and whether one root stands for all.
const RIGHT: &[(&str, bool, &str)] = &[
    (
        "a chain with segments",
        true,
        "#[collective(broadcast, root: 0.., segments: 1..=4096)]
         #[check(p <= 9, root <= 8, segments <= 4)]
         #[split(segments)]
         #[define(v = (rank - root) % p)]
         #[round(t in 0..p + segments - 2)]
         #[send(when = v < p - 1 && 0 <= t - v && t - v < segments, to = rank + 1, blocks = [t - v])]
         #[recv(when = v > 0 && 0 <= t - v + 1 && t - v + 1 < segments, from = rank - 1, blocks = [t - v + 1])]
         #[define(n = if v == 0 { segments } else { max(0, min(segments, t - v + 1)) })]
         #[holds(blocks = [b; b in 0..n])]
         #[bound(rounds <= p + segments - 2)]",
    ),
    (
        "everybody to the root, one after the other",
        true,
        "#[collective(gather, root: 0..)]
         #[check(p <= 9, root <= 8)]
         #[define(v = (rank - root) % p)]
         #[round(s in 1..p)]
         #[send(when = v == s, to = root, blocks = [rank])]
         #[recv(when = rank == root, from = rank + s, blocks = [rank + s])]
         #[holds(blocks = [rank + k; k in 0..if rank == root { s } else { 1 }])]
         #[bound(rounds = p - 1)]",
    ),
    (
        "the way from the root without a remainder",
        true,
        "#[collective(scatter, root: 0..)]
         #[check(p <= 9, root <= 8)]
         #[define(v = if rank < root { rank - root + p } else { rank - root })]
         #[round(s in 1..p)]
         #[send(when = v == 0, to = root + s, blocks = [root + s])]
         #[recv(when = v == s, from = rank - s, blocks = [rank])]
         #[holds(blocks = [rank + k; k in 0..if v == 0 { p } else if v < s { 1 } else { 0 }])]
         #[bound(rounds = p - 1)]",
    ),
    (
        "in the order of ranks, which no root turns",
        false,
        "#[collective(reduce, root: 0..)]
         #[order(rank_order)]
         #[check(p <= 9, root <= 8)]
         #[round(s in 1..p)]
         #[send(when = rank == s - 1, to = rank + 1)]
         #[recv(when = rank == s, from = rank - 1, combine = left)]
         #[holds(acc = [rank - k; k in 0..if rank < s { rank + 1 } else { 1 }])]
         #[round]
         #[send(when = rank == p - 1 && root != p - 1, to = root)]
         #[recv(when = rank == root && root != p - 1, from = p - 1, replaces = acc)]
         #[holds(acc = [if rank == root { p - 1 } else { rank } - k; k in 0..if rank == root { p } else { rank + 1 }])]",
    ),
];

/// A hint that is true in every round with root 0, and hides for which p there is one round more with any other root.
const HIDDEN: &str = "#[collective(broadcast, root: 0..)]
    #[check(p <= 9, root <= 8)]
    #[define(v = (rank - root) % p)]
    #[round(t in 0..if p <= 41 { p - 1 } else if @ { 0 } else { 1 })]
    #[send(when = v == t, to = rank + 1)]
    #[recv(when = v == t + 1, from = rank - 1)]
    #[hint(p <= 41)]
    #[holds(blocks = [0; v <= t])]
    #[round(t in if p <= 41 { p - 1 } else { 0 }..p - 1)]
    #[send(when = v == t, to = rank + 1)]
    #[recv(when = v == t + 1, from = rank - 1)]
    #[holds(blocks = [0; v <= t])]";

#[test]
fn a_hint_does_not_hide_a_round_of_other_roots() {
    let Some(portfolio) = solvers(10) else { return };
    if everything() {
        let right = declared(&HIDDEN.replace('@', "p > 41"));
        let induction = InductionResult::over("right", &right, &portfolio, &|| ());
        assert!(induction.complete(), "{:#?}", induction.by_property());
    }
    let wrong = declared(&HIDDEN.replace('@', "root == 0"));
    check::over(&wrong, &Points::new(&wrong, 1..=9)).unwrap();
    check::over(&wrong, &Points::new(&wrong, 42..=42)).unwrap_err();
    let induction = InductionResult::over("wrong", &wrong, &portfolio, &|| ());
    assert!(induction.by_property()[&Property::Root].failed, "{:#?}", induction.by_property());
}

fn declared(text: &str) -> Schedule {
    let parameters = ["root", "segments"].into_iter().filter(|name| text.contains(&format!("{name}:")));
    let fields: String = parameters.map(|name| format!("{name}: i64,")).collect();
    let text = format!("{text}\nstruct Case {{ {fields} }}");
    let input = syn::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    syntax::parse(&input).unwrap_or_else(|error| panic!("{text}: {error}")).schedule
}

#[test]
fn collectives_outside_the_catalogue_are_proved_for_every_root() {
    let Some(portfolio) = solvers(10) else { return };
    for (name, turned, text) in every(2, RIGHT) {
        let schedule = declared(text);
        check::over(&schedule, &Points::new(&schedule, 1..=9)).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let induction = InductionResult::over(name, &schedule, &portfolio, &|| ());
        assert!(induction.complete(), "{name}: {:#?}", induction.by_property());
        // The first of them is that the root is a rank.
        let about_roots = induction.by_property()[&Property::Root].obligations;
        assert_eq!(about_roots > 1, *turned, "{name}");
    }
}

/// The peer of a receive tells which of the messages of a send it is.
#[test]
fn a_clause_with_an_index_meets_one_without() {
    let Some(portfolio) = solvers(10) else { return };
    let right = declared(AT_ONCE);
    let induction = InductionResult::over("at once", &right, &portfolio, &|| ());
    assert!(induction.complete(), "{:#?}", induction.by_property());
    let last = ("no message to the last one", "j in 1..p", "j in 1..if p > 41 { p - 1 } else { p }");
    let own = ("a message to itself", "j in 1..p", "j in 1..if p > 41 { p + 1 } else { p }");
    let twice = "to = rank + j * if p > 41 { 0 } else { 1 } + if p > 41 { 1 } else { 0 }";
    let twice = ("all messages to one rank", "to = rank + j", twice);
    let again = "if p > 41 { -2 } else { 1 }..p, when = v == 0 && (j > 0 || j == -2)";
    let again = ("two messages to one rank", "1..p, when = v == 0", again);
    let lost = ("nobody receives it", "v != 0, from", "v != 0 && (v != 1 || p <= 41), from");
    let other = ("another sender", "from = root", "from = if p > 41 { root + 1 } else { root }");
    let schedule = |&(_, old, new): &Replacement| declared(&AT_ONCE.replace(old, new));
    none_is_proved(1, &[last, own, twice, again, lost, other], schedule, |_, schedule| {
        check::over(schedule, &Points::new(schedule, 1..=9)).expect("wrong for small p");
        check::over(schedule, &Points::new(schedule, 43..=44)).err()
    });
}

#[test]
fn no_collective_with_a_root_and_a_fault_is_proved() {
    let schedule = |&(name, old, new): &Replacement| {
        let text = catalogue_text(name).replace("root <= 255", "root <= 63");
        replaced_in(&text, name, old, new)
    };
    let fault = |_: &Replacement, schedule: &Schedule| {
        [1..=8, 43..=44].into_iter().find_map(|p| check::over(schedule, &Points::new(schedule, p)).err())
    };
    none_is_proved(5, WRONG, schedule, fault);
}
