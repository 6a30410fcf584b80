//! What can be done to a plan, one file each.

mod liveness;

pub use liveness::remove_dead;
