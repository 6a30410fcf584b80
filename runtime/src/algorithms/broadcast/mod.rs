//! Broadcast: every rank ends with the root's data.

mod binomial;
mod scatter_allgather;

pub use binomial::BinomialBroadcast;
pub use scatter_allgather::ScatterAllgather;
