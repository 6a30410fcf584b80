//! Scatter: every rank ends with its own of the root's blocks.

mod binomial;

pub use binomial::BinomialScatter;
