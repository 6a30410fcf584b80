//! Node-aware collectives against those that do not look at nodes, and against the library's own, where messages
//! between nodes are slow.
//!
//! Run on several nodes; `benches/cluster.sh` does that several times and combines the results. All variants take turns
//! in one job, and so does a ping-pong between two nodes, because the time of a message between nodes depends on what
//! else the machine does. A line of output is a name and a time in microseconds: of a variant, the median over batches
//! of the time per call on the slowest rank, with 8 bytes from each rank; of `one-way`, half of a round trip. `rounds`
//! is the number of rounds with messages between nodes that any algorithm needs: if every rank gets one message in a
//! round, a node knows at most `ppn + 1` times as many nodes as before.

mod turns;

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{Bruck, LocalityBruck, NapAllreduce, RecursiveDoublingAllreduce, SmpAllreduce};
use roundel::operation::Sum;
use roundel::{Allgather, Allreduce, Error, IsAllgather, IsAllreduce, Transport, arith};
use std::hint::black_box;
use std::time::Instant;
use turns::in_turns;

/// A variant: its name, and a call that returns whether it succeeded.
struct Variant {
    name: &'static str,
    call: fn(&Job<'_>) -> bool,
}

const VARIANTS: [Variant; 8] = [
    Variant { name: "allgather/locality-bruck", call: |job| job.gathers(&LocalityBruck::<Bruck>::default()) },
    Variant { name: "allgather/bruck", call: |job| job.gathers(&Bruck) },
    Variant { name: "allgather/MPI", call: |job| job.mpi_gathers() },
    Variant {
        name: "allreduce/nap",
        call: |job| job.reduces(&NapAllreduce::<RecursiveDoublingAllreduce>::default()),
    },
    Variant { name: "allreduce/recursive-doubling", call: |job| job.reduces(&RecursiveDoublingAllreduce) },
    Variant { name: "allreduce/smp", call: |job| job.reduces(&SmpAllreduce) },
    Variant { name: "allreduce/MPI", call: |job| job.mpi_reduces() },
    Variant { name: "one-way", call: |job| job.ping_pong() },
];

/// The ranks, and a rank on another node than the first one.
struct Job<'a> {
    world: &'a SimpleCommunicator,
    far: i32,
}

impl Job<'_> {
    fn rank(&self) -> u64 {
        self.world.rank() as u64
    }

    fn gathers<C: IsAllgather>(&self, collective: &C) -> bool {
        let mut all = vec![0; self.world.size() as usize];
        let done = collective.allgather(self.world, black_box(&[self.rank()]), black_box(&mut all));
        done.is_ok() && all.into_iter().eq(0..self.world.size() as u64)
    }

    fn mpi_gathers(&self) -> bool {
        let mut all = vec![0; self.world.size() as usize];
        self.world.all_gather_into(black_box(&[self.rank()][..]), black_box(&mut all[..]));
        all.into_iter().eq(0..self.world.size() as u64)
    }

    fn sum(&self) -> u64 {
        (0..self.world.size() as u64).sum()
    }

    fn reduces<C: IsAllreduce>(&self, collective: &C) -> bool {
        let mut sum = [0];
        let done = collective.allreduce(self.world, black_box(&[self.rank()]), black_box(&mut sum), &Sum);
        done.is_ok() && sum[0] == self.sum()
    }

    fn mpi_reduces(&self) -> bool {
        let mut sum = 0;
        self.world.all_reduce_into(black_box(&self.rank()), black_box(&mut sum), SystemOperation::sum());
        sum == self.sum()
    }

    /// A round trip; all other ranks return at once.
    fn ping_pong(&self) -> bool {
        let (me, first) = (self.world.rank(), 0);
        let mut ball = me as u64;
        if me == first {
            let far = self.world.process_at_rank(self.far);
            far.send(&ball);
            far.receive_into(&mut ball);
        } else if me == self.far {
            let near = self.world.process_at_rank(first);
            near.receive_into(&mut ball);
            near.send(&ball);
        }
        me != self.far || ball == first as u64
    }
}

fn main() -> Result<(), Error> {
    let Some(universe) = mpi::initialize() else { return Ok(()) };
    let world = universe.world();
    let batches = std::env::args().nth(1).and_then(|batches| batches.parse().ok()).unwrap_or(40);
    // Within one node there is nothing to measure.
    let placement = Transport::<u64>::here(&world)?.placement;
    let Some(far) = (0..placement.p()).find(|&rank| placement.nonlocal(0, rank)) else {
        eprintln!("all ranks are on one node");
        world.abort(1);
    };
    let (ppn, nodes) = (placement.ppn() as i64, placement.regions().nodes());
    let times = measure(&Job { world: &world, far: far as i32 }, batches);
    if world.rank() == 0 {
        println!("rounds {}", arith::ceil_log(ppn + 1, nodes));
        VARIANTS.iter().zip(times).for_each(|(variant, time)| println!("{} {time:.3}", variant.name));
    }
    Ok(())
}

/// Calls that follow each other without a barrier. Between calls, ranks start as they leave the last one; they leave a
/// barrier as far apart as a message between nodes takes.
const BATCH: usize = 10;

/// The time of each variant in microseconds.
fn measure(job: &Job<'_>, batches: usize) -> Vec<f64> {
    in_turns(job.world, VARIANTS.len(), batches, |which| batch(job, &VARIANTS[which]))
}

/// The time of one call in a batch on this rank. The first call synchronises the ranks, and does not count.
fn batch(job: &Job<'_>, variant: &Variant) -> f64 {
    job.world.barrier();
    let mut good = (variant.call)(job);
    let begin = Instant::now();
    for _ in 0..BATCH {
        good &= (variant.call)(job);
    }
    let time = begin.elapsed().as_secs_f64() * 1e6 / BATCH as f64;
    if !good {
        eprintln!("{} failed on rank {}", variant.name, job.world.rank());
        job.world.abort(1);
    }
    // A ping-pong is two messages, one after the other.
    if variant.name == "one-way" { time / 2.0 } else { time }
}
