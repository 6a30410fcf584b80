//! What is proved, what is not, and the records of proofs.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod declarations;
mod files;
mod invariants;
mod placements;
mod prove;
mod random;
mod records;
mod reductions;
mod reverses;
