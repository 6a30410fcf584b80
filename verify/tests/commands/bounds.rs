//! Bounds that are told: they are those of the catalogue, what is wrong beyond the measured p is not proved, and a
//! declared bound that is too large is said to be so.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::command::Subcommand;
use crate::common::{every, everything, z3};
use roundel::algorithms::{catalogue, find};
use roundel_spec::Schedule;
use roundel_spec::check::{self, Points};
use roundel_spec::eval::Env;
use roundel_spec::schedule::{Bound, BoundScope, Metric};
use roundel_verify::proving::bounds::{Support, ToldBound, tell};
use roundel_verify::proving::smt::Portfolio;
use roundel_verify::proving::sweep::parallel;
use roundel_verify::recorded::of_entry;
use roundel_verify::source::Source;
use std::process::Command;

const BOUNDS: Subcommand = Subcommand("bounds");

fn schedule_of(text: &str) -> Schedule {
    let source = Source::of_text("some.rs", &format!("#[derive(Collective)]\n{text}\nstruct Some;"));
    source.declarations().unwrap().remove(0).result.unwrap().schedule
}

fn points(schedule: &Schedule) -> Points {
    let to = match () {
        () if schedule.uses_placement() => 10,
        () if schedule.kind.moves() || schedule.kind.reduces() || schedule.kind.has_root() => 16,
        () => 33,
    };
    Points::new(schedule, 1..=to)
}

/// The value of a bound at every point of its domain, as the first rank sees it.
fn values(schedule: &Schedule, bound: &Bound) -> Vec<i64> {
    let points = points(schedule);
    let inside = points.iter().filter(|point| check::in_domain(schedule, point).unwrap());
    let value =
        |point: check::Point| Env::new(schedule, &point.args, &point.place(schedule, 0)).eval(&bound.value).unwrap();
    inside.map(value).collect()
}

/// Whether a bound is about a whole run, and is the same for all ranks.
fn is_of_the_run(bound: &Bound) -> bool {
    let mut varies = false;
    bound.value.walk(&mut |e| varies |= ["rank", "local", "node"].contains(&e.to_string().as_str()));
    matches!(bound.scope, BoundScope::Max | BoundScope::Each) && !varies
}

/// The declared bounds of the catalogue are the oracle: they are proved, and nobody looked at them for the fit.
#[test]
fn what_is_told_is_what_the_catalogue_declares() {
    let entries = every(2, catalogue());
    let compared = parallel(entries.len(), |i| {
        let entry = &entries[i];
        let schedule = of_entry(entry);
        let bare = Schedule { bounds: Vec::new(), ..schedule.clone() };
        // Without bounds on messages between nodes, a collective may not look at nodes.
        let fitted = if bare.uses_placement() == schedule.uses_placement() { &bare } else { &schedule };
        let told = tell(fitted, &points(&schedule), None).unwrap();
        let mut compared = 0;
        for declared in schedule.bounds.iter().filter(|bound| is_of_the_run(bound)) {
            let Some(told) = told.iter().find(|told| told.metric == declared.metric) else { continue };
            let Some(found) = &told.bound else { continue };
            let pairs = values(&schedule, declared).into_iter().zip(values(&schedule, found));
            for (declared_value, found_value) in pairs {
                let fits = if declared.exact { found_value == declared_value } else { found_value <= declared_value };
                assert!(fits, "{}: `{declared}`, and `{found}` is told", entry.name);
            }
            compared += usize::from(declared.exact);
        }
        compared
    });
    let exact: usize = compared.iter().sum();
    assert!(exact >= if everything() { 40 } else { 20 }, "{compared:?}");
}

/// Formulas that have to be found without being declared.
#[test]
fn usual_costs_have_their_usual_formulas() {
    let formula = |name: &str, metric: Metric| {
        let schedule = Schedule { bounds: Vec::new(), ..of_entry(find(name).unwrap()) };
        let told = tell(&schedule, &points(&schedule), None).unwrap();
        let told = told.into_iter().find(|told| told.metric == metric).unwrap();
        assert_eq!(told.support, Support::Seen("no solver was asked".into()));
        told.bound.unwrap().to_string()
    };
    assert_eq!(formula("allgather/ring", Metric::Rounds), "rounds = p - 1");
    assert_eq!(formula("allgather/bruck", Metric::MessagesSent), "each messages_sent = ceil_log(2, p)");
    assert_eq!(formula("allgather/k-bruck", Metric::Rounds), "rounds = ceil_log(radix, p)");
    assert_eq!(formula("allgather/neighbor-exchange", Metric::Rounds), "rounds = p / 2");
    assert_eq!(formula("allreduce/ring", Metric::BlocksSent), "each blocks_sent = 2 * (p - 1)");
    assert_eq!(formula("alltoall/spread-out", Metric::Rounds), "rounds = min(1, p - 1)");
    assert_eq!(formula("gather/binomial", Metric::MessagesSent), "messages_sent = min(1, p - 1)");
}

fn proved(told: &[ToldBound], metric: Metric) -> bool {
    told.iter().find(|told| told.metric == metric).unwrap().is_proved()
}

#[test]
fn formulas_are_proved_for_all_p() {
    if z3().is_none() {
        return;
    }
    for name in every(3, ["allgather/ring", "allgather/bruck", "allgather/sparbit", "alltoall/pairwise"]) {
        let schedule = Schedule { bounds: Vec::new(), ..of_entry(find(name).unwrap()) };
        let told = tell(&schedule, &points(&schedule), Some(&Portfolio::installed())).unwrap();
        for metric in [Metric::Rounds, Metric::BlocksSent] {
            assert!(proved(&told, metric), "{name}: {told:?}");
        }
    }
}

/// Right declarations whose costs change beyond p = 41: a name, the cost that changes, the clauses.
const OTHER_BEYOND: &[(&str, Metric, &str)] = &[
    (
        "rounds",
        Metric::Rounds,
        "#[collective(allgather)]
         #[define(first = if p > 41 { 2 } else { p })]
         #[round]
         #[send(for j in 1..first, to = rank + j, blocks = [rank])]
         #[recv(for j in 1..first, from = rank - j, blocks = [rank - j])]
         #[holds(blocks = [rank - k; k in 0..first])]
         #[round(s in 2..if p > 41 { p } else { 2 })]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]
         #[holds(blocks = [rank - k; k in 0..if p > 41 { s } else { p }])]",
    ),
    (
        "rounds of a loop",
        Metric::Rounds,
        "#[collective(allgather)]
         #[define(step = if p > 41 { 1 } else { p - 1 })]
         #[round(s in 0..if p > 41 { p - 1 } else { min(1, p - 1) })]
         #[send(for j in 1..=step, to = rank + s + j, blocks = [rank])]
         #[recv(for j in 1..=step, from = rank - s - j, blocks = [rank - s - j])]
         #[holds(blocks = [rank - k; k in 0..1 + s * step])]",
    ),
    (
        "messages",
        Metric::MessagesSent,
        "#[collective(allgather)]
         #[requires(p % 2 == 0)]
         #[define(pair = rank - rank % 2, other = rank + 1 - 2 * (rank % 2), parts = if p > 41 { 2 } else { 1 })]
         #[round]
         #[send(to = other, blocks = [rank])]
         #[recv(from = other, blocks = [other])]
         #[round(s in 1..p / 2)]
         #[send(for j in 0..parts, to = rank + 2 * s, blocks = [pair + k; k in 0..2, parts == 1 || k == j])]
         #[recv(for j in 0..parts, from = rank - 2 * s, blocks = [pair - 2 * s + k; k in 0..2, parts == 1 || k == j])]",
    ),
];

#[test]
fn what_costs_more_beyond_is_not_proved() {
    for (name, metric, clauses) in OTHER_BEYOND {
        let schedule = schedule_of(clauses);
        check::over(&schedule, &Points::new(&schedule, 1..=48)).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let told = |to: usize, portfolio: Option<&Portfolio>| {
            let told = tell(&schedule, &Points::new(&schedule, 1..=to), portfolio).unwrap();
            told.into_iter().find(|told| told.metric == *metric).unwrap()
        };
        let below = told(33, None).bound.unwrap();
        // The same formula does not fit beyond, so that it would be wrong to prove it.
        let beyond = Schedule { bounds: vec![below.clone()], ..schedule.clone() };
        assert!(check::over(&beyond, &Points::new(&schedule, 1..=48)).is_err(), "{name}: {below}");
        if z3().is_some() {
            let told = told(33, Some(&Portfolio::installed()));
            assert!(matches!(told.support, Support::Seen(_)), "{name}: {told:?}");
        }
    }
}

/// The ring, with further clauses.
fn ring(more: &str) -> String {
    format!(
        "use roundel::Collective;\n\n#[derive(Collective)]\n#[collective(allgather)]\n#[round(s in 0..p - 1)]\n\
         #[send(to = rank + 1, blocks = [rank - s])]\n#[recv(from = rank - 1, blocks = [rank - 1 - s])]\n{more}\
         pub struct MyRing;\n"
    )
}

fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.rs");
    std::fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn a_bound_that_is_too_large_is_said_to_be_so() {
    let (_folder, path) = file(&ring("#[bound(rounds <= p, messages_sent <= p - 1)]\n"));
    let text = BOUNDS.text(&[&path, "--seen"]);
    let note = "the declared bound `rounds <= p` is not tight: with p = 64 it is 64, and 63 is the most that is used";
    assert!(text.contains(note) && !text.contains("`messages_sent <= p - 1` is not tight"), "{text}");
    let report = BOUNDS.json(&[&path, "--seen"]);
    assert_eq!(report["collectives"][0]["not_tight"][0]["bound"], "rounds <= p");
    assert_eq!(report["collectives"][0]["bounds"][0]["bound"], "rounds = p - 1");
    let check = Subcommand("check").text(&[&path]);
    assert!(check.contains("note: the bound `rounds <= p` of MyRing is not tight"), "{check}");
    assert!(!Subcommand("check").text(&[&file(&ring("")).1]).contains("note"));
}

#[test]
fn bounds_are_written_into_the_source() {
    if z3().is_none() {
        return;
    }
    let (_folder, path) = file(&ring("#[bound(rounds = p - 1)]\n"));
    let text = BOUNDS.text(&[&path, "--write-bounds"]);
    assert!(text.contains("written into "), "{text}");
    let written = std::fs::read_to_string(&path).unwrap();
    let expected =
        "#[bound(rounds = p - 1)]\n#[bound(each messages_sent = p - 1, each blocks_sent = p - 1)]\npub struct";
    assert!(written.contains(expected), "{written}");
    Subcommand("check").text(&[&path]);
    // There is nothing left to write.
    assert!(!BOUNDS.text(&[&path, "--write-bounds"]).contains("written into "));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
}

#[test]
fn what_is_wrong_has_no_costs() {
    let (_folder, path) = file(&ring("").replace("rank - 1 - s", "rank - s"));
    let output = Command::new(env!("CARGO_BIN_EXE_roundel")).args(["bounds", &path, "--seen"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("sends other blocks than the receiver expects"), "{message}");
    BOUNDS.refused(&["allgather/rang"], "did you mean");
    BOUNDS.refused(&[&file("struct").1], "");
}

/// A bound that is wrong does not keep the right one from being told.
#[test]
fn a_wrong_bound_is_no_obstacle() {
    let (_folder, path) = file(&ring("#[bound(rounds = p)]\n"));
    assert!(BOUNDS.text(&[&path, "--seen"]).contains("rounds              = p - 1"));
}
