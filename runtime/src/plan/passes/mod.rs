//! What can be done to a plan, one file each.

mod dead;

pub use dead::remove_dead;
