//! Which implementation serves a call. Each part knows only those before it:
//!
//! - [`profile`]: the one description of a machine: measured by `roundel tune`, or round figures
//! - [`clock`]: the time of a plan on it
//! - [`Question`]: a call, and what is required of it
//! - [`alltoalls`]: all-to-alls and their radix, ranked by exact counts of messages; a profile gives the network
//! - [`ports`]: plans between nodes with several ports, ranked by the clock
//! - `selection`: all answers to a question, the best first, with their reasons: forced, by the rules of a file, and
//!   those of the parts before by default

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
