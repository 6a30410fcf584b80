//! Alltoalls on real MPI, compared with what MPI's own functions give.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--disagree` runs only calls with very different counts on different ranks.

mod equal;
mod errors;
mod job;
mod uneven;

use crate::job::Job;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let mut job = Job::new(world);
    match args.first().map_or("", String::as_str) {
        "--disagree" => errors::counts_differ(&mut job, 20_000),
        _ => everything(&mut job),
    }
    if world.rank() == 0 {
        println!("alltoall: p = {}, {} calls, all as expected", job.p(), job.calls);
    }
}

fn everything(job: &mut Job<'_>) {
    equal::all_sizes(job);
    equal::on_nodes(job);
    equal::messages_are_recorded(job);
    uneven::all_sizes(job);
    uneven::in_pieces(job);
    uneven::lengths_are_recorded(job);
    errors::wrong_arguments(job);
    errors::counts_differ(job, 3);
    errors::too_large(job);
}
