//! Every allgather of the catalogue on real MPI, compared with what MPI's own functions give.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--multiple` asks MPI for full thread support, `--disagree` runs only calls with different counts on
//! different ranks; `--panic` and `--stray` run schedules that must end the job.

mod alloc;
mod broken;
mod communicators;
mod compare;
mod data;
mod entries;
mod errors;
mod isolation;
mod job;

use job::Job;
use mpi::Threading;
use mpi::traits::*;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let level = if mode == "--multiple" { Threading::Multiple } else { Threading::Single };
    let Some((universe, _)) = mpi::initialize_with_threading(level) else {
        eprintln!("MPI was initialised before");
        std::process::exit(1);
    };
    let world = universe.world();
    let mut job = Job::new(&world);
    match mode.as_str() {
        "--panic" => broken::panic_in_a_round(&job),
        "--disagree" => errors::very_different_counts(&mut job),
        "--stray" => broken::name_a_block_that_is_not_there(&job),
        _ => everything(&mut job),
    }
    if world.rank() == 0 {
        println!("allgather_suite: p = {}, {} calls, all as expected", job.p(), job.calls);
    }
}

fn everything(job: &mut Job<'_>) {
    communicators::nodes(job);
    compare::all_types(job);
    isolation::messages_of_the_user(job);
    errors::wrong_arguments(job);
    errors::different_counts(job);
    errors::too_large(job);
    errors::busy(job);
    communicators::duplicates_and_parts(job);
    communicators::nothing_is_left(job);
    communicators::intercommunicator(job);
}
