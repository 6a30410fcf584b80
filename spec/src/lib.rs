//! Roundel's language and its meaning.
//!
//! A collective is declared as a symbolic [`Schedule`]: peers and blocks are functions of rank, step, p and ppn. This
//! crate contains everything that gives a schedule its meaning, and needs only the standard library:
//!
//! - [`arith`]: the only integer semantics
//! - [`expr`], [`blocks`], [`schedule`]: the declaration as data
//! - [`Sink`], [`Collective`]: the interface to generated code
//! - [`contract`]: what each kind of collective promises
//! - [`eval`]: an interpreter of schedules, for the check at compile time
//! - [`record`], [`provenance`], [`check`]: what the rounds do, block by block, and whether it is correct
//! - [`harness`]: claims that Kani proves and tests exercise
//! - `syntax`, `rust` and `c` (feature `syntax`): text to schedule, schedule to Rust and to C

pub mod affine;
pub mod agreement;
pub mod arith;
pub mod blocks;
#[cfg(feature = "syntax")]
pub mod c;
pub mod canonical;
pub mod check;
pub mod collective;
pub mod contract;
mod declare;
pub mod eval;
pub mod expr;
pub mod group;
pub mod harness;
pub mod names;
pub mod place;
pub mod proof;
pub mod provenance;
pub mod record;
pub mod reference;
pub mod regions;
#[cfg(feature = "syntax")]
pub mod rust;
pub mod schedule;
pub mod similar;
pub mod sink;
#[cfg(feature = "syntax")]
pub mod syntax;
pub mod text;
pub mod trees;
pub mod violation;

pub use blocks::{Blocks, Stripe, Stripes};
pub use collective::{Arguments, Collective, Refusal};
pub use contract::Kind;
pub use group::rounds_of;
pub use place::{Place, Placement};
pub use record::{Recorder, Trace};
pub use schedule::Schedule;
pub use sink::{Action, Line, Sink, Site};
pub use violation::Violation;
