//! Block sets, as in the declaration: the blocks that a message carries, and their order.
//!
//! A round hands them over as [`Stripe`](crate::Stripe)s.

use crate::schedule::expr::{Expr, Var};
use std::fmt;

/// A range that an index runs through: `var in lo..hi`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Index {
    /// The index.
    pub var: Var,
    /// Its first value.
    pub lo: Expr,
    /// One past its last value.
    pub hi: Expr,
}

/// One comprehension: `[item; i in lo..hi, …, condition]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comprehension {
    /// The block, as a function of the indices; it wraps around p.
    pub item: Expr,
    /// The indices; the last one changes fastest.
    pub over: Vec<Index>,
    /// Selects the index values that count.
    pub filter: Option<Expr>,
}

/// A sequence of comprehensions, in the order in which the blocks are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockSet {
    /// The comprehensions.
    pub parts: Vec<Comprehension>,
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}..{}", self.var.name, self.lo, self.hi)
    }
}

impl fmt::Display for Comprehension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.item)?;
        for (i, index) in self.over.iter().enumerate() {
            write!(f, "{} {index}", if i == 0 { ";" } else { "," })?;
        }
        match &self.filter {
            Some(condition) => write!(f, "{} {condition}]", if self.over.is_empty() { ";" } else { "," }),
            None => write!(f, "]"),
        }
    }
}

impl fmt::Display for BlockSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "" } else { " + " })?;
        }
        Ok(())
    }
}
