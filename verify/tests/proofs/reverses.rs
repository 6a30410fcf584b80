//! Reverses: a collective that runs another one backwards.
//!
//! The reverse of every allgather of the catalogue is a reduce_scatter, of a broadcast a reduce, of a scatter a gather
//! and the other way round, of an all-to-all an all-to-all: checked exactly, judged by the oracle, run on threads, and
//! proved wherever the forward collective is. The reverse of a wrong one is not proved.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::every;
use crate::common::wrong::{Replacement, catalogue_text, none_is_proved, solvers};
use roundel::algorithms::{self, CirculantReduceScatter};
use roundel_spec::check::{self, Points};
use roundel_spec::schedule::{CombineSide, Schedule};
use roundel_spec::{Arguments, Collective, Kind, Placement, syntax};
use roundel_verify::attack::oracle::{OracleMessage, OracleRounds, judge};
use roundel_verify::proving::prove::InductionResult;
use roundel_verify::recorded::of_entry;
use std::collections::BTreeSet;

/// The entries that have a reverse, and its kind.
const FORWARD: &[(&str, Kind)] = &[
    ("allgather/ring", Kind::ReduceScatter),
    ("allgather/neighbor-exchange", Kind::ReduceScatter),
    ("allgather/recursive-doubling", Kind::ReduceScatter),
    ("allgather/bruck", Kind::ReduceScatter),
    ("allgather/k-bruck", Kind::ReduceScatter),
    ("allgather/sparbit", Kind::ReduceScatter),
    ("allgather/circulant", Kind::ReduceScatter),
    ("broadcast/binomial", Kind::Reduce),
    ("scatter/binomial", Kind::Gather),
    ("gather/binomial", Kind::Scatter),
    ("alltoall/spread-out", Kind::Alltoall),
    ("alltoall/pairwise", Kind::Alltoall),
    ("alltoall/modified-bruck", Kind::Alltoall),
    ("alltoall/k-bruck", Kind::Alltoall),
];

fn forward(name: &str) -> Schedule {
    of_entry(algorithms::find(name).unwrap())
}

fn declared(text: &str) -> Result<Schedule, String> {
    let input = syn::parse_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    syntax::parse(&input).map(|declaration| declaration.schedule).map_err(|error| error.to_string())
}

/// By the definition of the collective, not by that of a reverse.
#[test]
fn the_reverse_of_every_entry_keeps_its_contract() {
    for (name, kind) in FORWARD {
        for side in [CombineSide::Left, CombineSide::Right] {
            let reverse = forward(name).reversed(*kind, side);
            let points = Points::new(&reverse, 1..=24).thinned(1 << 12);
            let checked = check::over(&reverse, &points).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            assert!(checked > 3, "{name}");
            for point in points.iter().filter(|point| matches!(check::in_domain(&reverse, point), Ok(true))) {
                let tape = OracleRounds::of(&reverse, &point.args, &point.placement).unwrap();
                judge(&reverse, &point.args, &point.placement, &tape)
                    .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            }
        }
    }
}

#[test]
fn a_reverse_is_written_and_read_again() {
    for (name, kind) in FORWARD {
        let reverse = forward(name).reversed(*kind, CombineSide::Right);
        let text = reverse.declaration();
        assert!(text.contains("#[reverse_of("), "{text}");
        let read = declared(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!((read.declaration(), read.reverse_of), (text, reverse.reverse_of), "{name}");
        // Twice around is where it began, but for the layout, which a reverse has none of.
        let back = Schedule { layouts: forward(name).layouts, ..reverse.forward().unwrap() };
        assert_eq!(back.canonical(), forward(name).canonical(), "{name}");
    }
}

/// Entries that are declared as the reverse of an allgather, which have its clauses but for bounds and layouts. (That
/// by cyclic shift is the reverse of an allgather that is not in the catalogue.)
#[test]
fn a_reduce_scatter_and_the_allgather_of_its_name_have_the_same_clauses() {
    let clauses = |schedule: Schedule| {
        let bare = Schedule { name: "Same".into(), bounds: Vec::new(), layouts: Vec::new(), ..schedule };
        bare.fingerprint()
    };
    let mut found = Vec::new();
    for entry in algorithms::catalogue() {
        let Some(forward) = (entry.schedule)().forward() else { continue };
        let Some(("reduce-scatter", name)) = entry.name.split_once('/') else { continue };
        let Ok(allgather) = algorithms::find(&format!("allgather/{name}")) else { continue };
        assert_eq!(clauses(forward), clauses((allgather.schedule)()), "{name}");
        found.push(name);
    }
    assert_eq!(found, ["circulant", "ring", "neighbor-exchange", "bruck", "k-bruck", "sparbit"]);
}

/// So recursive doubling needs no reverse of its own.
#[test]
fn recursive_halving_has_the_messages_of_recursive_doubling_backwards() {
    let halving = forward("reduce-scatter/recursive-halving");
    let doubling = forward("allgather/recursive-doubling").reversed(Kind::ReduceScatter, CombineSide::Left);
    let messages = |schedule: &Schedule, p: usize| {
        let rounds = OracleRounds::of(schedule, &Arguments::default(), &Placement::consecutive(p, p)).unwrap();
        let ends = |message: OracleMessage| (message.receives, message.peer, message.blocks);
        let all_of = |round: Vec<OracleMessage>| round.into_iter().map(ends).collect::<BTreeSet<_>>();
        rounds.0.into_iter().flatten().map(all_of).collect::<Vec<_>>()
    };
    for p in (0..7).map(|exponent| 1 << exponent) {
        assert_eq!(messages(&halving, p), messages(&doubling, p), "p = {p}");
    }
}

#[test]
fn the_circulant_reduce_scatter_halves() {
    let reverse = CirculantReduceScatter::schedule();
    // Its rounds, as they were declared before it was one.
    let halves = "#[collective(reduce_scatter)]
        #[round(s in 0..ceil_log(2, p))]
        #[state(S = p, next = ceil_div(S, 2))]
        #[define(h = ceil_div(S, 2))]
        #[recv(from = rank - h, blocks = [rank + i; i in 0..S - h], combine = left)]
        #[send(to = rank + h, blocks = [rank + h + i; i in 0..S - h])]
        struct Halves;";
    let halves = declared(halves).unwrap();
    for point in Points::new(&halves, 1..=130).iter() {
        let traces = [&reverse, &halves].map(|schedule| check::record_schedule(schedule, &point).unwrap());
        assert_eq!(traces[0], traces[1], "p = {}", point.placement.p());
    }
}

#[test]
fn a_reverse_is_proved_where_the_forward_collective_is() {
    let Some(portfolio) = solvers(20) else { return };
    for (name, kind) in every(8, FORWARD.iter().rev()) {
        let reverse = forward(name).reversed(*kind, CombineSide::Left);
        let induction = InductionResult::over(name, &reverse, &portfolio, &|| ());
        // A gather and a scatter might send a block where it is not needed.
        let encoded = !matches!(kind, Kind::Gather | Kind::Scatter);
        assert_eq!(induction.complete(), encoded, "{name}: {:#?}", induction.by_property());
    }
}

/// The entry, what is replaced in it, by what. Backwards, some of them are right for some p.
const WRONG: &[Replacement] = &[
    // Blocks are written twice.
    ("allgather/circulant", "0..n - h", "0..h"),
    ("allgather/circulant", "n = ceil_div(p, d)", "n = if p > 41 { 2 * h } else { ceil_div(p, d) }"),
    ("allgather/bruck", "n = min(D, p - D)", "n = if p > 41 { D } else { min(D, p - D) }"),
    ("allgather/ring", "s in 0..p - 1", "s in 0..if p > 41 { p } else { p - 1 }"),
    // Blocks are missing, so contributions are, too.
    ("allgather/circulant", "s in 0..ceil_log(2, p)", "s in 0..ceil_log(2, p) - if p > 41 { 1 } else { 0 }"),
    ("allgather/circulant", "n = ceil_div(p, d)", "n = ceil_div(p, d) - if p > 41 && d == 1 { 1 } else { 0 }"),
    ("allgather/sparbit", "rank - 2 * j * d; j in 0..n", "rank - 2 * j * d; j in 0..n - if p > 41 { 1 } else { 0 }"),
    ("allgather/ring", "s in 0..p - 1", "s in 0..if p > 41 { p - 2 } else { p - 1 }"),
    // A rank sends what it does not hold; backwards it gets what it sends no more.
    ("allgather/bruck", "[rank + k; k in 0..n]", "[rank + k + if p > 41 { 1 } else { 0 }; k in 0..n]"),
    // A peer, and a bound.
    ("allgather/circulant", "from = rank + h", "from = rank + h + if p > 41 { 1 } else { 0 }"),
    ("allgather/circulant", "each blocks_sent = p - 1", "each blocks_sent = p - if p > 41 { 2 } else { 1 }"),
    ("broadcast/binomial", "v = (rank - root) % p", "v = (rank - if root > 41 { 0 } else { root }) % p"),
    ("broadcast/binomial", "s in 0..w", "s in 0..if p > 41 { w - 1 } else { w }"),
    ("alltoall/pairwise", "s in 1..p", "s in 1..if p > 41 { p - 1 } else { p }"),
];

/// The reverse of a declaration of the catalogue, with one thing replaced.
fn replaced(name: &str, old: &str, new: &str) -> Schedule {
    let text = catalogue_text(name).replace("root <= 255", "root <= 63");
    assert!(text.contains(old), "{name} has no `{old}`");
    let (_, kind) = FORWARD.iter().find(|(known, _)| *known == name).unwrap();
    declared(&text.replace(old, new))
        .unwrap_or_else(|error| panic!("{name}, {new}: {error}"))
        .reversed(*kind, CombineSide::Left)
}

#[test]
fn no_reverse_with_a_fault_is_proved() {
    let fault = |_: &Replacement, schedule: &Schedule| {
        [1..=8, 42..=44, 64..=64].into_iter().find_map(|p| check::over(schedule, &Points::new(schedule, p)).err())
    };
    none_is_proved(2, WRONG, |&(name, old, new)| replaced(name, old, new), fault);
}

/// What is no reverse is not proved by the proof of something else.
#[test]
fn a_schedule_that_says_it_is_a_reverse_and_is_not_has_no_proof() {
    let mut forged = CirculantReduceScatter::schedule();
    forged.loops[0].transfers.swap(0, 1);
    forged.loops[0].transfers[0].direction = forged.loops[0].transfers[1].direction;
    let obligations = roundel_verify::proving::smt::obligations(&forged);
    assert!(!obligations.gaps.is_empty());
    let ring = Schedule { reverse_of: forged.reverse_of, ..algorithms::PairwiseReduceScatter::schedule() };
    assert!(!roundel_verify::proving::smt::obligations(&ring).gaps.is_empty());
}

#[test]
fn what_has_no_reverse_is_an_error() {
    let clauses = "#[round(s in 0..p - 1)] #[send(to = rank + 1, blocks = [rank - s])]
                   #[recv(from = rank - 1, blocks = [rank - 1 - s])]";
    for (head, words) in [
        ("#[collective(allgather)] #[reverse_of(allgather)]", "an allgather is the reverse of nothing"),
        ("#[collective(reduce_scatter)] #[reverse_of(broadcast)]", "is the reverse of an allgather; write"),
        ("#[collective(reduce_scatter)] #[reverse_of]", "`reverse_of` is empty"),
        ("#[collective(reduce_scatter)] #[reverse_of(allgather, combine = up)]", "write `combine = left`"),
        ("#[reverse_of(allgather)] #[collective(reduce_scatter)]", "stands once, below `collective`"),
        ("#[collective(reduce_scatter)] #[reverse_of(allgather)] #[reverse_of(allgather)]", "stands once"),
        ("#[collective(reduce_scatter)] #[reverse_of(allgather)] #[order(rank_order)]", "order"),
        (
            "#[collective(reduce_scatter)] #[reverse_of(allgather)] #[bound(nonlocal_blocks_sent <= p)]",
            "has no reverse",
        ),
    ] {
        let error = declared(&format!("{head} {clauses} struct Case;")).unwrap_err();
        assert!(error.contains(words), "{head}: {error}");
    }
    // In the middle of the rounds it is too late.
    let late = format!("#[collective(reduce_scatter)] {clauses} #[reverse_of(allgather)] struct Case;");
    assert!(declared(&late).unwrap_err().contains("stands once, below `collective`"));
}
