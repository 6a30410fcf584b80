//! All-to-alls: every rank ends with the block that every rank has for it.

mod hierarchical;
mod k_bruck;
mod leaders;
mod modified_bruck;
mod pairwise;
mod spread_out;

pub use hierarchical::HierarchicalAlltoall;
pub use k_bruck::KBruckAlltoall;
pub use leaders::Leaders;
pub use modified_bruck::ModifiedBruck;
pub use pairwise::PairwiseAlltoall;
pub use spread_out::SpreadOut;

/// The former name of [`ModifiedBruck`].
#[deprecated(note = "use `ModifiedBruck`; `Layout::Rotated` asks for its rotated layout")]
pub type RadixBruck = ModifiedBruck;

impl HierarchicalAlltoall<SpreadOut, KBruckAlltoall> {
    /// With Bruck's all-to-all of this radix between nodes: for many nodes and short blocks.
    pub const fn with_radix(radix: i64) -> Self {
        HierarchicalAlltoall { inside: SpreadOut, between: KBruckAlltoall { radix } }
    }
}
