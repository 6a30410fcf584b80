//! The faults that a plan can have.

use super::Slot;

/// What is wrong with a plan. Rounds are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// Numbers that no plan has.
    #[error("no plan is like this: {why}")]
    Shape {
        /// What is expected.
        why: &'static str,
    },
    /// A round has not a turn for each rank.
    #[error("round {round} has {found} turns, expected {expected}: give every rank a turn, if only an empty one")]
    Turns {
        /// The round.
        round: usize,
        /// The number of ranks.
        expected: usize,
        /// How many turns there are.
        found: usize,
    },
    /// A slot that the memory does not have.
    #[error("rank {rank}, round {round}: slot {slot} does not exist, there are {lines} lines of {blocks} blocks")]
    NoSuchSlot {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// The slot.
        slot: Slot,
        /// How many lines there are.
        lines: usize,
        /// How many blocks there are.
        blocks: usize,
    },
    /// A peer that does not exist, or is the rank itself.
    #[error("rank {rank}, round {round}: rank {peer} is no peer, name another one below {p}")]
    NoSuchPeer {
        /// The rank.
        rank: usize,
        /// The round.
        round: usize,
        /// Whom it names.
        peer: usize,
        /// The number of ranks.
        p: usize,
    },
    /// Something is read that was never written.
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
    /// A message writes what another message of the round touches.
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
    /// Sends and receives of two ranks do not come in pairs.
    #[error("round {round}: rank {from} sends {sent} messages to rank {to}, which receives {received}")]
    Unmatched {
        /// The round.
        round: usize,
        /// Who sends.
        from: usize,
        /// Who receives.
        to: usize,
        /// How many leave.
        sent: usize,
        /// How many are received.
        received: usize,
    },
    /// The two ends of a message differ.
    #[error("round {round}: rank {from} sends the blocks {found:?}, but rank {to} expects {expected:?}")]
    OtherBlocks {
        /// The round.
        round: usize,
        /// Who sends.
        from: usize,
        /// Who receives.
        to: usize,
        /// The blocks of the receive.
        expected: Vec<u32>,
        /// The blocks of the send.
        found: Vec<u32>,
    },
    /// A local step takes a block for another one.
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
    /// Something is combined where nothing is to be reduced.
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
        /// Whose contribution it is.
        contributor: usize,
    },
    /// The contract is not kept.
    #[error("rank {rank}: slot {slot} has {found} of {expected} contributions at the end")]
    Incomplete {
        /// The rank.
        rank: usize,
        /// The slot.
        slot: Slot,
        /// How many it needs.
        expected: usize,
        /// How many it has.
        found: usize,
    },
}
