//! Allgathers: every rank ends with every rank's block.

mod bruck;
mod k_bruck;
mod neighbor_exchange;
mod recursive_doubling;
mod ring;
mod sparbit;

pub use bruck::Bruck;
pub use k_bruck::KBruck;
pub use neighbor_exchange::NeighborExchange;
pub use recursive_doubling::RecursiveDoubling;
pub use ring::Ring;
pub use sparbit::Sparbit;
