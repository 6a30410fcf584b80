//! Every allgather of the catalogue on real MPI, compared with what MPI's own functions give.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--multiple` asks MPI for full thread support, `--disagree` runs only calls with different counts on
//! different ranks; `--panic` and `--stray` run schedules that must end the job.

mod broken;
mod communicators;
mod compare;
mod entries;
mod errors;
mod isolation;
mod job;

use crate::job::{Job, everything_is_requested};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let mut job = Job::new(world);
    match args.first().map_or("", String::as_str) {
        "--panic" => broken::panic_in_a_round(&job),
        "--disagree" => errors::very_different_counts(&mut job),
        "--stray" => broken::name_a_block_that_is_not_there(&job),
        // With threads the calls are the same, so fewer combinations are enough.
        "--multiple" if !everything_is_requested() => everything(&mut job, compare::many_combinations),
        _ => everything(&mut job, compare::all_types),
    }
    if world.rank() == 0 {
        println!("allgather: p = {}, {} calls, all as expected", job.p(), job.calls);
    }
}

fn everything(job: &mut Job<'_>, compare: fn(&mut Job<'_>)) {
    communicators::nodes(job);
    compare(job);
    isolation::messages_of_the_user(job);
    errors::wrong_arguments(job);
    errors::different_counts(job);
    errors::too_large(job);
    errors::busy(job);
    communicators::duplicates_and_parts(job);
    communicators::nothing_is_left(job);
    communicators::intercommunicator(job);
}
