//! Roundel's language and its meaning.
//!
//! A collective is declared as a symbolic [`Schedule`]: peers and blocks are functions of rank, step, p and ppn. This
//! crate contains everything that gives a schedule its meaning, and needs only the standard library:
//!
//! - [`schedule`]: the declaration as data, and the contracts of the kinds of collectives
//! - [`meaning`]: arithmetic, places, the interpreter of schedules, and the interface to generated code
//! - [`trace`]: what the rounds of all ranks do, block by block
//! - [`check`]: whether that is correct, one file per rule
//! - [`proof`]: records of what is proved, and harnesses for Kani and for tests
//! - `repair` (feature `syntax`): a single change that makes a wrong declaration right
//! - `syntax` and `emission` (feature `syntax`): text to schedule, schedule to Rust and to C
//!
//! A declaration travels in that order: syntax, schedule, check, proof, emission.

pub mod check;
pub mod emission;
pub mod meaning;
pub mod proof;
#[cfg(feature = "syntax")]
pub mod repair;
pub mod schedule;
#[cfg(feature = "syntax")]
pub mod syntax;
pub mod trace;

pub use check::violation::{self, Violation};
pub use emission::names;
#[cfg(feature = "syntax")]
pub use emission::{c, rust};
pub use meaning::collective::{Collective, Refusal};
pub use meaning::group::rounds_of;
pub use meaning::place::{Place, Placement};
pub use meaning::sink::Sink;
pub use meaning::stripes::{Blocks, Stripe, StripeList, Stripes};
pub use meaning::{arith, collective, eval, group, place, regions, sink, stripes};
pub use proof::harness;
pub use proof::harness::agreement;
pub use schedule::arguments::Arguments;
pub use schedule::contract::Kind;
pub use schedule::message::{Action, Direction, Line, Site};
pub use schedule::{Schedule, affine, blocks, canonical, contract, expr, message, reference, similar, text};
pub use trace::record::{Recorder, Trace};
pub use trace::{provenance, record, trees};
