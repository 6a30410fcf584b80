//! Emitted C does what the generated Rust code does.
//!
//! The harness of a file, compiled with `-DROUNDEL_RECORD`, prints the messages of every rank, without MPI. They are
//! compared with what the Rust code hands to a recorder: the same messages in the same rounds, with the same blocks in
//! the same order.

use roundel::algorithms::{self, Entry, catalogue};
use roundel_spec::Direction;
use roundel_spec::c::{Calls, EmittedFiles, FileOptions};
use roundel_spec::check::{self, Point, Points};
use roundel_spec::record::{Message, RankLog};
use roundel_spec::schedule::CombineSide;
use roundel_spec::{Action, Arguments, Kind, Placement, Schedule, Trace};
use roundel_verify::catalogue::record;
use roundel_verify::emit::emit_c;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The largest p, and the largest for all-to-alls, which have p^2 blocks.
const LAST: usize = 40;
const LAST_ALLTOALL: usize = 20;

/// The number of combinations of parameters of each algorithm.
const COMBINATIONS: u64 = 12;

#[test]
fn emitted_c_does_what_generated_rust_does() {
    for entry in catalogue() {
        let schedule = (entry.schedule)();
        let program = compile(entry.name, &emitted(&schedule));
        if schedule.uses_placement() {
            on_nodes(entry, &schedule, &program);
            continue;
        }
        let last = if schedule.kind.moves() { LAST_ALLTOALL } else { LAST };
        for args in combinations(&schedule) {
            let (found, expected) = (recorded(&program, last, &args), expected(entry, last, &args));
            assert!(found == expected, "{} with {args:?}: {}", entry.name, first_difference(&found, &expected));
        }
    }
}

/// A reverse runs its loops from the last round to the first, with states that are declared forwards.
#[test]
fn emitted_c_runs_backwards_like_the_schedule() {
    for (name, kind) in [
        ("allgather/neighbor-exchange", Kind::ReduceScatter),
        ("allgather/k-bruck", Kind::ReduceScatter),
        ("allgather/sparbit", Kind::ReduceScatter),
        ("broadcast/binomial", Kind::Reduce),
        ("scatter/binomial", Kind::Gather),
        ("alltoall/modified-bruck", Kind::Alltoall),
    ] {
        let reverse = (find(name).schedule)().reversed(kind, CombineSide::Right);
        let program = compile(&format!("reverse-{name}"), &emitted(&reverse));
        for args in combinations(&reverse) {
            let found = recorded(&program, LAST_ALLTOALL, &args);
            let mut expected = String::new();
            for p in 1..=LAST_ALLTOALL {
                let point = Point { placement: Placement::consecutive(p, p), args: args.clone() };
                match check::in_domain(&reverse, &point) {
                    Ok(true) => {
                        let trace = check::record_schedule(&reverse, &point);
                        write_trace(&trace.unwrap_or_else(|fault| panic!("{name}: {fault}")), &mut expected);
                    }
                    _ => expected += &format!("p {p} refused\n"),
                }
            }
            assert!(found == expected, "{name} with {args:?}: {}", first_difference(&found, &expected));
        }
    }
}

/// Nodes of all sizes, with few ranks, and some of many.
fn on_nodes(entry: &Entry, schedule: &Schedule, program: &Path) {
    let few = (1..=7).flat_map(compositions).collect::<Vec<_>>();
    let many = [
        vec![2; 8],
        vec![4; 5],
        vec![3, 3, 3, 3, 3, 2],
        vec![1; 9],
        vec![2, 3, 2, 3, 2],
        vec![1, 2, 1, 4],
        vec![5, 1, 5],
    ];
    for sizes in few.into_iter().chain(many) {
        let words: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let (args, placement) = (inner_arguments(schedule), Placement::of_sizes(&sizes));
        let (found, mut expected) = (printed(program, &[words.join(",")]), String::new());
        write_recorded(entry, &args, &placement, &mut expected);
        assert!(found == expected, "{} on {sizes:?}: {}", entry.name, first_difference(&found, &expected));
    }
}

/// All ways to divide p ranks among nodes.
fn compositions(p: usize) -> Vec<Vec<usize>> {
    if p == 0 {
        return vec![vec![]];
    }
    let with_first = |first: usize| compositions(p - first).into_iter().map(move |rest| [vec![first], rest].concat());
    (1..=p).flat_map(with_first).collect()
}

fn inner_arguments(schedule: &Schedule) -> Arguments {
    Arguments { inner: vec![Arguments::default(); schedule.inners.len()], ..Arguments::default() }
}

/// The test above must be able to fail.
#[test]
fn a_wrong_file_is_noticed() {
    let (entry, last) = (find("allgather/sparbit"), LAST);
    let right = emitted(&(entry.schedule)());
    let expected = expected(entry, last, &Arguments::default());
    let changes = [
        ("rank - 2 * j * sparbit_d(D)", "rank - 4 * j * sparbit_d(D)"),
        ("rdl_wrap(rank + sparbit_d(D), p)", "rdl_wrap(rank + D, p)"),
        ("D = rdl_div(D, 2);", "D = D - 1;"),
        ("if (p < 1)", "if (p < 3)"),
    ];
    for (i, (from, to)) in changes.into_iter().enumerate() {
        let program = compile(&format!("wrong/{i}"), &changed(&right, from, to));
        assert!(recorded(&program, last, &Arguments::default()) != expected, "{to} was not noticed");
    }
}

/// Outside its domain, a file refuses the call.
#[test]
fn a_file_refuses_what_its_domain_does_not_have() {
    let entry = find("allgather/neighbor-exchange");
    let program = compile("refusing", &emitted(&(entry.schedule)()));
    let found = recorded(&program, 5, &Arguments::default());
    let refused = |p: usize| found.contains(&format!("p {p} refused\n"));
    assert_eq!([1, 2, 3, 4, 5].map(refused), [true, false, true, false, true]);
}

/// Executes the assertions for CBMC call by call for all p <= 16, and checks that faults are refuted.
#[test]
fn what_cbmc_is_asked_is_true() {
    let holds = |program: &Path| Command::new(program).output().is_ok_and(|output| output.status.success());
    for entry in catalogue() {
        assert!(holds(&compile_as("CBMC", entry.name, &emitted(&(entry.schedule)()))), "{}", entry.name);
    }
    for (i, wrong) in WRONG.iter().enumerate() {
        assert!(!holds(&compile_as("CBMC", &format!("wrong/{i}"), &wrong.files())), "{} was not refuted", wrong.to);
    }
}

/// With nodes larger than every p, nothing would be tried and the proof would be empty, so such a program does not
/// compile.
#[test]
fn cbmc_is_not_asked_about_nodes_that_nothing_has() {
    let code = emitted(&(find("allgather/multi-lane").schedule)());
    let source = written("emitted-nodes", &code);
    let answer = |size: i32| {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-fsyntax-only", "-DROUNDEL_FIRST=3", "-DROUNDEL_LAST=5"]);
        let output = cc.arg(format!("-DROUNDEL_NODE={size}")).arg(&source).output();
        output.map(|output| (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    for size in [-1, 0, 1, 3, 4] {
        let (compiles, said) = answer(size).unwrap_or_else(|error| panic!("cannot run cc: {error}"));
        assert_eq!(compiles, [1, 3].contains(&size), "nodes of {size}: {said}");
        assert!(compiles || said.contains("ROUNDEL_NODE is at least 1 and at most ROUNDEL_FIRST"), "{said}");
    }
}

/// A change of an emitted file that makes it wrong.
struct Wrong {
    name: &'static str,
    from: &'static str,
    to: &'static str,
}

const fn wrong(name: &'static str, from: &'static str, to: &'static str) -> Wrong {
    Wrong { name, from, to }
}

const WRONG: &[Wrong] = &[
    // The rank itself; another peer, whose own peers are unchanged; another block; one block too few, on both sides.
    wrong("allgather/sparbit", "rdl_wrap(rank + sparbit_d(D), p)", "rdl_wrap(rank + D - D, p)"),
    wrong("allgather/sparbit", "rdl_wrap(rank + sparbit_d(D), p)", "rdl_wrap(rank + D, p)"),
    wrong("allgather/sparbit", "rdl_wrap(rank - sparbit_d(D), p)", "rdl_wrap(rank + sparbit_d(D), p)"),
    wrong("allgather/sparbit", "(2 * j + 1)", "(2 * j)"),
    wrong("allgather/sparbit", "j_end = sparbit_n(p, D); j <", "j_end = sparbit_n(p, D) - 1; j <"),
    // A block that is no longer held; a block that arrives twice; swapped operands; a round too few.
    wrong("alltoall/pairwise", "rdl_pair(rank, ", "rdl_pair(rank + 1, "),
    wrong("allreduce/ring", "0, RDL_LEFT, 0);", "0, RDL_OVERWRITE, 0);"),
    wrong("allreduce/recursive-doubling", "0, RDL_LEFT, 0);", "0, RDL_RIGHT, 0);"),
    wrong("allreduce/ring", "s_end = p - 1;", "s_end = p - 2;"),
];

impl Wrong {
    fn files(&self) -> EmittedFiles {
        changed(&emitted(&(find(self.name).schedule)()), self.from, self.to)
    }
}

/// The same with CBMC itself, if it is installed; only CBMC detects overflows and accesses out of bounds.
#[test]
fn cbmc_refutes_what_is_wrong() {
    if !Command::new(cbmc()).arg("--version").output().is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "skipped: CBMC is not installed");
        return;
    }
    let sparbit = emitted(&(find("allgather/sparbit").schedule)());
    assert_eq!(asked("right", &sparbit), Some(0));
    let beyond = [
        ("rdl_wrap(rank + sparbit_d(D), p)", "rdl_wrap(rank + INT64_MAX, p)"),
        ("run->blocks[run->blocks_len++]", "run->blocks[run->blocks_room + run->blocks_len++]"),
    ];
    let overflows = beyond.into_iter().map(|(from, to)| Wrong { name: "allgather/sparbit", from, to });
    // A third of the others, unless everything is requested: the stand-in for CBMC refutes all of them.
    let everything = std::env::var_os("ROUNDEL_ALL").is_some_and(|value| value == "1");
    let others = WRONG.iter().step_by(if everything { 1 } else { 3 });
    for (i, wrong) in overflows.collect::<Vec<_>>().iter().chain(others).enumerate() {
        assert_eq!(asked(&format!("wrong-{i}"), &wrong.files()), Some(10), "{} was not refuted", wrong.to);
    }
}

fn cbmc() -> String {
    std::env::var("CBMC").unwrap_or_else(|_| "cbmc".into())
}

/// The exit code of CBMC: 0 if it proves the file for four ranks, 10 if it refutes it.
fn asked(name: &str, files: &EmittedFiles) -> Option<i32> {
    let source = written(&format!("cbmc-{name}"), files);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/cbmc.sh");
    let mut command = Command::new(script);
    command.arg("--file").arg(&source).args(["4", "4"]).env("CBMC", cbmc());
    command.output().ok().and_then(|output| output.status.code())
}

fn find(name: &str) -> &'static Entry {
    algorithms::find(name).unwrap_or_else(|unknown| panic!("{unknown}"))
}

/// The placeholder for the name of the file that a harness includes, until it is written.
const SOURCE: &str = "@SOURCE@";

/// The files of a schedule.
fn emitted(schedule: &Schedule) -> EmittedFiles {
    let options = FileOptions { calls: Calls::Mpi, header: None, source: SOURCE.into() };
    emit_c(schedule, Some(Path::new(algorithms::CRATE_ROOT)), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The files with a change in the collective but not in its harness.
fn changed(files: &EmittedFiles, from: &str, to: &str) -> EmittedFiles {
    assert!(files.code.contains(from), "{from} is not in the file");
    EmittedFiles { code: files.code.replace(from, to), ..files.clone() }
}

/// Writes a file and its harness, and returns the path of the harness.
fn written(stem: &str, files: &EmittedFiles) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, harness) = (format!("{stem}.c"), directory.join(format!("{stem}-harness.c")));
    let texts =
        [(directory.join(&source), files.code.clone()), (harness.clone(), files.harness.replace(SOURCE, &source))];
    for (path, text) in texts {
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
    harness
}

fn combinations(schedule: &Schedule) -> Vec<Arguments> {
    Points::new(schedule, 1..=1).thinned(COMBINATIONS).iter().map(|point| point.args).collect()
}

/// A program that prints the messages of every rank.
fn compile(name: &str, files: &EmittedFiles) -> PathBuf {
    compile_as("RECORD", name, files)
}

/// Compiles a harness with `-DROUNDEL_…`.
fn compile_as(what: &str, name: &str, files: &EmittedFiles) -> PathBuf {
    let stem = format!("emitted-{what}-{}", name.replace('/', "-"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&stem);
    let source = written(&stem, files);
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-DROUNDEL_UNPROVED"]);
    let status = cc.arg(format!("-DROUNDEL_{what}")).arg("-o").arg(&program).arg(&source).status();
    assert!(status.is_ok_and(|status| status.success()), "cannot compile {}", source.display());
    program
}

/// What the program prints for all p up to the last.
fn recorded(program: &Path, last: usize, args: &Arguments) -> String {
    let numbers = args.numbers.iter().map(i64::to_string);
    let lists = args.lists.iter().map(|list| list.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    printed(program, &["1".into(), last.to_string()].into_iter().chain(numbers).chain(lists).collect::<Vec<_>>())
}

/// What the program prints, without silent rounds.
fn printed(program: &Path, words: &[String]) -> String {
    let output = Command::new(program).args(words).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {}: {error}", program.display()));
    assert!(output.status.success(), "{}: {}", program.display(), output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    let idle = |i: usize| lines[i] == "round" && lines.get(i + 1).is_none_or(|next| !is_message(next));
    (0..lines.len()).filter(|&i| !idle(i)).map(|i| format!("{}\n", lines[i])).collect()
}

fn is_message(line: &str) -> bool {
    line.starts_with("send") || line.starts_with("recv")
}

/// The same, from generated code.
fn expected(entry: &Entry, last: usize, args: &Arguments) -> String {
    let mut out = String::new();
    (1..=last).for_each(|p| write_recorded(entry, args, &Placement::consecutive(p, p), &mut out));
    out
}

fn write_recorded(entry: &Entry, args: &Arguments, placement: &Placement, out: &mut String) {
    let p = placement.p();
    let answer = record(entry, args, placement).unwrap_or_else(|error| panic!("{error}"));
    let Ok(trace) = answer else { return *out += &format!("p {p} refused\n") };
    write_trace(&trace, out);
}

fn write_trace(trace: &Trace, out: &mut String) {
    let p = trace.p();
    for (rank, log) in trace.ranks.iter().enumerate() {
        *out += &format!("p {p} rank {rank}\n");
        let rounds = (0..log.rounds()).map(|round| log.round(round)).filter(|messages| !messages.is_empty());
        rounds.for_each(|messages| *out += &round(log, messages));
    }
}

fn round(log: &RankLog, messages: &[Message]) -> String {
    let mut out = String::from("round\n");
    for message in messages {
        let verb = if message.direction == Direction::Send { "send" } else { "recv" };
        let (action, with) = match message.site.action {
            Action::Copy => (0, 0),
            Action::Replace => (1, 0),
            Action::Overwrite => (2, 0),
            Action::CombineLeft { with } => (3, with),
            Action::CombineRight { with } => (4, with),
        };
        let blocks: String = log.blocks(message).iter().map(|block| format!(" {block}")).collect();
        let _ =
            writeln!(out, "{verb} {} line {} action {action} with {with}:{blocks}", message.peer, message.site.line);
    }
    out
}

fn first_difference(found: &str, expected: &str) -> String {
    let mut place = "";
    for (found, expected) in found.lines().zip(expected.lines()) {
        if found != expected {
            return format!("after `{place}`, C has `{found}` and Rust has `{expected}`");
        }
        place = if found.starts_with('p') { found } else { place };
    }
    "one of the two ends earlier".into()
}
