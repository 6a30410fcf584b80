//! Harnesses: claims about a collective that Kani proves and every test run exercises.
//!
//! The derive implements [`Probe`] for each collective and emits functions that are a `kani::proof` under Kani and a
//! `test` elsewhere. Both call the same bodies: [`functions`], [`sends_match`], [`receives_match`], [`facts`],
//! [`sets()`] and [`whole()`]. They differ in the source of values ([`shim`]): those of Kani are symbolic, those of a
//! test are enumerated or random. `docs/kani.md` describes what each one claims, and over which range.

pub mod agreement;
pub mod claims;
pub mod sets;
pub mod shim;
pub mod step;
pub mod whole;

#[cfg(kani)]
pub mod model;
#[cfg(test)]
mod tests;

use crate::meaning::collective::Collective;
use crate::meaning::place::Place;
pub use sets::{Crossings, Element, sets, turn, walk};
pub use shim::{Stop, Verdict, assume, draw, pick, state};
pub use step::{StepMessage, functions, message, receives_match, sends_match, valid};
pub use whole::{RankUsage, whole};

/// A claim: an assertion under Kani; elsewhere a false one ends the run.
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
/// A claim: an assertion under Kani; elsewhere a false one ends the run.
pub use crate::__roundel_claim as claim;

/// A condition that must be reachable, so that no harness is vacuous.
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
/// A condition that must be reachable, so that no harness is vacuous.
pub use crate::__roundel_cover as cover;

/// What to check for one round, for any rank, index and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Every send has a matching receive.
    Sends,
    /// Every receive has a matching send.
    Receives,
    /// No function panics, and every rank and block lies in `0..p`.
    Functions,
    /// The facts of `holds` stay true.
    Facts,
}

/// The range of numbers: each limit is one less than a power of two.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// The limit of p, and of counts of ranks or blocks.
    pub p: i64,
    /// The limit of states.
    pub state: i64,
}

/// Kani's width for matching and facts.
pub const STEP: Width = Width { p: (1 << 15) - 1, state: (1 << 16) - 1 };
/// Kani's width for the sets of `holds`.
pub const SETS: Width = match cfg!(kani) {
    true => Width { p: (1 << 4) - 1, state: (1 << 5) - 1 },
    false => Width { p: (1 << 5) - 1, state: (1 << 6) - 1 },
};
/// Kani's width for ranks on nodes.
pub const NODES: Width = Width { p: (1 << 7) - 1, state: (1 << 7) - 1 };
/// The largest number of `send` and `recv` clauses for which Kani proves [`sets()`].
pub const SETS_CLAUSES: usize = 4;
/// The largest p of [`sets()`]: tests go further than Kani can.
pub const SETS_MOST: i64 = if cfg!(kani) { 8 } else { 16 };
/// Kani's width for the absence of panics: every p that a call may have.
pub const FULL: Width = Width { p: (1 << 31) - 1, state: (1 << 32) - 1 };
/// The ranges of p of [`whole()`], one harness each.
pub const WHOLE_RANGES: [(i64, i64); 3] = [(1, 16), (17, 24), (25, 32)];
/// The sizes of nodes of [`walk`] and [`turn`], and the largest number of nodes, one harness each.
pub const WALKS: [(i64, i64); 4] = [(1, 16), (2, 16), (3, 16), (4, 16)];
/// The largest of these p: ranks are drawn below it, and a bit mask has this many bits.
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

    /// One arbitrary round of every loop, with one element of the sets of `holds`.
    fn sets(&self, _: &Place, _: &Element, _: Width) -> Verdict {
        Ok(())
    }

    /// Every round of one rank, with one element of the sets of `holds`.
    fn walk(&self, _: &Place, _: &Element, _: &mut Crossings) -> Verdict {
        Ok(())
    }

    /// A part of what is claimed about an arbitrary turn of a loop, with one element of the sets of `holds`.
    fn turn(&self, _part: usize, _: &Place, _: &Element, _: &mut Crossings, _: Width) -> Verdict {
        Ok(())
    }

    /// Whether one rank's usage satisfies `bound`.
    fn bounds(&self, at: &Place, used: &RankUsage) -> Verdict;
}

/// Any rank of any number of ranks up to the width.
pub fn place(width: Width) -> Result<Place<'static>, Stop> {
    let p = pick(1, width.p + 1, width.p)?;
    let rank = pick(0, p, width.p)?;
    Ok(Place::flat(rank, p))
}

/// Claims that the facts of `holds` are true at the beginning of each loop, and that a round preserves them.
pub fn facts<C: Probe>() -> Verdict {
    let at = place(shim::width(STEP))?;
    let collective = C::sample()?;
    assume(collective.admits(&at).is_ok())?;
    collective.round(&at, Ask::Facts, STEP)
}
