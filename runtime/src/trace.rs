//! A record of each message that a transport posted.
//!
//! A schedule declares messages; a trace lists those that were really posted. Tests on real MPI check that the two
//! agree for every algorithm of the catalogue; a trace also shows what a benchmark has measured. Recorded by
//! `roundel::mpi::trace`.

/// One message, as posted by one of its two ranks.
///
/// With the feature `serde` it can be serialised and deserialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PostedMessage {
    /// The index of the recorded call, counted from 0.
    pub call: usize,
    /// Its round, counted from 0 as in `roundel show`: over all ranks, with the rounds of inner collectives, and
    /// without rounds in which no rank has a message.
    pub round: usize,
    /// The sender, a rank of the communicator.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The number of bytes posted.
    pub bytes: usize,
    /// Whether it leaves a node.
    pub nonlocal: bool,
}

/// The messages that one rank posted, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RankTrace {
    /// The messages that it sent.
    pub sent: Vec<PostedMessage>,
    /// The messages that it posted a receive for.
    pub received: Vec<PostedMessage>,
}
