//! Data that calls with MPI's own arguments cache on their communicator.

pub(crate) mod call_cache;
pub(crate) mod decider;
pub(crate) mod node_plan;
pub(crate) mod repeated;
pub(crate) mod settled;
pub(crate) mod spare;
pub(crate) mod workspace;
