//! Why a program cannot be built.

use roundel_spec::Kind;

use crate::plan::part::Slot;

/// Why no program can be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A collective that programs do not know.
    #[error("there are no programs for {}; use allreduce, reduce_scatter or allgather", kind.with_article())]
    Kind {
        /// What was asked for.
        kind: Kind,
    },
    /// A rank that does not exist.
    #[error("there is no rank {rank} among {p}; ranks begin with 0")]
    Rank {
        /// What was asked for.
        rank: usize,
        /// The number of ranks.
        p: usize,
    },
    /// Elements without a byte.
    #[error("elements have no bytes; give the size of one element")]
    Size,
    /// Too few or too many counts.
    #[error("{found} counts were given but {kind} needs {expected}: {}", rule(*kind))]
    Counts {
        /// The collective.
        kind: Kind,
        /// How many it needs.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Memory whose size is no number.
    #[error("{what} of this call is larger than the address space; split the call into smaller ones")]
    TooLarge {
        /// Which memory.
        what: &'static str,
    },
    /// A message that MPI cannot count.
    #[error(
        "a message to rank {peer} has {elements} elements, more than {limit}; use more lanes or a plan with more blocks"
    )]
    TooLong {
        /// The other process.
        peer: usize,
        /// How many elements it has.
        elements: usize,
        /// The largest number.
        limit: usize,
    },
    /// A part that belongs to another plan, or to another node.
    #[error(
        "node {node} of {nodes} was given the part of node {rank} of {p}, {kind}, {blocks} blocks; give the part of this node and kind"
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
    /// A slot that does not exist, or has nothing, or must not be written.
    #[error("round {round} of the part of node {node} {what} block {} of line {}; check the plan with a replay", slot.block, slot.line)]
    Slot {
        /// The node.
        node: usize,
        /// The round of the part.
        round: usize,
        /// What it does there.
        what: &'static str,
        /// The slot.
        slot: Slot,
    },
    /// A message to a node that does not exist, or to itself.
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

/// What the counts of a kind are.
fn rule(kind: Kind) -> &'static str {
    match kind {
        Kind::Allreduce => "the length of the vector",
        _ => "one for each rank",
    }
}
