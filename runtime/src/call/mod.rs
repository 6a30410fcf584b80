//! A call as a transport gets it: its buffers, where blocks lie in them, and what can be checked on one rank.

pub(crate) mod allgather;
pub(crate) mod alltoall;
pub mod geometry;
pub(crate) mod layout;
pub(crate) mod rank_placement;
pub(crate) mod reduction;
pub(crate) mod rooted;
pub(crate) mod rooted_layout;
