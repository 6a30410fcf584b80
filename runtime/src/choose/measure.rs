//! What a network costs, measured with the collectives themselves, while all ranks are at it.
//!
//! Three all-to-alls that send the same messages in different ways give three equations for the model's three numbers: all
//! messages at once take `latency + (p - 1) overhead`, one after the other `(p - 1) (latency + overhead)`, and with long
//! blocks so much more.

use super::{Cluster, Network};
use crate::algorithms::{HierarchicalAlltoall, PairwiseAlltoall, RecursiveDoublingAllreduce, SpreadOut};
use crate::alltoall::{Alltoall, IsAlltoall};
use crate::error::Error;
use crate::operation::commutative;
use crate::reduce::Allreduce;
use crate::transport::Transport;
use std::time::Instant;

/// The bytes of a long block.
const LONG: usize = 16 * 1024;

/// Calls that are not counted, and those of which the median is taken.
const CALLS: (usize, usize) = (3, 9);

/// Measures the cluster that a communicator spans, for [`Cluster::choose`]. Collective: all ranks call it, and all get the same
/// answer. It takes the time of some 60 all-to-alls. Two ranks cannot tell latency from overhead: then all of it is latency;
/// and one rank has no network, and gets the default.
///
/// ```
/// use roundel::{choose, threads};
///
/// let clusters = threads::run(4, |comm| choose::measure(comm));
/// let first = clusters[0].as_ref().expect("measured");
/// assert!(first.inside.bandwidth() > 0.0 && clusters.iter().all(|other| other.as_ref() == Ok(first)));
/// ```
///
/// # Errors
/// Those of the calls.
pub fn measure<C: Transport<u8> + Transport<f64>>(comm: &C) -> Result<Cluster, Error> {
    let here = Transport::<u8>::here(comm)?;
    let (p, nodes, ppn) = (here.p(), here.placement.regions().nodes(), here.placement.ppn() as i64);
    if p == 1 {
        return Ok(Cluster::flat(1, Network::default()));
    }
    let hierarchy = <HierarchicalAlltoall>::default();
    let has_nodes = nodes > 1 && ppn > 1 && here.serves(&hierarchy).is_ok();
    let others = (p - 1) as f64;
    let mut own = [
        time(&SpreadOut, comm, p)?,
        time(&PairwiseAlltoall, comm, p)? / others,
        time(&PairwiseAlltoall, comm, p * LONG)? / others,
        0.0,
        0.0,
    ];
    if has_nodes {
        own[3] = time(&hierarchy, comm, p)?;
        own[4] = time(&hierarchy, comm, p * LONG)?;
    }
    // The slowest rank's times are those of the call.
    let (mut slowest, later) = ([0.0; 5], commutative(|a: &f64, b: &f64| a.max(*b)));
    RecursiveDoublingAllreduce.allreduce(comm, &own, &mut slowest, &later)?;
    let [together, short, long, nodes_short, nodes_long] = slowest;
    let between = solve(together, short, long, others);
    let inside = match has_nodes {
        true => solve_inside(nodes_short, nodes_long, &between, nodes, ppn),
        false => between,
    };
    Ok(Cluster { p: p as i64, nodes, ppn, inside, between })
}

/// What is left of the time of `alltoall/hierarchical` is spent inside of nodes; all of what a short message costs there is
/// called latency.
fn solve_inside(short: f64, long: f64, between: &Network, nodes: i64, ppn: i64) -> Network {
    let lanes = (nodes - 1) as f64;
    let bytes = (LONG - 1) as f64;
    let latency = short - between.latency() - lanes * between.overhead();
    let transfer = long - short - lanes * ppn as f64 * bytes / between.bandwidth();
    let sent = ((ppn - 1) * nodes) as f64 * bytes;
    // Inside of a node nothing takes longer than between nodes.
    let bandwidth = (sent / transfer.max(1e-12)).max(between.bandwidth());
    Network::new(latency.max(0.0).min(short), bandwidth, 0.0).unwrap_or(*between)
}

/// The network of three times: of all short messages together, of a short one and of a long one.
fn solve(together: f64, short: f64, long: f64, others: f64) -> Network {
    let overhead = if others > 1.0 { ((together - short) / (others - 1.0)).min(short).max(0.0) } else { 0.0 };
    let extra = (long - short).max(short * 1e-3).max(1e-12);
    let network = Network::new(short - overhead, (LONG - 1) as f64 / extra, overhead);
    // Clocks that stand still give no network; then the default must do, on all ranks.
    network.unwrap_or_default()
}

/// The median time of a call on this rank, in seconds.
fn time<C: IsAlltoall>(collective: &C, comm: &impl Transport<u8>, bytes: usize) -> Result<f64, Error> {
    let (send, mut recv) = (vec![0u8; bytes], vec![0u8; bytes]);
    let mut times = Vec::with_capacity(CALLS.1);
    for call in 0..CALLS.0 + CALLS.1 {
        let begin = Instant::now();
        collective.alltoall(comm, &send, &mut recv)?;
        if call >= CALLS.0 {
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_times_give_the_network_that_made_them() {
        let (latency, overhead, bandwidth) = (500e-6, 12e-6, 2e8);
        let wire = (LONG - 1) as f64 / bandwidth;
        for others in [2.0, 3.0, 15.0, 1023.0] {
            let short = latency + overhead;
            let network = solve(latency + others * overhead, short, short + wire, others);
            assert!((network.latency() / latency - 1.0).abs() < 1e-6, "{network:?}");
            assert!((network.overhead() / overhead - 1.0).abs() < 1e-6, "{network:?}");
            assert!((network.bandwidth() / bandwidth - 1.0).abs() < 1e-6, "{network:?}");
        }
        let two = solve(1e-3, 1e-3, 2e-3, 1.0);
        assert_eq!((two.latency(), two.overhead()), (1e-3, 0.0));
    }

    #[test]
    fn nodes_are_told_from_what_is_left() {
        let (between, nodes, ppn) = (Network::new(5e-4, 1e9, 1e-5).expect("makes sense"), 4, 4);
        let (latency, bandwidth, bytes) = (3e-6, 4e9, (LONG - 1) as f64);
        let short = latency + between.latency() + 3.0 * between.overhead();
        let long = short + 3.0 * 4.0 * bytes / between.bandwidth() + 3.0 * 4.0 * bytes / bandwidth;
        let inside = solve_inside(short, long, &between, nodes, ppn);
        assert!(
            (inside.latency() / latency - 1.0).abs() < 1e-6 && (inside.bandwidth() / bandwidth - 1.0).abs() < 1e-6
        );
        let odd = solve_inside(0.0, 0.0, &between, nodes, ppn);
        assert!(odd.latency() >= 0.0 && odd.bandwidth() >= between.bandwidth());
    }

    #[test]
    fn times_that_make_no_sense_give_a_network_all_the_same() {
        for times in [[0.0; 3], [1.0, 1.0, 0.5], [f64::NAN; 3], [f64::INFINITY; 3], [0.1, 5.0, 5.0]] {
            let network = solve(times[0], times[1], times[2], 7.0);
            assert!(network.latency() >= 0.0 && network.bandwidth() > 0.0 && network.overhead() >= 0.0);
        }
    }
}
