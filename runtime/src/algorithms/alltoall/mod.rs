//! All-to-alls: every rank ends with the block that every rank has for it.

mod hierarchical;
mod k_bruck;
mod modified_bruck;
mod pairwise;
mod radix_bruck;
mod spread_out;

pub use hierarchical::HierarchicalAlltoall;
pub use k_bruck::KBruckAlltoall;
pub use modified_bruck::ModifiedBruck;
pub use pairwise::PairwiseAlltoall;
pub use radix_bruck::RadixBruck;
pub use spread_out::SpreadOut;
