//! Where the blocks of a collective with a root lie on one rank.

/// Where all blocks of a rank lie while a collective runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockStorage {
    /// In the output, which has room for them.
    Output,
    /// In the transport's memory; the result has as many elements as the output, from `result_at` on.
    Scratch {
        /// The first element of the result.
        result_at: usize,
    },
}

/// The blocks of a broadcast, gather or scatter on a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootedLayout {
    /// The total number of elements of all blocks, which are divided as evenly as possible.
    pub total: usize,
    /// The position of the input among them.
    pub input_at: usize,
    /// Where the blocks lie during the call.
    pub storage: BlockStorage,
}
