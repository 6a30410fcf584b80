//! Alltoallvs in shared memory, where ranks know only their own lengths: against the library, with random lists.

use crate::faults::on_each;
use crate::launch::Settings;
use crate::mpi::everything;
use crate::programs;

#[test]
fn random_lists_arrive() {
    let turns = if everything() { "600" } else { "48" };
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_alltoallv");
        for (settings, p) in [(Settings::shared(), 3), (Settings::shared(), 5), (Settings::shared(), 1)] {
            mpi.run(p, &settings, &program, &[turns]).succeeds();
        }
        // Short ones in shared memory; the library serves long ones, about which ranks first ask each other.
        for p in [2, 4] {
            mpi.run(p, &Settings::usual(), &program, &[turns, "20000"]).succeeds();
        }
        mpi.run(3, &Settings::forced(), &program, &["16"]).succeeds();
        mpi.run(3, &Settings::shared(), &program, &["--spoilt"]).fails_with("a wrong result");
    });
}

/// Blocks of megabytes go through a bounded window, also if one rank sends all of it to one other.
#[test]
fn long_blocks_arrive_in_segments() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_alltoallv");
        mpi.run(4, &Settings::shared(), &program, &["16", "400000"]).succeeds();
    });
}

/// A block that is longer than its destination expects is an error there, and only there.
#[test]
fn ranks_that_disagree_about_a_block() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_alltoallv");
        for p in [2, 4] {
            mpi.run(p, &Settings::shared(), &program, &["--truncated"]).succeeds();
        }
    });
}
