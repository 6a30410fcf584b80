//! What a schedule means: the integers, the place of a rank, what each kind of collective promises, and the rounds.
//!
//! Generated code and the interpreter in [`eval`] both hand rounds to a [`Sink`](sink::Sink); everything else takes
//! them from there.

pub mod arith;
pub mod collective;
pub mod eval;
pub mod group;
pub mod place;
pub mod regions;
pub mod sink;
pub mod stripes;
