//! Measures the cost of a network by running the collectives on all ranks at once: on any transport, including threads,
//! for one length of blocks. If a machine has a profile, [`Cluster::of_machine`] needs no measurement.
//!
//! Three all-to-alls that send the same messages in different ways give three equations for the model's three numbers:
//! all messages at once take `latency + (p - 1) (overhead + wire)`, one after the other `(p - 1) (latency + overhead +
//! wire)`, and long ones correspondingly more. Libraries send messages of different lengths in different ways, so the
//! measured lengths are those that matter: a block, and the half of all blocks that Bruck's all-to-all sends at once.

use super::cluster::{LinearTime, MeasuredTimes};
use super::{AlltoallAlgorithm, Cluster, Network, choose_radix};
use crate::algorithms::{
    HierarchicalAlltoall, KBruckAlltoall, Leaders, PairwiseAlltoall, RecursiveDoublingAllreduce, SpreadOut,
};
use crate::alltoall::{Alltoall, IsAlltoall};
use crate::error::Error;
use crate::operation::commutative;
use crate::reduce::Allreduce;
use crate::transport::Transport;
use std::time::Instant;

/// The number of calls that are not timed.
const WARM_UP: usize = 3;

/// The number of timed calls. A call counts with the time of its slowest rank, and the result is one of the shortest
/// of these: longer ones had other causes than the network.
const CALLS: usize = 11;
const SHORTEST: usize = 2;

/// Measures the cluster of a communicator, for [`Cluster::choose`] with blocks of about `bytes` bytes. Collective:
/// all ranks call it with the same number, and all get the same answer. It takes as long as some 110 all-to-alls.
/// With two ranks, latency and overhead cannot be told apart, and all of it counts as latency. One rank has no
/// network and gets the default.
///
/// ```
/// use roundel::{choice::alltoalls, threads};
///
/// let clusters = threads::run(4, |comm| alltoalls::measure(comm, 64));
/// let first = clusters[0].as_ref().expect("measured");
/// assert!(first.inside.bandwidth() > 0.0 && clusters.iter().all(|other| other.as_ref() == Ok(first)));
/// ```
///
/// # Errors
/// The same as for the calls.
pub fn measure<C: Transport<u8> + Transport<f64>>(comm: &C, bytes: usize) -> Result<Cluster, Error> {
    let here = Transport::<u8>::here(comm)?;
    let (p, nodes, ppn) = (here.p(), here.placement.regions().nodes(), here.placement.ppn() as i64);
    if p == 1 {
        return Ok(Cluster::flat(1, Network::default()));
    }
    let hierarchy = <HierarchicalAlltoall>::default();
    let has_nodes = nodes > 1 && ppn > 1 && here.serves(&hierarchy).is_ok() && here.serves(&Leaders).is_ok();
    let others = (p - 1) as f64;
    let lengths = MeasuredLengths::of(bytes, p);
    let (short, long) = (p * lengths.short, p * lengths.long);
    let together = time(&SpreadOut, comm, short)?;
    let one_by_one = [time(&PairwiseAlltoall, comm, short)? / others, time(&PairwiseAlltoall, comm, long)? / others];
    let between = solve(together, one_by_one, others, lengths);
    let bruck = bruck(comm, p, lengths, &between)?;
    if !has_nodes {
        return Ok(Cluster { p: p as i64, nodes, ppn, inside: between, between, known: None, bruck });
    }
    let by_lanes = [time(&hierarchy, comm, short)?, time(&hierarchy, comm, long)?];
    let by_leaders = [time(&Leaders, comm, short)?, time(&Leaders, comm, long)?];
    let inside = solve_inside(by_lanes, &between, (nodes, ppn), lengths);
    let known = Some(MeasuredTimes { hierarchical: lengths.line(by_lanes), leaders: lengths.line(by_leaders) });
    Ok(Cluster { p: p as i64, nodes, ppn, inside, between, known, bruck })
}

/// By what factor Bruck's all-to-all is slower than the model predicts, with the radix that the model would choose.
fn bruck<C: Transport<u8> + Transport<f64>>(
    comm: &C,
    p: usize,
    lengths: MeasuredLengths,
    network: &Network,
) -> Result<f64, Error> {
    let choice = choose_radix(AlltoallAlgorithm::KBruck, p as i64, lengths.short as i64, network);
    let Some((radix, modelled)) = choice.ok().and_then(|choice| Some((choice.radix?, choice.time.total()))) else {
        return Ok(1.0);
    };
    let found = time(&KBruckAlltoall { radix }, comm, p * lengths.short)?;
    Ok(factor(found, modelled))
}

/// The ratio of two times, limited to sensible values.
fn factor(found: f64, modelled: f64) -> f64 {
    let ratio = found / modelled.max(1e-12);
    if ratio.is_finite() { ratio.clamp(0.01, 100.0) } else { 1.0 }
}

/// The block lengths to measure, in bytes.
#[derive(Clone, Copy, Debug)]
struct MeasuredLengths {
    short: usize,
    long: usize,
}

impl MeasuredLengths {
    /// Short blocks of `bytes` bytes, and long ones as large as half of all blocks of `p` ranks, long enough to
    /// differ.
    fn of(bytes: usize, p: usize) -> Self {
        let short = bytes.clamp(1, MOST);
        MeasuredLengths { short, long: short.saturating_mul(p / 2).clamp(short * 2, MOST * 2).max(LEAST) }
    }

    /// The line through the times of short and of long blocks.
    fn line(self, [short, long]: [f64; 2]) -> LinearTime {
        let per_byte = ((long - short) / self.difference()).max(0.0);
        LinearTime { least: (short - per_byte * self.short as f64).max(0.0), per_byte }
    }

    fn difference(self) -> f64 {
        (self.long - self.short) as f64
    }
}

/// Longer blocks, in bytes, only depend on the bandwidth, and would take long to measure.
const MOST: usize = 64 * 1024;

/// Shorter blocks, in bytes, differ too little to be measured.
const LEAST: usize = 1024;

/// The rest of the time of `alltoall/hierarchical` is spent within nodes. The whole cost of a short message there
/// counts as latency.
fn solve_inside(
    [short, long]: [f64; 2],
    between: &Network,
    (nodes, ppn): (i64, i64),
    lengths: MeasuredLengths,
) -> Network {
    let lanes = (nodes - 1) as f64;
    let (sent_between, sent_inside) = (lanes * ppn as f64, ((ppn - 1) * nodes) as f64);
    let transfer = long - short - sent_between * lengths.difference() / between.bandwidth();
    // Nothing takes longer within a node than between nodes.
    let bandwidth = (sent_inside * lengths.difference() / transfer.max(1e-12)).max(between.bandwidth());
    let wires = sent_between / between.bandwidth() + sent_inside / bandwidth;
    let latency = short - between.latency() - lanes * between.overhead() - wires * lengths.short as f64;
    Network::new(latency.max(0.0).min(short), bandwidth, 0.0).unwrap_or(*between)
}

/// Derives the network from three times: of all short messages together, of one short message and of one long
/// message.
fn solve(together: f64, [short, long]: [f64; 2], others: f64, lengths: MeasuredLengths) -> Network {
    let extra = (long - short).max(short * 1e-3).max(1e-12);
    let bandwidth = lengths.difference() / extra;
    let wire = lengths.short as f64 / bandwidth;
    // The cost of one more message, including its time on the wire.
    let each = if others > 1.0 { ((together - short) / (others - 1.0)).min(short).max(0.0) } else { 0.0 };
    let overhead = (each - wire).max(0.0);
    let network = Network::new((short - overhead - wire).max(0.0), bandwidth, overhead);
    // A clock that stands still gives no valid network: use the default, on all ranks.
    network.unwrap_or_default()
}

/// The time of a call, in seconds, equal on all ranks.
fn time<K: IsAlltoall, C: Transport<u8> + Transport<f64>>(
    collective: &K,
    comm: &C,
    bytes: usize,
) -> Result<f64, Error> {
    let (send, mut recv) = (vec![0u8; bytes], vec![0u8; bytes]);
    let mut own = [0.0; CALLS];
    for call in 0..WARM_UP + CALLS {
        let begin = Instant::now();
        collective.alltoall(comm, &send, &mut recv)?;
        if let Some(counted) = call.checked_sub(WARM_UP) {
            own[counted] = begin.elapsed().as_secs_f64();
        }
    }
    let (mut slowest, later) = ([0.0; CALLS], commutative(|a: &f64, b: &f64| a.max(*b)));
    RecursiveDoublingAllreduce.allreduce(comm, &own, &mut slowest, &later)?;
    slowest.sort_by(f64::total_cmp);
    Ok(slowest[SHORTEST])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_times_give_the_network_that_made_them() {
        let (latency, overhead, bandwidth) = (500e-6, 12e-6, 2e8);
        for (others, bytes) in [(2.0, 8), (3.0, 64), (15.0, 1), (1023.0, 4096)] {
            let lengths = MeasuredLengths::of(bytes, others as usize + 1);
            let each = overhead + lengths.short as f64 / bandwidth;
            let (short, extra) = (latency + each, lengths.difference() / bandwidth);
            let network = solve(latency + others * each, [short, short + extra], others, lengths);
            assert!((network.latency() / latency - 1.0).abs() < 1e-6, "{network:?}");
            assert!((network.overhead() / overhead - 1.0).abs() < 1e-6, "{network:?}");
            assert!((network.bandwidth() / bandwidth - 1.0).abs() < 1e-6, "{network:?}");
        }
        let two = solve(1e-3, [1e-3, 2e-3], 1.0, MeasuredLengths::of(8, 2));
        assert!((two.latency() - 1e-3).abs() < 1e-5 && two.overhead() == 0.0, "{two:?}");
    }

    #[test]
    fn nodes_are_told_from_what_is_left() {
        let (between, nodes, ppn) = (Network::new(5e-4, 1e9, 1e-5).expect("makes sense"), 4, 4);
        let (latency, bandwidth, lengths) = (3e-6, 4e9, MeasuredLengths::of(256, 16));
        let wires = |bytes: f64| 3.0 * 4.0 * bytes / between.bandwidth() + 3.0 * 4.0 * bytes / bandwidth;
        let short = latency + between.latency() + 3.0 * between.overhead() + wires(lengths.short as f64);
        let long = short + wires(lengths.difference());
        let inside = solve_inside([short, long], &between, (nodes, ppn), lengths);
        assert!(
            (inside.latency() / latency - 1.0).abs() < 1e-6 && (inside.bandwidth() / bandwidth - 1.0).abs() < 1e-6
        );
        let odd = solve_inside([0.0; 2], &between, (nodes, ppn), lengths);
        assert!(odd.latency() >= 0.0 && odd.bandwidth() >= between.bandwidth());
    }

    #[test]
    fn ratios_make_sense() {
        assert_eq!(
            (factor(3.0, 2.0), factor(1.0, 0.0), factor(f64::NAN, 1.0), factor(0.0, 1.0)),
            (1.5, 100.0, 1.0, 0.01)
        );
    }

    #[test]
    fn times_that_make_no_sense_give_a_network_all_the_same() {
        for times in [[0.0; 3], [1.0, 1.0, 0.5], [f64::NAN; 3], [f64::INFINITY; 3], [0.1, 5.0, 5.0]] {
            let network = solve(times[0], [times[1], times[2]], 7.0, MeasuredLengths::of(8, 8));
            assert!(network.latency() >= 0.0 && network.bandwidth() > 0.0 && network.overhead() >= 0.0);
        }
    }
}
