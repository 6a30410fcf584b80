//! `--save` and `roundel replay`: counterexamples of all engines in one form, and invalid files.

use crate::common::process::ended;
use crate::common::{every, z3};
use roundel::algorithms::catalogue;
use roundel_spec::Schedule;
use roundel_spec::check::{self, Points};
use roundel_verify::attack::mutants::{self, Fate, Original};
use roundel_verify::recorded::of_entry;
use roundel_verify::replay::counterexample::Counterexample;
use roundel_verify::source::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(TempDir::new().unwrap())
    }

    fn name(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().into()
    }

    fn write(&self, name: &str, content: &str) -> String {
        std::fs::write(self.name(name), content).unwrap();
        self.name(name)
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.name(name)).unwrap()).unwrap()
    }
}

fn declaration(clauses: &str) -> String {
    format!("#[derive(Collective)]\n#[collective(allgather)]\n{clauses}\npub struct Mine;\n")
}

fn ring(to: &str, recv: &str, more: &str) -> String {
    declaration(&format!(
        "#[round(s in 0..p - 1)]\n#[send(to = {to}, blocks = [rank - s])]\n\
         #[recv(from = rank - 1, blocks = [{recv}])]\n{more}"
    ))
}

/// Checks a declaration, saves its counterexample and replays it; returns the text and the JSON.
fn replayed(clauses: &str) -> (String, Value) {
    let files = Files::new();
    let (source, saved) = (files.write("mine.rs", clauses), files.name("saved.json"));
    let (_, errors) = ended(1, &["check", &source, "--save", &saved]);
    assert!(errors.contains(&format!("`roundel replay {saved}` shows it")), "{errors}");
    let (text, _) = ended(1, &["replay", &saved]);
    let report: Value = serde_json::from_str(&ended(1, &["replay", &saved, "--json"]).0).unwrap();
    assert_eq!((&report["reproduces"], &report["same"]), (&json!(true), &json!(true)), "{report}");
    assert_eq!(report["saved"], report["found"]);
    (text, report)
}

// ---- the exhaustive engine

#[test]
fn a_violation_is_shown_on_provenance_threads_and_as_a_picture() {
    let files = Files::new();
    let source = files.write("mine.rs", &ring("rank + 2", "rank - 1 - s", ""));
    let (saved, picture) = (files.name("saved.json"), files.name("picture.svg"));
    ended(1, &["check", &source, "--save", &saved]);
    let file = files.json("saved.json");
    assert_eq!((&file["format"], &file["version"]), (&json!("roundel-counterexample"), &json!(1)));
    assert_eq!((&file["engine"], &file["refutes"]), (&json!("exhaustive"), &json!("collective")));
    assert_eq!((&file["p"], &file["violation"]), (&json!(2), &json!("self-message")));
    let (out, _) = ended(1, &["replay", &saved, "--svg", &picture]);
    for words in
        ["Mine  p = 2", "wrong, as saved: round 0 sends a message to its own rank", "threads", "holds afterwards"]
    {
        assert!(out.contains(words), "{words}: {out}");
    }
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(roxmltree::Document::parse(&svg).is_ok() && svg.contains("#b5179e"), "{svg}");
}

#[test]
fn threads_find_deadlocks_and_wrong_data() {
    let (text, report) = replayed(&declaration(
        "#[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank - s])]\n\
         #[recv(from = rank - 1, when = rank > 0, blocks = [rank - 1 - s])]",
    ));
    assert_eq!(report["threads"]["outcome"], "failed");
    assert!(text.contains("deadlock") && text.contains("waits to send 1 block to rank 0"), "{text}");
    let (text, report) = replayed(&ring("rank + 1", "rank - s", ""));
    assert_eq!(report["threads"]["outcome"], "wrong-data", "{text}");
    assert!(text.contains("in slot"), "{text}");
    let (text, report) = replayed(&ring("rank + 1", "rank - 1 - s", "#[bound(rounds = p)]"));
    assert_eq!(report["threads"]["outcome"], "right-data");
    assert!(text.contains("the fault does not show in the data"), "{text}");
    let (text, report) = replayed(&ring("rank + 7 / (p - 3)", "rank - 1 - s", ""));
    assert_eq!(report["threads"], Value::Null);
    assert!(text.contains("not run: there are no rounds to run"), "{text}");
}

#[test]
fn placement_and_parameters_are_kept() {
    let files = Files::new();
    let clauses = "#[derive(Collective)]\n#[collective(allgather, k: 1.., ports: list(1..))]\n\
                   #[round(s in 0..p - 1)]\n\
                   #[send(to = rank + 1, blocks = [rank - s])]\n\
                   #[recv(from = rank - 1, blocks = [rank - 1 - s])]\n\
                   #[bound(nonlocal_messages_sent <= if k == 2 && len(ports) == 2 { 0 } else { p })]\n\
                   pub struct Mine { k: i64, ports: Vec<i64> }";
    let (source, saved) = (files.write("mine.rs", clauses), files.name("saved.json"));
    ended(1, &["check", &source, "--save", &saved]);
    let file = files.json("saved.json");
    assert_eq!((&file["params"], &file["ppn"]), (&json!({ "k": 2, "ports": [1, 1] }), &json!(1)));
    let (out, _) = ended(1, &["replay", &saved]);
    assert!(out.contains("p = 2, ppn = 1, k = 2, ports = [1, 1]"), "{out}");
}

#[test]
fn a_fixed_declaration_is_no_longer_wrong() {
    let files = Files::new();
    let source = files.write("mine.rs", &ring("rank + 2", "rank - 1 - s", ""));
    let saved = files.name("saved.json");
    ended(1, &["check", &source, "--save", &saved]);
    let mut file = files.json("saved.json");
    file["declaration"] = ring("rank + 1", "rank - 1 - s", "").into();
    let fixed = files.write("fixed.json", &file.to_string());
    let (out, _) = ended(0, &["replay", &fixed]);
    assert!(out.contains("not wrong: every check passes in this case"), "{out}");
    file["declaration"] =
        ring("rank + 1", "rank - 1 - s", "").replace("#[round", "#[requires(p > 2)]\n#[round").into();
    let outside = files.write("outside.json", &file.to_string());
    assert!(ended(0, &["replay", &outside]).0.contains("outside the domain"));
    file["declaration"] = ring("rank + 1", "rank - s", "").into();
    let other = files.write("other.json", &file.to_string());
    let report: Value = serde_json::from_str(&ended(1, &["replay", &other, "--json"]).0).unwrap();
    assert_eq!((&report["reproduces"], &report["same"]), (&json!(true), &json!(false)));
}

#[test]
fn the_smallest_of_several_is_saved() {
    let files = Files::new();
    let late = ring("rank + 1", "rank - 1 - s", "#[bound(rounds <= 4)]").replace("Mine", "Late");
    let source = files.write("mine.rs", &(late + &ring("rank + 2", "rank - 1 - s", "")));
    let saved = files.name("saved.json");
    ended(1, &["check", &source, "--save", &saved]);
    assert_eq!(
        (&files.json("saved.json")["collective"], &files.json("saved.json")["p"]),
        (&json!("Mine"), &json!(2))
    );
}

#[test]
fn without_a_counterexample_nothing_is_written() {
    let files = Files::new();
    let saved = files.name("saved.json");
    let (_, errors) = ended(0, &["check", "allgather/ring", "-p", "1..=4", "--save", &saved]);
    assert!(errors.contains("there is no counterexample") && !Path::new(&saved).exists(), "{errors}");
    let source = files.write("mine.rs", &ring("rank + 2", "rank - 1 - s", ""));
    let (_, errors) = ended(2, &["check", &source, "--save", &files.name("no/such/folder.json")]);
    assert!(errors.contains("cannot write"), "{errors}");
}

// ---- the prover

#[test]
fn a_violation_outranks_a_model() {
    let files = Files::new();
    let source = files.write("mine.rs", &ring("rank + 1", "rank - 1 - s", "#[bound(rounds = p)]"));
    let saved = files.name("saved.json");
    let args = ["prove", &source, "-p", "1..=4", "--no-record", "--save", &saved, "--engine", "exhaustive"];
    ended(1, &args);
    assert_eq!(
        (&files.json("saved.json")["violation"], &files.json("saved.json")["p"]),
        (&json!("bound"), &json!(1))
    );
    ended(1, &["replay", &saved]);
}

/// Proves a declaration with a solver that answers `sat` to everything with this model; replays what is saved.
#[cfg(unix)]
fn with_model(source: &str, model: &str) -> (Value, String) {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new();
    let source = files.write("mine.rs", source);
    let solver = files.write("solver", &format!("#!/bin/sh\necho sat\necho '({model})'\n"));
    std::fs::set_permissions(&solver, std::fs::Permissions::from_mode(0o755)).unwrap();
    let saved = files.name("saved.json");
    let args = ["prove", &source, "--engine", "smt", "--no-record", "--solver", &solver, "--save", &saved];
    ended(1, &args);
    let file = files.json("saved.json");
    assert_eq!((&file["engine"], &file["refutes"]), (&json!("smt"), &json!("induction")));
    let (text, _) = ended(0, &["replay", &saved]);
    assert!(text.contains("found a counterexample to the induction, not to the collective"), "{text}");
    let report = serde_json::from_str(&ended(0, &["replay", &saved, "--json"]).0).unwrap();
    (report, text)
}

#[cfg(unix)]
#[test]
fn a_state_of_a_model_is_looked_for() {
    let bruck = |rounds: &str| {
        declaration(&format!(
            "{rounds}\n#[state(D = 1, next = 2 * D)]\n#[define(n = min(D, p - D))]\n\
             #[send(to = rank - D, blocks = [rank + k; k in 0..n])]\n\
             #[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]\n\
             #[holds(blocks = [rank + k; k in 0..min(D, p)])]"
        ))
    };
    let one = bruck("#[round(s in 0..ceil_log(2, p))]");
    let model = |values: &[(&str, i64)]| -> String {
        values.iter().map(|(name, value)| format!("(define-fun {name} () Int {value})")).collect()
    };
    let (report, text) = with_model(&one, &model(&[("p", 5), ("rank", 2), ("s", 2), ("D", 4), ("quot.1", 9)]));
    assert_eq!((&report["reached"], &report["reproduces"]), (&json!(true), &json!(false)));
    assert!(text.contains("this state is reached: rank 2 is in it before round 2, with p = 5"), "{text}");
    assert!(text.contains("D = 4, p = 5, rank = 2, s = 2\n") && !text.contains("quot"), "{text}");
    let (report, text) = with_model(&one, &model(&[("p", 5), ("rank", 2), ("s", 2), ("D", 3)]));
    assert_eq!(report["reached"], false);
    assert!(text.contains("this is not a reachable state: with p = 5, rank 2 has D = 4 there"), "{text}");
    assert!(text.contains("not wrong: every check passes in this case"), "{text}");
    let (_, text) = with_model(&one, &model(&[("p", 5), ("rank", 2), ("s", 7), ("D", 4)]));
    assert!(text.contains("no round has these indices"), "{text}");
    let (_, text) = with_model(&one, &model(&[("p", 5000), ("rank", 2), ("s", 2), ("D", 4)]));
    assert!(text.contains("the model names no case that could be run"), "{text}");
    let (report, text) = with_model(&one, "");
    assert!(text.contains("the model names no case that could be run"), "{text}");
    assert_eq!(report["threads"], Value::Null);
    let odd = bruck("#[requires(p % 2 == 1)]\n#[round(s in 0..ceil_log(2, p))]");
    let (_, text) = with_model(&odd, &model(&[("p", 4), ("rank", 2), ("s", 2), ("D", 4)]));
    assert!(text.contains("this is not a reachable state: p = 4 lies outside the domain"), "{text}");
}

#[test]
fn a_model_of_z3_is_small() {
    if z3().is_none() {
        return;
    }
    let files = Files::new();
    let source =
        files.write("mine.rs", &ring("rank + 1", "rank - 1 - s", "#[holds(blocks = [rank - o; o in 0..s])]"));
    let saved = files.name("saved.json");
    ended(1, &["prove", &source, "--engine", "smt", "--no-record", "--save", &saved]);
    assert_eq!(files.json("saved.json")["p"], 1);
    let (text, _) = ended(1, &["replay", &saved]);
    assert!(text.contains("wrong: `holds` is wrong before round 0: with p = 1"), "{text}");
}

// ---- mutants

#[test]
fn a_mutant_is_replayed() {
    let files = Files::new();
    let saved = files.name("saved.json");
    ended(0, &["mutants", "sparbit", "-p", "1..=8", "--save", &saved]);
    let (out, _) = ended(1, &["replay", &saved]);
    assert!(out.contains("a mutant: "), "{out}");
    ended(0, &["mutants", "sparbit", "-p", "1..=8", "--only", "30", "--save", &saved]);
    let all: Value = serde_json::from_str(&ended(0, &["mutants", "sparbit", "-p", "1..=8", "--json"]).0).unwrap();
    assert_eq!(files.json("saved.json")["mutation"], all["collectives"][0]["all"][30]["description"]);
    ended(1, &["replay", &saved]);
    let last = all["collectives"][0]["all"].as_array().unwrap().len() - 1;
    let (_, errors) = ended(2, &["mutants", "sparbit", "--only", "4711"]);
    assert!(
        errors.contains(&format!("allgather/sparbit has no mutant 4711: its mutants are 0..={last}")),
        "{errors}"
    );
}

#[test]
fn a_mutant_that_the_prover_refutes_is_replayed() {
    if z3().is_none() {
        return;
    }
    let files = Files::new();
    let saved = files.name("saved.json");
    let args = ["mutants", "allgather/ring", "-p", "1..=6", "--engine", "smt", "--sample", "8", "--save", &saved];
    ended(0, &args);
    let file = files.json("saved.json");
    assert_eq!((&file["engine"], &file["refutes"]), (&json!("smt"), &json!("induction")));
    assert!(file["mutation"].is_string() && file["p"].is_number(), "{file}");
    let output = Command::new(env!("CARGO_BIN_EXE_roundel")).args(["replay", &saved]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
}

/// The fault that kills a mutant is found again in the declaration written for it. A mutant that breaks a rule of the
/// language has no declaration.
#[test]
fn every_mutant_is_written_or_breaks_a_rule() {
    let (mut written, mut unwritable) = (0, Vec::new());
    for entry in every(4, catalogue()) {
        let schedule = of_entry(entry).by_contract();
        let original = Original::new(&schedule, &Points::new(&schedule, 1..=9)).unwrap();
        for mutant in every(48, mutants::mutants(&schedule).into_iter().chain(mutants::pairs(&schedule, 60))) {
            let Some(violation) = original.violation(&mutant.schedule) else { continue };
            let one = Counterexample::of_violation("exhaustive", entry.name, &mutant.schedule, &violation);
            let path = PathBuf::from(&mutant.description);
            let read = match one.schedule(&path) {
                Ok(read) => read,
                Err(error) => {
                    unwritable.push(error.to_string());
                    continue;
                }
            };
            if read.requires.len() != mutant.schedule.requires.len() {
                unwritable.push("the language has this clause everywhere".into());
                continue;
            }
            let again = check::at_point(&read, &one.point(&read, &path).unwrap())
                .expect_err(&format!("{}: {}", entry.name, mutant.description));
            assert_eq!(again.to_string(), violation.to_string(), "{}", mutant.description);
            written += 1;
        }
    }
    let rules = [
        "this clause everywhere",
        "division by zero",
        "no round sends anything",
        "must be the same on all ranks",
        "ends with the last round",
    ];
    for reason in &unwritable {
        assert!(rules.iter().any(|rule| reason.contains(rule)), "{reason}");
    }
    assert!(written > 20 * unwritable.len(), "{written} written, {} not", unwritable.len());
}

#[test]
fn declarations_mean_the_same_when_they_are_read_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![root.join("examples/cyclic-shift/src/lib.rs")];
    files.extend(std::fs::read_dir(root.join("tests/ui/pass")).unwrap().map(|file| file.unwrap().path()));
    let mut schedules: Vec<Schedule> = catalogue().iter().map(|entry| of_entry(entry).by_contract()).collect();
    for file in files {
        let declared = Source::read(&file).unwrap().declarations().unwrap();
        schedules.extend(declared.into_iter().map(|one| one.result.unwrap().schedule));
    }
    assert!(schedules.len() > 15, "{}", schedules.len());
    for schedule in schedules {
        let text = schedule.declaration();
        let declared =
            Source::of_text("text", &text).declarations().unwrap_or_else(|reason| panic!("{reason:?}: {text}"));
        let read = declared
            .into_iter()
            .next()
            .unwrap()
            .result
            .unwrap_or_else(|reason| panic!("{reason:?}: {text}"))
            .schedule;
        for point in Points::new(&schedule, 1..=7).iter() {
            let admitted = check::in_domain(&schedule, &point).unwrap();
            assert_eq!(check::in_domain(&read, &point), Ok(admitted), "{text}");
            if admitted {
                let trace = |schedule| check::record_schedule(schedule, &point).unwrap();
                assert_eq!(trace(&read), trace(&schedule), "{text}");
                assert!(check::at_point(&read, &point).is_ok(), "{text}");
            }
        }
    }
}

#[test]
fn survivors_are_no_counterexamples() {
    let schedule = of_entry(&catalogue()[0]);
    let original = Original::new(&schedule, &Points::new(&schedule, 1..=5)).unwrap();
    for mutant in mutants::mutants(&schedule) {
        let survived = matches!(original.fate(&mutant.schedule), Fate::Survived(_));
        assert_eq!(original.violation(&mutant.schedule).is_none(), survived, "{}", mutant.description);
    }
}

// ---- invalid files

/// A file after a change: replaying it must be refused with these words.
fn refused(files: &Files, change: impl FnOnce(&mut Value), words: &str) {
    let mut file = files.json("saved.json");
    change(&mut file);
    let broken = files.write("broken.json", &file.to_string());
    let (out, errors) = ended(2, &["replay", &broken]);
    assert!(out.is_empty() && errors.contains(words), "{words}: {errors}");
}

#[test]
fn broken_files_are_refused() {
    let files = Files::new();
    let clauses = "#[derive(Collective)]\n#[collective(allgather, k: 1..)]\n#[round(s in 0..p - 1)]\n\
                   #[send(to = rank + 2, blocks = [rank - s])]\n\
                   #[recv(from = rank - 1, blocks = [rank - 1 - s])]\npub struct Mine { k: i64 }";
    let (source, saved) = (files.write("mine.rs", clauses), files.name("saved.json"));
    ended(1, &["check", &source, "--save", &saved]);
    refused(&files, |file| file["format"] = "other".into(), "its `format` is not \"roundel-counterexample\"");
    refused(&files, |file| *file = json!({}), "its `format` is not");
    refused(&files, |file| *file = json!([1, 2]), "its `format` is not");
    refused(&files, |file| file["version"] = 2.into(), "it has version 2, and this is a `roundel` for version 1");
    refused(&files, |file| file["version"] = "1".into(), "it has version \"1\"");
    refused(&files, |file| file["extra"] = 1.into(), "unknown field `extra`");
    refused(&files, |file| file["refutes"] = "gravity".into(), "unknown variant `gravity`");
    refused(&files, |file| drop(file.as_object_mut().unwrap().remove("message")), "missing field `message`");
    refused(&files, |file| file["p"] = (-3).into(), "invalid value");
    refused(&files, |file| file["p"] = Value::Null, "it names no `p`");
    refused(&files, |file| file["p"] = 0.into(), "0 ranks are not possible here");
    refused(&files, |file| file["p"] = 1_000_000_000.into(), "1000000000 ranks are not possible here");
    refused(&files, |file| file["ppn"] = 0.into(), "a node needs at least one rank");
    refused(&files, |file| file["rank"] = 7.into(), "rank 7 does not exist with p = 2");
    refused(&files, |file| file["params"] = json!({}), "its `params` have no number `k`");
    refused(&files, |file| file["params"]["k"] = json!([1]), "its `params` have no number `k`");
    refused(&files, |file| file["params"]["x"] = 1.into(), "its declaration has no parameter `x`");
    refused(&files, |file| file["params"]["k"] = json!("one"), "did not match any variant");
    refused(&files, |file| file["declaration"] = "struct ;".into(), "line 1 of its declaration");
    refused(
        &files,
        |file| file["declaration"] = "struct A;".into(),
        "must be one struct with `#[derive(Collective)]`",
    );
    let misspelt = clauses.replace("rank + 2", "rnk + 2");
    refused(
        &files,
        |file| file["declaration"] = misspelt.into(),
        "line 4 of its declaration: `rnk` is not a variable",
    );
    let twice = format!("{clauses}\n{}", clauses.replace("Mine", "Yours"));
    refused(&files, |file| file["declaration"] = twice.into(), "must be one struct");
    let text = std::fs::read_to_string(&saved).unwrap();
    for length in (0..text.trim_end().len()).step_by(97) {
        let cut = files.write("cut.json", &text[..length]);
        assert!(ended(2, &["replay", &cut]).1.contains("cannot be replayed"), "{length}");
    }
    std::fs::write(files.name("bytes.json"), [0xff, 0xfe, 0x00]).unwrap();
    for missing in [files.name("bytes.json"), files.name("nowhere.json"), files.name("")] {
        assert!(ended(2, &["replay", &missing]).1.contains("cannot read"), "{missing}");
    }
}

#[test]
fn a_case_outside_a_parameters_domain_is_outside() {
    let files = Files::new();
    let clauses = "#[derive(Collective)]\n#[collective(allgather, k: 1..)]\n#[round(s in 0..p - 1)]\n\
                   #[send(to = rank + 2, blocks = [rank - s])]\n\
                   #[recv(from = rank - 1, blocks = [rank - 1 - s])]\npub struct Mine { k: i64 }";
    let (source, saved) = (files.write("mine.rs", clauses), files.name("saved.json"));
    ended(1, &["check", &source, "--save", &saved]);
    let mut file = files.json("saved.json");
    file["params"]["k"] = 0.into();
    assert!(ended(0, &["replay", &files.write("outside.json", &file.to_string())]).0.contains("outside the domain"));
    file["params"]["k"] = 1.into();
    file["p"] = 65.into();
    let large = files.write("large.json", &file.to_string());
    let (_, errors) = ended(2, &["replay", &large, "--svg", &files.name("large.svg")]);
    assert!(errors.contains("draw at most 64 ranks"), "{errors}");
    let (out, _) = ended(1, &["replay", &large]);
    assert!(out.contains("p = 65") && out.lines().count() < 200, "{out}");
}
