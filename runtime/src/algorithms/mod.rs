//! The catalogue: algorithms from the literature, one file each.
//!
//! Every file has the citation, the idea, the domain and the bounds, and a declaration that reads like the paper.

pub mod allgather;
mod catalogue;

pub use allgather::{Bruck, KBruck, NeighborExchange, RecursiveDoubling, Ring, Sparbit};
pub use catalogue::{Entry, Unknown, Visitor, catalogue, find, visit_all, visit_one};
