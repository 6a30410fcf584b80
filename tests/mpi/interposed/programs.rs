//! The C and Fortran programs, compiled once for each MPI.

use crate::job::run;
use crate::mpi::Mpi;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// The program that reads cases.
pub(crate) fn interposed(mpi: &Mpi) -> PathBuf {
    let directory = sources().join("c/interposed");
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    compile(mpi, "mpicc", "interposed", &files)
}

/// A program of one file of C.
pub(crate) fn c(mpi: &Mpi, name: &str) -> PathBuf {
    compile(mpi, "mpicc", name, &[sources().join(format!("c/{name}.c"))])
}

/// The stand-in for a GPU runtime, with the functions of that runtime and the beginning of its library's name.
pub(crate) fn device_runtime(whose: &str, name: &str) -> PathBuf {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.so.1"));
    let made = library.with_extension(std::process::id().to_string());
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-O1", "-g", "-shared", "-fPIC"]).arg(format!("-D{whose}")).arg("-o");
    cc.arg(&made).arg(sources().join("c/device_runtime.c"));
    assert!(cc.status().is_ok_and(|status| status.success()), "cannot build {}", library.display());
    std::fs::rename(&made, &library).unwrap_or_else(|error| panic!("{}: {error}", made.display()));
    library
}

/// A library that stands before the C library's function that reads another process.
pub(crate) fn unreadable() -> PathBuf {
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unreadable.so");
    let made = library.with_extension(std::process::id().to_string());
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o"]).arg(&made);
    cc.arg(sources().join("c/unreadable.c"));
    assert!(cc.status().is_ok_and(|status| status.success()), "cannot build {}", library.display());
    std::fs::rename(&made, &library).unwrap_or_else(|error| panic!("{}: {error}", made.display()));
    library
}

/// A program of one file of Fortran.
pub(crate) fn fortran(mpi: &Mpi, file: &str) -> PathBuf {
    compile(mpi, "mpifort", &file.replace('.', "_"), &[sources().join("fortran").join(file)])
}

/// Whether a program was compiled after everything in the folders of its sources, and after this test, which has the
/// options of the compiler. Every test is a process of its own, and most use the same programs.
fn is_current(program: &Path, files: &[PathBuf]) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    let folders = files.iter().filter_map(|file| file.parent()?.read_dir().ok());
    let beside = folders.flatten().filter_map(|entry| changed(&entry.ok()?.path()));
    let test = std::env::current_exe().ok().and_then(|path| changed(&path));
    let newest: Option<SystemTime> = beside.chain(test).max();
    newest.zip(changed(program)).is_some_and(|(newest, compiled)| newest < compiled)
}

fn sources() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn compile(mpi: &Mpi, compiler: &str, name: &str, files: &[PathBuf]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", mpi.id));
    if is_current(&program, files) {
        return program;
    }
    let mut command = Command::new(mpi.tool(compiler));
    // With MPICH's header, the compiler takes MPI_STATUSES_IGNORE for an array that is too short.
    command.args([
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-stringop-overflow",
        "-Wno-stringop-overread",
        "-g",
        "-O1",
        "-pthread",
    ]);
    if compiler == "mpifort" {
        // `use mpi` accepts buffers of any type.
        command.args(["-Wno-error", "-fallow-argument-mismatch", "-J", env!("CARGO_TARGET_TMPDIR")]);
    } else {
        command.arg("-std=gnu11");
    }
    // Tests run in parallel: one must not overwrite a program that another runs.
    let made = program.with_extension(std::process::id().to_string());
    command.arg("-o").arg(&made).args(files).arg("-ldl");
    let run = run(format!("{compiler} of {} for {name}", mpi.name), command, Duration::from_secs(120));
    assert!(run.ended_with(0), "{}", run.output());
    std::fs::rename(&made, &program).unwrap_or_else(|error| panic!("{}: {error}", made.display()));
    program
}
