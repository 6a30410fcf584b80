//! Harnesses: claims about a collective that Kani proves and that every test run exercises.
//!
//! The derive implements [`Probe`] beside each collective and emits functions that are a `kani::proof` under Kani and a
//! `test` elsewhere. Both call the same bodies: [`functions`], [`sends_match`], [`receives_match`], [`facts`] and
//! [`whole()`]. What differs is where values come from ([`shim`]): Kani's are symbolic, those of a test are enumerated
//! or random. `docs/kani.md` says what each one claims, and over which range.

pub mod claims;
pub mod shim;
pub mod step;
pub mod whole;

#[cfg(kani)]
pub mod model;
#[cfg(test)]
mod tests;

use crate::collective::Collective;
use crate::place::Place;
pub use shim::{Stop, Verdict, assume, draw, pick, state};
pub use step::{StepMessage, functions, message, receives_match, sends_match, valid};
pub use whole::{RankUsage, whole};

/// A claim: an assertion under Kani, the end of the run elsewhere.
#[macro_export]
#[doc(hidden)]
macro_rules! __roundel_claim {
    ($condition:expr, $text:literal) => {{
        #[cfg(kani)]
        assert!($condition, $text);
        #[cfg(not(kani))]
        if !$condition {
            return Err($crate::harness::Stop::Wrong($text));
        }
    }};
}
/// A claim: an assertion under Kani, the end of the run elsewhere.
pub use crate::__roundel_claim as claim;

/// Something that must be reachable, so that no harness is vacuous.
#[macro_export]
#[doc(hidden)]
macro_rules! __roundel_cover {
    ($condition:expr, $text:literal) => {{
        #[cfg(kani)]
        kani::cover!($condition, $text);
        #[cfg(not(kani))]
        if $condition {
            $crate::harness::shim::covered();
        }
    }};
}
/// Something that must be reachable, so that no harness is vacuous.
pub use crate::__roundel_cover as cover;

/// What is asked of one round, for any rank, index and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Every send has its receive.
    Sends,
    /// Every receive has its send.
    Receives,
    /// No function panics, and every rank and block lies in `0..p`.
    Functions,
    /// The facts of `holds` stay true.
    Facts,
}

/// How far numbers go: one less than a power of two each.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// p, and what counts ranks or blocks.
    pub p: i64,
    /// States.
    pub state: i64,
}

/// Kani's width for matching and facts.
pub const STEP: Width = Width { p: (1 << 15) - 1, state: (1 << 16) - 1 };
/// Kani's width for the absence of panics: every p that a call may have.
pub const FULL: Width = Width { p: (1 << 31) - 1, state: (1 << 32) - 1 };
/// The ranges of p of [`whole()`], a harness each.
pub const WHOLE_RANGES: [(i64, i64); 3] = [(1, 16), (17, 24), (25, 32)];
/// The largest p of them: the ranks that are drawn lie below it, and a mask has so many bits.
pub const WHOLE: i64 = WHOLE_RANGES[2].1;

/// What the derive emits for the harnesses of a collective.
pub trait Probe: Collective + Sized {
    /// Parameters for whole schedules and for matching: under Kani a fixed choice, elsewhere any within the limits of
    /// `check`.
    fn sample() -> Result<Self, Stop>;

    /// Any parameters within the domain.
    fn any(width: Width) -> Result<Self, Stop>;

    /// One arbitrary round of every loop, with any indices and any states that the facts of `holds` allow.
    fn round(&self, at: &Place, ask: Ask, width: Width) -> Verdict;

    /// Whether what one rank used is what `bound` says.
    fn bounds(&self, at: &Place, used: &RankUsage) -> Verdict;
}

/// Any rank of any number of ranks up to the width.
pub fn place(width: Width) -> Result<Place<'static>, Stop> {
    let p = pick(1, width.p + 1, width.p)?;
    let rank = pick(0, p, width.p)?;
    Ok(Place::flat(rank, p))
}

/// The facts of `holds` are true at the beginning of each loop, and a round keeps them.
pub fn facts<C: Probe>() -> Verdict {
    let at = place(shim::width(STEP))?;
    let collective = C::sample()?;
    assume(collective.admits(&at).is_ok())?;
    collective.round(&at, Ask::Facts, STEP)
}
