//! The catalogue: algorithms from the literature, one file each.
//!
//! Every file has the citation, the idea, the domain and the bounds, and a declaration that reads like the paper.

pub mod allgather;
pub mod allreduce;
mod catalogue;
pub mod reduce_scatter;

pub use allgather::{Bruck, KBruck, NeighborExchange, RecursiveDoubling, Ring, Sparbit};
pub use allreduce::{
    CyclicShiftAllreduce, PrefixAllreduce, RabenseifnerAllreduce, RecursiveDoublingAllreduce,
    ReduceBroadcastAllreduce, RingAllreduce,
};
pub use catalogue::{Entry, Unknown, Visitor, catalogue, find, visit_all, visit_one};
pub use reduce_scatter::{
    CirculantReduceScatter, CyclicShiftReduceScatter, PairwiseReduceScatter, RecursiveHalvingReduceScatter,
};

/// The root of the crate that declares the catalogue, on the machine that built it: where its proof records lie.
pub const CRATE_ROOT: &str = env!("CARGO_MANIFEST_DIR");
