//! How programs are launched with one MPI, with the interposing library before it or not.

use crate::job::{Run, run};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// One MPI.
pub(crate) struct Mpi {
    pub(crate) name: &'static str,
    /// How its compilers' names end.
    pub(crate) suffix: &'static str,
    variable: &'static str,
    options: &'static [&'static str],
    /// With more ranks than processors, ranks that wait must give way.
    shim: bool,
}

pub(crate) const OPEN_MPI: Mpi = Mpi {
    name: "Open MPI",
    suffix: "openmpi",
    variable: "ROUNDEL_MPI_OPENMPI",
    options: &["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
    shim: false,
};

pub(crate) const MPICH: Mpi =
    Mpi { name: "MPICH", suffix: "mpich", variable: "ROUNDEL_MPI_MPICH", options: &[], shim: true };

/// What a job gets beside its program.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// Whether the library is loaded before MPI.
    pub(crate) interposed: bool,
    /// Variables of all ranks.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// A variable of the last rank alone.
    pub(crate) last: Option<(&'static str, String)>,
    /// A program that runs the program, with its options.
    pub(crate) under: Vec<String>,
}

impl Settings {
    pub(crate) fn served() -> Self {
        Settings { interposed: true, ..Settings::default() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.into()));
        self
    }
}

impl Mpi {
    /// The interposing library; says why the tests are skipped where there is none.
    pub(crate) fn library(&self) -> Option<PathBuf> {
        let Some(directory) = std::env::var_os(self.variable) else {
            say(&format!("{} is not set: interposition is not tested on {}", self.variable, self.name));
            return None;
        };
        let library = Path::new(&directory).join("libroundel_pmpi.so");
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
        run(what, self.command(p, settings, program, args), LIMIT + Duration::from_secs(10))
    }

    fn command(&self, p: usize, settings: &Settings, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(format!("mpirun.{}", self.suffix));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").args(self.options);
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

    /// `p` ranks; variables are set by `env`, because launchers do not agree about how.
    fn ranks(
        &self,
        command: &mut Command,
        p: usize,
        settings: &Settings,
        more: Option<&(&'static str, String)>,
        program: &Path,
        args: &[&str],
    ) {
        command.args(["-n", &p.to_string(), "timeout", "--kill-after=5", &LIMIT.as_secs().to_string(), "env"]);
        command.args(settings.variables.iter().chain(more).map(|(name, value)| format!("{name}={value}")));
        let library = settings.interposed.then(|| self.library()).flatten();
        let loaded: Vec<String> =
            self.shim.then(|| yieldshim().to_owned()).into_iter().chain(library).map(shown).collect();
        if !loaded.is_empty() {
            command.arg(format!("LD_PRELOAD={}", loaded.join(":")));
        }
        command.args(&settings.under).arg(program).args(args);
    }
}

fn shown(path: PathBuf) -> String {
    path.display().to_string()
}

/// Says something also when the test passes, where `println!` is silent; a test that cannot say so still passes.
pub(crate) fn say(what: &str) {
    let _ = writeln!(stderr(), "{what}");
}

/// A library that makes MPICH's ranks give way, built once.
fn yieldshim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/yieldshim.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interposed-yieldshim.so");
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(cc.status().is_ok_and(|status| status.success()), "cannot build {}", library.display());
        library
    })
}
