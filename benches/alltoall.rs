//! All-to-alls against MPI_Alltoall, as the library chooses it and with each of its algorithms.
//!
//! `benches/alltoall.sh` runs this several times and combines the results. All variants take turns in one job, each on
//! its own communicator, so that each call finds what an earlier one like it has cached. A line of output is
//! a number of bytes per block, a name, and the median over batches of the time per call on the slowest rank, in
//! microseconds. The network that the radix is chosen for is measured before each length.

mod turns;

use mpi::ffi;
use mpi::raw::{AsRaw, FromRaw};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{
    HierarchicalAlltoall, KBruckAlltoall, Leaders, ModifiedBruck, PairwiseAlltoall, SpreadOut,
};
use roundel::choice::alltoalls::{self, Cluster, ceil_sqrt};
use roundel::{Alltoall, Error};
use std::ffi::c_int;
use std::hint::black_box;
use std::time::Instant;
use turns::in_turns;

#[link(name = "handwritten", kind = "static")]
unsafe extern "C" {
    fn forced_alltoall(comm: ffi::MPI_Comm, algorithm: c_int, result: *mut ffi::MPI_Comm) -> c_int;
}

/// The algorithms that Open MPI can be forced to use, by their numbers: all but the one for two ranks.
const FORCED: [(c_int, &str); 4] = [(1, "linear"), (2, "pairwise"), (3, "bruck"), (4, "linear-sync")];

/// Calls that follow each other without a barrier.
const BATCH: usize = 10;

/// A variant, on its own communicator.
struct Variant {
    name: String,
    comm: SimpleCommunicator,
    call: Call,
}

type Call = Box<dyn Fn(&SimpleCommunicator, &[u8], &mut [u8]) -> bool>;

/// A variant of Roundel.
fn ours<C: Alltoall + 'static>(world: &SimpleCommunicator, name: String, collective: C) -> Variant {
    let call = move |comm: &SimpleCommunicator, send: &[u8], recv: &mut [u8]| {
        collective.alltoall(comm, black_box(send), black_box(recv)).is_ok()
    };
    Variant { name, comm: world.duplicate(), call: Box::new(call) }
}

/// The library's MPI_Alltoall, on a communicator that determines the algorithm.
fn library(name: String, comm: SimpleCommunicator) -> Variant {
    let call = |comm: &SimpleCommunicator, send: &[u8], recv: &mut [u8]| {
        comm.all_to_all_into(black_box(send), black_box(recv));
        true
    };
    Variant { name, comm, call: Box::new(call) }
}

/// A communicator on which the library uses one algorithm, if it can be forced to.
fn forced(world: &SimpleCommunicator, algorithm: c_int) -> Option<SimpleCommunicator> {
    // SAFETY: the communicator is live, and the result is a communicator if the call succeeds.
    unsafe {
        let mut comm = ffi::RSMPI_COMM_NULL;
        let code = forced_alltoall(world.as_raw(), algorithm, &mut comm);
        (code == ffi::MPI_SUCCESS as c_int).then(|| SimpleCommunicator::from_raw(comm))
    }
}

fn variants(world: &SimpleCommunicator, bytes: usize, cluster: &Cluster) -> Vec<Variant> {
    let p = i64::from(world.size());
    let root = ceil_sqrt(p).max(2);
    let mut all = vec![library("MPI_Alltoall".into(), forced(world, 0).unwrap_or_else(|| world.duplicate()))];
    for (algorithm, name) in FORCED {
        all.extend(forced(world, algorithm).map(|comm| library(format!("MPI_Alltoall/{name}"), comm)));
    }
    all.push(ours(world, "modified-bruck/2".into(), ModifiedBruck { radix: 2 }));
    all.push(ours(world, format!("modified-bruck/{root}"), ModifiedBruck { radix: root }));
    all.push(ours(world, "k-bruck/2".into(), KBruckAlltoall { radix: 2 }));
    all.push(ours(world, format!("k-bruck/{root}"), KBruckAlltoall { radix: root }));
    all.push(ours(world, "spread-out".into(), SpreadOut));
    all.push(ours(world, "pairwise".into(), PairwiseAlltoall));
    all.push(ours(world, "leaders".into(), Leaders));
    all.push(ours(world, "hierarchical".into(), HierarchicalAlltoall::<SpreadOut, SpreadOut>::default()));
    if let Ok(choice) = cluster.choose(bytes as i64) {
        let call = move |comm: &SimpleCommunicator, send: &[u8], recv: &mut [u8]| {
            choice.alltoall(comm, black_box(send), black_box(recv)).is_ok()
        };
        if world.rank() == 0 {
            let radix = choice.radix.map_or(String::new(), |radix| format!(" with radix {radix}"));
            eprintln!("{bytes} bytes: chosen {}{radix}", choice.algorithm);
        }
        all.push(Variant { name: "chosen".into(), comm: world.duplicate(), call: Box::new(call) });
    }
    all
}

fn main() -> Result<(), Error> {
    let Some(universe) = mpi::initialize() else { return Ok(()) };
    let world = universe.world();
    let batches = std::env::args().nth(1).and_then(|batches| batches.parse().ok()).unwrap_or(20);
    for bytes in [8, 64, 256, 1024, 4096] {
        // The first messages open connections, which are not to be measured.
        alltoalls::measure(&world, bytes)?;
        let cluster = alltoalls::measure(&world, bytes)?;
        tell(&world, &cluster);
        let variants = variants(&world, bytes, &cluster);
        let times = measure(&world, &variants, bytes, batches);
        if world.rank() == 0 {
            variants.iter().zip(times).for_each(|(variant, time)| println!("{bytes} {} {time:.3}", variant.name));
        }
    }
    Ok(())
}

/// Prints the measured cluster.
fn tell(world: &SimpleCommunicator, cluster: &Cluster) {
    if world.rank() == 0 {
        for (name, network) in [("inside", cluster.inside), ("between", cluster.between)] {
            let (latency, overhead) = (network.latency() * 1e6, network.overhead() * 1e6);
            eprintln!(
                "{name}: latency {latency:.1} us, overhead {overhead:.1} us, {:.1} MB/s",
                network.bandwidth() / 1e6
            );
        }
    }
}

/// The time of each variant in microseconds.
fn measure(world: &SimpleCommunicator, variants: &[Variant], bytes: usize, batches: usize) -> Vec<f64> {
    let (rank, p) = (world.rank() as usize, world.size() as usize);
    let block = |source: usize, destination: usize| (source * 31 + destination * 17 + 1) as u8;
    let send: Vec<u8> = (0..p * bytes).map(|i| block(rank, i / bytes)).collect();
    let expected: Vec<u8> = (0..p * bytes).map(|i| block(i / bytes, rank)).collect();
    let mut recv = vec![0; p * bytes];
    in_turns(world, variants.len(), batches, |which| {
        let Variant { name, comm, call } = &variants[which];
        recv.fill(0);
        world.barrier();
        // The first call synchronises the ranks, and does not count.
        let mut good = call(comm, &send, &mut recv) && recv == expected;
        let begin = Instant::now();
        for _ in 0..BATCH {
            good &= call(comm, &send, &mut recv);
        }
        let time = begin.elapsed().as_secs_f64() * 1e6 / BATCH as f64;
        if !(good && recv == expected) {
            eprintln!("{name} failed on rank {rank}");
            world.abort(1);
        }
        time
    })
}
