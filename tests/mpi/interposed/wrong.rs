//! Wrong programs get MPI's own errors; and a library that was built for another MPI reports it.

use crate::job::Run;
use crate::launch::Settings;
use crate::mpi::{MPI_5_ABI, MPICH, Mpi, OPEN_MPI, everything};
use crate::programs;
use std::path::Path;

fn both(test: impl Fn(&Mpi)) {
    [&OPEN_MPI, &MPICH].into_iter().filter(|mpi| mpi.library().is_some()).for_each(test);
}

/// Everything that MPI forbids, in every argument of every function; see the program.
#[test]
fn wrong_arguments() {
    both(|mpi| {
        let program = programs::c(mpi, "interposed_errors");
        let all = [(1, Settings::forced()), (3, Settings::shared()), (3, Settings::forced())];
        // Each on one of the MPIs, unless everything is requested.
        let own: &[usize] = if mpi.id == MPICH.id { &[0, 2] } else { &[1] };
        for (_, (p, settings)) in all.iter().enumerate().filter(|(i, _)| everything() || own.contains(i)) {
            mpi.run(*p, settings, &program, &[]).succeeds();
        }
    });
}

/// Ranks that make different calls in shared memory get an error: other counts, another ring of slots, more slots,
/// another collective, and the same one with lists.
#[test]
fn ranks_that_disagree_in_shared_memory() {
    both(|mpi| {
        let program = programs::c(mpi, "interposed_mismatch");
        for what in ["counts", "rings", "segments", "kinds", "lists"] {
            mpi.run(2, &Settings::shared(), &program, &[what]).succeeds();
        }
    });
}

/// Ranks that make the same calls never get this error, however far ahead some are: short and long calls alternate, so
/// that a rank is in one ring of slots while others wait in the other.
#[test]
fn ranks_that_agree_in_shared_memory() {
    both(|mpi| {
        let program = programs::c(mpi, "interposed_mismatch");
        let calls = if everything() { "10000" } else { "1000" };
        mpi.run(6, &Settings::shared(), &program, &["none", calls]).succeeds();
    });
}

/// Ranks recognise calls that MPI serves each for itself; the requests that Roundel serves still meet.
#[test]
fn requests_meet_after_calls_that_some_ranks_recognise() {
    both(|mpi| {
        let program = programs::c(mpi, "interposed_tags");
        let settings = Settings::usual().with("ROUNDEL_FORCE", "allreduce:recursive-doubling");
        mpi.run(3, &settings, &program, &[]).succeeds();
    });
}

/// A fatal error names the function that the program called, whether Roundel or the library found it.
#[test]
fn fatal_errors_name_the_function() {
    let calls = [
        ("count", "MPI_Allgather"),
        ("type", "MPI_Allgather"),
        ("op", "MPI_Reduce"),
        ("comm", "MPI_Bcast"),
        ("truncated", "MPI_Bcast"),
        ("begun", "MPI_Ibcast"),
    ];
    both(|mpi| {
        let program = programs::c(mpi, "interposed_errors");
        for (how, function) in calls {
            // Handles of Open MPI are addresses, so it reads freed memory. If a message that is too long has already
            // arrived, MPICH calls the handler of MPI_COMM_WORLD before Roundel learns of it.
            let unknown = if mpi.id == "openmpi" { &["comm"][..] } else { &["truncated", "begun"] };
            if unknown.contains(&how) {
                continue;
            }
            let run = until_heard(mpi, &program, how);
            let output = run.output();
            // MPICH prints its internal function names.
            let names = [function.to_owned(), format!("internal_{}", &function[4..]), format!("P{function}")];
            let named = names.iter().any(|name| output.contains(name.as_str()));
            let failed = !run.went_well() && !output.contains("no error was fatal");
            assert!(failed && named && !output.contains("errhandler"), "{how}: {}", run.report());
        }
    });
}

/// Runs a program that ends with a fatal error until its message can be read: Open MPI's launcher loses some messages
/// that it tries to aggregate, even if told not to.
fn until_heard(mpi: &Mpi, program: &Path, how: &str) -> Run {
    let settings = Settings::forced().with("OMPI_MCA_orte_base_help_aggregate", "0");
    let mut again = 5;
    loop {
        let run = mpi.run(2, &settings, program, &[how]);
        if again == 0 || !run.output().contains("show_help.c") {
            return run;
        }
        again -= 1;
    }
}

#[test]
fn a_library_for_another_mpi() {
    let pairs: [(&'static Mpi, &'static Mpi, [&str; 2]); 3] = [
        (&MPI_5_ABI, &MPICH, ["built for MPICH", "with the ABI of MPI 5"]),
        (&OPEN_MPI, &MPICH, ["built for MPICH", "runs on Open MPI"]),
        (&MPICH, &OPEN_MPI, ["built for Open MPI", "runs on MPICH"]),
    ];
    for (mpi, other, texts) in pairs {
        if mpi.library().is_none() || other.library().is_none() {
            continue;
        }
        let program = programs::c(mpi, "interposed_abi");
        let run = mpi.run(3, &Settings { of: Some(other), ..Settings::served() }, &program, &[]);
        texts.iter().for_each(|text| run.fails_with(text));
        let lines = run.output().lines().filter(|line| line.contains("roundel")).count();
        assert_eq!(lines, 1, "{}", run.report());
    }
}
