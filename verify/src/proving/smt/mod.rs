//! Proofs for all p: obligations from the declaration, discharged by an SMT solver.
//!
//! [`obligations`] turns a schedule and its `holds` into queries, [`discharge`] passes them to solvers, and [`lemmas`]
//! are the laws that the encoding itself relies on. `docs/proofs.md` explains what follows from all of them together.

mod answers;
mod context;
mod discharge;
mod laws;
mod lemmas;
mod models;
mod numbering;
mod obligations;
mod query;
mod session;
mod sets;
mod solver;
mod symbol;
mod term;
mod windows;

pub use answers::AnswerCache;
pub use discharge::{Discharged, Portfolio, Refutation, Verdict, discharge, put, tried};
pub use lemmas::{Lemma, lemmas};
pub use obligations::{MissingObligation, Obligations, obligations};
pub use query::{Obligation, Property};
pub use solver::{Effort, Solver, SolverAnswer};
pub use symbol::name_of;
pub(crate) use symbol::symbol;
