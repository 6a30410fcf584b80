//! Reduce: every rank contributes a vector; the root ends with their reduction.

mod binomial;
mod binomial_ordered;

pub use binomial::BinomialReduce;
pub use binomial_ordered::OrderedBinomialReduce;
