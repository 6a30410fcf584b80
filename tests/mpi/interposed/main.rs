//! Unmodified C and Fortran programs with `libroundel_pmpi.so` loaded before MPI, on each MPI that was built for.
//!
//! The programs compare what MPI_ gives with what PMPI_ gives. Cases are random; the seed is printed, `ROUNDEL_SEED`
//! sets it, and a list that fails is made shorter.

mod abi;
mod alltoallv;
mod barrier;
mod cases;
mod cluster;
mod device;
mod faults;
mod forced;
mod identical;
#[path = "../job.rs"]
mod job;
mod launch;
#[path = "../mpi.rs"]
mod mpi;
mod own;
mod programs;
mod repeated;
mod soak;
mod spawn;
mod tutorial;
mod valgrind;
mod wrong;

use cases::{Line, lines};
use forced::Forced;
use job::Run;
use launch::Settings;
use mpi::{MPICH, MPICH_5, Mpi, OPEN_MPI, OPEN_MPI_5, everything, say};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use roundel_spec::Kind;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The minimum number of cases with each forced algorithm, and with each number of ranks without one.
fn forced_cases() -> usize {
    if everything() { 160 } else { 50 }
}
fn free_cases() -> usize {
    if everything() { 400 } else { 200 }
}

#[test]
fn random_cases_on_open_mpi() {
    random_cases(&OPEN_MPI);
}

#[test]
fn random_cases_on_mpich() {
    random_cases(&MPICH);
}

#[test]
fn random_cases_on_open_mpi_5() {
    random_cases(&OPEN_MPI_5);
}

#[test]
fn random_cases_on_mpich_5() {
    random_cases(&MPICH_5);
}

fn random_cases(mpi: &Mpi) {
    if mpi.library().is_none() {
        return;
    }
    let campaign = Campaign::new(mpi);
    for p in 1..=9 {
        campaign.run(p, free_cases(), None, &Settings::served());
    }
    campaign.run(5, free_cases(), Some(Kind::Allreduce), &Settings::served().with("ROUNDEL_REPRODUCIBLE", "1"));
    // By default the library does many requests on one node. MPICH's own persistent calls, and its all-to-alls in place
    // with data before their address, are wrong even without Roundel.
    if mpi.id.starts_with("openmpi") {
        campaign.run(4, free_cases(), None, &Settings::usual());
    }
}

#[test]
fn shared_memory_on_open_mpi() {
    in_shared_memory(&OPEN_MPI);
}

#[test]
fn shared_memory_on_mpich() {
    in_shared_memory(&MPICH);
}

/// Random calls of each kind, which run in shared memory in all their forms. On MPICH only blocking ones do; the others
/// go to the library, where they are wrong even without Roundel.
fn in_shared_memory(mpi: &Mpi) {
    if mpi.library().is_none() {
        return;
    }
    let mut campaign = Campaign::new(mpi);
    campaign.blocking = mpi.id.starts_with("mpich");
    let reads = faults::ranks_read_each_other(mpi);
    let paths = |kind: Kind| match reads && !kind.reduces() {
        true => &["shared-memory", "kernel-copy"][..],
        false => &["shared-memory"],
    };
    for (i, (kind, &name)) in
        Kind::ALL.iter().flat_map(|&kind| paths(kind).iter().map(move |p| (kind, p))).enumerate()
    {
        let text = format!("{kind}:{name}");
        campaign.force(2 + i % 6, &Forced { name, kind, text, ranks: Vec::new() });
    }
}

#[test]
fn every_algorithm_on_open_mpi() {
    every_algorithm(&OPEN_MPI);
}

#[test]
fn every_algorithm_on_mpich() {
    every_algorithm(&MPICH);
}

#[test]
fn every_algorithm_on_open_mpi_5() {
    every_algorithm(&OPEN_MPI_5);
}

#[test]
fn every_algorithm_on_mpich_5() {
    every_algorithm(&MPICH_5);
}

/// Each one is forced, and must have run; on one of the MPIs, unless everything is requested.
fn every_algorithm(mpi: &Mpi) {
    if mpi.library().is_none() {
        return;
    }
    let campaign = Campaign::new(mpi);
    let own = |i: usize| everything() || (mpi.id == MPICH.id) == (i % 2 == 1);
    for (i, forced) in forced::all().iter().enumerate().filter(|&(i, _)| own(i)) {
        let Some(&p) = forced.ranks.iter().rev().cycle().nth(i).filter(|_| !forced.ranks.is_empty()) else {
            say(&format!("{} serves no number of ranks on one node up to 9", forced.text));
            continue;
        };
        campaign.force(p, forced);
    }
}

/// Jobs of one test, with a seed for all of them.
struct Campaign<'a> {
    mpi: &'a Mpi,
    program: PathBuf,
    seed: u64,
    /// The number of cases so far.
    cases: Cell<usize>,
    /// Whether all of them are blocking calls.
    blocking: bool,
}

impl Drop for Campaign<'_> {
    fn drop(&mut self) {
        say(&format!("{}: {} cases", self.mpi.name, self.cases.get()));
    }
}

impl<'a> Campaign<'a> {
    fn new(mpi: &'a Mpi) -> Self {
        let given = std::env::var("ROUNDEL_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let seed = given.unwrap_or(now);
        say(&format!("{}: ROUNDEL_SEED={seed} gives these cases again", mpi.name));
        Campaign { mpi, program: programs::interposed(mpi), seed, cases: Cell::new(0), blocking: false }
    }

    fn force(&self, p: usize, forced: &Forced) {
        self.force_with(Settings::served(), p, forced);
    }

    fn force_with(&self, settings: Settings, p: usize, forced: &Forced) {
        let settings = settings.with("ROUNDEL_FORCE", &forced.text).with("ROUNDEL_EXPLAIN", "1");
        let output = self.run(p, forced_cases(), Some(forced.kind), &settings);
        let ran =
            output.lines().any(|line| line.contains("roundel: ") && line.contains(&format!(": {}", forced.name)));
        assert!(ran, "{} with {p} ranks: {} never ran\n{output}", self.mpi.name, forced.text);
    }

    /// Runs random lists until there were enough cases, and shrinks one that fails. Returns the output of the runs.
    fn run(&self, p: usize, enough: usize, mostly: Option<Kind>, settings: &Settings) -> String {
        let config = Config {
            cases: 1,
            max_shrink_iters: 150,
            max_shrink_time: 240_000,
            failure_persistence: None,
            ..Config::default()
        };
        let (output, count) = (RefCell::new(String::new()), Cell::new(0));
        for round in 0.. {
            if count.get() >= enough {
                break;
            }
            let mut runner = TestRunner::new_with_rng(config.clone(), self.random(p, mostly, round));
            let result = runner.run(&lines(enough, mostly), |list| {
                let list = if self.blocking { list.iter().map(blocking).collect() } else { list };
                let run = self.launch(p, &list, settings);
                output.borrow_mut().push_str(run.output());
                count.set(count.get() + list.len());
                if run.went_well() { Ok(()) } else { Err(TestCaseError::fail(run.report())) }
            });
            match result {
                Ok(()) => {}
                Err(TestError::Fail(why, list)) => panic!("these cases fail:\n{}\n{why}", list.join("\n")),
                Err(error) => panic!("{error}"),
            }
        }
        self.cases.set(self.cases.get() + count.get());
        output.into_inner()
    }

    fn random(&self, p: usize, mostly: Option<Kind>, round: u8) -> TestRng {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8] = p as u8;
        bytes[9] = mostly.map_or(0, |kind| 1 + kind as u8);
        bytes[10] = round;
        TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
    }

    fn launch(&self, p: usize, list: &[Line], settings: &Settings) -> Run {
        let file = write_cases(self.mpi, list);
        self.mpi.run(p, settings, &self.program, &[&file.display().to_string(), "--expect-served"])
    }
}

/// The blocking form of a call.
fn blocking(line: &Line) -> Line {
    line.replace("form=nonblocking", "form=blocking").replace("form=persistent", "form=blocking")
}

/// A list of random cases.
fn random_list(mpi: &Mpi, many: usize) -> Vec<Line> {
    let mut runner = TestRunner::new_with_rng(Config::default(), Campaign::new(mpi).random(0, None, 0));
    let list = prop::collection::vec(cases::line(None), many);
    list.new_tree(&mut runner).unwrap_or_else(|why| panic!("{why}")).current()
}

/// Lists of cases as a file; each thread has its own.
fn write_cases(mpi: &Mpi, list: &[Line]) -> PathBuf {
    let thread = std::thread::current().name().unwrap_or("cases").replace("::", "-");
    let name = format!("{thread}-{}-{}.txt", mpi.id, std::process::id());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text: String = list.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
    file
}
