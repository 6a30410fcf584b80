//! What a run really did: a record of each message that a transport posted.
//!
//! A schedule says which messages there are; a trace says which ones there were. That the two agree is tested on real
//! MPI for every algorithm of the catalogue; whoever measures an algorithm can see in a trace what was measured.
//! Recorded by `roundel::mpi::trace`.

/// One message, as one of its two ranks posted it.
///
/// With the feature `serde` it can be written and read in any format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PostedMessage {
    /// Which of the recorded calls it belongs to, counted from 0.
    pub call: usize,
    /// Its round, counted from 0 as `roundel show` counts them: over all ranks, the rounds of inner collectives
    /// included, and those in which no rank has a message left out.
    pub round: usize,
    /// The sender, a rank of the communicator.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// How many bytes were posted.
    pub bytes: usize,
    /// Whether it leaves a node.
    pub nonlocal: bool,
}

/// The messages that one rank posted, in the order in which it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RankTrace {
    /// What it sent.
    pub sent: Vec<PostedMessage>,
    /// What it was ready to receive.
    pub received: Vec<PostedMessage>,
}
