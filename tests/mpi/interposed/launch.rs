//! Jobs under the launcher of an MPI, with or without the interposing library.

use crate::job::{LIMIT, Run, run};
use crate::mpi::{Mpi, say};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The time limit of jobs that are not part of every test run.
const LONG: Duration = Duration::from_secs(600);

/// One algorithm for each collective, all of which serve any number of ranks.
const EVERYTHING: &str = "allgather:ring;allreduce:ring;reduce_scatter:pairwise;alltoall:pairwise;broadcast:binomial;\
                          reduce:binomial;gather:binomial;scatter:binomial";

/// The library of a crate with a collective of its own.
const OWN: &str = "libcyclic_shift_preload.so";

/// Shared memory for each collective.
pub(crate) const SHARED: &str = "allgather:shared-memory;allreduce:shared-memory;reduce_scatter:shared-memory;\
                      alltoall:shared-memory;broadcast:shared-memory;reduce:shared-memory;gather:shared-memory;\
                      scatter:shared-memory";

/// Memory that ranks read from each other, for each collective that only moves data.
const FETCHED: &str = "allgather:kernel-copy;alltoall:kernel-copy;broadcast:kernel-copy;gather:kernel-copy;\
                       scatter:kernel-copy";

/// The settings of a job besides its program.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// Whether the library is loaded before MPI.
    pub(crate) interposed: bool,
    /// The MPI that the library was built for, if not this one.
    pub(crate) of: Option<&'static Mpi>,
    /// Whether it is that of `examples/cyclic-shift`, with a collective of its own.
    pub(crate) own: bool,
    /// A library that is loaded before it.
    pub(crate) before: Option<PathBuf>,
    /// Variables of all ranks.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// A variable of the last rank only.
    pub(crate) last: Option<(&'static str, String)>,
    /// A program that runs the program, with its options.
    pub(crate) under: Vec<String>,
    /// Whether it may take long.
    pub(crate) long: bool,
}

impl Settings {
    /// With the library before MPI, as for a user: on one node, most calls run in shared memory.
    pub(crate) fn usual() -> Self {
        Settings { interposed: true, ..Settings::default() }
    }

    /// The same, but the catalogue serves whatever it can.
    pub(crate) fn served() -> Self {
        Settings::usual().with("ROUNDEL_PREFER", "catalogue")
    }

    /// The same, with a library that has a collective of its own.
    pub(crate) fn own() -> Self {
        Settings { own: true, ..Settings::served() }
    }

    /// Roundel does all collectives, even where the library is faster.
    pub(crate) fn forced() -> Self {
        Settings::served().with("ROUNDEL_FORCE", EVERYTHING)
    }

    /// Whatever can run in the node's shared memory does.
    pub(crate) fn shared() -> Self {
        Settings::usual().with("ROUNDEL_FORCE", SHARED)
    }

    /// Ranks read each other's memory wherever data is only moved.
    pub(crate) fn fetched() -> Self {
        Settings::usual().with("ROUNDEL_FORCE", FETCHED)
    }

    fn limit(&self) -> Duration {
        if self.long { LONG } else { LIMIT }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.into()));
        self
    }
}

impl Mpi {
    /// The interposing library; if there is none, prints why the tests are skipped.
    pub(crate) fn library(&self) -> Option<PathBuf> {
        let library = self.built("interposition")?.join("libroundel_pmpi.so");
        let required = std::env::var_os("ROUNDEL_REQUIRE").is_some_and(|value| value == "1");
        assert!(
            library.exists() || !required,
            "{} does not exist: build it with tests/tools/build-mpi.sh",
            library.display()
        );
        if !library.exists() {
            say(&format!("{} does not exist: interposition is not tested on {}", library.display(), self.name));
            return None;
        }
        Some(library)
    }

    /// Runs a program on `p` ranks to its end, or to the end of its time.
    pub(crate) fn run(&self, p: usize, settings: &Settings, program: &Path, args: &[&str]) -> Run {
        let variables: String = settings.variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let what = format!("{} with {p} ranks: {variables}{} {}", self.name, program.display(), args.join(" "));
        run(what, self.command(p, settings, program, args), settings.limit() + Duration::from_secs(10))
    }

    fn command(&self, p: usize, settings: &Settings, program: &Path, args: &[&str]) -> Command {
        let mut command = self.launcher();
        match &settings.last {
            None => self.ranks(&mut command, p, settings, None, program, args),
            Some(last) => {
                self.ranks(&mut command, p - 1, settings, None, program, args);
                command.arg(":");
                self.ranks(&mut command, 1, settings, Some(last), program, args);
            }
        }
        command
    }

    /// `p` ranks; `env` sets variables, because launchers have different options for that.
    fn ranks(
        &self,
        command: &mut Command,
        p: usize,
        settings: &Settings,
        more: Option<&(&'static str, String)>,
        program: &Path,
        args: &[&str],
    ) {
        command.args(["-n", &p.to_string()]).args(self.rank());
        command.args(["timeout", "--kill-after=5", &settings.limit().as_secs().to_string(), "env"]);
        command.args(settings.variables.iter().chain(more).map(|(name, value)| format!("{name}={value}")));
        let library = settings.interposed.then(|| settings.of.unwrap_or(self).library()).flatten();
        let library = library.map(|path| if settings.own { path.with_file_name(OWN) } else { path });
        let loaded: Vec<String> = self
            .shim()
            .map(Path::to_owned)
            .into_iter()
            .chain(settings.before.clone())
            .chain(library)
            .map(shown)
            .collect();
        if !loaded.is_empty() {
            command.arg(format!("LD_PRELOAD={}", loaded.join(":")));
        }
        command.args(&settings.under).arg(program).args(args);
    }
}

fn shown(path: PathBuf) -> String {
    path.display().to_string()
}
