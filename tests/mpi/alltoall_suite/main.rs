//! Alltoalls on real MPI, compared with what MPI's own functions give.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--disagree` runs only calls with very different counts on different ranks.

// What is left over is the other suites' matter.
#[allow(dead_code)]
#[path = "../allgather_suite/alloc.rs"]
mod alloc;
#[allow(dead_code)]
#[path = "../allgather_suite/data.rs"]
mod data;
mod equal;
mod errors;
mod job;
#[allow(dead_code)]
#[path = "../../../runtime/tests/shuffles/mod.rs"]
mod shuffles;
mod uneven;

use job::Job;
use mpi::traits::*;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() {
    let Some(universe) = mpi::initialize() else {
        eprintln!("MPI was initialised before");
        std::process::exit(1);
    };
    let world = universe.world();
    let mut job = Job::new(&world);
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "--disagree" => errors::counts_differ(&mut job, 20_000),
        _ => everything(&mut job),
    }
    if world.rank() == 0 {
        println!("alltoall_suite: p = {}, {} calls, all as expected", job.p(), job.calls);
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
