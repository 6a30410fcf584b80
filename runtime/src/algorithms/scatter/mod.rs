//! Scatter: every rank ends with its block of the root's data.

mod binomial;

pub use binomial::BinomialScatter;
