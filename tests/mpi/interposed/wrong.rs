//! Wrong programs get MPI's own answer; and a library that was built for another MPI says so.

use crate::job::Run;
use crate::launch::Settings;
use crate::mpi::{MPICH, Mpi, OPEN_MPI};
use crate::programs;

fn both(test: impl Fn(&Mpi)) {
    [&OPEN_MPI, &MPICH].into_iter().filter(|mpi| mpi.library().is_some()).for_each(test);
}

/// Everything that MPI forbids, in every argument of every function; see the program.
#[test]
fn wrong_arguments() {
    both(|mpi| {
        let program = programs::c(mpi, "interposed_errors");
        for p in [1, 3] {
            mpi.run(p, &Settings::forced(), &program, &[]).succeeds();
        }
    });
}

/// What ends the job names the function that the program has called, whoever has found the error.
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
            // Handles of Open MPI are addresses: it looks into what was freed. Of a message that is too long MPICH tells the handler of
            // MPI_COMM_WORLD, if it has arrived already, before we hear of it.
            let unknown = if mpi.id == "openmpi" { &["comm"][..] } else { &["truncated", "begun"] };
            if unknown.contains(&how) {
                continue;
            }
            // Open MPI's launcher loses messages that it would put together.
            let settings = Settings::forced().with("OMPI_MCA_orte_base_help_aggregate", "0");
            // It does so even if it is told not to put them together; then there is nothing to read, and the job runs again.
            let lost = |run: &Run| run.output().contains("show_help.c");
            let mut run = mpi.run(2, &settings, &program, &[how]);
            for _ in 0..5 {
                if !lost(&run) {
                    break;
                }
                run = mpi.run(2, &settings, &program, &[how]);
            }
            // MPICH writes its own functions with their other names.
            let names = [function.to_owned(), format!("internal_{}", &function[4..]), format!("P{function}")];
            let named = names.iter().any(|name| run.output().contains(name.as_str()));
            let failed = !run.went_well() && !run.output().contains("no error was fatal");
            assert!(failed && named && !run.output().contains("errhandler"), "{how}: {}", run.report());
        }
    });
}

#[test]
fn a_library_for_another_mpi() {
    let pairs: [(&'static Mpi, &'static Mpi, [&str; 2]); 2] = [
        (&OPEN_MPI, &MPICH, ["built for MPICH", "runs on Open MPI"]),
        (&MPICH, &OPEN_MPI, ["built for Open MPI", "runs on MPICH"]),
    ];
    for (mpi, other, texts) in pairs {
        if mpi.library().is_none() || other.library().is_none() {
            continue;
        }
        let program = programs::c(mpi, "interposed_errors");
        let run = mpi.run(3, &Settings { of: Some(other), ..Settings::served() }, &program, &[]);
        texts.iter().for_each(|text| run.fails_with(text));
        let lines = run.output().lines().filter(|line| line.contains("roundel")).count();
        assert_eq!(lines, 1, "{}", run.report());
    }
}
