//! Programs under valgrind: no leak and no invalid access has a function of Roundel on its stack.

use crate::faults::{on_each, some_cases};
use crate::job::Run;
use crate::launch::Settings;
use crate::mpi::{MPICH, Mpi, everything, say};
use crate::programs;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn random_calls_under_valgrind() {
    on_each_with_valgrind("calls", |mpi, under| {
        for settings in one_of(mpi, [Settings::shared(), Settings::served()]) {
            under(&settings, &|settings| some_cases(mpi, 2, settings, &["--expect-served"]));
        }
    });
}

#[test]
fn the_soak_program_under_valgrind() {
    on_each_with_valgrind("soak", |mpi, under| {
        let program = programs::c(mpi, "interposed_soak");
        for settings in one_of(mpi, [Settings::forced(), Settings::shared()]) {
            // Valgrind keeps freed memory for a while, so that the memory of the process says nothing.
            under(&settings, &|settings| mpi.run(2, settings, &program, &["60", "4", "20", "unmeasured"]));
        }
    });
}

/// The first of two settings on Open MPI and the second on MPICH; both if everything is requested.
fn one_of(mpi: &Mpi, settings: [Settings; 2]) -> impl Iterator<Item = Settings> {
    let own = usize::from(mpi.id == MPICH.id);
    settings.into_iter().enumerate().filter(move |(i, _)| everything() || *i == own).map(|(_, settings)| settings)
}

/// Runs a job with these settings.
type Job<'a> = &'a dyn Fn(&Settings) -> Run;

/// Gives a test a function that runs a job under valgrind and checks its reports.
fn on_each_with_valgrind(name: &str, test: impl Fn(&Mpi, &dyn Fn(&Settings, Job<'_>))) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return say("skipped: valgrind is not installed");
    }
    on_each(|mpi| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("valgrind-{name}-{}", mpi.id));
        test(mpi, &|settings, job| check_reports(mpi, &folder, settings, job));
    });
}

/// Each rank has its own file, because launchers mix the lines of ranks that write at the same time.
fn check_reports(mpi: &Mpi, folder: &Path, settings: &Settings, job: Job<'_>) {
    // The folder does not exist before the first run.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("a folder for reports");
    let log = format!("--log-file={}/%p", folder.display());
    let options =
        ["valgrind", "--leak-check=full", "--show-leak-kinds=definite,indirect", "--num-callers=40", log.as_str()];
    job(&Settings { under: options.map(String::from).into(), ..settings.clone() }).succeeds();
    let files: Vec<_> = fs::read_dir(folder).expect("the folder of reports").flatten().collect();
    assert!(files.len() >= 2, "{}: {} files of reports in {}", mpi.name, files.len(), folder.display());
    for file in files {
        let text = fs::read_to_string(file.path()).expect("a file of reports");
        assert!(text.contains("ERROR SUMMARY"), "{}: valgrind was ended before its summary:\n{text}", mpi.name);
        let ours: Vec<&str> = text.split("== \n").filter(|report| is_ours(report)).collect();
        assert!(ours.is_empty(), "{}: valgrind finds\n{}", mpi.name, ours.join("\n"));
    }
}

fn is_ours(report: &str) -> bool {
    let bad = ["definitely lost in", "Invalid ", "uninitialised"].iter().any(|what| report.contains(what));
    let frames: Vec<&str> = report.lines().filter(|line| line.contains("0x")).collect();
    bad && (0..frames.len()).any(|at| frames[at].contains("roundel") && !passes_on(&frames[..=at]))
}

/// Whether the last frame is, for example, Roundel's `MPI_Init` while it was in the library's `PMPI_Init`. That
/// function has no frame if it ends in a tail call.
fn passes_on(frames: &[&str]) -> bool {
    let [.., inner, entry] = frames else { return false };
    let function = |frame: &str| frame.split(": ").nth(1).and_then(|rest| rest.split(' ').next().map(str::to_owned));
    let (Some(name), Some(called)) = (function(entry), function(inner)) else { return false };
    let library = inner.contains("/libmpi") && (!called.starts_with("PMPI_") || called == format!("P{name}"));
    name.starts_with("MPI_") && library
}

#[test]
fn a_report_of_valgrind_is_ours_if_we_did_more_than_pass_the_call_on() {
    let report = |inner: &str, entry: &str| {
        format!(
            "==7== 9 bytes in 1 blocks are definitely lost in loss record 6 of 62\n\
             ==7==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)\n\
             ==7==    by 0x4CEFB7C: {inner}\n\
             ==7==    by 0x499E58D: {entry} (in /target/debug/libroundel_pmpi.so)\n\
             ==7==    by 0x10FABC: main (main.c:121)\n"
        )
    };
    assert!(!is_ours(&report("PMPI_Init (in /usr/lib/libmpi.so)", "MPI_Init")));
    assert!(!is_ours(&report("ompi_mpi_finalize (in /usr/lib/libmpi.so)", "MPI_Finalize")));
    assert!(is_ours(&report("PMPI_Comm_dup (in /usr/lib/libmpi.so)", "MPI_Init")));
    assert!(is_ours(&report("PMPI_Init (in /usr/lib/libmpi.so)", "roundel_pmpi::world::begin")));
    assert!(is_ours(&report("alloc::raw_vec::finish_grow (raw_vec.rs:9)", "MPI_Init")));
}
