//! Which algorithm serves a call. Each part knows only those before it:
//!
//! - [`profile`]: the one description of a machine: measured by `roundel tune`, or round figures
//! - [`clock`]: the time of a plan on it
//! - [`alltoalls`]: all-to-alls and their radix, ranked by exact counts of messages; a profile gives the network
//! - [`ports`]: plans between nodes with several ports, ranked by the clock
//! - `selection`: from a call to its algorithm and the reason: forced, by a rule of a file, or by default

pub mod alltoalls;
#[doc(hidden)]
pub mod clock;
pub mod ports;
pub mod profile;
#[cfg(feature = "profile")]
pub mod selection;
#[cfg(feature = "profile")]
mod toml_text;
