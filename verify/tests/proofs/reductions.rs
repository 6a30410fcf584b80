//! Reductions on the command line: shown, run, checked in files, saved and replayed.

use crate::common::process::ended;
use roundel::algorithms::{self, catalogue};
use roundel_spec::Schedule;
use roundel_spec::check::{self, Points};
use roundel_verify::source::Source;
use serde_json::{Value, json};
use tempfile::TempDir;

fn json(code: i32, args: &[&str]) -> Value {
    serde_json::from_str(&ended(code, &[args, &["--json"]].concat()).0).unwrap()
}

fn reductions() -> impl Iterator<Item = &'static algorithms::Entry> {
    catalogue().iter().filter(|entry| (entry.schedule)().kind.reduces())
}

/// The settings for 8 ranks, if a collective has a list of ports.
fn settings(entry: &algorithms::Entry) -> &'static [&'static str] {
    if (entry.schedule)().lists.is_empty() { &[] } else { &["--set", "ports=1,1,1"] }
}

/// An allreduce in one round.
const EVERYONE: &str = "\
#[collective(allreduce)]
#[check(p <= 8)]
#[round]
#[send(for j in 1..p, to = rank + j)]
#[recv(for j in 1..p, from = rank - j, combine = left)]
pub struct Everyone;
";

#[test]
fn the_list_says_in_which_order_is_reduced() {
    let listed = json(0, &["list"]);
    let order = |name: &str| {
        let entry = listed.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
        entry["order"].clone()
    };
    assert_eq!(order("allreduce/recursive-doubling"), json!(["same-tree", "rank-order"]));
    assert_eq!(order("allreduce/ring"), json!(["same-tree"]));
    assert_eq!(order("allgather/ring"), json!([]));
    assert!(ended(0, &["list", "allreduce/smp"]).0.contains("same-tree, rank-order"));
}

#[test]
fn contributions_are_shown() {
    let (all, _) = ended(0, &["show", "allreduce/recursive-doubling", "-p", "5"]);
    assert!(all.contains("1 → 3: {0–2}") && all.contains("3 → 1: {3 4}") && all.contains("checked"), "{all}");
    let (one, _) = ended(0, &["show", "allreduce/recursive-doubling", "-p", "5", "--rank", "1"]);
    assert!(one.contains("{0} from 0, left of acc") && one.contains("{3 4} from 3, right of acc"), "{one}");
    let (one, _) = ended(0, &["show", "allreduce/ring", "-p", "4", "--rank", "1"]);
    assert!(one.contains("0 {0 1}, 1 2 {1}, 3 {0 1 3}") && one.contains("replaces acc"), "{one}");
    let shown = json(0, &["show", "allreduce/ring", "-p", "3"]);
    let message = &shown["rounds"][1]["messages"][0];
    let expected = json!({ "from": 0, "to": 1, "blocks": [2], "contributors": [[0, 2]], "nonlocal": false });
    assert_eq!((message, &shown["census"]["max_blocks_sent"]), (&expected, &json!(4)));
    assert_eq!(json(0, &["show", "allgather/ring", "-p", "3"])["rounds"][0]["messages"][0].get("contributors"), None);
}

#[test]
fn pictures_have_a_slot_for_every_block() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("picture.svg");
    for entry in reductions() {
        let show = ["show", entry.name, "-p", "8", "--ppn", "4", "--svg", file.to_str().unwrap()];
        ended(0, &[&show, settings(entry)].concat());
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(roxmltree::Document::parse(&svg).is_ok() && svg.contains("contributions so far"), "{}", entry.name);
        assert!(!svg.contains("NaN") && svg.contains("#166534"), "{}", entry.name);
    }
}

#[test]
fn runs_are_right_and_the_unproved_is_refused() {
    for entry in reductions() {
        let run = ["run", entry.name, "-n", "8", "--bytes", "13", "--repeat", "2"];
        let report = json(0, &[&run, settings(entry)].concat());
        assert_eq!(report["correct"], true, "{report}");
    }
    // The ring sends every byte of every rank's vector twice, except each rank's own block.
    assert_eq!(json(0, &["run", "allreduce/ring", "-n", "4", "--bytes", "10"])["bytes_moved"], 60);
    // Without a record, only what the check at compile time covers is proved.
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("lib.rs");
    std::fs::write(&file, format!("#[derive(Collective)]\n{EVERYONE}")).unwrap();
    let (_, errors) = ended(2, &["run", file.to_str().unwrap(), "-n", "9"]);
    assert!(errors.contains("it is proved for p <= 8") && errors.contains("roundel prove"), "{errors}");
}

#[test]
fn kinds_are_names_too() {
    let report = json(0, &["check", "reduce-scatter/", "allreduce/ring", "-p", "1..=6"]);
    assert_eq!(report["collectives"].as_array().unwrap().len(), 10);
    assert_eq!(json(0, &["mutants", "reduce_scatter/", "-p", "1..=4"])["collectives"].as_array().unwrap().len(), 9);
    assert!(
        ended(2, &["prove", "scan/"])
            .1
            .contains("there are no collectives `scan/`; `roundel list` shows which kinds there are")
    );
    assert!(ended(2, &["show", "ring", "-p", "3"]).1.contains("write one of `allgather/ring` or `allreduce/ring`"));
    assert!(ended(0, &["expand", "allreduce/ring"]).0.contains("impl IsAllreduce for RingAllreduce"));
}

#[test]
fn declarations_are_read_back_to_the_same_schedule() {
    for entry in reductions() {
        let schedule = (entry.schedule)().by_contract();
        let read = read_back(&schedule);
        assert_eq!(read.fingerprint(), read_back(&read).fingerprint(), "{}", entry.name);
        assert_eq!((&read.lines, read.order), (&schedule.lines, schedule.order), "{}", entry.name);
        for point in Points::new(&schedule, 1..=9).iter() {
            let admitted = check::in_domain(&schedule, &point).unwrap();
            assert_eq!(check::in_domain(&read, &point), Ok(admitted), "{}", entry.name);
            if admitted {
                let trace = |schedule| check::record_schedule(schedule, &point).unwrap();
                assert_eq!(trace(&read), trace(&schedule), "{}", entry.name);
                assert!(check::at_point(&read, &point).is_ok(), "{}", entry.name);
            }
        }
    }
}

fn read_back(schedule: &Schedule) -> Schedule {
    let text = schedule.declaration();
    let declared =
        Source::of_text("text", &text).declarations().unwrap_or_else(|reason| panic!("{reason:?}: {text}"));
    declared.into_iter().next().unwrap().result.unwrap_or_else(|reason| panic!("{reason:?}: {text}")).schedule
}

/// Checks a declaration, saves its counterexample and replays it; returns the text and the JSON.
fn replayed(declaration: &str) -> (String, Value) {
    let folder = TempDir::new().unwrap();
    let name = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (source, saved, picture) = (name("mine.rs"), name("saved.json"), name("picture.svg"));
    std::fs::write(&source, declaration).unwrap();
    ended(1, &["check", &source, "--save", &saved]);
    let (text, _) = ended(1, &["replay", &saved, "--svg", &picture]);
    assert!(text.contains("wrong, as saved"), "{text}");
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(roxmltree::Document::parse(&svg).is_ok() && svg.contains("#b5179e"), "{svg}");
    (text, json(1, &["replay", &saved]))
}

/// The ring of the catalogue after a change of its source.
fn ring(old: &str, new: &str) -> String {
    let source = algorithms::find("allreduce/ring").unwrap().source;
    assert!(source.contains(old), "{old}");
    source.replacen(old, new, 1)
}

#[test]
fn counterexamples_are_replayed_with_lines_and_actions() {
    let (text, report) = replayed(&ring("combine = left", "replaces = acc"));
    assert!(text.contains("replaces line `acc` by less") && text.contains("replaces acc"), "{text}");
    assert_eq!(report["threads"]["outcome"], "wrong-data", "{report}");
    assert!(report["threads"]["detail"].as_str().unwrap().contains("the contributions of ranks ["), "{report}");

    let (text, report) = replayed(&ring("replaces = acc", "combine = left"));
    assert!(text.contains("counts a contribution twice"), "{text}");
    assert_eq!(report["threads"]["outcome"], "wrong-data", "{report}");

    let (text, report) = replayed(&ring("same_tree", "rank_order"));
    assert!(text.contains("the order of reduction is not the order of ranks"), "{text}");
    assert_eq!(report["threads"]["outcome"], "wrong-data", "{report}");

    let (text, report) = replayed(&ring("rounds = 2 * (p - 1)", "rounds = 2 * p"));
    assert!(text.contains("every rank ends with every contribution: the fault does not show in the data"), "{text}");
    assert_eq!(report["threads"]["outcome"], "right-data", "{report}");
}

#[test]
fn several_lines_are_replayed() {
    let declaration = |into: &str| {
        format!(
            "#[derive(Collective)]\n#[collective(allreduce)]\n#[requires(p == 2)]\n#[lines(acc, other)]\n\
             #[round]\n#[exchange(with = rank + 1, into = other)]\n\
             #[round]\n#[send(to = rank + 1, line = other)]\n#[recv(from = rank + 1, {into})]\npub struct Mine;"
        )
    };
    let (text, report) = replayed(&declaration("combine = left"));
    assert!(text.contains("acc: {0}; other: {1}") && text.contains("into other"), "{text}");
    assert!(report["found"].as_str().unwrap().contains("counts a contribution twice"), "{report}");
    let right = declaration("into = acc, combine = left, operand = other");
    let (text, _) = replayed(&right.replace("#[lines", "#[order(rank_order)]\n#[lines"));
    assert!(text.contains("left of other, into acc") && text.contains("not the order of ranks"), "{text}");
}

#[test]
fn a_reduce_scatter_has_a_block_for_each_rank() {
    let source = algorithms::find("reduce-scatter/pairwise").unwrap().source;
    let (text, _) = replayed(&source.replacen("#[check(p <= 24)]", "#[split(p + 1)]", 1));
    assert!(text.contains("there is not one block for each rank"), "{text}");
}
