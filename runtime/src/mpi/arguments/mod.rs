//! Calls with MPI's own arguments: addresses, counts, datatypes, operations.

pub(crate) mod call;
pub(crate) mod image;
pub(crate) mod key;
pub(crate) mod shape;
pub(crate) mod vouch;
