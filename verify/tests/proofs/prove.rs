//! `roundel prove`: what it proves, what it does not, and how it handles solvers that misbehave.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::process::{roundel, stderr, stdout};
use crate::common::{every, everything, z3};
use roundel::algorithms::{self, catalogue};
use roundel::{Allgather, AllowUnproved, Collective, Error, Refusal, threads};
use roundel_spec::check::Points;
use roundel_spec::expr::{Binary, Expr};
use roundel_spec::proof::{ProvedRange, Record};
use roundel_spec::syntax;
use roundel_spec::{Kind, Schedule};
use roundel_verify::proving::smt::{self, Obligation, Portfolio, Verdict};
use roundel_verify::recorded::of_entry;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Runs a command that must end with `code`; returns its output and its errors.
fn ends_with(code: i32, args: &[&str]) -> (String, String) {
    let output = roundel(args);
    let (out, errors) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(code), "{args:?}:\n{out}\n{errors}");
    assert!(!errors.contains("panicked"), "{args:?}: {errors}");
    (out, errors)
}

fn json(code: i32, args: &[&str]) -> Value {
    serde_json::from_str(&ends_with(code, &[args, &["--json"]].concat()).0).unwrap()
}

/// The calls that a thorough check of every p up to a limit covers.
fn checked(schedule: &Schedule, p: i64) -> ProvedRange {
    Points::new(schedule, 1..=p as usize).thorough().range(schedule).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Everything that prevents a collective from being proved.
fn open(report: &Value) -> String {
    let rows = report["collectives"][0]["rows"].as_array().unwrap();
    rows.iter().flat_map(|row| row["open"].as_array().unwrap()).map(|reason| format!("{reason}\n")).collect()
}

// ---- solvers that misbehave

/// A ring that states its invariant, so that each question is asked once and none is asked in a search.
const RING: &str = "#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = [rank - k; k in 0..=s], messages_sent = s, blocks_sent = s)]
#[bound(rounds = p - 1, each messages_sent = p - 1, each blocks_sent = p - 1, per_round blocks_sent = 1)]
struct Ring;
";

/// Proves a ring with a solver that runs `script`, once with a written invariant and once with that of its record or of
/// a search. Neither must count.
#[cfg(unix)]
fn with_solver(script: &str, words: &str) {
    with_solver_once(script, words);
    let folder = TempDir::new().unwrap();
    let solver = solver_in(&folder, script);
    not_counted(&solver, &folder, "allgather/ring", &algorithms::Ring::schedule(), words);
}

/// The same of the ring with a written invariant alone, for solvers that take their time.
#[cfg(unix)]
fn with_solver_once(script: &str, words: &str) {
    let folder = TempDir::new().unwrap();
    let (solver, ring) = (solver_in(&folder, script), folder.path().join("ring.rs"));
    std::fs::write(&ring, RING).unwrap();
    let schedule = syntax::parse(&syn::parse_str(RING).unwrap()).unwrap().schedule;
    not_counted(&solver, &folder, text(&ring), &schedule, words);
}

#[cfg(unix)]
fn solver_in(folder: &TempDir, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let solver = folder.path().join("solver");
    std::fs::write(&solver, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&solver, std::fs::Permissions::from_mode(0o755)).unwrap();
    solver
}

/// What a solver says of a ring does not count: exit code 1, the record falls back to what was checked exactly, and all
/// of `words` are printed.
#[cfg(unix)]
fn not_counted(solver: &Path, folder: &TempDir, target: &str, schedule: &Schedule, words: &str) {
    let (solver, record) = (text(solver), folder.path().join("record.json"));
    let args = ["prove", target, "-p", "1..=8", "--limit", "1", "--solver", solver, "--record", text(&record)];
    let report = json(1, &args);
    assert!(open(&report).contains(words), "`{words}` is missing: {}", open(&report));
    assert_eq!(report["ok"], false);
    let ring = &report["collectives"][0];
    assert_eq!(ring["proved_for"], "p <= 8");
    let proved = |row: &&Value| row["engine"] == "smt" && row["verdict"] == "proved";
    assert_eq!(ring["rows"].as_array().unwrap().iter().filter(proved).count(), 0, "{ring}");
    let record = Record::read(&std::fs::read_to_string(record).unwrap(), schedule).unwrap();
    assert_eq!(record.range, checked(schedule, 8));
}

#[test]
fn a_missing_solver_is_one_error() {
    let folder = TempDir::new().unwrap();
    let (nowhere, record) = (folder.path().join("z3"), folder.path().join("record.json"));
    let args = ["prove", "allgather/", "-p", "1..=8", "--solver", text(&nowhere), "--record", text(&record)];
    let (out, errors) = ends_with(2, &[&args[..4], &args[4..6], &["--no-record"]].concat());
    assert_eq!((out.as_str(), errors.lines().count()), ("", 1), "{out}{errors}");
    assert!(errors.contains("there is no solver") && errors.contains("--engine exhaustive"), "{errors}");
    ends_with(2, &[&["prove", "allgather/ring"], &args[2..]].concat());
    assert!(!record.exists(), "nothing is written before the solver is found");
    // The solver is not used.
    ends_with(0, &[&["prove", "allgather/ring", "--engine", "exhaustive", "--no-record"], &args[2..6]].concat());
}

/// A collective is printed before the next one begins, even into a pipe; a note about several collectives is printed
/// once.
#[test]
fn every_collective_is_printed_when_it_is_done() {
    use std::io::{BufRead, BufReader, Read};
    let mut child = Command::new(env!("CARGO_BIN_EXE_roundel"))
        .args([
            "prove",
            "allgather/ring",
            "reduce-scatter/pairwise",
            "--engine",
            "exhaustive",
            "-p",
            "1..=90",
            "--no-record",
        ])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    while !first.contains("allgather/ring: proved for p <= 90") {
        assert_ne!(out.read_line(&mut first).unwrap(), 0, "{first}");
    }
    assert!(child.try_wait().unwrap().is_none(), "the second takes seconds");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("pairwise: proved"), "{rest}");
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("twice.rs");
    std::fs::write(&file, HALVES.to_string() + &HALVES.replace("Halves", "Again")).unwrap();
    let (out, _) = ends_with(0, &["prove", text(&file), "-p", "1..=4", "--no-record"]);
    // The advice comes once, what was seen and the reason with each collective.
    assert_eq!(out.matches("note: write `#[holds(acc = ").count(), 1, "{out}");
    assert_eq!(out.matches("no invariant was found for the round: ").count(), 2, "{out}");
    assert_eq!(out.matches("not for all p because no invariant was found").count(), 2, "{out}");
    assert!(!out.contains("has no `holds("), "{out}");
    assert!(out.ends_with("2 collectives proved, 0 of them for all p\n"), "{out}");
}

#[test]
fn questions_are_kept_in_a_folder() {
    let Some(_) = z3() else { return };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let args = ["prove", "allgather/ring", "--engine", "smt", "--no-record", "--emit-smt"];
    let (out, errors) = ends_with(2, &[&args[..], &[text(&file)]].concat());
    assert_eq!(out, "");
    assert!(errors.contains("cannot be a folder") && errors.contains("--emit-smt"), "{errors}");
}

#[cfg(unix)]
#[test]
fn a_solver_that_does_not_end_proves_nothing() {
    // The first question about the ring finds it busy; from then on it knows nothing, which keeps the test short.
    let script = "case \"$(cat)\" in *'; hypotheses'*)
        if mkdir \"$0.busy\" 2>/dev/null; then while :; do :; done; fi;; esac
        echo unknown";
    with_solver_once(script, "the solver did not answer in time");
}

#[cfg(unix)]
#[test]
fn a_solver_that_dies_proves_nothing() {
    with_solver("kill -9 $$", "the solver ended without an answer: signal: 9");
    with_solver("exit 3", "the solver ended without an answer: exit status: 3");
}

#[cfg(unix)]
#[test]
fn a_solver_that_talks_nonsense_proves_nothing() {
    with_solver("echo unsatisfactory", "the solver answered nonsense: `unsatisfactory`");
    with_solver("echo '(error \"line 1: invalid\")'; echo unsat", "the solver answered nonsense: `(error");
    with_solver("true", "the solver answered nonsense: `nothing`");
}

#[cfg(unix)]
#[test]
fn a_solver_that_does_not_know_proves_nothing() {
    with_solver("echo unknown", "the solver does not know");
}

#[cfg(unix)]
#[test]
fn a_solver_that_agrees_with_everything_contradicts_itself() {
    with_solver("echo unsat", "the hypotheses contradict each other, so this says nothing");
}

#[cfg(unix)]
#[test]
fn a_solver_that_leaves_a_process_behind_proves_nothing() {
    // After the first question about the ring it knows nothing, which keeps the test short.
    let script = "case \"$(cat)\" in *'; hypotheses'*) if mkdir \"$0.left\" 2>/dev/null; then
        sleep 30 & echo unsat; exit 0; fi;; esac
        echo unknown";
    with_solver_once(script, "a process that it started keeps its output open");
}

#[cfg(unix)]
#[test]
fn a_solver_that_finds_no_model_of_the_hypotheses_proves_nothing() {
    let script = "case \"$(cat)\" in *'expected: unsat'*) echo unsat;; *) echo unknown;; esac";
    with_solver(script, "no solver said in time whether the hypotheses have a model");
}

#[cfg(unix)]
#[test]
fn a_solver_that_objects_to_everything_proves_nothing() {
    with_solver("echo sat", "This is a counterexample to the induction, not to the collective");
}

// ---- the catalogue

#[test]
fn sparbit_is_proved_for_all_p() {
    let Some(_) = z3() else { return };
    let report = json(0, &["prove", "sparbit", "-p", "1..=16", "--no-record"]);
    assert_eq!(report["ok"], true);
    assert!(report["lemmas"].as_array().unwrap().iter().all(|lemma| lemma["verdict"] == "proved"));
    let sparbit = &report["collectives"][0];
    assert_eq!(sparbit["name"], "allgather/sparbit");
    assert_eq!(sparbit["proved_for"], "all p");
    assert_eq!(sparbit["record"], Value::Null);
    let rows = sparbit["rows"].as_array().unwrap();
    assert_eq!((&rows[0]["engine"], &rows[0]["range"]), (&Value::from("exhaustive"), &Value::from("p = 1..=16")));
    let properties: Vec<&str> = rows[1..].iter().map(|row| row["property"].as_str().unwrap()).collect();
    for property in ["defined", "sends-held", "peer-inverse", "same-blocks", "single-write", "invariant", "coverage"]
    {
        assert!(properties.contains(&property), "{properties:?}");
    }
    for row in rows {
        assert_eq!((&row["verdict"], &row["open"]), (&Value::from("proved"), &Value::Array(vec![])), "{row}");
        assert!(row["cases"].as_u64().unwrap() > 0 && row["seconds"].is_number(), "{row}");
    }
}

/// The acceptance test of the prover.
#[test]
fn every_allgather_is_proved_for_all_p() {
    let Some(_) = z3() else { return };
    let flat = |schedule: Schedule| schedule.kind == Kind::Allgather && schedule.inners.is_empty();
    let names: Vec<_> = catalogue().iter().filter(|entry| flat((entry.schedule)())).map(|entry| entry.name).collect();
    assert_eq!(names.len(), 7);
    let names = every(3, names);
    let options = ["--engine", "smt", "--require-all-p", "--no-record"];
    let report = json(0, &[&["prove"], &names[..], &options].concat());
    let collectives = report["collectives"].as_array().unwrap();
    assert_eq!(collectives.len(), names.len());
    for one in collectives {
        assert!(one["proved_for"].as_str().is_some_and(|range| range.starts_with("all p")), "{one}");
    }
}

/// Reductions that the solver proves for all p. The others are proved only in a range.
const REDUCTIONS_FOR_ALL_P: [&str; 16] = [
    "BruckReduceScatter",
    "CirculantReduceScatter",
    "CyclicShiftAllreduce",
    "CyclicShiftReduceScatter",
    "KBruckReduceScatter",
    "NeighborExchangeReduceScatter",
    "PairwiseReduceScatter",
    "PrefixAllreduce",
    "RabenseifnerAllreduce",
    "RecursiveDoublingAllreduce",
    "RecursiveHalvingReduceScatter",
    "ReduceBroadcastAllreduce",
    "ReduceScatterAllgather",
    "RingAllreduce",
    "RingReduceScatter",
    "SparbitReduceScatter",
];

#[test]
fn reductions_are_proved_for_all_p() {
    let Some(_) = z3() else { return };
    // The two that split groups take minutes; their records have the results.
    let slow = ["RabenseifnerAllreduce", "RecursiveHalvingReduceScatter"];
    let quick = |name: &str| REDUCTIONS_FOR_ALL_P.contains(&name) && !slow.contains(&name);
    for entry in every(6, catalogue().iter().filter(|entry| quick(entry.type_name))) {
        let report = json(0, &["prove", entry.name, "-p", "1..=6", "--no-record", "--limit", "20"]);
        let all = ProvedRange::all(&(entry.schedule)()).text(&(entry.schedule)());
        assert_eq!(report["collectives"][0]["proved_for"], all, "{}", open(&report));
        let order = (entry.schedule)().order;
        for (claimed, property) in [(order.same_tree, "same-tree"), (order.rank_order, "rank-order")] {
            let rows = report["collectives"][0]["rows"].as_array().unwrap();
            let proved = rows.iter().any(|row| row["property"] == property && row["verdict"] == "proved");
            assert_eq!(proved, claimed, "{}: {property}", entry.name);
        }
    }
}

/// Collectives with a root are proved for every root, with their bounds.
#[test]
fn collectives_with_a_root_are_proved_for_every_root() {
    let Some(_) = z3() else { return };
    for kind in every(4, ["broadcast/", "gather/", "scatter/", "reduce/"]) {
        let report = json(0, &["prove", kind, "-p", "1..=6", "--no-record", "--require-all-p", "--limit", "20"]);
        for one in report["collectives"].as_array().unwrap() {
            assert_eq!(one["proved_for"], "all p, all root", "{one}");
        }
    }
}

/// For some constructs the solver engine has no obligations: it says so, and proves nothing.
#[test]
fn what_is_not_encoded_is_proved_in_a_range_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("on_nodes.rs");
    std::fs::write(&file, ON_NODES).unwrap();
    let report = json(0, &["prove", file.to_str().unwrap(), "-p", "1..=6", "--no-record"]);
    let one = &report["collectives"][0];
    assert!(one["proved_for"].as_str().unwrap().starts_with("p <= 6"), "{one}");
    let [exact, induction] = one["rows"].as_array().unwrap().as_slice() else { panic!("{one}") };
    assert_eq!((&exact["engine"], &exact["verdict"]), (&"exhaustive".into(), &"proved".into()), "{one}");
    assert_eq!((&induction["engine"], &induction["verdict"]), (&"smt".into(), &"not encoded".into()), "{one}");
    let reason = "rounds with an index, of an all-to-all that looks at nodes, are not encoded";
    assert_eq!(induction["open"], serde_json::json!([reason]));
}

/// An all-to-all that looks at nodes, in rounds.
const ON_NODES: &str = "
#[derive(Collective)]
#[collective(alltoall)]
#[check(p <= 6)]
#[round(s in 1..p)]
#[send(when = nodes > 0, to = rank + s, blocks = [rank -> rank + s])]
#[recv(when = nodes > 0, from = rank - s, blocks = [rank - s -> rank])]
pub struct OnNodes;
";

/// The circulant reduce_scatter, declared forwards: whose contributions a block has, the language has no words for.
const HALVES: &str = "
#[derive(Collective)]
#[collective(reduce_scatter)]
#[round(s in 0..ceil_log(2, p))]
#[state(S = p, next = ceil_div(S, 2))]
#[define(h = ceil_div(S, 2))]
#[send(to = rank + h, blocks = [rank + h + i; i in 0..S - h])]
#[recv(from = rank - h, blocks = [rank + i; i in 0..S - h], combine = left)]
#[holds(blocks_sent = p - S)]
pub struct Halves;
";

/// Without `holds(acc = …)` there is no induction over the contributors: the report says so, and nothing is proved.
#[test]
fn a_reduction_without_contributors_is_proved_in_a_range_only() {
    let Some(_) = z3() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("halves.rs");
    std::fs::write(&file, HALVES).unwrap();
    let prove = ["prove", file.to_str().unwrap(), "-p", "1..=6", "--no-record"];
    let report = json(0, &prove);
    assert_eq!(report["collectives"][0]["proved_for"], "p <= 6");
    assert!(open(&report).contains("has no `holds(acc = …)`"), "{}", open(&report));
    json(1, &[&prove[..], &["--require-all-p"]].concat());
}

#[test]
fn every_record_is_current_and_says_all_p_or_its_range() {
    let again = "run `cargo run --release -- prove --all` and commit what it writes";
    for entry in catalogue() {
        let path = Path::new(algorithms::CRATE_ROOT).join("proofs").join(format!("{}.json", entry.type_name));
        let shown = path.display();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{shown}: {error}; {again}"));
        let schedule = (entry.schedule)();
        let record = Record::read(&text, &schedule).unwrap_or_else(|unfit| panic!("{shown}: {unfit}; {again}"));
        let several_blocks = !matches!(schedule.blocks, roundel_spec::expr::Expr::Int(_));
        let range = match (schedule.kind, several_blocks) {
            _ if schedule.uses_placement() => ProvedRange::all(&schedule),
            (Kind::Allgather | Kind::Alltoall, _) => ProvedRange::all(&schedule),
            _ if REDUCTIONS_FOR_ALL_P.contains(&entry.type_name) => ProvedRange::all(&schedule),
            (kind, _) if kind.has_root() => ProvedRange::all(&schedule),
            (_, false) => checked(&schedule, 256),
            (_, true) => checked(&schedule, 64),
        };
        assert_eq!(record.range, range, "{shown} has another range; {again}");
    }
}

#[test]
fn questions_are_kept_and_answered_as_expected() {
    let Some(z3) = z3() else { return };
    let folder = TempDir::new().unwrap();
    let args = ["prove", "allgather/ring", "--engine", "smt", "--no-record", "--emit-smt", text(folder.path())];
    ends_with(0, &args);
    // Attempts at one obligation share its number; one of them must succeed.
    let mut proved: BTreeMap<String, bool> = BTreeMap::new();
    for file in std::fs::read_dir(folder.path().join("allgather-ring")).unwrap() {
        let path = file.unwrap().path();
        let content = std::fs::read_to_string(&path).unwrap();
        let mut lines = content.lines();
        assert!(lines.next().unwrap().starts_with("; allgather/ring: "), "{content}");
        let expected = lines.next().unwrap().strip_prefix("; expected: ").unwrap();
        let answer = stdout(&Command::new(&z3).args(["-smt2", "-T:20", text(&path)]).output().unwrap());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("vacuity") {
            assert_eq!((expected, answer.trim()), ("sat", "sat"), "{name}");
        } else {
            assert_eq!(expected, "unsat", "{name}");
            *proved.entry(name[..3].to_string()).or_default() |= answer.trim() == "unsat";
        }
    }
    assert!(proved.len() > 20, "{proved:?}");
    assert!(proved.values().all(|proved| *proved), "{proved:?}");
}

// ---- declarations in files

/// A crate with one declaration in `src/lib.rs`.
struct Crate(TempDir);

impl Crate {
    fn with(name: &str, clauses: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"some\"\n").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let head = "use roundel::Collective;\n\n#[derive(Collective)]\n#[collective(allgather)]\n";
        std::fs::write(folder.path().join("src/lib.rs"), format!("{head}{clauses}\npub struct {name};\n")).unwrap();
        Crate(folder)
    }

    /// The arguments that prove it.
    fn prove<'a>(&self, file: &'a mut String, more: &[&'a str]) -> Vec<&'a str> {
        *file = text(&self.0.path().join("src/lib.rs")).to_string();
        [&["prove", file.as_str(), "-p", "1..=12"], more].concat()
    }

    fn record(&self, name: &str) -> Option<Value> {
        let text = std::fs::read_to_string(self.0.path().join("proofs").join(format!("{name}.json"))).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }
}

/// A ring with other `holds` and other clauses after it.
fn ring(more: &str) -> String {
    format!(
        "#[round(s in 0..p - 1)]\n\
         #[send(to = rank + 1, blocks = [rank - s])]\n\
         #[recv(from = rank - 1, blocks = [rank - 1 - s])]\n{more}"
    )
}

#[test]
fn a_record_is_written_into_the_crate() {
    let Some(_) = z3() else { return };
    let one = Crate::with("MyRing", &ring("#[holds(blocks = [rank - o; o in 0..=s])]"));
    let report = json(0, &one.prove(&mut String::new(), &[]));
    assert_eq!(report["collectives"][0]["proved_for"], "all p");
    let record = one.record("MyRing").unwrap();
    assert_eq!(record["collective"], "MyRing");
    assert_eq!(record["range"]["p"], Value::Null);
    assert!(report["collectives"][0]["record"].as_str().unwrap().ends_with("proofs/MyRing.json"));
}

#[test]
fn a_first_record_marks_the_source_as_changed() {
    let one = Crate::with("MyRing", &ring(""));
    let source = one.0.path().join("src/lib.rs");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let age = || std::fs::File::options().append(true).open(&source).unwrap().set_modified(long_ago).unwrap();
    let is_new = || std::fs::metadata(&source).unwrap().modified().unwrap() > long_ago;
    let mut file = String::new();
    age();
    let (_, errors) = ends_with(0, &one.prove(&mut file, &["--engine", "exhaustive"]));
    assert!(is_new() && errors.contains("src/lib.rs is marked as changed"), "{errors}");
    // From then on rustc watches the record itself.
    age();
    let (_, errors) = ends_with(0, &one.prove(&mut file, &["--engine", "exhaustive"]));
    assert!(!is_new() && !errors.contains("marked"), "{errors}");
}

#[test]
fn two_collectives_of_one_name_have_no_record() {
    let one = Crate::with("MyRing", &ring(""));
    let source = std::fs::read_to_string(one.0.path().join("src/lib.rs")).unwrap();
    // In another file, it may be a test of the same collective: a warning.
    std::fs::create_dir(one.0.path().join("tests")).unwrap();
    std::fs::write(one.0.path().join("tests/other.rs"), &source).unwrap();
    let mut file = String::new();
    let (_, errors) = ends_with(0, &one.prove(&mut file, &["--engine", "exhaustive"]));
    assert!(errors.contains("warning") && errors.contains("tests/other.rs declares `MyRing` as well"), "{errors}");
    // In one file, or in two that are proved together: an error.
    let both = format!("mod a {{\n{source}\n}}\nmod b {{\n{source}\n}}\n");
    std::fs::write(one.0.path().join("src/lib.rs"), both).unwrap();
    let (_, errors) = ends_with(2, &one.prove(&mut file, &["--engine", "exhaustive"]));
    assert!(errors.contains("declares `MyRing` twice") && errors.contains("proofs/MyRing.json"), "{errors}");
    ends_with(0, &one.prove(&mut file, &["--engine", "exhaustive", "--no-record"]));
}

#[test]
fn a_record_that_is_not_written_is_said() {
    let one = Crate::with("MyRing", &ring(""));
    let folder = TempDir::new().unwrap();
    let (file, nowhere) = (folder.path().join("alone.rs"), folder.path().join("no/such/record.json"));
    std::fs::copy(one.0.path().join("src/lib.rs"), &file).unwrap();
    let prove = ["prove", text(&file), "-p", "1..=8", "--engine", "exhaustive"];
    let (out, _) = ends_with(0, &prove);
    assert!(out.contains("no record is written, because the file belongs to no crate"), "{out}");
    let report = json(0, &prove);
    assert!(report["collectives"][0]["note"].as_str().unwrap().contains("no crate"), "{report}");
    // A missing directory is an error, as with `--save` and `--svg`.
    let (_, errors) = ends_with(2, &[&prove[..], &["--record", text(&nowhere)]].concat());
    assert!(errors.contains("cannot write") && errors.contains("check that its directory exists"), "{errors}");
    assert!(!nowhere.exists());
}

#[test]
fn no_solver_is_one_error_as_json_too() {
    let output = Command::new(env!("CARGO_BIN_EXE_roundel"))
        .args(["prove", "allgather/ring", "--engine", "smt", "--no-record", "--json"])
        .env("PATH", "")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let message = "no SMT solver is installed: install z3, or use `--engine exhaustive`";
    assert_eq!(report, serde_json::json!({ "ok": false, "errors": [{ "message": message }] }));
}

#[test]
fn a_wrong_holds_is_a_violation_at_its_clause() {
    let one = Crate::with("MyRing", &ring("#[holds(blocks = [rank - o; o in 0..s])]"));
    let (out, errors) = ends_with(1, &one.prove(&mut String::new(), &["--engine", "exhaustive"]));
    assert!(errors.contains("`holds` is wrong before round 0") && errors.contains("src/lib.rs:8:"), "{errors}");
    assert!(out.contains("VIOLATION") && out.contains("MyRing: not proved"), "{out}");
    assert!(one.record("MyRing").is_none());
}

#[test]
fn a_violation_outweighs_the_solver() {
    // A wrong answer of a solver cannot override a fault that was found exactly.
    let Some(_) = z3() else { return };
    let one = Crate::with("MyRing", &ring("#[holds(blocks = [rank - o; o in 0..=s])]\n#[bound(rounds = p)]"));
    let report = json(1, &one.prove(&mut String::new(), &[]));
    assert_eq!(report["collectives"][0]["proved_for"], Value::Null);
    let open = open(&report);
    assert!(open.contains("the bound `rounds = p` does not hold") && open.contains("counterexample"), "{open}");
    assert!(one.record("MyRing").is_none());
}

#[test]
fn without_holds_it_is_found_and_recorded() {
    let Some(_) = z3() else { return };
    let one = Crate::with("MyRing", &ring(""));
    let report = json(0, &one.prove(&mut String::new(), &["--require-all-p"]));
    assert_eq!(report["collectives"][0]["proved_for"], "all p");
    let found = &report["collectives"][0]["found_clauses"];
    assert!(found.to_string().contains("holds(blocks = [rank - k; k in 0..s + 1])"), "{found}");
    let record = one.record("MyRing").unwrap();
    assert_eq!(&record["induction"]["found"], found);
    assert_eq!(record["range"]["p"], Value::Null);
    ends_with(0, &one.prove(&mut String::new(), &["--verify-records"]));
}

/// Bruck's allgather, without what D is.
const WEAK: &str = "#[round(s in 0..ceil_log(2, p))]\n\
                    #[state(D = 1, next = 2 * D)]\n\
                    #[define(n = min(D, p - D))]\n\
                    #[send(to = rank - D, blocks = [rank + k; k in 0..n])]\n\
                    #[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]\n\
                    #[holds(blocks = [rank + k; k in 0..min(D, p)])]";

#[test]
fn a_weak_holds_is_completed_by_what_is_found_about_states() {
    let Some(_) = z3() else { return };
    let one = Crate::with("MyBruck", WEAK);
    let report = json(0, &one.prove(&mut String::new(), &[]));
    assert_eq!(report["collectives"][0]["proved_for"], "all p");
    assert_eq!(report["collectives"][0]["found_clauses"][0], "round 0: holds(D == pow(2, s))");
    assert_eq!(one.record("MyBruck").unwrap()["induction"]["found"][0], "round 0: holds(D == pow(2, s))");
    ends_with(0, &one.prove(&mut String::new(), &["--verify-records"]));
}

#[test]
fn a_weak_holds_shows_a_counterexample_to_induction() {
    let Some(_) = z3() else { return };
    // Nothing that is true of D makes up for a peer that is wrong beyond p = 41.
    let one =
        Crate::with("MyBruck", &WEAK.replace("to = rank - D", "to = if p > 41 { rank - D - 1 } else { rank - D }"));
    let report = json(1, &one.prove(&mut String::new(), &[]));
    let open = open(&report);
    assert!(open.contains("This is a counterexample to the induction, not to the collective"), "{open}");
    assert!(open.contains("D = ") && open.contains("p = ") && open.contains("Strengthen `holds`"), "{open}");
    assert_eq!(report["collectives"][0]["proved_for"], "p <= 12");
    let mut name = String::new();
    let shown =
        Command::new(env!("CARGO_BIN_EXE_roundel")).args(one.prove(&mut name, &["--no-record"])).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(
        shown.matches("This is a counterexample to the induction").count(),
        1,
        "the advice is given once: {shown}"
    );
    assert!(shown.contains("MyBruck: proved for p <= 12, and not for all p because "), "{shown}");
}

#[test]
fn a_smaller_range_names_the_construct_that_is_the_reason() {
    let Some(_) = z3() else { return };
    let ring = "#[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank - gcd(s, 0)])]\n\
                #[recv(from = rank - 1, blocks = [rank - 1 - gcd(s, 0)])]\n\
                #[holds(blocks = [rank - k; k in 0..s + 1])]";
    let one = Crate::with("MyRing", ring);
    let mut name = String::new();
    let shown = Command::new(env!("CARGO_BIN_EXE_roundel")).args(one.prove(&mut name, &[])).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let words = "MyRing: proved for p <= 12, and not for all p because `gcd(s, 0)` is not encoded \
                 (in `send(to = rank + 1, blocks = [rank - gcd(s, 0)])`)";
    assert!(shown.contains(words), "{shown}");
}

#[test]
fn empty_claims_are_said_to_be_empty() {
    let Some(_) = z3() else { return };
    let idle = "#[round(s in 0..p - 1)]\n\
                #[send(to = rank + 1, blocks = [rank - s])]\n\
                #[recv(from = rank - 1, blocks = [rank - 1 - s])]\n\
                #[send(to = rank + 1, when = p < 1, blocks = [rank - s])]\n\
                #[recv(from = rank - 1, when = p < 1, blocks = [rank - 1 - s])]\n\
                #[holds(blocks = [rank - o; o in 0..=s])]";
    let nowhere = format!("#[requires(p > 5, p < 3)]\n{}", ring("#[holds(blocks = [rank - o; o in 0..=s])]"));
    for clauses in [idle, nowhere.as_str()] {
        let one = Crate::with("Idle", clauses);
        let report = json(1, &one.prove(&mut String::new(), &[]));
        assert!(open(&report).contains("the hypotheses contradict each other"), "{}", open(&report));
        assert_ne!(report["collectives"][0]["proved_for"], "all p");
    }
}

/// Declarations with a fault that no small p shows, or that a proof might overlook. None may be proved.
#[test]
fn nothing_wrong_is_proved() {
    let Some(_) = z3() else { return };
    let holds = "#[holds(blocks = [rank - o; o in 0..=s])]";
    let with = |clause: &str| ring(&format!("{holds}\n{clause}"));
    let pair = "#[send(to = rank + 1, blocks = [rank])]\n#[recv(from = rank - 1, blocks = [rank - 1])]\n";
    let wrong = [
        ("defined", with("#[state(X = 5, next = X / (p - 2 - s))]")),
        ("defined", with("#[layout(rotated(rank / (p - 300)), in_place)]")),
        ("defined", format!("#[requires(7 / (p - 300) >= 0, p > 300)]\n{}", ring(holds))),
        ("initialisation", ring("#[holds(blocks = [rank - o; o in 0..=s], 7 / (p - 300) == 7 / (p - 300))]")),
        ("bounds", with("#[bound(rounds <= p + 0 * (7 / (p - 300)))]")),
        ("bounds", format!("#[requires(p == 2)]\n#[round]\n{pair}#[bound(per_round blocks_sent = 7)]")),
        ("invariant", format!("#[requires(p == 3)]\n#[round]\n{pair}#[holds(blocks = [rank, rank - 1, rank])]")),
        ("counters", format!("#[requires(p == 2)]\n#[round]\n{pair}#[holds(blocks_sent = 2)]")),
        ("hints", format!("#[requires(p == 2)]\n#[round]\n{pair}#[hint(rank == 0)]")),
        // A parameter with the name that a proof might give to another rank.
        (
            "same-blocks",
            ring(holds)
                .replace("#[round", "#[collective(allgather, peer: 0..)]\n#[round")
                .replace("rank + 1,", "rank + 1, when = peer == (rank + 1) % p || peer == rank,"),
        ),
        // One message, and then `holds` claims everything, with a stride of 0.
        (
            "invariant",
            "#[requires(p >= 3)]\n#[round(s in 0..2)]\n#[state(D = 0, next = 0)]\n\
             #[send(to = rank + 1, when = s == 0, blocks = [rank])]\n\
             #[recv(from = rank - 1, when = s == 0, blocks = [rank - 1])]\n\
             #[holds(D == 0, blocks = [rank + k + D * j; k in 0..if s == 0 { 1 } else { p }, j in 0..1])]"
                .into(),
        ),
        ("machine-width", with("#[state(X = 8, next = X + X / 8)]")),
        ("machine-width", ring(holds).replace(", blocks", ", when = pow(2, s / 8) >= 1, blocks")),
        ("machine-width", ring(holds).replace(", blocks", ", when = 1 << (s / 8) >= 1, blocks")),
    ];
    let portfolio = Portfolio { limit: smt::Effort::seconds(1), ..Portfolio::installed() };
    for (property, clauses) in wrong {
        let (kind, fields) = match clauses.contains("peer:") {
            true => ("", " { peer: i64 }"),
            false => ("#[collective(allgather)]\n", ";"),
        };
        let input = syn::parse_str(&format!("#[derive(Collective)]\n{kind}{clauses}\nstruct Wrong{fields}")).unwrap();
        let obligations = smt::obligations(&syntax::parse(&input).unwrap().schedule).all;
        let fails = |one: &Obligation| !matches!(smt::put("Wrong", one, &portfolio), Verdict::Proved { .. });
        assert!(obligations.iter().filter(|one| one.property.name() == property).any(fails), "{clauses}");
    }
}

/// A declaration of a gather cannot set the number of blocks; a schedule made by other means is not proved.
#[test]
fn a_gather_with_other_blocks_than_those_of_ranks_is_not_encoded() {
    let mut schedule = of_entry(algorithms::find("allgather/ring").unwrap());
    assert!(smt::obligations(&schedule).gaps.is_empty());
    schedule.blocks = Expr::binary(Binary::Add, schedule.blocks, Expr::Int(1));
    let obligations = smt::obligations(&schedule);
    assert!(obligations.all.is_empty());
    assert_eq!(obligations.gaps[0].reason, "an allgather without a block for each rank is not encoded");
}

/// Definitions that each use the previous one twice: expanded, the last has 2^40 terms.
#[test]
fn definitions_that_explode_are_not_encoded() {
    let doubling: String = (1..40).map(|i| format!("#[define(d{i} = d{0} * d{0} + p)]\n", i - 1)).collect();
    let text = format!(
        "#[derive(Collective)]\n#[collective(allgather)]\n#[define(d0 = p)]\n{doubling}{}struct Big;",
        ring("#[holds(blocks = [rank - o; o in 0..=s], d39 >= p)]\n")
    );
    let gaps = smt::obligations(&syntax::parse(&syn::parse_str(&text).unwrap()).unwrap().schedule).gaps;
    assert!(gaps.iter().any(|gap| gap.reason.contains("which grows too large")), "{gaps:?}");
}

/// Names that are words of SMT-LIB, or that the encoding uses itself.
#[test]
fn names_are_not_taken_for_words_of_the_solver() {
    let text = "#[derive(Collective)]\n#[collective(allgather, par: 1.., select: list(1..))]\n\
                #[requires(len(select) >= 1)]\n\
                #[round(quot in 0..p - 1)]\n#[state(store = 1, next = store)]\n\
                #[send(to = rank + 1, blocks = [rank - quot])]\n\
                #[recv(from = rank - 1, blocks = [rank - 1 - quot])]\n\
                #[holds(store == 1, select[0] >= 1 || par >= 1, blocks = [rank - rem; rem in 0..=quot])]\n\
                struct Words { par: i64, select: Vec<i64> }";
    let schedule = syntax::parse(&syn::parse_str(text).unwrap()).unwrap().schedule;
    let obligations = smt::obligations(&schedule);
    assert_eq!(obligations.gaps, []);
    for obligation in &obligations.all {
        for question in obligation.proofs("Words") {
            for word in ["par", "select", "quot", "store", "rem"] {
                assert!(!question.contains(&format!("declare-const {word} ")), "{question}");
                assert!(!question.contains(&format!("declare-fun {word} ")), "{question}");
            }
        }
    }
    let Some(_) = z3() else { return };
    for obligation in &obligations.all {
        let verdict = smt::put("Words", obligation, &Portfolio::installed());
        assert!(matches!(verdict, Verdict::Proved { .. }), "{}: {verdict:?}", obligation.claim);
    }
}

// ---- mutants against the prover

#[test]
fn no_wrong_mutant_is_proved() {
    let Some(_) = z3() else { return };
    let sample = if everything() { 3 } else { 1 };
    let names = every(10, catalogue()).into_iter().map(|entry| entry.name);
    let sampled = sample.to_string();
    let args = ["mutants", "--engine", "smt", "--sample", &sampled, "-p", "1..=8"];
    let report = json(0, &args.into_iter().chain(names).collect::<Vec<_>>());
    assert_eq!((&report["engine"], &report["order"]), (&Value::from("smt"), &Value::from(1)));
    for one in report["collectives"].as_array().unwrap() {
        assert_eq!((&one["mutants"], &one["escaped"]), (&Value::from(sample), &Value::from(0)), "{one}");
    }
    let report =
        json(0, &["mutants", "allgather/ring", "--engine", "smt", "--order", "2", "--sample", "6", "-p", "1..=8"]);
    assert_eq!((&report["order"], &report["collectives"][0]["escaped"]), (&Value::from(2), &Value::from(0)));
}

#[test]
fn pairs_of_faults_are_noticed_too() {
    let sample = if everything() { 40 } else { 10 };
    let names = every(4, catalogue()).into_iter().map(|entry| entry.name);
    let sampled = sample.to_string();
    let args = ["mutants", "--order", "2", "--sample", &sampled, "-p", "1..=8"];
    let report = json(0, &args.into_iter().chain(names).collect::<Vec<_>>());
    for one in report["collectives"].as_array().unwrap() {
        assert!(one["mutants"].as_u64().unwrap() > sample * 3 / 4, "{one}");
        assert_eq!((&one["escaped"], &one["false_alarms"]), (&Value::from(0), &Value::from(0)), "{one}");
        assert!(one["all"][0]["description"].as_str().unwrap().contains("; then "), "{one}");
    }
}

// ---- at run time

/// A ring without a proof: it serves what was checked when it was compiled.
#[derive(Collective, Clone, Copy)]
#[collective(allgather)]
#[check(p <= 6)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct NobodyProved;

fn gather<C: roundel::IsAllgather + Copy + Sync>(collective: C, p: usize) -> Vec<Result<Vec<usize>, Error>> {
    threads::run(p, |comm| {
        let mut all = vec![usize::MAX; p];
        collective.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    })
}

#[test]
fn unproved_calls_are_refused_unless_asked_for() {
    let all = |p: usize| vec![Ok((0..p).collect::<Vec<_>>()); p];
    assert_eq!(gather(NobodyProved, 6), all(6));
    for result in gather(NobodyProved, 7) {
        let error = result.unwrap_err();
        let Error::OutsideDomain { name, refusal: Refusal::Unproved { range, outside, command } } = &error else {
            panic!("{error}")
        };
        assert_eq!((name.as_str(), *range, outside.as_slice()), ("NobodyProved", "p <= 6", &[("p", 7)][..]));
        assert_eq!(command.as_deref(), Some("roundel prove verify/tests/proofs/prove.rs -p 1..=7"));
        assert!(error.to_string().contains("p <= 6") && error.to_string().contains(".unproved()"), "{error}");
    }
    assert_eq!(gather(NobodyProved.unproved(), 7), all(7));
}

/// Wrong from nine ranks on, where the first node is smaller than the last. The check of the derive examines every
/// division of up to eight ranks.
#[derive(Collective, Clone, Copy)]
#[collective(allgather)]
#[check(p <= 16)]
#[round(s in 1..if p >= 9 && node_size(0) < node_size(nodes - 1) { p - 1 } else { p })]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Uneven;

#[test]
fn divisions_of_ranks_that_were_not_checked_are_refused() {
    let gather = |sizes: &[usize]| {
        let placement = threads::Placement::of_sizes(sizes);
        threads::run_placed(&placement, |comm| {
            let mut all = vec![usize::MAX; comm.size()];
            Uneven.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
        })
    };
    for sizes in [&[4, 5][..], &[1, 8], &[2, 3, 6], &[1, 2, 9]] {
        for result in gather(sizes) {
            let refused = matches!(&result, Err(Error::OutsideDomain { refusal: Refusal::Placement { .. }, .. }));
            assert!(refused, "{sizes:?}: {result:?}");
        }
    }
    for sizes in [&[3, 5][..], &[5, 4], &[3, 3, 3], &[1, 2, 4, 1]] {
        let p = sizes.iter().sum();
        assert_eq!(gather(sizes), vec![Ok((0..p).collect::<Vec<_>>()); p], "{sizes:?}");
    }
}

/// Proved for few steps: the refusal of more steps names the parameter and the command.
#[derive(Collective, Clone)]
#[collective(allgather, step: 1.., ports: list(1..))]
#[check(p <= 6, step <= 3, len(ports) <= 2, ports <= 2)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct FewSteps {
    step: i64,
    ports: Vec<i64>,
}

/// The command of a refusal.
fn extends(collective: FewSteps, p: i64) -> (Vec<(&'static str, i64)>, Option<String>) {
    match collective.proved(&roundel_spec::Place::flat(0, p)) {
        Err(Refusal::Unproved { outside, command, .. }) => (outside, command),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_names_what_is_outside_and_a_command_that_extends_it() {
    let few = FewSteps { step: 1, ports: vec![] };
    let (outside, command) = extends(FewSteps { step: 5, ..few.clone() }, 6);
    assert_eq!(outside, [("step", 5)]);
    let command = command.unwrap();
    let options = "-p 1..=6 --set step=1..=5 --set 'len(ports)=0..=2' --set ports=1..=2";
    assert_eq!(command, format!("roundel prove verify/tests/proofs/prove.rs {options}"));
    let (outside, command) = extends(FewSteps { step: 1, ports: vec![1, 4, 1] }, 9);
    assert_eq!(outside, [("p", 9), ("len(ports)", 3), ("ports", 4)]);
    assert!(command.unwrap().ends_with("-p 1..=9 --set step=1..=3 --set 'len(ports)=0..=3' --set ports=1..=4"));
    let (_, command) = extends(few.clone(), 1 << 20);
    assert!(command.unwrap().contains("--require-all-p"));
    // The command proves what the refusal asks for.
    let source = "#[derive(Collective)]\n#[collective(allgather, step: 1.., ports: list(1..))]\n\
                  #[check(p <= 6, step <= 3, len(ports) <= 2, ports <= 2)]\n#[round(s in 0..p - 1)]\n\
                  #[send(to = rank + 1, blocks = [rank - s])]\n#[recv(from = rank - 1, blocks = [rank - 1 - s])]\n\
                  struct FewSteps { step: i64, ports: Vec<i64> }\n";
    let folder = TempDir::new().unwrap();
    let (file, record) = (folder.path().join("few.rs"), folder.path().join("record.json"));
    std::fs::write(&file, source).unwrap();
    let options: Vec<&str> = options.split(' ').map(|option| option.trim_matches('\'')).collect();
    let engine = ["--engine", "exhaustive", "--record", text(&record)];
    ends_with(0, &[&["prove", text(&file)], &engine[..], &options].concat());
    let record: Value = serde_json::from_str(&std::fs::read_to_string(&record).unwrap()).unwrap();
    assert_eq!((&record["range"]["numbers"][0], &record["range"]["p"]), (&Value::from(5), &Value::from(6)));
}
