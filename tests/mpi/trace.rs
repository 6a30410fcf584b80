//! Jobs with `ROUNDEL_TRACE` set follow the schedule, according to `roundel trace diff`.

use super::{Mpi, Suite};
use roundel::algorithms::catalogue;
use roundel_verify::replay::trace::diff::{TraceReport, Who, diff};
use roundel_verify::replay::trace::file::{Done, TracedTime, What};
use roundel_verify::replay::trace::job::Job;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty folder for the files of a job.
fn folder(mpi: &Mpi, p: usize) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trace-{}-{p}", mpi.id));
    // It need not exist.
    let _ = fs::remove_dir_all(&folder);
    assert!(fs::create_dir_all(&folder).is_ok(), "cannot make {}", folder.display());
    folder
}

fn report(file: &Path) -> TraceReport {
    match Job::read(&[file.to_path_buf()]) {
        Ok(job) => diff(&job),
        Err(error) => panic!("{error}"),
    }
}

/// A suite that calls every algorithm does what is declared, and a changed file is detected.
pub(crate) fn is_as_declared(mpi: &Mpi, p: usize, suite: &Suite) {
    let folder = folder(mpi, p);
    let file = folder.join("run");
    mpi.traced(p, suite, &[], &file).succeeds();
    let all = report(&file);
    assert!(all.is_fine(), "{} with {p} ranks: {all:?}", mpi.name);
    let seen: BTreeSet<&str> = all.rows.iter().filter_map(algorithm).collect();
    // With a power of two, which is in all domains.
    assert!(p != 8 || seen.len() == catalogue().len(), "only these were traced: {seen:?}");
    assert!(all.rows.iter().any(|row| matches!(row.who, Who::Library { .. })), "nothing was left to the library");
    have_times(&file);
    change_a_message(&folder.join("run.1"));
    assert_eq!(report(&file).rows.iter().map(|row| row.differences.len()).sum::<usize>(), 2);
    assert!(fs::remove_file(folder.join("run.0")).is_ok());
    assert!(report(&file).missing.into_iter().eq([0]));
}

fn algorithm(row: &roundel_verify::replay::trace::diff::TraceRow) -> Option<&str> {
    if let Who::Algorithm(name) = &row.who { Some(name) } else { None }
}

/// Every rank tells when it began and ended a call, and its calls on a communicator do not overlap if they block.
fn have_times(file: &Path) {
    let Ok(job) = Job::read(&[file.to_path_buf()]) else { panic!("no trace") };
    for calls in job.files.values().map(|file| &file.calls) {
        let mut last = ("", 0);
        for (id, call) in calls {
            let What::Done(Done { time, .. }) = &call.what else { continue };
            let Some(TracedTime(began, ended)) = *time else { panic!("{id} has no time") };
            assert!(0 < began && began <= ended, "{id}: {began} to {ended}");
            if id.request == 0 {
                assert!(last.0 != id.communicator || last.1 <= began, "{id} begins before the one before it ends");
                last = (id.communicator.as_str(), ended);
            }
        }
    }
}

/// Makes the first message that is sent a byte longer.
fn change_a_message(path: &Path) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Some((before, rest)) = text.split_once("\"sent\":[[") else { panic!("{} sends nothing", path.display()) };
    let Some((message, after)) = rest.split_once(']') else { panic!("{} is no trace", path.display()) };
    let mut numbers: Vec<u64> = message.split(',').filter_map(|number| number.parse().ok()).collect();
    numbers[2] += 1;
    let message: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let changed = format!("{before}\"sent\":[[{}]{after}", message.join(","));
    assert!(fs::write(path, changed).is_ok());
}

/// All ranks get an error if a file cannot be written, on all of them or on one.
pub(crate) fn cannot_be_written(mpi: &Mpi, suite: &Suite) {
    let folder = folder(mpi, 3);
    mpi.traced(3, suite, &["--untraceable"], &folder.join("none/run")).succeeds();
    assert!(fs::create_dir(folder.join("run.1")).is_ok());
    mpi.traced(3, suite, &["--untraceable"], &folder.join("run")).succeeds();
}
