//! Proofs for all p: obligations from the declaration, discharged by an SMT solver.

mod context;
mod obligations;
mod query;
mod sets;
mod term;
mod windows;

pub use obligations::{Gap, Obligations, obligations};
pub use query::{Obligation, Property};
