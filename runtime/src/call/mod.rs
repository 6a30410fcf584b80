//! A call as a transport gets it: its buffers, where blocks lie in them, and the checks that one rank can make.

pub(crate) mod allgather;
pub(crate) mod alltoall;
pub mod geometry;
pub(crate) mod layout;
pub(crate) mod rank_placement;
pub(crate) mod reduction;
pub(crate) mod rooted;
pub(crate) mod rooted_layout;
