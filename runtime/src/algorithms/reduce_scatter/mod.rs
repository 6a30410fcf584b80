//! Reduce_scatter: every rank contributes a vector; rank r ends with block r of their reduction.

mod circulant;
mod cyclic_shift;
mod pairwise;
mod recursive_halving;

pub use circulant::CirculantReduceScatter;
pub use cyclic_shift::CyclicShiftReduceScatter;
pub use pairwise::PairwiseReduceScatter;
pub use recursive_halving::RecursiveHalvingReduceScatter;
