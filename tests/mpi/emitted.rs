//! Emitted C on real MPI: every file is compiled with a driver of its kind and compared with MPI's own function.
//!
//! One program has all algorithms with all their parameters, and placements where they look at nodes, so that it is
//! launched once for each number of ranks.

use super::Suite;
use super::job::{LIMIT, run};
use super::mpi::{MPICH, MPICH_5, Mpi, OPEN_MPI, OPEN_MPI_5};
use roundel::algorithms::{self, Entry, catalogue};
use roundel_spec::check::Points;
use roundel_spec::schedule::{Inner, ROOT, Schedule};
use roundel_spec::{Arguments, Placement};
use roundel_verify::catalogue::{proved, record};
use roundel_verify::emit::emit_c;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RANKS: [usize; 5] = [1, 2, 3, 5, 8];

/// So many combinations of parameters of each algorithm.
const COMBINATIONS: u64 = 3;

/// So many ranks are proved of a file without a proof record, in these tests.
const CHECKED: i64 = 3;

#[test]
fn emitted_c_on_open_mpi() {
    all_files(&OPEN_MPI);
}

#[test]
fn emitted_c_on_mpich() {
    all_files(&MPICH);
}

#[test]
fn emitted_c_on_open_mpi_5() {
    all_files(&OPEN_MPI_5);
}

#[test]
fn emitted_c_on_mpich_5() {
    all_files(&MPICH_5);
}

fn all_files(mpi: &Mpi) {
    if mpi.built("emitted C").is_none() {
        return;
    }
    let program = Suite::alone(Sources::new(mpi).compile(&mpi.tool("mpicc")), "emitted C");
    for p in RANKS {
        mpi.run(p, &program, &[]).succeeds();
    }
}

/// The files of the program.
struct Sources {
    directory: PathBuf,
    files: Vec<PathBuf>,
    /// The table of cases, and the functions that it names.
    table: String,
    declared: String,
    cases: usize,
}

impl Sources {
    fn new(mpi: &Mpi) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("emitted-{}", mpi.id));
        std::fs::create_dir_all(&directory)
            .unwrap_or_else(|error| panic!("cannot make {}: {error}", directory.display()));
        let mut all =
            Sources { directory, files: Vec::new(), table: String::new(), declared: String::new(), cases: 0 };
        for (i, entry) in catalogue().iter().enumerate() {
            all.add_entry(i, entry);
        }
        all.add_unproved(catalogue().len());
        all
    }

    fn add_entry(&mut self, i: usize, entry: &Entry) {
        let schedule = (entry.schedule)();
        self.add_algorithm(i, &schedule, &emitted(&schedule, Some(Path::new(algorithms::CRATE_ROOT))));
        for nodes in Nodes::of(&schedule) {
            for (args, numbers) in calls(&schedule) {
                let served = |p: usize| served(entry, &args, &nodes.placement(p));
                self.add_case(i, entry.name, nodes, &numbers, &served);
            }
        }
    }

    /// An algorithm without a proof record: more ranks than were checked are refused.
    fn add_unproved(&mut self, i: usize) {
        let mut schedule = (find("allgather/sparbit").schedule)();
        schedule.name = "Checked".into();
        schedule.limits.p = CHECKED;
        self.add_algorithm(i, &schedule, &emitted(&schedule, None));
        self.add_case(i, "sparbit without a proof", Nodes::One, &[], &|p| p as i64 <= CHECKED);
    }

    /// The emitted file, and the driver of its kind for it.
    fn add_algorithm(&mut self, i: usize, schedule: &Schedule, code: &str) {
        self.write(&format!("emitted_{i}.c"), code);
        let driver = format!("#include \"{}.c\"\n", schedule.kind);
        let own = format!("#define suite suite_{i}\n#define refused refused_{i}\n");
        self.write(&format!("driver_{i}.c"), &(own + &definitions(schedule, code) + &driver));
        self.declared += &format!("void suite_{i}(MPI_Comm);\nint refused_{i}(MPI_Comm);\n");
    }

    fn add_case(&mut self, i: usize, name: &str, nodes: Nodes, numbers: &[String], served: &dyn Fn(usize) -> bool) {
        let served: usize = RANKS.iter().filter(|&&p| served(p)).map(|p| 1 << p).sum();
        let values = if numbers.is_empty() { "0".into() } else { numbers.join(", ") };
        let _ = writeln!(
            self.table,
            "    {{\"{name}\", suite_{i}, refused_{i}, {}, {served}, {{{values}}}, {}}},",
            nodes as usize,
            numbers.len()
        );
        self.cases += 1;
    }

    fn write(&mut self, name: &str, code: &str) {
        let path = self.directory.join(name);
        std::fs::write(&path, code).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        self.files.push(path);
    }

    fn compile(mut self, compiler: &Path) -> PathBuf {
        let head = format!("#include \"driver.h\"\n\n{}\nconst test_case cases[] = {{\n", self.declared);
        let table = format!("{head}{}}};\nconst int cases_len = {};\n", self.table, self.cases);
        self.write("cases.c", &table);
        let (drivers, program) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("c"), self.directory.join("driver"));
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]).arg("-I").arg(&drivers);
        command.arg("-include").arg(drivers.join("nodes.h")).arg("-o").arg(&program);
        command.args(&self.files).arg(drivers.join("driver.c"));
        let run = run(format!("{} for all algorithms", compiler.display()), command, LIMIT + Duration::from_secs(60));
        assert!(run.ended_with(0), "{}", run.output());
        program
    }
}

/// Which ranks share a node, as `c/nodes.h` has it.
#[derive(Clone, Copy)]
enum Nodes {
    One,
    Pairs,
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
}

/// Parameters, and what of them a case says: all but the root, of which a driver takes every one.
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

fn find(name: &str) -> &'static Entry {
    algorithms::find(name).unwrap_or_else(|unknown| panic!("{unknown}"))
}

fn emitted(schedule: &Schedule, root: Option<&Path>) -> String {
    emit_c(schedule, root).unwrap_or_else(|error| panic!("{error}"))
}

/// What the driver must know of the file: its functions, the parameters of the algorithm, whether it keeps the order of
/// ranks.
fn definitions(schedule: &Schedule, code: &str) -> String {
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
    let of = |inner: &Inner| inner.schedule.as_ref().is_some_and(|inner| inner.order.rank_order);
    let ordered = match schedule.order.rank_order && schedule.inners.iter().all(of) {
        true => "(shape != DEALT || p <= 3)",
        false => "0",
    };
    let all = [("CALL", call), ("CALLV", other), ("TYPES", &types), ("VALUES", &values), ("ORDERED", ordered)];
    let flag = if other.is_empty() { "" } else { "#define HAS_CALLV\n" };
    all.into_iter().map(|(name, value)| format!("#define {name} {value}\n")).chain([flag.into()]).collect()
}
