//! The questions to the selector.

use crate::choice::clock::NodeShare;
use crate::choice::profile::Profile;
use crate::program::build::Scheme;
use roundel_spec::Kind;

/// The order that a reduction must keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequiredOrder {
    /// None: nodes may reduce different trees.
    #[default]
    Any,
    /// All nodes get bitwise equal results.
    SameTree,
    /// Operands stay in the order of ranks.
    RankOrder,
}

/// A call for which to select a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Allreduce, allgather or reduce_scatter.
    pub kind: Kind,
    /// The number of nodes.
    pub nodes: usize,
    /// The smallest and the largest number of processes on a node.
    pub ppn: (usize, usize),
    /// The bytes of an allreduce's vector, of a process's contribution to an allgather, or of its result in a
    /// reduce_scatter.
    pub bytes: u64,
    /// The order that a reduction must keep.
    pub order: RequiredOrder,
    /// Whether inputs lie in memory shared by the processes of a node.
    pub owned_buffers: bool,
}

/// Why a question is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The collective has no such plans.
    #[error("there are no plans with ports for {kind}: ask for allreduce, allgather or reduce_scatter")]
    Kind {
        /// The collective.
        kind: Kind,
    },
    /// The number of nodes is invalid.
    #[error("there is no plan for {nodes} nodes: give a number in 1..={most}")]
    Nodes {
        /// The number of nodes.
        nodes: usize,
        /// The largest number of nodes.
        most: usize,
    },
    /// The numbers of processes are invalid.
    #[error(
        "nodes of {least} to {most} processes do not exist: give at least one process per node, and the smaller number first"
    )]
    Processes {
        /// The smallest number.
        least: usize,
        /// The largest number.
        most: usize,
    },
    /// The number of bytes is too large.
    #[error("{bytes} bytes from each of {ranks} processes cannot be counted: give at most {most}")]
    Bytes {
        /// The number of bytes.
        bytes: u64,
        /// The number of processes.
        ranks: u64,
        /// The largest number of bytes.
        most: u64,
    },
}

/// The most nodes, as MPI can number.
const NODES: usize = i32::MAX as usize;
/// The most bytes, so that sums do not overflow.
const BYTES: u64 = 1 << 60;

/// How a node's processes divide a call.
pub(super) struct LaneShare {
    pub(super) lanes: usize,
    pub(super) scheme: Scheme,
    /// The bytes of the vector that one lane exchanges between nodes.
    pub(super) bytes: u64,
    /// The seconds within nodes.
    pub(super) inside: f64,
}

impl Question {
    /// A call on nodes that all have the same number of processes.
    pub const fn new(kind: Kind, nodes: usize, ppn: usize, bytes: u64) -> Self {
        Question { kind, nodes, ppn: (ppn, ppn), bytes, order: RequiredOrder::Any, owned_buffers: false }
    }

    /// The largest possible number of processes.
    fn ranks(&self) -> u64 {
        (self.nodes as u64).saturating_mul(self.ppn.1 as u64)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if !matches!(self.kind, Kind::Allreduce | Kind::Allgather | Kind::ReduceScatter) {
            return Err(Error::Kind { kind: self.kind });
        }
        if !(1..=NODES).contains(&self.nodes) {
            return Err(Error::Nodes { nodes: self.nodes, most: NODES });
        }
        let (least, most) = self.ppn;
        if least < 1 || least > most || most > NODES {
            return Err(Error::Processes { least, most });
        }
        let enough = BYTES / self.ranks();
        if self.bytes > enough {
            return Err(Error::Bytes { bytes: self.bytes, ranks: self.ranks(), most: enough });
        }
        Ok(())
    }

    /// The contribution and the result of a process.
    fn share(&self, lanes: usize) -> NodeShare {
        let all = self.bytes.saturating_mul(self.ranks());
        let (brings, takes) = match self.kind {
            Kind::Allgather => (self.bytes, all),
            Kind::ReduceScatter => (all, self.bytes),
            _ => (self.bytes, self.bytes),
        };
        NodeShare { kind: self.kind, ppn: self.ppn.1, several: self.nodes > 1, lanes, brings, takes }
    }

    /// The cases in which one, two, four, ... or all processes of a node send, each with the node's best scheme.
    pub(super) fn lanes(&self, profile: &Profile) -> Vec<LaneShare> {
        let most = if self.nodes > 1 { self.ppn.0 } else { 1 };
        let powers = (0..).map(|power| 1 << power).take_while(|&lanes| lanes < most);
        powers.chain([most]).map(|lanes| self.lane(lanes, profile)).collect()
    }

    /// The best scheme of a node when `lanes` of its processes send.
    fn lane(&self, lanes: usize, profile: &Profile) -> LaneShare {
        let share = self.share(lanes);
        let time = |scheme: Scheme| share.seconds(scheme, &profile.node);
        let serves = |scheme: &Scheme| match scheme {
            Scheme::Copies => true,
            // An allgather combines nothing, and chunks are not reduced in the order of ranks.
            Scheme::Chunks => self.kind != Kind::Allgather && self.order != RequiredOrder::RankOrder,
            Scheme::Direct => self.owned_buffers,
        };
        let schemes = Scheme::ALL.into_iter().filter(serves);
        let scheme = schemes.min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or(Scheme::Copies);
        let bytes = share.brings.max(share.takes).div_ceil(lanes as u64);
        LaneShare { lanes, scheme, bytes, inside: time(scheme) }
    }
}
