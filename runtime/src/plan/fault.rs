//! The faults that a plan can have.

use super::Slot;

/// An error in a plan. Rounds are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// The numbers of the plan are invalid.
    #[error("no plan is like this: {reason}")]
    Shape {
        /// The rule that is violated.
        reason: &'static str,
    },
    /// A round does not have one turn for each rank.
    #[error("round {round} has {found} turns, expected {expected}: give every rank a turn, if only an empty one")]
    Turns {
        /// The round.
        round: usize,
        /// The number of ranks.
        expected: usize,
        /// The number of turns.
        found: usize,
    },
    /// A slot is outside the memory.
    #[error("rank {rank}, round {round}: slot {slot} does not exist, there are {lines} lines of {blocks} blocks")]
    NoSuchSlot {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot.
        slot: Slot,
        /// The number of lines.
        lines: usize,
        /// The number of blocks.
        blocks: usize,
    },
    /// A peer does not exist, or is the rank itself.
    #[error("rank {rank}, round {round}: rank {peer} is no peer, name another one below {p}")]
    NoSuchPeer {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The peer.
        peer: usize,
        /// The number of ranks.
        p: usize,
    },
    /// A slot is read that was never written.
    #[error("rank {rank}, round {round}: slot {slot} is read, but nothing has been written there")]
    Empty {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot.
        slot: Slot,
    },
    /// The user's input is written.
    #[error("rank {rank}, round {round}: slot {slot} is the input, which is only read: write to line 1 or above")]
    InputWritten {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot.
        slot: Slot,
    },
    /// A message writes a slot that another message of the round uses.
    #[error(
        "rank {rank}, round {round}: slot {slot} is written by a message while another one uses it: receive elsewhere"
    )]
    Clash {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot.
        slot: Slot,
    },
    /// The sends and receives of two ranks do not match.
    #[error("round {round}: rank {from} sends {sent} messages to rank {to}, which receives {received}")]
    Unmatched {
        /// The round.
        round: usize,
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The number of sends.
        sent: usize,
        /// The number of receives.
        received: usize,
    },
    /// The two ends of a message name different blocks.
    #[error("round {round}: rank {from} sends the blocks {found:?}, but rank {to} expects {expected:?}")]
    OtherBlocks {
        /// The round.
        round: usize,
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The blocks of the receive.
        expected: Vec<u32>,
        /// The blocks of the send.
        found: Vec<u32>,
    },
    /// A local step uses one block as another.
    #[error("rank {rank}, round {round}: slot {slot} is of another block than the step's result, block {expected}")]
    OtherBlock {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot that is read.
        slot: Slot,
        /// The block that is written.
        expected: u32,
    },
    /// Blocks are combined in a collective that does not reduce.
    #[error("rank {rank}, round {round}: slot {slot} is combined, but the collective does not reduce: copy it")]
    NothingToReduce {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot that is written.
        slot: Slot,
    },
    /// A contribution is counted twice.
    #[error(
        "rank {rank}, round {round}: both operands for slot {slot} contain the contribution of rank {contributor}"
    )]
    Twice {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot that is written.
        slot: Slot,
        /// The rank whose contribution it is.
        contributor: usize,
    },
    /// The plan does not fulfil its specification.
    #[error("rank {rank}: slot {slot} has {found} of {expected} contributions at the end")]
    Incomplete {
        /// The rank.
        rank: usize,
        /// The slot.
        slot: Slot,
        /// The number of contributions that it needs.
        expected: usize,
        /// The number of contributions that it has.
        found: usize,
    },
}
