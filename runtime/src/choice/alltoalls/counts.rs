//! Exact counts of the blocks and messages of Bruck's all-to-all, for every substep.
//!
//! Write the offset of a block, the distance from its source to its destination, in some radix. The block takes one
//! hop for every digit that is not zero; so a substep, which belongs to a digit and a value, moves the blocks whose
//! offset has that value at that digit. All counts are numbers of such offsets, and have closed forms: nothing here
//! iterates over blocks.

use super::Error;
use crate::arith::{ceil_div, ceil_log, max, min, pow};

/// The largest number of ranks, as in MPI. All counts then fit 64 bits, for every radix.
pub const MAX_P: i64 = i32::MAX as i64;

/// How the substeps of an all-to-all among `p` ranks follow from a radix.
///
/// ```
/// use roundel::choice::alltoalls::Split;
/// // Six ranks: the offsets 0 to 5 are 000, 001, 010, 011, 100, 101.
/// let split = Split::new(6, 2)?;
/// assert_eq!((split.digits(), split.substeps(), split.total()), (3, 3, 7));
/// let blocks: Vec<i64> = split.each().map(|substep| substep.blocks).collect();
/// assert_eq!(blocks, [3, 2, 2]);
/// # Ok::<(), roundel::choice::alltoalls::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    p: i64,
    radix: i64,
    digits: i64,
}

/// One substep: every rank sends one message to the rank at `distance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Substep {
    /// The digit, counted from the least significant one.
    pub digit: i64,
    /// The value of the digit in the blocks that are sent.
    pub value: i64,
    /// The distance between sender and receiver.
    pub distance: i64,
    /// The number of blocks in the message.
    pub blocks: i64,
}

impl Split {
    /// Splits the offsets below `p` into digits of `radix`.
    pub const fn new(p: i64, radix: i64) -> Result<Self, Error> {
        if p < 1 || p > MAX_P {
            return Err(Error::Ranks { p });
        }
        if radix < 2 {
            return Err(Error::Radix { radix });
        }
        Ok(Split { p, radix, digits: ceil_log(radix, p) })
    }

    /// The number of ranks.
    pub const fn p(&self) -> i64 {
        self.p
    }

    /// The radix.
    pub const fn radix(&self) -> i64 {
        self.radix
    }

    /// The number of digits of the offsets. This is the number of rounds if all substeps of a digit travel at the
    /// same time.
    pub const fn digits(&self) -> i64 {
        self.digits
    }

    /// The weight of a digit. It is below [`MAX_P`], because the largest offset has all digits.
    const fn weight(&self, digit: i64) -> i64 {
        pow(self.radix, digit)
    }

    /// After how many offsets the digit's values repeat. It fits: either there is one digit, and this is the radix,
    /// or both factors are below [`MAX_P`].
    const fn period(&self, digit: i64) -> i64 {
        self.weight(digit) * self.radix
    }

    const fn has(&self, digit: i64) -> bool {
        0 <= digit && digit < self.digits
    }

    /// The number of substeps of all digits: the paper's equation (2), and 0 for one rank.
    pub const fn substeps(&self) -> i64 {
        if self.digits == 0 {
            return 0;
        }
        let top = self.digits - 1;
        // w (r - 1) - floor((r^w - p) / r^(w - 1)), without the first product, which could overflow.
        top * (self.radix - 1) + self.substeps_of(top)
    }

    /// The number of substeps of one digit: the non-zero values that it takes in some offset.
    pub const fn substeps_of(&self, digit: i64) -> i64 {
        if !self.has(digit) {
            return 0;
        }
        min(self.radix, ceil_div(self.p, self.weight(digit))) - 1
    }

    /// The number of blocks that a rank sends in the substep of a digit and a value; 0 if there is no such substep.
    pub const fn blocks(&self, digit: i64, value: i64) -> i64 {
        if !self.has(digit) || value < 1 || value >= self.radix {
            return 0;
        }
        self.with(digit, value)
    }

    /// The number of blocks that a rank sends in all substeps of a digit.
    pub const fn blocks_of(&self, digit: i64) -> i64 {
        if !self.has(digit) { 0 } else { self.p - self.with(digit, 0) }
    }

    /// The number of offsets with a value at a digit: those in full periods, and those in the last one.
    const fn with(&self, digit: i64, value: i64) -> i64 {
        let (weight, period) = (self.weight(digit), self.period(digit));
        let rest = self.p % period - value * weight;
        self.p / period * weight + max(0, min(rest, weight))
    }

    /// The number of blocks that a rank sends in all substeps.
    pub fn total(&self) -> i64 {
        (0..self.digits).map(|digit| self.blocks_of(digit)).sum()
    }

    /// The largest number of blocks that a rank sends in one substep. For each digit, value 1 has the most.
    pub fn largest(&self) -> i64 {
        (0..self.digits).map(|digit| self.blocks(digit, 1)).max().unwrap_or(0)
    }

    /// The substeps, in the order in which they run.
    pub fn each(self) -> impl Iterator<Item = Substep> {
        (0..self.digits).flat_map(move |digit| {
            (1..=self.substeps_of(digit)).map(move |value| Substep {
                digit,
                value,
                distance: value * self.weight(digit),
                blocks: self.with(digit, value),
            })
        })
    }
}

/// The number of messages that a rank sends, one for each substep: `numC` in the paper.
///
/// ```
/// assert_eq!(roundel::choice::alltoalls::substeps(4096, 64), Ok(126));
/// ```
pub fn substeps(p: i64, radix: i64) -> Result<i64, Error> {
    Split::new(p, radix).map(|split| split.substeps())
}

/// The number of blocks that a rank sends in one substep: `numD` in the paper. 0 if there is no such substep.
///
/// ```
/// assert_eq!(roundel::choice::alltoalls::blocks(6, 2, 0, 1), Ok(3));
/// ```
pub fn blocks(p: i64, radix: i64, digit: i64, value: i64) -> Result<i64, Error> {
    Split::new(p, radix).map(|split| split.blocks(digit, value))
}

/// The number of blocks that a rank sends in all substeps.
///
/// ```
/// assert_eq!(roundel::choice::alltoalls::total_blocks(4096, 64), Ok(8064));
/// ```
pub fn total_blocks(p: i64, radix: i64) -> Result<i64, Error> {
    Split::new(p, radix).map(|split| split.total())
}

/// The smallest number whose square is at least `n`: the radix that the paper recommends.
///
/// ```
/// use roundel::choice::alltoalls::ceil_sqrt;
/// assert_eq!([1, 2, 512, 4096, 4097].map(ceil_sqrt), [1, 2, 23, 64, 65]);
/// ```
pub const fn ceil_sqrt(n: i64) -> i64 {
    if n < 1 {
        return 0;
    }
    let below = n.isqrt();
    if below * below < n { below + 1 } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::digit;
    use proptest::prelude::*;

    fn split(p: i64, radix: i64) -> Split {
        Split::new(p, radix).expect("in the domain")
    }

    /// Counts digit by digit, offset by offset.
    fn by_counting(p: i64, radix: i64) -> Vec<Substep> {
        let mut all = Vec::new();
        for x in 0..ceil_log(radix, p) {
            for value in 1..radix.min(p) {
                let distance = value * pow(radix, x);
                let blocks = (0..p).filter(|&offset| digit(offset, radix, x) == value).count() as i64;
                if distance < p {
                    all.push(Substep { digit: x, value, distance, blocks });
                } else {
                    assert_eq!(blocks, 0, "a substep that nobody needs");
                }
            }
        }
        all
    }

    #[test]
    fn counts_are_those_of_the_offsets() {
        for p in 1..=128 {
            for radix in 2..=p + 2 {
                let (split, expected) = (split(p, radix), by_counting(p, radix));
                assert_eq!(split.each().collect::<Vec<_>>(), expected, "p = {p}, radix = {radix}");
                assert_eq!(split.substeps(), expected.len() as i64, "p = {p}, radix = {radix}");
                assert_eq!(split.total(), expected.iter().map(|s| s.blocks).sum::<i64>(), "p = {p}, radix = {radix}");
                assert_eq!(split.largest(), expected.iter().map(|s| s.blocks).max().unwrap_or(0));
                for x in -1..=split.digits() {
                    let of = |s: &&Substep| s.digit == x;
                    assert_eq!(split.substeps_of(x), expected.iter().filter(of).count() as i64);
                    assert_eq!(split.blocks_of(x), expected.iter().filter(of).map(|s| s.blocks).sum::<i64>());
                    assert_eq!((split.blocks(x, 0), split.blocks(x, -1), split.blocks(x, radix)), (0, 0, 0));
                }
            }
        }
    }

    /// The formulas as the paper writes them.
    #[test]
    fn counts_are_those_of_the_paper() {
        for p in 2..=512i64 {
            for radix in 2..=p + 2 {
                let (split, w) = (split(p, radix), ceil_log(radix, p));
                let formula = w * (radix - 1) - (pow(radix, w) - p) / pow(radix, w - 1);
                assert_eq!(split.substeps(), formula, "p = {p}, radix = {radix}");
            }
        }
        for (p, radix, x, z) in [(6, 2, 0, 1), (6, 4, 0, 3), (100, 7, 1, 6), (100, 7, 2, 2), (4096, 64, 1, 63)] {
            let weight = pow(radix, x);
            let (lc, t) = (p / (weight * radix) * weight, p % (weight * radix) - z * weight);
            let formula = match t {
                ..=0 => lc,
                t if t / weight > 0 => lc + weight,
                t => lc + t % weight,
            };
            assert_eq!(blocks(p, radix, x, z), Ok(formula));
        }
    }

    /// Figure 1. The caption gives 5 steps for radix 4; the formula and the offsets agree on 4.
    #[test]
    fn six_ranks_are_figure_1() {
        assert_eq!([2, 4, 5].map(|radix| split(6, radix).substeps()), [3, 4, 5]);
    }

    #[test]
    fn the_ends_of_the_domain() {
        for radix in [2, 3, 1 << 40, i64::MAX] {
            let one = split(1, radix);
            assert_eq!(
                (one.digits(), one.substeps(), one.total(), one.largest(), one.each().count()),
                (0, 0, 0, 0, 0)
            );
        }
        // From radix p on, every block has its own substep.
        for p in [2, 3, 17, MAX_P] {
            for radix in [p, p + 1, i64::MAX] {
                let split = split(p, radix);
                assert_eq!((split.digits(), split.substeps(), split.total()), (1, p - 1, p - 1));
                assert_eq!((split.largest(), split.blocks(0, p - 1), split.blocks(0, p)), (1, 1, 0));
            }
        }
        // Powers, and one more: the new digit has one value, in one block.
        for radix in [2, 3, 10] {
            let (exact, more) = (split(pow(radix, 4), radix), split(pow(radix, 4) + 1, radix));
            assert_eq!((exact.digits(), exact.substeps()), (4, 4 * (radix - 1)));
            assert_eq!(exact.total(), 4 * (radix - 1) * pow(radix, 3));
            assert_eq!((more.digits(), more.substeps(), more.blocks(4, 1)), (5, 4 * (radix - 1) + 1, 1));
        }
        assert_eq!(Split::new(0, 2), Err(Error::Ranks { p: 0 }));
        assert_eq!(Split::new(MAX_P + 1, 2), Err(Error::Ranks { p: MAX_P + 1 }));
        assert_eq!(Split::new(5, 1), Err(Error::Radix { radix: 1 }));
        assert_eq!(Split::new(5, i64::MIN), Err(Error::Radix { radix: i64::MIN }));
    }

    #[test]
    fn square_roots_are_exact() {
        for n in 1..10_000 {
            let root = ceil_sqrt(n);
            assert!(root * root >= n && (root - 1) * (root - 1) < n, "{n}");
        }
        assert_eq!((ceil_sqrt(0), ceil_sqrt(-4), ceil_sqrt(MAX_P)), (0, 0, 46341));
        assert_eq!(ceil_sqrt(i64::MAX), 3_037_000_500);
    }

    proptest! {
        /// No input overflows.
        #[test]
        fn counts_fit(p in 1..=MAX_P, radix in prop_oneof![2..=MAX_P, 2..100i64, 2..=i64::MAX], x: i64, z: i64) {
            let split = split(p, radix);
            prop_assert!((0..p).contains(&split.substeps()));
            prop_assert!((p - 1..=31 * p).contains(&split.total()));
            prop_assert!((0..p).contains(&split.blocks(x, z)));
            prop_assert!(split.largest() < p);
            let digits: i64 = (0..split.digits()).map(|digit| split.substeps_of(digit)).sum();
            prop_assert_eq!(digits, split.substeps());
        }
    }
}
