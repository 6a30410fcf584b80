//! The rules of a file: their text, the calls that they match, and the check that their algorithms are proved for
//! those.

pub(super) mod check;
pub(super) mod error;
pub(super) mod range;
pub(super) mod rank_counts;
pub(super) mod read;
pub(super) mod region;
pub(super) mod rule;
pub(super) mod rule_error;
