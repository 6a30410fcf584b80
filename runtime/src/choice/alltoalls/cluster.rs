//! Clusters: messages inside a node and between nodes cost different amounts, and some all-to-alls exploit it.

use super::model::{AlltoallAlgorithm, ModelledAlltoall, Time, candidates, modelled};
use super::{Error, Network};
use crate::choice::profile::Profile;
use roundel_spec::arith::ceil_div;

/// Ranks on nodes, and the cost of messages within a node and between nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cluster {
    /// The number of ranks.
    pub p: i64,
    /// The number of nodes.
    pub nodes: i64,
    /// The largest number of ranks on a node.
    pub ppn: i64,
    /// The network within a node.
    pub inside: Network,
    /// The network between nodes.
    pub between: Network,
    /// Measured times of the algorithms that use nodes, if known.
    pub(super) known: Option<MeasuredTimes>,
    /// By what factor Bruck's all-to-alls are slower than the model predicts, if known: the model ignores the cost of
    /// packing, and how a library treats messages of different lengths.
    pub(super) bruck: f64,
}

/// Measured times. They include effects that the model ignores, such as ranks that share a processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeasuredTimes {
    pub(super) hierarchical: LinearTime,
    pub(super) leaders: LinearTime,
}

/// A time, in seconds, that grows linearly with the bytes of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinearTime {
    pub(super) least: f64,
    pub(super) per_byte: f64,
}

impl LinearTime {
    fn at(self, bytes: i64) -> Time {
        Time { latency: self.least, overhead: 0.0, transfer: self.per_byte * bytes as f64 }
    }
}

impl Cluster {
    /// Ranks with the same network between all pairs.
    pub const fn flat(p: i64, network: Network) -> Self {
        Cluster { p, nodes: 1, ppn: p, inside: network, between: network, known: None, bruck: 1.0 }
    }

    /// `p` ranks, `ppn` on each node.
    ///
    /// # Errors
    /// [`Error::Nodes`] if a node has no ranks.
    pub fn new(p: i64, ppn: i64, inside: Network, between: Network) -> Result<Self, Error> {
        if ppn < 1 {
            return Err(Error::Nodes { ppn });
        }
        let nodes = ceil_div(p, ppn).max(1);
        Ok(Cluster { p, nodes, ppn: ppn.min(p), inside, between, known: None, bruck: 1.0 })
    }

    /// `p` ranks, `ppn` on each node, of a machine that was measured: nothing is sent.
    ///
    /// ```
    /// use roundel::choice::alltoalls::{AlltoallAlgorithm, Cluster};
    /// use roundel::profile::Profile;
    /// let choice = Cluster::of_machine(&Profile::default(), 16, 4)?.choose(8)?;
    /// assert_eq!(choice.algorithm, AlltoallAlgorithm::Hierarchical);
    /// # Ok::<(), roundel::choice::alltoalls::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Nodes`] if a node has no ranks.
    pub fn of_machine(profile: &Profile, p: i64, ppn: i64) -> Result<Self, Error> {
        Cluster::new(p, ppn, Network::from(&profile.inside), Network::from(&profile.between))
    }

    /// The network between nodes, or within the node if there is only one.
    const fn outer(&self) -> &Network {
        if self.nodes > 1 { &self.between } else { &self.inside }
    }

    /// The fastest all-to-all for blocks of `bytes` bytes, by the model; algorithms that use nodes are included.
    ///
    /// ```
    /// use roundel::choice::alltoalls::{AlltoallAlgorithm, Cluster, Network};
    /// let (inside, between) = (Network::new(1e-6, 5e9, 3e-7)?, Network::new(5e-4, 1e9, 2e-5)?);
    /// let choice = Cluster::new(16, 4, inside, between)?.choose(8)?;
    /// assert_eq!((choice.algorithm, choice.rounds), (AlltoallAlgorithm::Hierarchical, 2));
    /// # Ok::<(), roundel::choice::alltoalls::Error>(())
    /// ```
    pub fn choose(&self, bytes: i64) -> Result<ModelledAlltoall, Error> {
        let all = self.candidates(bytes)?;
        all.into_iter().next().ok_or(Error::Ranks { p: self.p })
    }

    /// All candidates, the fastest first.
    pub fn candidates(&self, bytes: i64) -> Result<Vec<ModelledAlltoall>, Error> {
        let mut all = candidates(self.p, bytes, self.outer())?;
        all.iter_mut()
            .filter(|choice| choice.radix.is_some())
            .for_each(|choice| choice.time = choice.time.times(self.bruck));
        all.sort_by(ModelledAlltoall::order);
        if self.nodes > 1 && self.ppn > 1 {
            // Between nodes, a lane exchanges the blocks of all ranks of a node.
            let inside =
                modelled(AlltoallAlgorithm::SpreadOut, self.ppn, 2, bytes.saturating_mul(self.nodes), &self.inside)?;
            for between in candidates(self.nodes, bytes.saturating_mul(self.ppn), &self.between)? {
                // Between nodes too, the variant with many messages per round is the better one of a radix.
                let wanted = match between.algorithm {
                    AlltoallAlgorithm::SpreadOut => true,
                    // Modelled times compare only with other modelled times.
                    AlltoallAlgorithm::KBruck => self.known.is_none(),
                    _ => false,
                };
                if wanted {
                    all.push(self.composed(&inside, &between));
                }
            }
            all.push(self.through_leaders(bytes)?);
            for choice in &mut all {
                match (self.known, choice.algorithm) {
                    (Some(known), AlltoallAlgorithm::Hierarchical) => choice.time = known.hierarchical.at(bytes),
                    (Some(known), AlltoallAlgorithm::Leaders) => choice.time = known.leaders.at(bytes),
                    _ => {}
                }
            }
            all.sort_by(ModelledAlltoall::order);
        }
        Ok(all)
    }

    /// The time of a leader: all other ranks do less.
    fn through_leaders(&self, bytes: i64) -> Result<ModelledAlltoall, Error> {
        let (others, remote) = (self.ppn - 1, self.p - self.ppn);
        // The blocks from and to the ranks of the node, and the blocks for other nodes.
        let between =
            modelled(AlltoallAlgorithm::SpreadOut, self.nodes, 2, bytes.saturating_mul(self.ppn), &self.between)?;
        let handed = others * (self.p - 1);
        let (inside, wire) =
            (&self.inside, |blocks: i64, network: &Network| blocks as f64 * bytes as f64 / network.bandwidth());
        Ok(ModelledAlltoall {
            algorithm: AlltoallAlgorithm::Leaders,
            radix: None,
            rounds: 3,
            messages: self.nodes - 1 + others,
            blocks: self.ppn * remote + handed,
            bytes: bytes.saturating_mul(self.ppn * remote + handed),
            time: Time {
                latency: 2.0 * inside.latency() + between.time.latency,
                overhead: 2.0 * others as f64 * inside.overhead() + between.time.overhead,
                transfer: wire(2 * handed, inside) + wire(self.ppn * remote, &self.between),
            },
        })
    }

    /// An all-to-all within nodes, whose blocks hold the data for all nodes, followed by one between nodes.
    fn composed(&self, inside: &ModelledAlltoall, between: &ModelledAlltoall) -> ModelledAlltoall {
        let sum = |a: f64, b: f64| a + b;
        ModelledAlltoall {
            algorithm: AlltoallAlgorithm::Hierarchical,
            radix: between.radix,
            rounds: inside.rounds + between.rounds,
            messages: inside.messages + between.messages,
            blocks: inside.blocks * self.nodes + between.blocks * self.ppn,
            bytes: inside.bytes + between.bytes,
            time: Time {
                latency: sum(inside.time.latency, between.time.latency),
                overhead: sum(inside.time.overhead, between.time.overhead),
                transfer: sum(inside.time.transfer, between.time.transfer),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(latency: f64, bandwidth: f64, overhead: f64) -> Network {
        Network::new(latency, bandwidth, overhead).expect("makes sense")
    }

    #[test]
    fn nodes_count_what_the_hierarchical_one_sends() {
        use crate::algorithms::HierarchicalAlltoall;
        use roundel_spec::check::{self, Census, CheckInput, Point};
        use roundel_spec::schedule::Metric;
        use roundel_spec::{Collective, Placement};
        let (inside, between) = (network(1e-6, 1e10, 1e-7), network(1e-3, 1e9, 1e-5));
        for (nodes, ppn) in [(2, 2), (4, 4), (8, 2), (3, 5)] {
            let cluster = Cluster::new(nodes * ppn, ppn, inside, between).expect("has ranks");
            let choice = cluster.choose(8).expect("in the domain");
            let placement = Placement::consecutive((nodes * ppn) as usize, ppn as usize);
            let trace = match choice.radix {
                None => check::record_code(&<HierarchicalAlltoall>::default(), &placement),
                Some(radix) => check::record_code(&HierarchicalAlltoall::with_radix(radix), &placement),
            };
            let schedule = <HierarchicalAlltoall as Collective>::schedule();
            let point = Point { placement, args: Default::default() };
            let census = Census::of(&CheckInput { schedule: &schedule, point: &point, trace: &trace });
            assert_eq!(choice.algorithm, AlltoallAlgorithm::Hierarchical);
            assert_eq!((choice.rounds, choice.messages), (census.rounds.active, census.max(Metric::MessagesSent)));
            assert_eq!(choice.blocks, census.max(Metric::BlocksSent), "{nodes} x {ppn}");
        }
    }

    #[test]
    fn leaders_send_what_is_counted() {
        use crate::algorithms::Leaders;
        use roundel_spec::check::{self, Census, CheckInput, Point};
        use roundel_spec::schedule::Metric;
        use roundel_spec::{Collective, Placement};
        for (nodes, ppn) in [(2, 2), (4, 4), (8, 2), (3, 5)] {
            let default = Network::default();
            let choice =
                Cluster::new(nodes * ppn, ppn, default, default).and_then(|cluster| cluster.through_leaders(8));
            let placement = Placement::consecutive((nodes * ppn) as usize, ppn as usize);
            let trace = check::record_code(&Leaders, &placement);
            let (schedule, point) = (Leaders::schedule(), Point { placement, args: Default::default() });
            let census = Census::of(&CheckInput { schedule: &schedule, point: &point, trace: &trace });
            let choice = choice.expect("in the domain");
            assert_eq!((choice.rounds, choice.messages), (census.rounds.active, census.max(Metric::MessagesSent)));
            assert_eq!(choice.blocks, census.max(Metric::BlocksSent), "{nodes} x {ppn}");
        }
    }

    #[test]
    fn what_is_known_counts_more_than_what_is_modelled() {
        let default = Network::default();
        let line = |least, per_byte| LinearTime { least, per_byte };
        let known = Some(MeasuredTimes { hierarchical: line(2e-6, 1e-9), leaders: line(1e-6, 1e-8) });
        let cluster = Cluster { known, ..Cluster::new(16, 4, default, default).expect("has ranks") };
        let chosen = |bytes| cluster.choose(bytes).expect("in the domain").algorithm;
        assert_eq!((chosen(8), chosen(1024)), (AlltoallAlgorithm::Leaders, AlltoallAlgorithm::Hierarchical));
    }

    #[test]
    fn what_packing_costs_is_charged_to_those_that_pack() {
        let model = Cluster::flat(64, Network::default());
        let slow = Cluster { bruck: 100.0, ..model };
        let chosen = |cluster: &Cluster| cluster.choose(8).expect("in the domain").algorithm;
        assert_eq!((chosen(&model), chosen(&slow)), (AlltoallAlgorithm::KBruck, AlltoallAlgorithm::SpreadOut));
    }

    #[test]
    fn one_node_and_nodes_of_one_rank_have_no_hierarchy() {
        let default = Network::default();
        for cluster in [Cluster::flat(12, default), Cluster::new(12, 1, default, default).expect("has ranks")] {
            let all = cluster.candidates(64).expect("in the domain");
            assert_eq!(all, candidates(12, 64, &default).expect("in the domain"));
        }
        assert_eq!(Cluster::new(12, 0, default, default), Err(Error::Nodes { ppn: 0 }));
    }

    #[test]
    fn many_nodes_are_reached_by_digits() {
        let (inside, between) = (network(1e-6, 1e10, 1e-7), network(1e-5, 1e10, 1e-5));
        let choice =
            Cluster::new(4096, 16, inside, between).and_then(|cluster| cluster.choose(1)).expect("in the domain");
        assert_eq!((choice.algorithm, choice.radix.is_some()), (AlltoallAlgorithm::Hierarchical, true));
    }
}
