//! Emitted C on real MPI: every file is compiled with a driver of its kind and compared with MPI's own function.
//!
//! One program has all algorithms with all their parameters, and placements where they look at nodes, so that it is
//! launched once for each number of ranks.

use super::Suite;
use super::job::{LIMIT, run};
use super::mpi::{MPICH, MPICH_5, Mpi, OPEN_MPI, OPEN_MPI_5, everything};
use roundel::algorithms::{self, Entry, catalogue};
use roundel_spec::c::{Calls, EmittedFiles, FileOptions};
use roundel_spec::check::Points;
use roundel_spec::schedule::{Inner, Schedule};
use roundel_spec::{Arguments, Placement};
use roundel_verify::catalogue::{proved, record};
use roundel_verify::emit::emit_c;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RANKS: [usize; 5] = [1, 2, 3, 5, 8];

/// The number of combinations of parameters of each algorithm.
const COMBINATIONS: u64 = 3;

/// One algorithm of every kind, without parameters: they are also called with large counts, where MPI has them.
const LARGE: [&str; 8] = [
    "allgather/sparbit",
    "allreduce/recursive-doubling",
    "reduce-scatter/pairwise",
    "broadcast/binomial",
    "reduce/binomial",
    "gather/binomial",
    "scatter/binomial",
    "alltoall/pairwise",
];

/// In these tests, a file without a proof record is proved for this many ranks.
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

#[test]
fn plans_of_emitted_c_on_open_mpi() {
    plans(&OPEN_MPI);
}

#[test]
fn plans_of_emitted_c_on_mpich() {
    plans(&MPICH);
}

/// What plans keep, and for how long; macros instead of MPI's calls; headers compiled alone.
fn plans(mpi: &Mpi) {
    if mpi.built("plans of emitted C").is_none() {
        return;
    }
    let directory = directory_of("emitted-plans", mpi);
    let write = |stem: &str, name: &str, calls: Calls| {
        let options = FileOptions { calls, header: Some(format!("{stem}.h")), source: String::new() };
        let files = files(&(find(name).schedule)(), Some(Path::new(algorithms::CRATE_ROOT)), &options);
        write_file(&directory.join(format!("{stem}.h")), &files.header);
        write_file(&directory.join(format!("{stem}.c")), &files.code);
        directory.join(format!("{stem}.c"))
    };
    let kept = [
        write("sparbit", "allgather/sparbit", Calls::Mpi),
        write("bruck", "alltoall/modified-bruck", Calls::Mpi),
        write("allreduce", "allreduce/recursive-doubling", Calls::Mpi),
    ];
    write("macros", "allreduce/recursive-doubling", Calls::Macros);
    let wrapped = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free";
    let plans = compiled(mpi, &directory, "emitted_plans", &[&kept[0], &kept[1], &kept[2], Path::new(wrapped)]);
    let macros = compiled(mpi, &directory, "emitted_macros", &[]);
    for p in RANKS {
        mpi.run(p, &plans, &[]).succeeds();
        mpi.run(p, &macros, &[]).succeeds();
    }
    for (compiler, language) in [("mpicc", "c"), ("mpicxx", "c++")] {
        let mut command = Command::new(mpi.tool(compiler));
        // Open MPI's old C++ functions cause warnings.
        command.args(["-Wall", "-Wextra", "-Werror", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-fsyntax-only"]);
        let run = run(format!("a header as {language}"), with_header(command, language, &directory), LIMIT);
        assert!(run.ended_with(0), "{}", run.output());
    }
}

fn with_header(mut command: Command, language: &str, directory: &Path) -> Command {
    command.arg("-x").arg(language).arg(directory.join("sparbit.h"));
    command
}

/// A program of `c/`, with these files or options.
fn compiled(mpi: &Mpi, directory: &Path, name: &'static str, with: &[&Path]) -> Suite {
    let (drivers, program) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("c"), directory.join(name));
    let mut command = Command::new(mpi.tool("mpicc"));
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I"]).arg(&drivers);
    command.arg("-I").arg(directory).arg("-o").arg(&program).arg(drivers.join(format!("{name}.c"))).args(with);
    let run = run(format!("{name} for {}", mpi.name), command, LIMIT + Duration::from_secs(60));
    assert!(run.ended_with(0), "{}", run.output());
    Suite::alone(program, name)
}

fn directory_of(name: &str, mpi: &Mpi) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", mpi.id));
    std::fs::create_dir_all(&directory)
        .unwrap_or_else(|error| panic!("cannot make {}: {error}", directory.display()));
    directory
}

fn write_file(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
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
        let directory = directory_of("emitted", mpi);
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
        self.add_algorithm(i, &schedule, &emitted(i, &schedule, Some(Path::new(algorithms::CRATE_ROOT))));
        for nodes in Nodes::of(&schedule) {
            for (args, numbers) in calls(&schedule) {
                let served = |p: usize| served(entry, &args, &nodes.placement(p));
                self.add_case(&i.to_string(), entry.name, nodes, &numbers, &served);
            }
        }
        if LARGE.contains(&entry.name) {
            self.add_large(i, entry);
        }
    }

    /// An algorithm without a proof record: more ranks than were checked are refused.
    fn add_unproved(&mut self, i: usize) {
        let mut schedule = (find("allgather/sparbit").schedule)();
        schedule.name = "Checked".into();
        schedule.limits.p = CHECKED;
        self.add_algorithm(i, &schedule, &emitted(i, &schedule, None));
        self.add_case(&i.to_string(), "sparbit without a proof", Nodes::One, &[], &|p| p as i64 <= CHECKED);
    }

    /// The emitted file, and the driver of its kind for it.
    fn add_algorithm(&mut self, i: usize, schedule: &Schedule, files: &EmittedFiles) {
        write_file(&self.directory.join(format!("emitted_{i}.h")), &files.header);
        self.write(&format!("emitted_{i}.c"), &files.code);
        let driver = format!("#include \"{}.c\"\n", schedule.kind);
        let definitions = definitions(schedule, &files.header);
        self.add_driver(&i.to_string(), &(definitions + &driver));
    }

    /// The same driver for the functions with large counts, where MPI has them.
    fn add_large(&mut self, i: usize, entry: &Entry) {
        let (schedule, header) = ((entry.schedule)(), self.directory.join(format!("emitted_{i}.h")));
        let header = std::fs::read_to_string(header).unwrap_or_default();
        let large = "#include <mpi.h>\n#if MPI_VERSION >= 4\n#include \"large.h\"\n#endif\n";
        let driver = format!("#include \"{}.c\"\n", schedule.kind);
        self.add_driver(&format!("{i}_c"), &(definitions(&schedule, &header) + large + &driver));
        let served = |p: usize| served(entry, &calls(&schedule)[0].0, &Nodes::One.placement(p));
        self.add_case(&format!("{i}_c"), &format!("{} with large counts", entry.name), Nodes::One, &[], &served);
    }

    fn add_driver(&mut self, i: &str, text: &str) {
        let own = format!("#define suite suite_{i}\n#define refused refused_{i}\n");
        self.write(&format!("driver_{i}.c"), &(own + text));
        self.declared += &format!("void suite_{i}(MPI_Comm);\nint refused_{i}(MPI_Comm);\n");
    }

    fn add_case(&mut self, i: &str, name: &str, nodes: Nodes, numbers: &[String], served: &dyn Fn(usize) -> bool) {
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
        write_file(&path, code);
        self.files.push(path);
    }

    fn compile(mut self, compiler: &Path) -> PathBuf {
        let head = format!("#include \"driver.h\"\n\n{}\nconst test_case cases[] = {{\n", self.declared);
        let table = format!("{head}{}}};\nconst int cases_len = {};\n", self.table, self.cases);
        self.write("cases.c", &table);
        let (drivers, program) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("c"), self.directory.join("driver"));
        let mut command = Command::new(compiler);
        // With optimisation gcc warns of more, and compiles for twice as long: once is enough.
        let optimised = if compiler.ends_with("mpicc.mpich") && !everything() { "-O0" } else { "-O1" };
        command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", optimised]).arg("-I").arg(&drivers);
        command.arg("-include").arg(drivers.join("nodes.h")).arg("-o").arg(&program);
        command.args(&self.files).arg(drivers.join("driver.c"));
        let run = run(format!("{} for all algorithms", compiler.display()), command, LIMIT + Duration::from_secs(60));
        assert!(run.ended_with(0), "{}", run.output());
        program
    }
}

/// Which ranks share a node; `c/nodes.h` defines the same shapes.
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

/// Parameters, and the text of a case for them: all but the root, because a driver tries every root.
fn calls(schedule: &Schedule) -> Vec<(Arguments, Vec<String>)> {
    let mut seen = BTreeSet::new();
    let points = Points::new(schedule, 1..=1).thinned(COMBINATIONS);
    let calls = points.iter().map(|point| {
        let mut args: Arguments = point.args;
        let root = schedule.root_parameter();
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

fn emitted(i: usize, schedule: &Schedule, root: Option<&Path>) -> EmittedFiles {
    let header = Some(format!("emitted_{i}.h"));
    files(schedule, root, &FileOptions { calls: Calls::Mpi, header, source: String::new() })
}

fn files(schedule: &Schedule, root: Option<&Path>, options: &FileOptions) -> EmittedFiles {
    emit_c(schedule, root, options).unwrap_or_else(|error| panic!("{error}"))
}

/// What the driver must know about the file: its functions, the parameters of the algorithm, whether it keeps the order
/// of ranks.
fn definitions(schedule: &Schedule, header: &str) -> String {
    let lines = header.lines().filter_map(|line| line.strip_prefix("int roundel_"));
    let names = lines.filter_map(|line| line.split('(').next()).map(|name| format!("roundel_{name}"));
    // Those with large counts come after the others.
    let names: Vec<String> = names.collect();
    let (small, large) = names.split_at(names.len() / 2);
    let nth = |names: &[String], n: usize| names.get(n).cloned().unwrap_or_default();
    let (call, other) = (nth(small, 0), nth(small, 1));
    let numbers = schedule.numbers.len() - usize::from(schedule.root_parameter().is_some());
    let (mut types, mut values) = (", int".repeat(numbers), String::new());
    (0..numbers).for_each(|i| values += &format!(", number[{i}]"));
    for _ in &schedule.lists {
        types += ", const int *, int";
        values += &format!(", number + {numbers}, numbers - {numbers}");
    }
    let of =
        |inner: &Inner| !inner.kind.reduces() || inner.schedule.as_ref().is_some_and(|inner| inner.order.rank_order);
    let ordered = match schedule.order.rank_order && schedule.inners.iter().all(of) {
        true => "(shape != DEALT || p <= 3)",
        false => "0",
    };
    let flag = if other.is_empty() { "" } else { "#define HAS_CALLV\n" };
    let kind = format!("#define LARGE_{}\n", schedule.kind);
    let all = [
        ("CALL", call),
        ("CALLV", other),
        ("CALL_C", nth(large, 0)),
        ("CALLV_C", nth(large, 1)),
        ("TYPES", types),
        ("VALUES", values),
        ("ORDERED", ordered.into()),
    ];
    all.into_iter().map(|(name, value)| format!("#define {name} {value}\n")).chain([flag.into(), kind]).collect()
}
