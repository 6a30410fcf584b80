//! Chooses an all-to-all and its radix, from exact counts of its messages and a model of their time.
//!
//! The radix of Bruck's all-to-all trades messages for data: radix 2 sends the fewest messages and every block up to
//! `ceil_log(2, p)` times, radix `p` sends every block once, in its own message. Both are known exactly for every
//! radix (Fan and Kumar, *Parameterized Radix-r Bruck Algorithm for All-to-all Communication*), so that a model of the
//! network suffices to choose without a trial run.
//!
//! - [`Split`]: the counts, with integers
//! - [`Network`]: the cost of a message and of a byte
//! - [`choose()`], [`candidates`]: the modelled times, best first
//! - [`Cluster`]: the same with nodes, within which messages cost less; derived from a profile
//! - [`measure()`]: a cluster without a profile, from a few calls
//! - [`alltoall`]: a call that makes the choice itself
//!
//! ```
//! use roundel::choice::alltoalls::{AlltoallAlgorithm, Network, choose};
//!
//! // Short blocks: few rounds. Long blocks: every block goes straight to its destination.
//! let network = Network::default();
//! let short = choose(64, 8, &network)?;
//! assert_eq!((short.algorithm, short.radix), (AlltoallAlgorithm::KBruck, Some(8)));
//! let long = choose(64, 1 << 20, &network)?;
//! assert_eq!((long.algorithm, long.radix), (AlltoallAlgorithm::SpreadOut, None));
//! # Ok::<(), roundel::choice::alltoalls::Error>(())
//! ```
//!
//! A choice is a pure function of its arguments: no clocks, no state, and arithmetic that IEEE 754 defines to the last
//! bit. Ranks that call it with the same values get the same answer, without a message.

mod call;
mod cluster;
mod counts;
mod measure;
mod model;
mod network;

pub use call::alltoall;
pub use cluster::Cluster;
pub use counts::{MAX_P, Split, Substep, blocks, ceil_sqrt, substeps, total_blocks};
pub use measure::measure;
pub use model::{AlltoallAlgorithm, ModelledAlltoall, Time, candidates, choose, choose_radix, modelled};
pub use network::Network;

/// Why nothing can be chosen or counted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The number of ranks is invalid.
    #[error("there is no all-to-all among {p} ranks: give a number of ranks in 1..={MAX_P}")]
    Ranks {
        /// The number of ranks.
        p: i64,
    },
    /// The radix is below 2.
    #[error("no number can be written in radix {radix}: give a radix of at least 2")]
    Radix {
        /// The radix.
        radix: i64,
    },
    /// A node has no ranks.
    #[error("nodes of {ppn} ranks have nobody to send to: give at least one rank per node")]
    Nodes {
        /// The number of ranks on a node.
        ppn: i64,
    },
    /// The algorithm needs nodes, and there are none.
    #[error("{algorithm} looks at nodes: ask a `Cluster`, which has some")]
    NoNodes {
        /// The algorithm.
        algorithm: AlltoallAlgorithm,
    },
    /// A block has a negative length, or the sum of the lengths overflows 64 bits.
    #[error("blocks of {bytes} bytes cannot be sent among {p} ranks: give a number of bytes in 0..={most}")]
    Bytes {
        /// The length of a block.
        bytes: i64,
        /// The number of ranks.
        p: i64,
        /// The longest block for this number of ranks.
        most: i64,
    },
    /// A property of a network is not a number, or outside the range of the model.
    #[error("{what} of {value} {unit} makes no sense: give a number in {least}..={most}")]
    Network {
        /// The property.
        what: &'static str,
        /// The value.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// The smallest value.
        least: f64,
        /// The largest value.
        most: f64,
    },
}
