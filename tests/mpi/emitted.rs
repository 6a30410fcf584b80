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
        let code =
            emit_c(&schedule, Some(Path::new(algorithms::CRATE_ROOT))).unwrap_or_else(|error| panic!("{error}"));
        for nodes in Nodes::of(&schedule) {
            let program = compile(mpi, compiler, entry, &schedule, &nodes, &code);
            for (args, numbers) in calls(&schedule) {
                for p in RANKS {
                    let how = if served(entry, &args, &nodes.placement(p)) { "run" } else { "refused" };
                    let words: Vec<&str> = std::iter::once(how).chain(numbers.iter().map(String::as_str)).collect();
                    mpi.run(p, &program, &words).succeeds();
                }
            }
        }
    }
}

/// Which ranks share a node: one machine is a cluster of any shape.
#[derive(Clone, Copy)]
enum Nodes {
    /// All of them.
    One,
    /// Two follow each other.
    Pairs,
    /// They are dealt out to three nodes in turn: with more than three ranks the numbering by node is another one.
    Dealt,
}

impl Nodes {
    fn of(schedule: &Schedule) -> Vec<Nodes> {
        if schedule.uses_placement() { vec![Nodes::One, Nodes::Pairs, Nodes::Dealt] } else { vec![Nodes::One] }
    }

    fn placement(self, p: usize) -> Placement {
        match self {
            Nodes::One => Placement::consecutive(p, p),
            Nodes::Pairs => Placement::consecutive(p, 2),
            Nodes::Dealt => Placement::from_nodes((0..p).map(|rank| rank % 3).collect()),
        }
    }

    /// What the file is told of nodes, and for how many ranks reductions are in their order.
    fn definitions(self) -> (&'static str, &'static str) {
        match self {
            Nodes::One => ("-DROUNDEL_NODE(rank)=((rank)-(rank))", "1"),
            Nodes::Pairs => ("-DROUNDEL_NODE(rank)=((rank)/2)", "1"),
            Nodes::Dealt => ("-DROUNDEL_NODE(rank)=((rank)%3)", "(p<=3)"),
        }
    }
}

/// Parameters, and what of them the command line of a driver says: all but the root, of which it takes every one.
fn calls(schedule: &Schedule) -> Vec<(Arguments, Vec<String>)> {
    let mut seen = BTreeSet::new();
    let points = Points::new(schedule, 1..=1).thinned(COMBINATIONS);
    let calls = points.iter().map(|point| {
        let mut args: Arguments = point.args;
        let root = schedule.numbers.iter().position(|number| schedule.kind.has_root() && number.var.name == ROOT);
        root.into_iter().for_each(|i| args.numbers[i] = 0);
        let others = args.numbers.iter().enumerate().filter(|(i, _)| Some(*i) != root).map(|(_, number)| number);
        let words = others.chain(args.lists.iter().flatten()).map(i64::to_string).collect();
        (args, words)
    });
    calls.filter(|(_, words): &(Arguments, Vec<String>)| seen.insert(words.clone())).collect()
}

fn served(entry: &Entry, args: &Arguments, placement: &Placement) -> bool {
    record(entry, args, placement).is_ok_and(|answer| answer.is_ok()) && proved(entry, args, placement).is_ok()
}

/// The file with the driver of its kind.
fn compile(mpi: &Mpi, compiler: &str, entry: &Entry, schedule: &Schedule, nodes: &Nodes, code: &str) -> PathBuf {
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let stem = format!("emitted-{}-{}", entry.name.replace('/', "-"), mpi.variable.to_lowercase());
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (directory.join(format!("{stem}.c")), directory.join(stem));
    std::fs::write(&source, code).unwrap_or_else(|error| panic!("cannot write {}: {error}", source.display()));
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]).arg("-I").arg(&drivers);
    command.args(definitions(schedule, *nodes, code)).arg("-o").arg(&program).arg(&source);
    command.arg(drivers.join("driver.c")).arg(drivers.join(format!("{}.c", schedule.kind)));
    let what = format!("{compiler} for {}", entry.name);
    let run = run(what, command, LIMIT + Duration::from_secs(20));
    assert!(run.ended_with(0), "{}", run.output());
    program
}

/// What the driver must know of the file: its functions, the parameters of the algorithm, whether it keeps the order of ranks.
fn definitions(schedule: &Schedule, nodes: Nodes, code: &str) -> Vec<String> {
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
    let of =
        |inner: &roundel_spec::schedule::Inner| inner.schedule.as_ref().is_some_and(|inner| inner.order.rank_order);
    let (place, sorted) = nodes.definitions();
    let ordered = if schedule.order.rank_order && schedule.inners.iter().all(of) { sorted } else { "0" };
    vec![
        place.into(),
        format!("-DCALL={call}"),
        format!("-DCALLV={other}"),
        format!("-DTYPES={types}"),
        format!("-DVALUES={values}"),
        format!("-DORDERED={ordered}"),
    ]
}
