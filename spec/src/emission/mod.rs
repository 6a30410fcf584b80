//! Generated code: a schedule as Rust and as C.

#[cfg(feature = "syntax")]
pub mod c;
pub mod names;
#[cfg(feature = "syntax")]
pub mod rust;
