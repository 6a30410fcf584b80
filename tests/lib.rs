//! Shared helpers of the tests.

#[cfg(feature = "mpi")]
pub mod ending;
pub mod messages;
