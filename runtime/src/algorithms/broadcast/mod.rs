//! Broadcast: every rank ends with the root's data.

mod binomial;

pub use binomial::BinomialBroadcast;
