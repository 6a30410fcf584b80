//! The catalogue: algorithms from the literature, one file each.
//!
//! Every file has the citation, the idea, the domain and the bounds, and a declaration that reads like the paper.

pub mod allgather;
mod catalogue;

pub use allgather::{Bruck, KBruck, NeighborExchange, RecursiveDoubling, Ring, Sparbit};
pub use catalogue::{Entry, Unknown, Visitor, catalogue, find, visit_all, visit_one};

/// The root of the crate that declares the catalogue, on the machine that built it: where its proof records lie.
pub const CRATE_ROOT: &str = env!("CARGO_MANIFEST_DIR");
