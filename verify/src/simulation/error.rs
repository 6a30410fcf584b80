//! What keeps a collective from being simulated.

use std::path::PathBuf;

/// A request that cannot be simulated as given.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// There would be too many messages.
    #[error(
        "following {ranks} ranks takes about {work} messages and sets of blocks, and {limit} are the limit: give fewer \
         ranks; a collective whose ranks or nodes all do the same relative to their own numbers, on nodes of equal \
         size, needs one rank or one node for all"
    )]
    TooMany {
        /// The number of ranks.
        ranks: usize,
        /// What it would take.
        work: u64,
        /// The limit.
        limit: u64,
    },
    /// A message has no counterpart.
    #[error(
        "in round {round}, messages are sent that are not received as sent, or the other way round: it is no correct \
         collective here; `roundel check` with a smaller p shows why"
    )]
    Unmatched {
        /// The round.
        round: usize,
    },
    /// An invalid `--loggps`.
    #[error("`--loggps`: {what}; write, for example, `L=2us,o=0.5us,g=0.1us,G=0.08ns,O=0,S=8192`")]
    LogGps {
        /// What is wrong with it.
        what: String,
    },
    /// An invalid topology.
    #[error("{}: {what}; docs/simulation.md describes the file", path.display())]
    Topology {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A topology whose nodes are smaller than those of the placement.
    #[error(
        "a node has {found} ranks, and the topology has {size} on a node: change `--ppn`, the placement, or `size` of \
         level `{level}`"
    )]
    OtherNodes {
        /// The largest number of ranks on a node.
        found: usize,
        /// The number of the topology.
        size: usize,
        /// The first level.
        level: String,
    },
    /// A topology for a measured machine.
    #[error("a profile has measured what links do: give `--topology` with `--loggps`, or leave it out")]
    MeasuredLinks,
    /// Too many messages for a file.
    #[error("the file would have {messages} messages, and {limit} are the limit: give fewer ranks")]
    TooLong {
        /// The number of messages.
        messages: u64,
        /// The limit.
        limit: u64,
    },
}
