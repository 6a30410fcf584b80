//! The programs for real MPI in one program, so that shared code is built once.
//!
//! Run under `mpirun`: `suites SUITE [ARGUMENTS]`. A suite ends with one line on rank 0, or with a message and a
//! failure on the first rank that sees anything wrong. `--multiple` asks MPI for full thread support.

mod allgather;
mod alloc;
mod alltoall;
mod cluster;
mod data;
mod handler;
mod job;
mod matrix;
mod node;
mod persistent;
mod placements;
mod raw;
mod reduction;
#[allow(dead_code)] // Tests on threads use the rest.
#[path = "../../../runtime/tests/shuffles/mod.rs"]
mod shuffles;
mod trace;
mod traced;
mod tune;

use mpi::Threading;
use mpi::topology::SimpleCommunicator;

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((suite, args)) = args.split_first() else { fails("usage: suites SUITE [ARGUMENTS]") };
    let run: fn(&SimpleCommunicator, &[String]) = match suite.as_str() {
        "allgather" => allgather::run,
        "alltoall" => alltoall::run,
        "cluster" => cluster::run,
        "node" => node::run,
        "persistent" => persistent::run,
        "raw" => raw::run,
        "reduction" => reduction::run,
        "trace" => trace::run,
        "tune" => tune::run,
        other => fails(&format!("there is no suite `{other}`")),
    };
    let multiple = args.iter().any(|arg| arg == "--multiple");
    let level = if multiple { Threading::Multiple } else { Threading::Single };
    let Some((universe, _)) = mpi::initialize_with_threading(level) else { fails("MPI was initialised before") };
    run(&universe.world(), args);
}

fn fails(reason: &str) -> ! {
    eprintln!("{reason}");
    std::process::exit(1)
}
