//! Persistent collectives on real MPI, compared with what MPI's own functions give.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--die` ends one rank between start and wait, `--panic` makes it panic there; both must end the job.
//! `--large` gathers more than 2^31 elements, and takes about 7 GB for two ranks; it is not part of the tests.
//! `--ruled` and `--reproducible` need an environment that asks for ports, or for sums with the same bits on all ranks.

mod algorithms;
mod calls;
mod faults;
mod job;
mod misuse;
mod results;

use crate::job::Job;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::mpi::persistent::Settings;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let mut job = Job::new(world);
    match args.first().map_or("", String::as_str) {
        "--die" => faults::die(&job),
        "--panic" => faults::panic(&job),
        "--cluster" => results::everywhere(&mut job, world),
        "--large" => results::large(&mut job),
        "--ruled" => results::ruled(&mut job),
        "--reproducible" => results::prefixes_are_refused(&job, Settings::default()),
        _ => everything(&mut job),
    }
    if world.rank() == 0 {
        println!("persistent: p = {}, {} calls, all as expected", job.p(), job.calls);
    }
}

fn everything(job: &mut Job<'_>) {
    results::on_all_placements(job);
    results::in_order(job);
    results::reproducible(job);
    results::scoped(job);
    calls::nothing_is_allocated(job);
    calls::many_at_a_time(job);
    calls::waits_in_any_order(job);
    calls::beside_blocks_of_any_lengths(job);
    misuse::wrong_moments(job);
    misuse::wrong_lengths(job);
    misuse::leaks_and_drops(job);
    algorithms::every_kind(job);
    algorithms::every_root(job);
    algorithms::other_calls(job);
    algorithms::in_any_order(job);
    algorithms::misuse(job);
    algorithms::leaks_and_drops(job);
}
