//! Chooses the implementation of a call. Each part knows only those before it:
//!
//! - [`profile`]: the only description of a machine: measured by `roundel tune`, or default figures
//! - [`clock`]: the time of a plan on it
//! - [`Question`]: a call and its requirements
//! - [`alltoalls`]: all-to-alls and their radix, ranked by exact counts of messages; a profile gives the network
//! - [`ports`]: plans between nodes with several ports, ranked by the clock
//! - `selection`: all answers to a question, the best first, with their reasons: forced, from a file of rules, or by
//!   default from the parts above

pub mod alltoalls;
#[doc(hidden)]
pub mod clock;
pub mod ports;
pub mod profile;
mod question;
#[cfg(feature = "profile")]
pub mod selection;
#[cfg(feature = "profile")]
mod toml_text;

pub use question::{ANY, CallForm, NodeSizes, Question, RequiredOrder};
