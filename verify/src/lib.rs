//! Checks, pictures and reports for Roundel collectives: the library behind the command line tool `roundel`.
//!
//! - [`catalogue`], [`source`]: the two sources of collectives, generated code and text
//! - [`declared`], [`replayed`]: declarations without generated code, by the evaluator and on threads
//! - [`named`]: a collective of either source, for commands that need not know which
//! - [`alone`]: one rank of a call by itself
//! - [`params`]: values of parameters, as users write them
//! - [`proving`]: proofs for all p and for ranges, and the proof records
//! - [`attack`]: deliberate faults, and a second opinion on whether they matter
//! - [`replay`]: counterexamples as files, and what a program did
//! - [`report`]: output for people
//! - [`recorded`]: what proof records add to declarations
//! - [`emit`]: writes collectives as code of another language
//! - [`simulation`]: what a collective would take on another machine, with up to a million ranks
//! - [`explore`]: the page of `roundel explore`
//! - [`figures`]: the figures of the papers, from the catalogue and the simulation
//! - [`scaffold`]: makes a crate with a collective of one's own
//! - [`cli`]: the command line, and one file per command

pub mod alone;
pub mod attack;
pub mod catalogue;
pub mod cli;
pub mod declared;
pub mod emit;
pub mod error;
pub mod explore;
pub mod figures;
pub mod named;
pub mod params;
pub mod proving;
pub mod recorded;
pub mod replay;
pub mod replayed;
pub mod report;
pub mod scaffold;
pub mod simulation;
pub mod source;

pub use cli::commands::{CommandOutcome, execute, print_error};
pub use error::Error;
