//! Runs the MPI programs under `mpirun`, on each MPI that was built for.
//!
//! A run that does not end in time is a failure: the program itself runs under `timeout`, and the rest of the job is
//! killed.

mod cluster;
mod emitted;
mod job;
mod mpi;
mod trace;

use job::{LIMIT, Run, run};
use mpi::{MPICH, Mpi, OPEN_MPI, a_glance, everything};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The numbers of ranks for the suites that take longest: powers of two, odd and composite numbers; more with
/// `tests/run.sh --all`.
fn ranks(mpi: &Mpi) -> impl Iterator<Item = usize> {
    with(mpi, if everything() { &[1, 2, 3, 5, 7, 8, 12, 16] } else { &[1, 2, 3, 7, 8] })
}

/// These numbers of ranks, each on one of the MPIs unless everything is requested, because the code is the same; only
/// two and three for a quick run.
fn with(mpi: &Mpi, ranks: &'static [usize]) -> impl Iterator<Item = usize> {
    let is_mpich = mpi.id == MPICH.id;
    let numbered = ranks.iter().copied().enumerate();
    numbered.filter_map(move |(i, p)| match (everything(), a_glance()) {
        (true, _) => Some(p),
        (_, true) => [2, 3].contains(&p).then_some(p),
        _ => (is_mpich == (i % 2 == 1)).then_some(p),
    })
}

#[test]
fn programs_on_open_mpi() {
    all_programs(&OPEN_MPI);
}

#[test]
fn programs_on_mpich() {
    all_programs(&MPICH);
}

fn all_programs(mpi: &Mpi) {
    let Some(programs) = mpi.built("the suite of programs") else { return };
    let suite = Suite::new(&programs, "allgather");
    for p in ranks(mpi) {
        mpi.run(p, &suite, &[]).succeeds();
    }
    mpi.run(3, &suite, &["--multiple"]).succeeds();
    for p in with(mpi, &[2, 5]) {
        mpi.run(p, &suite, &["--disagree"]).succeeds();
    }
    mpi.run(2, &suite, &["--panic"]).fails_with("a collective panicked");
    let alltoalls = Suite::new(&programs, "alltoall");
    for p in with(mpi, if everything() { &[1, 2, 3, 4, 5, 6, 8, 13, 16] } else { &[1, 2, 3, 4, 5, 9] }) {
        mpi.run(p, &alltoalls, &[]).succeeds();
    }
    for p in with(mpi, &[2, 5]) {
        mpi.run(p, &alltoalls, &["--disagree"]).succeeds();
    }
    let reductions = Suite::new(&programs, "reduction");
    for p in ranks(mpi) {
        mpi.run(p, &reductions, &[]).succeeds();
    }
    let nodes = Suite::new(&programs, "node");
    for p in ranks(mpi) {
        mpi.run(p, &nodes, &[]).succeeds();
    }
    mpi.run(4, &nodes, &["--panic"]).fails_with("the operation of a reduction panicked");
    let profiles = Suite::new(&programs, "tune");
    for p in with(mpi, &[1, 2, 4]) {
        mpi.run(p, &profiles, &[]).succeeds();
    }
    let traces = Suite::new(&programs, "trace");
    for p in with(mpi, if everything() { &[1, 2, 3, 5, 8, 12] } else { &[1, 2, 3, 5, 8] }) {
        mpi.run(p, &traces, &[]).succeeds();
    }
    mpi.run(3, &traces, &["--altered"]).fails_with("the run differs from the schedule");
    let raw = Suite::new(&programs, "raw");
    for p in with(mpi, &[1, 2, 3, 5, 7]) {
        mpi.run(p, &raw, &[]).succeeds();
    }
    for p in with(mpi, &[4, 6, 8]) {
        trace::is_as_declared(mpi, p, &raw);
    }
    trace::cannot_be_written(mpi, &raw);
    let persistent = Suite::new(&programs, "persistent");
    for p in with(mpi, &[1, 2, 3, 4, 5, 8]) {
        mpi.run(p, &persistent, &[]).succeeds();
    }
    mpi.checked(3, &persistent).succeeds();
    let ruled = mpi.with(("ROUNDEL_FORCE", "allreduce:3(-1 -1) 3(1 1)"), 6, &persistent, &["--ruled"]);
    ruled.succeeds();
    let nothing = mpi.with(("ROUNDEL_FORCE", ""), 6, &persistent, &["--ruled"]);
    nothing.fails_with("and not 3(-1 -1) 3(1 1)");
    mpi.with(("ROUNDEL_REPRODUCIBLE", "1"), 3, &persistent, &["--reproducible"]).succeeds();
    mpi.run(3, &persistent, &["--reproducible"]).fails_with("prefixes are not the same tree");
    mpi.with(("ROUNDEL_FORCE", "nap"), 2, &persistent, &[]).fails_with("`nap` forces nothing");
    mpi.run(3, &persistent, &["--panic"]).fails_with("a rank panicked while a collective was running");
    mpi.run(3, &persistent, &["--die"]).fails_with("the last rank dies");
    let example = mpi.run(6, &Suite::alone(programs.join("cyclic-shift"), "cyclic-shift"), &["1,2"]);
    let right = example.output().matches("two calls of one request, as it should be").count();
    assert!(example.ended_with(0) && right == 6, "{}", example.report());
    mpi.run(3, &reductions, &["--panic"]).fails_with("the operation of a reduction panicked");
    mpi.run(2, &suite, &["--stray"]).fails_with("the schedule names a block outside the buffer");
}

/// A program for real MPI: one of the suites of `suites`, or a test's own program.
pub(crate) struct Suite {
    program: PathBuf,
    pub(crate) name: &'static str,
    /// Whether its name is the program's first argument.
    named: bool,
}

impl Suite {
    pub(crate) fn new(programs: &Path, name: &'static str) -> Self {
        Suite { program: programs.join("suites"), name, named: true }
    }

    /// A program that is a suite by itself.
    pub(crate) fn alone(program: PathBuf, name: &'static str) -> Self {
        Suite { program, name, named: false }
    }

    /// The program, and the name of the suite as its first argument if it has several.
    pub(crate) fn command(&self) -> impl Iterator<Item = &OsStr> {
        std::iter::once(self.program.as_os_str()).chain(self.named.then_some(self.name.as_ref()))
    }
}

/// Suites under the launcher of an MPI.
impl Mpi {
    /// Runs a suite on `p` ranks to its end, or to the end of its time.
    fn run(&self, p: usize, suite: &Suite, args: &[&str]) -> Run {
        let what = format!("{} with {p} ranks: {} {}", self.name, suite.name, args.join(" "));
        run(what, self.command(p, suite, args), LIMIT + Duration::from_secs(20))
    }

    /// The same, with plans and programs checked before they run.
    fn checked(&self, p: usize, suite: &Suite) -> Run {
        self.with(("ROUNDEL_VALIDATE", "1"), p, suite, &[])
    }

    /// The same as [`run`](Mpi::run), with a variable in the environment.
    fn with(&self, (name, value): (&str, &str), p: usize, suite: &Suite, args: &[&str]) -> Run {
        let what = format!("{} with {p} ranks, {name}={value}: {} {}", self.name, suite.name, args.join(" "));
        let mut command = self.command(p, suite, args);
        command.env(name, value);
        run(what, command, LIMIT + Duration::from_secs(20))
    }

    /// The same as [`run`](Mpi::run), with `ROUNDEL_TRACE` set.
    fn traced(&self, p: usize, suite: &Suite, args: &[&str], file: &Path) -> Run {
        let what = format!("{} with {p} ranks, traced: {} {}", self.name, suite.name, args.join(" "));
        let mut command = self.command(p, suite, args);
        command.env("ROUNDEL_TRACE", file);
        run(what, command, LIMIT + Duration::from_secs(20))
    }

    fn command(&self, p: usize, suite: &Suite, args: &[&str]) -> Command {
        let mut command = self.launcher();
        if args.contains(&"--disagree") {
            // Unless this is off, Open MPI 4.1 writes past the end of a receive buffer that is too short.
            command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        }
        if let Some(shim) = self.shim() {
            command.env("LD_PRELOAD", shim);
        }
        command.args(["-n", &p.to_string()]).args(self.rank());
        command.args(["timeout", "--kill-after=5", &LIMIT.as_secs().to_string()]).args(suite.command()).args(args);
        command
    }
}
