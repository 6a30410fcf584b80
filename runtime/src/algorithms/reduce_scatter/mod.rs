//! Reduce_scatter: every rank contributes a vector; rank r ends with block r of their reduction.

mod bruck;
mod circulant;
mod cyclic_shift;
mod k_bruck;
mod neighbor_exchange;
mod pairwise;
mod recursive_halving;
mod ring;
mod sparbit;

pub use bruck::BruckReduceScatter;
pub use circulant::CirculantReduceScatter;
pub use cyclic_shift::CyclicShiftReduceScatter;
pub use k_bruck::KBruckReduceScatter;
pub use neighbor_exchange::NeighborExchangeReduceScatter;
pub use pairwise::PairwiseReduceScatter;
pub use recursive_halving::RecursiveHalvingReduceScatter;
pub use ring::RingReduceScatter;
pub use sparbit::SparbitReduceScatter;
