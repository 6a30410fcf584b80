//! Why a program cannot be built.

use roundel_spec::Kind;

use crate::plan::part::Slot;

/// Why no program can be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Programs do not support the collective.
    #[error("there are no programs for {}; use allreduce, reduce_scatter or allgather", kind.with_article())]
    Kind {
        /// The collective.
        kind: Kind,
    },
    /// The rank does not exist.
    #[error("there is no rank {rank} among {p}; ranks begin with 0")]
    Rank {
        /// The rank.
        rank: usize,
        /// The number of ranks.
        p: usize,
    },
    /// The size of an element is zero.
    #[error("elements have no bytes; give the size of one element")]
    Size,
    /// The number of counts is wrong.
    #[error("{found} counts were given but {kind} needs {expected}: {}", rule(*kind))]
    Counts {
        /// The collective.
        kind: Kind,
        /// The number of counts that it needs.
        expected: usize,
        /// The number of counts.
        found: usize,
    },
    /// The size of memory overflows.
    #[error("{what} of this call is larger than the address space; split the call into smaller ones")]
    TooLarge {
        /// The memory.
        what: &'static str,
    },
    /// A message is too long for MPI to count.
    #[error(
        "a message to rank {peer} has {elements} elements, more than {limit}; use more lanes or a plan with more blocks"
    )]
    TooLong {
        /// The other process.
        peer: usize,
        /// The number of elements.
        elements: usize,
        /// The largest number of elements.
        limit: usize,
    },
    /// The part belongs to another plan, or to another node.
    #[error(
        "node {node} of {nodes} was given the part of node {rank} of {p}, {kind}, {blocks} blocks; give the part of \
         this node and kind"
    )]
    Part {
        /// The node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
        /// The rank of the part.
        rank: usize,
        /// Its number of ranks.
        p: usize,
        /// Its kind.
        kind: Kind,
        /// Its number of blocks.
        blocks: usize,
    },
    /// A slot does not exist, is empty, or must not be written.
    #[error(
        "round {round} of the part of node {node} {what} block {} of line {}; check the plan with a replay",
        slot.block,
        slot.line
    )]
    Slot {
        /// The node.
        node: usize,
        /// The round of the part.
        round: usize,
        /// How the slot is used.
        what: &'static str,
        /// The slot.
        slot: Slot,
    },
    /// A message goes to a node that does not exist, or to the node itself.
    #[error(
        "round {round} of the part of node {node} names node {peer} of {nodes} as a peer; check the plan with a replay"
    )]
    Peer {
        /// The node.
        node: usize,
        /// The round of the part.
        round: usize,
        /// The peer.
        peer: usize,
        /// The number of nodes.
        nodes: usize,
    },
}

/// The meaning of the counts of a collective.
fn rule(kind: Kind) -> &'static str {
    match kind {
        Kind::Allreduce => "the length of the vector",
        _ => "one for each rank",
    }
}
