//! Which questions plans with ports answer, and how a node's processes divide a call.

use crate::choice::clock::NodeShare;
use crate::choice::profile::Profile;
use crate::choice::question::{Question, RequiredOrder};
use crate::program::build::Scheme;
use roundel_spec::Kind;

/// Why there is no plan with ports.
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
        "nodes of {least} to {most} processes do not exist: give at least one process per node, and the smaller \
         number first"
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

/// The most nodes that MPI can number.
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

/// Returns an error if a question has no answer among plans with ports.
///
/// # Errors
/// The reason.
pub fn check(question: &Question) -> Result<(), Error> {
    let Question { kind, nodes, ppn_min: least, ppn_max: most, bytes, .. } = *question;
    if !matches!(kind, Kind::Allreduce | Kind::Allgather | Kind::ReduceScatter) {
        return Err(Error::Kind { kind });
    }
    if !(1..=NODES).contains(&nodes) {
        return Err(Error::Nodes { nodes, most: NODES });
    }
    if least < 1 || least > most || most > NODES {
        return Err(Error::Processes { least, most });
    }
    let ranks = question.ranks();
    let enough = BYTES / ranks;
    if bytes > enough {
        return Err(Error::Bytes { bytes, ranks, most: enough });
    }
    Ok(())
}

impl Question {
    /// The largest possible number of processes.
    fn ranks(&self) -> u64 {
        (self.nodes as u64).saturating_mul(self.ppn_max as u64)
    }

    /// The contribution and the result of a process.
    fn share(&self, lanes: usize) -> NodeShare {
        let all = self.bytes.saturating_mul(self.ranks());
        let (brings, takes) = match self.kind {
            Kind::Allgather => (self.bytes, all),
            Kind::ReduceScatter => (all, self.bytes),
            _ => (self.bytes, self.bytes),
        };
        NodeShare { kind: self.kind, ppn: self.ppn_max, several: self.nodes > 1, lanes, brings, takes }
    }

    /// The cases in which one, two, four, ... or all processes of a node send, each with the node's best scheme.
    pub(super) fn lanes(&self, profile: &Profile) -> Vec<LaneShare> {
        let most = if self.nodes > 1 { self.ppn_min } else { 1 };
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
            Scheme::Chunks => self.kind != Kind::Allgather && self.required_order() != RequiredOrder::RankOrder,
            Scheme::Direct => self.owned_buffers,
        };
        let schemes = Scheme::ALL.into_iter().filter(serves);
        let scheme = schemes.min_by(|&a, &b| time(a).total_cmp(&time(b))).unwrap_or(Scheme::Copies);
        let bytes = share.brings.max(share.takes).div_ceil(lanes as u64);
        LaneShare { lanes, scheme, bytes, inside: time(scheme) }
    }
}
