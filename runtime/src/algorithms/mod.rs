//! The catalogue: algorithms from the literature, one file each.
//!
//! Every file has the citation, the idea, the domain and the bounds, and a declaration that reads like the paper.

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod broadcast;
mod catalogue;
pub mod gather;
pub(crate) mod own;
pub mod reduce;
pub mod reduce_scatter;
mod reverse;
pub mod scatter;

pub use allgather::{
    Bruck, Circulant, Hierarchical, KBruck, LocalityBruck, MultiLane, NeighborExchange, RecursiveDoubling, Ring,
    Sparbit,
};
pub use allreduce::{
    CyclicShiftAllreduce, MultiLaneAllreduce, NapAllreduce, PrefixAllreduce, RabenseifnerAllreduce,
    RecursiveDoublingAllreduce, ReduceBroadcastAllreduce, ReduceScatterAllgather, RingAllreduce, SmpAllreduce,
};
#[allow(deprecated, reason = "the name stays where it was")]
pub use alltoall::RadixBruck;
pub use alltoall::{HierarchicalAlltoall, KBruckAlltoall, Leaders, ModifiedBruck, PairwiseAlltoall, SpreadOut};
pub use broadcast::{BinomialBroadcast, ScatterAllgather};
pub use catalogue::{Entry, Unknown, Visitor, catalogue, current, find, visit_all, visit_one};
pub use gather::BinomialGather;
pub use own::{NameError, own, register};
#[doc(hidden)]
pub use own::{is_name, is_taken, registered};
pub use reduce::{BinomialReduce, OrderedBinomialReduce};
pub use reduce_scatter::{
    BruckReduceScatter, CirculantReduceScatter, CyclicShiftReduceScatter, KBruckReduceScatter,
    NeighborExchangeReduceScatter, PairwiseReduceScatter, RecursiveHalvingReduceScatter, RingReduceScatter,
    SparbitReduceScatter,
};
pub use reverse::Reverse;
pub use scatter::BinomialScatter;

/// The root of the crate that has the catalogue and its proof records, on the machine that built it.
pub const CRATE_ROOT: &str = env!("CARGO_MANIFEST_DIR");
