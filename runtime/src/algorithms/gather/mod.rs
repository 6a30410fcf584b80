//! Gather: the root ends with every rank's block.

mod binomial;

pub use binomial::BinomialGather;
