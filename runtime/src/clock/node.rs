//! How long the processes of a node take among themselves, before and after the rounds between nodes.

use crate::profile::Node;
use roundel_spec::Kind;
use roundel_spec::arith::ceil_log;
use std::fmt;

/// How the processes of a node bring their data together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeScheme {
    /// Everybody copies everything into shared memory, and then reduces a chunk of it: few waits, two touches.
    Copies,
    /// Chunk by chunk, everybody combines into what is there: one touch, a wait for each process.
    Chunks,
    /// Inputs lie in shared memory already.
    Direct,
}

/// A call, as one process of a node sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) kind: Kind,
    /// The processes of the node.
    pub(crate) ppn: usize,
    /// The bytes that a process brings.
    pub(crate) brings: u64,
    /// The bytes that it takes away.
    pub(crate) takes: u64,
}

impl NodeScheme {
    /// All of them.
    pub const ALL: [NodeScheme; 3] = [NodeScheme::Copies, NodeScheme::Chunks, NodeScheme::Direct];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            NodeScheme::Copies => "copies",
            NodeScheme::Chunks => "chunks",
            NodeScheme::Direct => "direct",
        }
    }

    /// The seconds that a call takes inside of nodes. A process that is alone has nobody to wait for, and nothing to copy.
    pub(crate) fn seconds(self, node: &Node, share: Share) -> f64 {
        if share.ppn < 2 {
            return 0.0;
        }
        let reduces = share.kind != Kind::Allgather;
        let wait = node.signal * ceil_log(2, share.ppn as i64) as f64;
        let (brings, others) = (share.brings as f64, (share.ppn - 1) as f64);
        // Everybody reduces the chunk that is his share, over all inputs.
        let chunk = brings / share.ppn as f64;
        let reduction = if reduces { wait + others * chunk / node.combine } else { 0.0 };
        let before = match self {
            NodeScheme::Copies => brings / node.copy + wait + reduction,
            NodeScheme::Chunks => chunk / node.copy + others * (wait + chunk / node.combine) + wait,
            NodeScheme::Direct => wait + reduction,
        };
        before + wait + share.takes as f64 / node.copy
    }
}

impl fmt::Display for NodeScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Node = Node { signal: 1e-6, copy: 8e9, combine: 4e9 };

    fn best(bytes: u64, schemes: &[NodeScheme]) -> NodeScheme {
        let share = Share { kind: Kind::Allreduce, ppn: 8, brings: bytes, takes: bytes };
        let time = |scheme: &&NodeScheme| scheme.seconds(&NODE, share);
        *schemes.iter().min_by(|a, b| time(a).total_cmp(&time(b))).expect("has schemes")
    }

    /// As in section 4 of the paper: the first option for short messages, the second for long ones.
    #[test]
    fn short_inputs_are_copied_and_long_ones_combined_in_chunks() {
        let both = [NodeScheme::Copies, NodeScheme::Chunks];
        assert_eq!((best(8, &both), best(16 << 20, &both)), (NodeScheme::Copies, NodeScheme::Chunks));
        assert_eq!(best(8, &NodeScheme::ALL), NodeScheme::Direct);
    }

    #[test]
    fn a_process_alone_takes_no_time() {
        let share = Share { kind: Kind::Allreduce, ppn: 1, brings: 1 << 20, takes: 1 << 20 };
        assert!(NodeScheme::ALL.iter().all(|scheme| scheme.seconds(&NODE, share) == 0.0));
    }

    #[test]
    fn by_hand() {
        let share = Share { kind: Kind::Allreduce, ppn: 4, brings: 4000, takes: 4000 };
        let copies = NodeScheme::Copies.seconds(&NODE, share);
        assert!((copies - (2.0 * 4000.0 / 8e9 + 3.0 * 2e-6 + 3000.0 / 4e9)).abs() < 1e-15, "{copies}");
        let chunks = NodeScheme::Chunks.seconds(&NODE, share);
        assert!((chunks - (5000.0 / 8e9 + 3000.0 / 4e9 + 5.0 * 2e-6)).abs() < 1e-15, "{chunks}");
        let gather = Share { kind: Kind::Allgather, ppn: 4, brings: 10, takes: 400 };
        let copies = NodeScheme::Copies.seconds(&NODE, gather);
        assert!((copies - (410.0 / 8e9 + 2.0 * 2e-6)).abs() < 1e-15, "{copies}");
    }
}
