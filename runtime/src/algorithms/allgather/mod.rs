//! Allgathers: every rank ends with every rank's block.

mod bruck;
mod circulant;
mod hierarchical;
mod k_bruck;
mod locality_bruck;
mod multi_lane;
mod neighbor_exchange;
mod recursive_doubling;
mod ring;
mod sparbit;

pub use bruck::Bruck;
pub use circulant::Circulant;
pub use hierarchical::Hierarchical;
pub use k_bruck::KBruck;
pub use locality_bruck::LocalityBruck;
pub use multi_lane::MultiLane;
pub use neighbor_exchange::NeighborExchange;
pub use recursive_doubling::RecursiveDoubling;
pub use ring::Ring;
pub use sparbit::Sparbit;
