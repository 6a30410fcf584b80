//! What has been proved about a collective, and for which calls.
//!
//! A [`Record`] is stored at `proofs/NAME.json` in the crate that declares the collective. `roundel prove` writes it.
//! If it matches the declaration, the derive embeds the range that follows from its evidence; otherwise the range is
//! what the check at compile time covered.

#[cfg(feature = "syntax")]
mod found;
pub mod harness;
#[cfg(feature = "syntax")]
mod record;

pub use crate::check::range::{Placements, ProvedRange};
pub use crate::meaning::arith::MAX_P;

#[cfg(feature = "syntax")]
pub use found::FoundClause;
#[cfg(feature = "syntax")]
pub use record::{Answered, Claim, Exhaustive, Gap, GrantedCalls, Induction, Record, RecordError};
