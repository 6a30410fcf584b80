//! Emitted C on real MPI: every file is compiled with a driver of its kind and compared with MPI's own function.

use super::job::run;
use super::{LIMIT, Mpi, say};
use roundel::algorithms::{self, Entry, catalogue};
use roundel_spec::check::Points;
use roundel_spec::schedule::{ROOT, Schedule};
use roundel_spec::{Arguments, Placement};
use roundel_verify::catalogue::{proved, record};
use roundel_verify::emit::emit_c;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RANKS: [usize; 5] = [1, 2, 3, 5, 8];

/// So many combinations of parameters of each algorithm.
const COMBINATIONS: u64 = 3;

#[test]
fn emitted_c_on_open_mpi() {
    all_files(&Mpi::OPEN_MPI, "mpicc.openmpi");
}

#[test]
fn emitted_c_on_mpich() {
    all_files(&Mpi::MPICH, "mpicc.mpich");
}

fn all_files(mpi: &Mpi, compiler: &str) {
    if mpi.programs().is_none() {
        return say(&format!("{} is not set: emitted C on {} is not tested", mpi.variable, mpi.name));
    }
    for entry in catalogue() {
        let schedule = (entry.schedule)();
        let Ok(code) = emit_c(&schedule, Some(Path::new(algorithms::CRATE_ROOT))) else { continue };
        let program = compile(mpi, compiler, entry, &schedule, &code);
        for (args, numbers) in calls(&schedule) {
            for p in RANKS {
                let how = if served(entry, &args, p) { "run" } else { "refused" };
                let words: Vec<&str> = std::iter::once(how).chain(numbers.iter().map(String::as_str)).collect();
                mpi.run(p, &program, &words).succeeds();
            }
        }
    }
}

/// Parameters, and what of them the command line of a driver says: all but the root, of which it takes every one.
fn calls(schedule: &Schedule) -> Vec<(Arguments, Vec<String>)> {
    let mut seen = BTreeSet::new();
    let points = Points::new(schedule, 1..=1).thinned(COMBINATIONS);
    let calls = points.iter().map(|point| {
        let mut args = point.args;
        let root = schedule.numbers.iter().position(|number| schedule.kind.has_root() && number.var.name == ROOT);
        root.into_iter().for_each(|i| args.numbers[i] = 0);
        let others = args.numbers.iter().enumerate().filter(|(i, _)| Some(*i) != root).map(|(_, number)| number);
        let words = others.chain(args.lists.iter().flatten()).map(i64::to_string).collect();
        (args, words)
    });
    calls.filter(|(_, words): &(Arguments, Vec<String>)| seen.insert(words.clone())).collect()
}

fn served(entry: &Entry, args: &Arguments, p: usize) -> bool {
    let placement = Placement::consecutive(p, p);
    record(entry, args, &placement).is_ok_and(|answer| answer.is_ok()) && proved(entry, args, &placement).is_ok()
}

/// The file with the driver of its kind.
fn compile(mpi: &Mpi, compiler: &str, entry: &Entry, schedule: &Schedule, code: &str) -> PathBuf {
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let stem = format!("emitted-{}-{}", entry.name.replace('/', "-"), mpi.variable.to_lowercase());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (directory.join(format!("{stem}.c")), directory.join(stem));
    std::fs::write(&source, code).unwrap_or_else(|error| panic!("cannot write {}: {error}", source.display()));
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]).arg("-I").arg(&drivers);
    command.args(definitions(schedule, code)).arg("-o").arg(&program).arg(&source);
    command.arg(drivers.join("driver.c")).arg(drivers.join(format!("{}.c", schedule.kind)));
    let what = format!("{compiler} for {}", entry.name);
    let run = run(what, command, LIMIT + Duration::from_secs(20));
    assert!(run.ended_with(0), "{}", run.output());
    program
}

/// What the driver must know of the file: its functions, the parameters of the algorithm, whether it keeps the order of ranks.
fn definitions(schedule: &Schedule, code: &str) -> Vec<String> {
    let lines = code.lines().filter_map(|line| line.strip_prefix("int "));
    let mut calls = lines.filter(|line| line.starts_with("roundel_")).filter_map(|line| line.split('(').next());
    let (call, other) = (calls.next().unwrap_or_default(), calls.next().unwrap_or_default());
    let numbers = schedule.numbers.iter().filter(|number| !(schedule.kind.has_root() && number.var.name == ROOT));
    let numbers = numbers.count();
    let (mut types, mut values) = (", int".repeat(numbers), String::new());
    (0..numbers).for_each(|i| values += &format!(", number[{i}]"));
    for _ in &schedule.lists {
        types += ", const int *, int";
        values += &format!(", number + {numbers}, numbers - {numbers}");
    }
    let ordered = i32::from(schedule.order.rank_order);
    vec![
        format!("-DCALL={call}"),
        format!("-DCALLV={other}"),
        format!("-DTYPES={types}"),
        format!("-DVALUES={values}"),
        format!("-DORDERED={ordered}"),
    ]
}
