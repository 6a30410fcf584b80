//! What runs between nodes whose ranks share memory. One rank of each node takes part, so its algorithms see ranks
//! without nodes.
//!
//! Messages between nodes are slow to arrive, and a rank can have several in flight. So a rank sends to several nodes
//! in each round, as many as a latency is worth: the radix is the factor by which a node's data spreads in a round.

use super::algorithm::Algorithm;
use super::default_rule::DefaultRule;
use super::implementation::Implementation;
use super::parameter::Parameter;
use crate::choice::alltoalls::Network;
use crate::choice::question::{NodeSizes, Question};
use roundel_spec::Kind;
use roundel_spec::arith::{ceil_div, ceil_log, floor_log, pow};
use std::fmt;

/// What one rank of each node runs.
#[derive(Clone, Debug, PartialEq)]
pub enum BetweenNodes {
    /// The collective itself.
    Itself(Algorithm),
    /// An allreduce: every node gets the vectors of all nodes, by this allgather, and reduces them in the order of
    /// nodes.
    GatherAndReduce(Algorithm),
    /// An allreduce: every node reduces a part of the vector, and then gets the other parts.
    ScatterAndGather {
        /// The reduce_scatter.
        scatter: Algorithm,
        /// The allgather.
        gather: Algorithm,
    },
}

impl BetweenNodes {
    /// Why it is correct.
    pub fn proof(&self) -> String {
        match self {
            BetweenNodes::Itself(algorithm) | BetweenNodes::GatherAndReduce(algorithm) => algorithm.proof(),
            BetweenNodes::ScatterAndGather { scatter, gather } => {
                format!("{}, and {}", scatter.proof(), gather.proof())
            }
        }
    }

    /// The algorithms, in the order in which they run.
    pub fn algorithms(&self) -> Vec<&Algorithm> {
        match self {
            BetweenNodes::Itself(algorithm) | BetweenNodes::GatherAndReduce(algorithm) => vec![algorithm],
            BetweenNodes::ScatterAndGather { scatter, gather } => vec![scatter, gather],
        }
    }
}

impl fmt::Display for BetweenNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BetweenNodes::Itself(algorithm) => algorithm.fmt(f),
            BetweenNodes::GatherAndReduce(gather) => write!(f, "{gather} and a reduction of all nodes' vectors"),
            BetweenNodes::ScatterAndGather { scatter, gather } => write!(f, "{scatter} and {gather}"),
        }
    }
}

/// The largest radix: more messages at once are not tried.
const LARGEST: i64 = 64;

/// Where processors are busy, a message costs its sender and its receiver several times what it does alone.
const BUSY: f64 = 4.0;

/// The same for messages at once: on 26 nodes, nine of them in two rounds took longer than six in three.
const BUSY_AT_ONCE: f64 = 8.0;

/// The most bytes of all nodes' vectors together that a node keeps.
const KEPT: u64 = 1 << 20;

impl Question {
    /// What runs between nodes whose ranks share memory; `None` if there is one node, or if no algorithm is proved.
    ///
    /// ```
    /// use roundel::selection::Question;
    /// use roundel_spec::Kind;
    /// let between = |bytes| Question::new(Kind::Allreduce, 16, 4, bytes).between_nodes().unwrap().to_string();
    /// assert_eq!(between(8), "allgather/k-bruck with radix = 4 and a reduction of all nodes' vectors");
    /// let long = "reduce-scatter/cyclic-shift with ports = [3] and allgather/k-bruck with radix = 4";
    /// assert_eq!(between(65_536), long);
    /// ```
    pub fn between_nodes(&self) -> Option<BetweenNodes> {
        self.between_nodes_on(&Network::default())
    }

    /// The same on a network whose costs are known.
    ///
    /// ```
    /// use roundel::choice::alltoalls::Network;
    /// use roundel::selection::Question;
    /// use roundel_spec::Kind;
    /// let call = Question::new(Kind::Allgather, 64, 4, 8);
    /// let on = |latency| Network::new(latency, 1.25e9, 1e-6).map(|network| call.between_nodes_on(&network).unwrap());
    /// assert_eq!(on(2e-6)?.to_string(), "allgather/k-bruck with radix = 2");
    /// assert_eq!(on(1e-3)?.to_string(), "allgather/k-bruck with radix = 16");
    /// # Ok::<(), roundel::choice::alltoalls::Error>(())
    /// ```
    pub fn between_nodes_on(&self, network: &Network) -> Option<BetweenNodes> {
        let served = matches!(
            self.kind,
            Kind::Allreduce | Kind::Reduce | Kind::Broadcast | Kind::Allgather | Kind::ReduceScatter | Kind::Alltoall
        );
        if self.nodes < 2 || !served {
            return None;
        }
        let ppn = self.ppn_max as u64;
        let bytes = self.bytes.saturating_mul(match self.kind {
            Kind::Alltoall => ppn * ppn,
            Kind::Allgather | Kind::ReduceScatter => ppn,
            _ => 1,
        });
        let (p, ppn_min, ppn_max, shape) = (self.nodes, 1, 1, NodeSizes::Even);
        let call = Question { p, ppn_min, ppn_max, shape, sorted: true, bytes, ..*self };
        Senders { call, network: *network }.choose()
    }
}

/// A call of one rank of each node.
struct Senders {
    call: Question,
    network: Network,
}

impl Senders {
    fn choose(&self) -> Option<BetweenNodes> {
        match self.call.kind {
            Kind::Allreduce => self.allreduce(),
            Kind::Allgather => self.gather().map(BetweenNodes::Itself).or_else(|| self.by_rule()),
            // Blocks of two nodes may differ in length from those of two others, which only direct messages bear.
            Kind::Alltoall => Algorithm::named(Kind::Alltoall, "spread-out", &[]).ok().map(BetweenNodes::Itself),
            Kind::ReduceScatter => self.scatter().map(BetweenNodes::Itself).or_else(|| self.by_rule()),
            _ => self.by_rule(),
        }
    }

    /// The fastest of all that serve, by the model. Of equally fast ones, the first.
    fn allreduce(&self) -> Option<BetweenNodes> {
        let (network, nodes, bytes) = (&self.network, self.call.p as i64, self.call.bytes as f64);
        let phase = exchange_seconds(network, nodes, radix(network, nodes), BUSY);
        let seconds = |bytes: f64| bytes / network.bandwidth();
        let others = (nodes - 1) as f64;
        let doubling =
            doubling_rounds(nodes) as f64 * (network.latency() + BUSY * network.overhead() + seconds(bytes));
        let gathered = phase + seconds(others * bytes);
        let divided = 2.0 * phase + seconds(2.0 * others / nodes as f64 * bytes);
        let kept = self.call.bytes.saturating_mul(self.call.p as u64) <= KEPT;
        let mut ways = [(doubling, 0), (if kept { gathered } else { f64::INFINITY }, 1), (divided, 2)];
        ways.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ways.into_iter().find_map(|(_, way)| match way {
            0 => self.by_rule(),
            1 => self.gather().map(BetweenNodes::GatherAndReduce),
            _ => Some(BetweenNodes::ScatterAndGather { scatter: self.scatter()?, gather: self.gather()? }),
        })
    }

    fn radix(&self) -> i64 {
        radix(&self.network, self.call.p as i64)
    }

    fn gather(&self) -> Option<Algorithm> {
        let radix = Parameter::Number(self.radix());
        self.serving(Kind::Allgather, "allgather/k-bruck", ("radix", radix))
    }

    fn scatter(&self) -> Option<Algorithm> {
        let (radix, nodes) = (self.radix(), self.call.p as i64);
        let ports = Parameter::List(vec![radix - 1; ceil_log(radix, nodes) as usize]);
        self.serving(Kind::ReduceScatter, "reduce-scatter/cyclic-shift", ("ports", ports))
    }

    /// An algorithm, if it serves.
    fn serving(&self, kind: Kind, name: &str, (parameter, value): (&str, Parameter)) -> Option<Algorithm> {
        let algorithm = Algorithm::named(kind, name, &[(parameter.into(), value)]).ok()?;
        let serves = Implementation::Catalogue(algorithm.clone()).serves(&Question { kind, ..self.call });
        serves.ok().map(|()| algorithm)
    }

    /// The first algorithm of the default rule that serves.
    fn by_rule(&self) -> Option<BetweenNodes> {
        let rule = DefaultRule::of_catalogue();
        let serving =
            rule.answers(&self.call).filter(|candidate| candidate.implementation.serves(&self.call).is_ok());
        serving.into_iter().find_map(|candidate| match candidate.implementation.into_owned() {
            Implementation::Catalogue(algorithm) => Some(BetweenNodes::Itself(algorithm)),
            _ => None,
        })
    }
}

/// The radix with which every node reaches all others soonest. The number of bytes is the same with each.
fn radix(network: &Network, nodes: i64) -> i64 {
    let time = |radix: i64| exchange_seconds(network, nodes, radix, BUSY_AT_ONCE);
    (2..=nodes.clamp(2, LARGEST)).min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or(2)
}

/// The messages that a node sends until it has reached all others.
fn messages(nodes: i64, radix: i64) -> i64 {
    (0..ceil_log(radix, nodes)).map(|round| ceil_div(nodes, pow(radix, round)).min(radix) - 1).sum()
}

/// The time in which every node reaches all others, without that of the bytes.
fn exchange_seconds(network: &Network, nodes: i64, radix: i64, busy: f64) -> f64 {
    ceil_log(radix, nodes) as f64 * network.latency() + messages(nodes, radix) as f64 * busy * network.overhead()
}

/// The rounds of recursive doubling; nodes beyond a power of two fold in pairs.
fn doubling_rounds(nodes: i64) -> i64 {
    let rounds = floor_log(2, nodes);
    rounds + if pow(2, rounds) == nodes { 0 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_messages_at_once_as_a_latency_is_worth() {
        let radixes = |latency| {
            let network = Network::new(latency, 1e9, 1e-6).expect("is a network");
            [2, 3, 4, 8, 26, 64, 1000].map(|nodes| radix(&network, nodes))
        };
        assert_eq!(radixes(0.0), [2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(radixes(20e-6), [2, 3, 4, 3, 3, 4, 4]);
        assert_eq!(radixes(1.0), [2, 3, 4, 8, 26, 64, 32]);
    }

    #[test]
    fn short_vectors_are_gathered_and_long_ones_divided() {
        let between = |nodes: usize, bytes| {
            let call = Question::new(Kind::Allreduce, 4 * nodes, 4, bytes);
            match call.between_nodes() {
                Some(BetweenNodes::Itself(algorithm)) => algorithm.name(),
                Some(BetweenNodes::GatherAndReduce(_)) => "gather",
                Some(BetweenNodes::ScatterAndGather { .. }) => "scatter",
                None => "nothing",
            }
        };
        assert_eq!(
            [8, 16 << 10, 64 << 10, 4 << 20].map(|bytes| between(4, bytes)),
            ["gather", "gather", "scatter", "scatter"]
        );
        let doubling = "allreduce/recursive-doubling";
        assert_eq!(between(2, 8), doubling);
        assert_eq!([8, 4096, 8192].map(|bytes| between(26, bytes)), ["gather", doubling, "scatter"]);
        // Few messages, where there are many senders.
        assert_eq!([4096, 16 << 10].map(|bytes| between(8, bytes)), ["gather", doubling]);
        assert_eq!(between(1, 8), "nothing");
    }

    #[test]
    fn operands_that_keep_their_order_are_gathered_or_combined_in_pairs() {
        let call = Question { commutes: false, ..Question::new(Kind::Allreduce, 16, 4, 1 << 20) };
        let between = call.between_nodes().expect("recursive doubling keeps the order");
        assert!(between.algorithms().iter().all(|algorithm| algorithm.name() != "reduce-scatter/cyclic-shift"));
        let call = Question { bytes: 8, ..call };
        assert!(matches!(call.between_nodes(), Some(BetweenNodes::GatherAndReduce(_))));
    }
}
