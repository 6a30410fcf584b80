//! Broadcast: every rank ends with what the root has.

mod binomial;

pub use binomial::BinomialBroadcast;
