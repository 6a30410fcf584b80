//! Checks, pictures and reports for Roundel collectives: the library behind the command line `roundel`.
//!
//! - [`cli`], [`commands`]: what can be asked, and one file for each answer
//! - [`catalogue`], [`source`]: the two places collectives come from, generated code and text
//! - [`sweep`]: every point of a range, on two threads
//! - [`mutants`], [`oracle`]: faults on purpose, and a second opinion on whether they matter
//! - [`harness_bodies`]: what the Kani harnesses say of a schedule that has no generated code
//! - [`prove`], [`smt`]: proofs for all p, and the record of what is proved
//! - [`emit`]: collectives as code of another language
//! - [`counterexample`], [`recorded_run`], [`reach`], [`highlight`]: what is wrong, in a file, run again and drawn
//! - [`trace`]: what a program did, held against what was declared
//! - [`params`], [`setting`], [`placing`], [`number`], [`mod@range`]: what people write behind options
//! - [`run`], [`rounds`], [`svg`], [`plot`], [`table`], [`units`]: what people see and write

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
