//! Kani's vocabulary, for Kani and for plain tests.
//!
//! Under Kani a drawn number is symbolic, and an assumption prunes paths. In a test it comes from a source: either an
//! odometer that enumerates all cases, or a seeded random sequence; a failed assumption skips the case.

use super::Width;

/// Why a run of a body ended early. Under Kani none does: claims are assertions, and assumptions prune.
#[cfg(kani)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {}

/// Why a run of a body ended early.
#[cfg(not(kani))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An assumption is false: the case is skipped.
    Skip,
    /// A claim is false.
    Wrong(&'static str),
}

impl Stop {
    /// The claim or assumption that is false.
    pub fn text(self) -> &'static str {
        match self {
            #[cfg(not(kani))]
            Stop::Skip => "what a harness assumes holds",
            #[cfg(not(kani))]
            Stop::Wrong(text) => text,
        }
    }
}

/// The result of a body.
pub type Verdict = Result<(), Stop>;

/// Continues only if `condition` is true.
#[inline]
pub fn assume(condition: bool) -> Verdict {
    #[cfg(kani)]
    kani::assume(condition);
    #[cfg(not(kani))]
    if !condition {
        return Err(Stop::Skip);
    }
    Ok(())
}

/// Any number in `lo..hi`. Claims that `0 <= lo` and `hi <= most + 1`, so that no value is lost.
#[inline]
pub fn pick(lo: i64, hi: i64, most: i64) -> Result<i64, Stop> {
    super::claim!(0 <= lo && hi <= most + 1, "an index lies in the range of the harness");
    draw(lo, hi, most)
}

/// Any number in `lo..hi` and `0..=most`, with constant high bits under Kani.
#[inline]
pub fn draw(lo: i64, hi: i64, most: i64) -> Result<i64, Stop> {
    #[cfg(kani)]
    let x = kani::any::<u32>() as i64 & most;
    #[cfg(not(kani))]
    let x = source::next(lo.max(0), hi.min(most + 1)).ok_or(Stop::Skip)?;
    assume(lo <= x && x < hi)?;
    Ok(x)
}

/// A state that a fact determines, with constant high bits under Kani.
#[inline]
pub fn state(value: i64, most: i64) -> Result<i64, Stop> {
    super::claim!(0 <= value && value <= most, "a state lies in the range of the harness");
    Ok(value & most)
}

/// The number of values for a state that no fact determines; a test uses fewer.
#[inline]
pub fn states(p: i64, width: Width) -> i64 {
    if cfg!(kani) { width.state + 1 } else { (2 * p + 2).min(width.state + 1) }
}

/// The width for a test: smaller than Kani's while it enumerates.
#[inline]
pub fn width(of_kani: Width) -> Width {
    #[cfg(kani)]
    return of_kani;
    #[cfg(not(kani))]
    source::width(of_kani)
}

#[cfg(not(kani))]
pub use source::{covered, exercise};

#[cfg(not(kani))]
mod source {
    use super::{Stop, Verdict, Width};
    use std::cell::RefCell;

    /// The largest p that is enumerated.
    const ENUMERATED: i64 = 12;
    /// The largest number of values of one number that are enumerated.
    const ALTERNATIVES: u64 = 40;
    /// The number of random cases after the enumeration.
    const RANDOM: usize = 500;
    /// The largest number of enumerated cases.
    const MOST: usize = 20_000;

    #[derive(Default)]
    struct ShimSource {
        /// The choices so far, each with the number of alternatives.
        odometer: Vec<(u64, u64)>,
        position: usize,
        /// The state of the random sequence, if it is in use.
        random: Option<u64>,
        covered: bool,
    }

    impl ShimSource {
        fn below(&mut self, n: u64) -> u64 {
            if self.random.is_some() {
                // Cases differ most at small numbers, so every magnitude is equally likely.
                let magnitude = self.scattered() % u64::from(64 - n.leading_zeros());
                return self.scattered() % n.min(2 << magnitude);
            }
            if self.position == self.odometer.len() {
                self.odometer.push((0, n.min(ALTERNATIVES)));
            }
            self.position += 1;
            self.odometer[self.position - 1].0
        }

        fn scattered(&mut self) -> u64 {
            let seed = self.random.get_or_insert(1);
            *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }

        /// Moves to the next case; false after the last.
        fn advance(&mut self) -> bool {
            self.odometer.truncate(self.position);
            self.position = 0;
            while let Some((choice, n)) = self.odometer.pop() {
                if choice + 1 < n {
                    self.odometer.push((choice + 1, n));
                    return true;
                }
            }
            false
        }
    }

    thread_local! {
        static SOURCE: RefCell<ShimSource> = RefCell::default();
    }

    /// The next number in `lo..hi`, if there is one.
    pub(super) fn next(lo: i64, hi: i64) -> Option<i64> {
        let n = u64::try_from(hi.checked_sub(lo)?).ok().filter(|&n| n > 0)?;
        Some(lo + SOURCE.with_borrow_mut(|source| source.below(n)) as i64)
    }

    pub(super) fn width(of_kani: Width) -> Width {
        let random = SOURCE.with_borrow(|source| source.random.is_some());
        if random { of_kani } else { Width { p: ENUMERATED, ..of_kani } }
    }

    /// Notes that a cover was reached.
    pub fn covered() {
        SOURCE.with_borrow_mut(|source| source.covered = true);
    }

    /// Runs a body for all small cases, and then for random ones of its full range.
    ///
    /// # Errors
    /// Returns the first claim that is false, or that no case reaches a cover.
    pub fn exercise(mut body: impl FnMut() -> Verdict) -> Result<usize, &'static str> {
        SOURCE.set(ShimSource::default());
        let mut cases = 0;
        loop {
            cases += 1;
            one(&mut body)?;
            if cases == MOST || !SOURCE.with_borrow_mut(ShimSource::advance) {
                break;
            }
        }
        let covered = SOURCE.with_borrow(|source| source.covered);
        SOURCE.set(ShimSource { random: Some(1), covered, ..ShimSource::default() });
        for _ in 0..RANDOM {
            one(&mut body)?;
        }
        match SOURCE.take().covered {
            true => Ok(cases),
            false => Err("no case reaches what the harness is about"),
        }
    }

    fn one(body: &mut impl FnMut() -> Verdict) -> Result<(), &'static str> {
        match body() {
            Ok(()) | Err(Stop::Skip) => Ok(()),
            Err(Stop::Wrong(text)) => Err(text),
        }
    }
}

/// Runs a body: once and symbolically under Kani, many times elsewhere.
///
/// # Panics
/// Panics if a claim is false.
#[inline]
pub fn run(body: impl FnMut() -> Verdict) {
    #[cfg(kani)]
    {
        let mut body = body;
        let _ = body();
    }
    #[cfg(not(kani))]
    if let Err(text) = exercise(body) {
        panic!("{text}");
    }
}
