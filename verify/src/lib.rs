//! Checks, pictures and reports for Roundel collectives: the library behind the command line tool `roundel`.
//!
//! - [`cli`], [`commands`]: the command line, and one file per command
//! - [`catalogue`], [`source`]: the two sources of collectives, generated code and text
//! - [`sweep`]: every point of a range, on two threads
//! - [`mutants`], [`oracle`]: deliberate faults, and a second opinion on whether they matter
//! - [`harness_bodies`]: the Kani harnesses for a schedule without generated code
//! - [`prove`], [`smt`]: proofs for all p, and the proof records
//! - [`emit`]: writes collectives as code of another language
//! - [`counterexample`], [`recorded_run`], [`reach`], [`highlight`]: counterexamples as files, replayed and drawn
//! - [`trace`]: compares what a program did with the declaration
//! - [`params`], [`setting`], [`placing`], [`number`], [`mod@range`]: the values of options
//! - [`run`], [`rounds`], [`svg`], [`plot`], [`table`], [`units`]: output for people

pub mod catalogue;
pub mod cli;
pub mod commands;
pub mod counterexample;
pub mod emit;
pub mod error;
pub mod harness_bodies;
pub mod highlight;
pub mod mutants;
pub mod number;
pub mod oracle;
pub mod params;
pub mod placing;
pub mod plot;
mod progress;
pub mod prove;
pub mod range;
pub mod reach;
pub mod recorded_run;
pub mod rounds;
pub mod run;
pub mod setting;
pub mod smt;
pub mod source;
pub mod svg;
pub mod sweep;
pub mod table;
pub mod trace;
pub mod trial;
pub mod units;

pub use commands::{CommandOutcome, execute, print_error};
pub use error::Error;
