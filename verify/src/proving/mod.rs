//! Proofs, for all p by induction and for a range by exhaustion, and runs on threads.

pub mod bounds;
pub mod harness_bodies;
pub mod invariants;
pub(crate) mod progress;
pub mod prove;
pub mod smt;
pub mod sweep;
pub mod trial;
