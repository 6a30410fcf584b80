//! The MPIs that tests run on: the builds for each, its compilers, its launcher.
//!
//! `ROUNDEL_MPI_NAME` names the directory with the builds for an MPI, and `ROUNDEL_MPI_NAME_BIN` that of its compilers
//! and its launcher, if these are not Debian's. `tests/tools/build-mpi.sh` builds and prints both settings. Without
//! them there is nothing to run, and a line says so.

use crate::job::WRITTEN;
use std::ffi::OsString;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One MPI.
pub(crate) struct Mpi {
    pub(crate) name: &'static str,
    /// The suffix of Debian's compilers; also part of file names.
    pub(crate) id: &'static str,
    options: &'static [&'static str],
    /// With more ranks than processors, waiting ranks must yield. This MPI does not do so by itself.
    shim: bool,
}

/// Debian's Open MPI 4.1.
pub(crate) const OPEN_MPI: Mpi = Mpi {
    name: "Open MPI",
    id: "openmpi",
    options: &["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
    shim: false,
};

/// Debian's MPICH 4.0.
pub(crate) const MPICH: Mpi = Mpi { name: "MPICH", id: "mpich", options: &[], shim: true };

/// Open MPI 5, from a Python wheel, for `tests/run.sh --all`.
pub(crate) const OPEN_MPI_5: Mpi = Mpi {
    name: "Open MPI 5",
    id: "openmpi5",
    options: &["--map-by", ":OVERSUBSCRIBE", "--mca", "mpi_yield_when_idle", "1"],
    shim: false,
};

/// MPICH 5, likewise.
pub(crate) const MPICH_5: Mpi = Mpi { name: "MPICH 5", id: "mpich5", options: &[], shim: false };

/// The ABI of MPI 5, which MPICH 5 also has.
pub(crate) const MPI_5_ABI: Mpi = Mpi { name: "the ABI of MPI 5", id: "mpich5abi", options: &[], shim: false };

impl Mpi {
    /// The directory of the builds for this MPI; without one, prints what is skipped.
    pub(crate) fn built(&self, what: &str) -> Option<PathBuf> {
        let built = self.setting("").map(PathBuf::from);
        if built.is_none() {
            say(&format!("{} is not set: {what} on {} is not tested", self.variable(), self.name));
        }
        built
    }

    /// A compiler or the launcher of this MPI.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        match self.setting("_BIN") {
            Some(directory) => Path::new(&directory).join(name),
            None => format!("{name}.{}", self.id).into(),
        }
    }

    /// Whether it has such a compiler. Python wheels have none for Fortran.
    #[allow(dead_code)] // Some tests that share this file have no Fortran.
    pub(crate) fn has(&self, tool: &str) -> bool {
        let found =
            Command::new(self.tool(tool)).arg("--version").output().is_ok_and(|output| output.status.success());
        let may_be_absent = self.setting("_BIN").is_some() || std::env::var_os("ROUNDEL_REQUIRE").is_none();
        assert!(found || may_be_absent, "there is no {}", self.tool(tool).display());
        if !found {
            say(&format!("no {}: what needs it is not tested", self.tool(tool).display()));
        }
        found
    }

    /// The launcher, which may oversubscribe processors. The program follows.
    pub(crate) fn launcher(&self) -> Command {
        let mut command = Command::new(self.tool("mpirun"));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").args(self.options);
        if self.loses_output() {
            static JOBS: AtomicUsize = AtomicUsize::new(0);
            let name = format!("written-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
            command.env(WRITTEN, Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        }
        command
    }

    /// The command that runs the program of a rank.
    pub(crate) fn rank(&self) -> &'static [&'static str] {
        if self.loses_output() { &["sh", "-c", "exec \"$@\" >>\"$ROUNDEL_TEST_WRITTEN\" 2>&1", "sh"] } else { &[] }
    }

    /// MPICH's launcher loses unread output when a rank aborts, so ranks write to a file.
    fn loses_output(&self) -> bool {
        self.id.starts_with("mpich")
    }

    /// MPICH 5.0's library for the ABI of MPI 5 frees an invalid pointer in programs with many requests, also without
    /// Roundel.
    #[allow(dead_code)] // Some tests that share this file have no requests.
    pub(crate) fn requests_crash(&self) -> bool {
        self.id == MPI_5_ABI.id
    }

    /// The library that every rank must load before MPI.
    pub(crate) fn shim(&self) -> Option<&'static Path> {
        self.shim.then(yieldshim)
    }

    fn variable(&self) -> String {
        format!("ROUNDEL_MPI_{}", self.id.to_uppercase())
    }

    fn setting(&self, end: &str) -> Option<OsString> {
        std::env::var_os(format!("{}{end}", self.variable()))
    }
}

/// Prints a line even if the test passes, when `println!` is silent. A failure to print is ignored.
pub(crate) fn say(what: &str) {
    let _ = writeln!(stderr(), "{what}");
}

/// Whether slow tests are requested, too, as by `tests/run.sh --all`.
#[allow(dead_code)] // Some tests that share this file are never slow.
pub(crate) fn everything() -> bool {
    is_set("ROUNDEL_ALL")
}

/// Whether a quick run is requested, as by `tests/run.sh --quick`.
#[allow(dead_code)] // As above.
pub(crate) fn a_glance() -> bool {
    is_set("ROUNDEL_QUICK")
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value == "1")
}

/// A library that makes MPICH's ranks yield, built once by each process.
fn yieldshim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/yieldshim.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(concat!(env!("CARGO_CRATE_NAME"), "-yieldshim.so"));
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(cc.status().is_ok_and(|status| status.success()), "cannot build {}", library.display());
        library
    })
}
