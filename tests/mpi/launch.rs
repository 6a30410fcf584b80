//! Runs the MPI programs under `mpirun`, on each MPI that was built for.
//!
//! `ROUNDEL_MPI_OPENMPI` and `ROUNDEL_MPI_MPICH` name the directories of the built programs; `tests/tools/build-mpi.sh`
//! builds them and prints the settings. Without them there is nothing to run, and a line says so. A run that does not
//! end in time is a failure: the program itself is under `timeout`, and what is left of the job is killed.

use std::io::{Read, Write, stderr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(120);
const RANKS: [usize; 8] = [1, 2, 3, 5, 7, 8, 12, 16];

#[test]
fn programs_on_open_mpi() {
    all_programs(&Mpi::OPEN_MPI);
}

#[test]
fn programs_on_mpich() {
    all_programs(&Mpi::MPICH);
}

fn all_programs(mpi: &Mpi) {
    let Some(programs) = mpi.programs() else {
        // Not with `println!`, which is silent when a test passes; and a test that cannot say so still passes.
        let _ = writeln!(stderr(), "{} is not set: tests on {} are skipped", mpi.variable, mpi.name);
        return;
    };
    let suite = programs.join("allgather_suite");
    for p in RANKS {
        mpi.run(p, &suite, &[]).succeeds();
    }
    mpi.run(3, &suite, &["--multiple"]).succeeds();
    for p in [2, 5] {
        mpi.run(p, &suite, &["--disagree"]).succeeds();
    }
    mpi.run(2, &suite, &["--panic"]).fails_with("a collective panicked");
    let reductions = programs.join("reduction_suite");
    for p in RANKS {
        mpi.run(p, &reductions, &[]).succeeds();
    }
    let nodes = programs.join("node_suite");
    for p in RANKS {
        mpi.run(p, &nodes, &[]).succeeds();
    }
    mpi.run(3, &reductions, &["--panic"]).fails_with("the operation of a reduction panicked");
    mpi.run(2, &suite, &["--stray"]).fails_with("the schedule names a block outside the buffer");
}

/// How to launch programs with one MPI.
struct Mpi {
    name: &'static str,
    variable: &'static str,
    launcher: &'static str,
    options: &'static [&'static str],
    /// With more ranks than processors, ranks that wait must give way.
    shim: bool,
}

impl Mpi {
    const OPEN_MPI: Mpi = Mpi {
        name: "Open MPI",
        variable: "ROUNDEL_MPI_OPENMPI",
        launcher: "mpirun.openmpi",
        options: &["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
        shim: false,
    };
    const MPICH: Mpi =
        Mpi { name: "MPICH", variable: "ROUNDEL_MPI_MPICH", launcher: "mpirun.mpich", options: &[], shim: true };

    /// The directory of the built programs.
    fn programs(&self) -> Option<PathBuf> {
        std::env::var_os(self.variable).map(PathBuf::from)
    }

    /// Runs a program on `p` ranks to its end, or to the end of its time. One at a time: jobs would only slow each
    /// other down.
    fn run(&self, p: usize, program: &Path, args: &[&str]) -> Run {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let what = format!("{} with {p} ranks: {} {}", self.name, program.display(), args.join(" "));
        let begin = Instant::now();
        let (status, output) = finish(self.command(p, program, args), LIMIT + Duration::from_secs(20));
        println!("{what}: {:.1} s", begin.elapsed().as_secs_f64());
        Run { what, status, output }
    }

    fn command(&self, p: usize, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(self.launcher);
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        if args.contains(&"--disagree") {
            // Open MPI 4.1 writes past the end of a receive buffer that is too short, unless this is off.
            command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        }
        if self.shim {
            command.env("LD_PRELOAD", yieldshim());
        }
        command.args(self.options).args(["-n", &p.to_string()]);
        command.args(["timeout", "--kill-after=5", &LIMIT.as_secs().to_string()]).arg(program).args(args);
        command
    }
}

/// A library that makes MPICH's ranks give way, built once.
fn yieldshim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/yieldshim.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("yieldshim.so");
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(cc.status().is_ok_and(|status| status.success()), "cannot build {}", library.display());
        library
    })
}

/// Runs a command with all its output in one text; no status when it had to be killed.
fn finish(mut command: Command, limit: Duration) -> (Option<ExitStatus>, String) {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => panic!("cannot run {command:?}: {error}"),
    };
    let readers = [child.stdout.take().map(read), child.stderr.take().map(read)];
    let status = wait(&mut child, limit);
    if status.is_none() {
        kill(&mut child);
    }
    let texts = readers.into_iter().flatten().filter_map(|reader| reader.join().ok());
    (status, texts.collect())
}

/// Reads in the background, so that the job never waits for us.
fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth having.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// Ends the launcher, which ends its ranks; then whatever is left of its process group.
fn kill(child: &mut Child) {
    for (signal, patience) in [("-TERM", 5), ("-KILL", 5)] {
        // The group may be gone already.
        let _ = Command::new("kill").args([signal, "--", &format!("-{}", child.id())]).status();
        if wait(child, Duration::from_secs(patience)).is_some() {
            return;
        }
    }
}

/// A job that ended.
struct Run {
    what: String,
    /// None when its time was over.
    status: Option<ExitStatus>,
    output: String,
}

impl Run {
    fn succeeds(&self) {
        assert!(self.status.is_some_and(|status| status.success()), "{}", self.report());
        assert!(self.output.contains("all as expected"), "{}", self.report());
    }

    fn fails_with(&self, text: &str) {
        let failed = self.status.is_some_and(|status| !status.success() && status.code() != Some(124));
        assert!(failed && self.output.contains(text), "{}, expected a failure with `{text}`", self.report());
    }

    fn report(&self) -> String {
        let end = match self.status {
            Some(status) => status.to_string(),
            None => format!("did not end within {} s", LIMIT.as_secs()),
        };
        format!("{}: {end}\n{}", self.what, self.output)
    }
}
