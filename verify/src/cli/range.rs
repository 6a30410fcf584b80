//! Ranges of process counts, of rounds and of parameters, written as in Rust.

use crate::error::Error;
use roundel_spec::collective::LARGEST_CHECKED;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The largest number of ranks that is recorded or checked, since every message of every rank is kept in memory.
pub const MAX_P: usize = LARGEST_CHECKED as usize;

/// The default limit of the exhaustive engine if every p has many placements.
pub const WITH_PLACES: i64 = 96;

/// The same for all-to-alls, where every placement is followed pair by pair.
pub const PAIRS_WITH_PLACES: i64 = 48;

/// A range of process counts: `7`, `1..64` or `1..=64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessRange {
    /// The smallest.
    pub from: usize,
    /// The largest.
    pub to: usize,
}

impl ProcessRange {
    /// All process counts of the range.
    pub fn iter(self) -> RangeInclusive<usize> {
        self.from..=self.to
    }

    /// The part of the range up to `p`; `None` if it is empty.
    pub fn up_to(self, p: usize) -> Option<ProcessRange> {
        (self.from <= p).then(|| ProcessRange { from: self.from, to: self.to.min(p) })
    }
}

impl fmt::Display for ProcessRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to { write!(f, "{}", self.from) } else { write!(f, "{}..={}", self.from, self.to) }
    }
}

impl FromStr for ProcessRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason| Error::Range { text: text.into(), reason };
        let values = values(text).map_err(wrong)?;
        match (usize::try_from(*values.start()), usize::try_from(*values.end())) {
            (Ok(0), _) => Err(wrong("there is no collective of 0 ranks")),
            (Err(_), _) | (_, Err(_)) => Err(wrong("its ends must be whole numbers of at least 1")),
            (_, Ok(to)) if to > MAX_P => {
                Err(Error::Ranks { p: to, limit: MAX_P, reason: "every message is held in memory" })
            }
            (Ok(from), Ok(to)) => Ok(ProcessRange { from, to }),
        }
    }
}

/// A range of rounds, counted from 0: `3`, `2..5` or `2..=4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRange {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

impl FromStr for RoundRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason| Error::Rounds { text: text.into(), reason };
        let values = values(text).map_err(wrong)?;
        match (usize::try_from(*values.start()), usize::try_from(*values.end())) {
            (Ok(first), Ok(last)) => Ok(RoundRange { first, last }),
            _ => Err(wrong("rounds are counted from 0")),
        }
    }
}

/// The values of `7`, `1..64` or `1..=64`: at least one. The error says what is wrong.
pub fn values(text: &str) -> Result<RangeInclusive<i64>, &'static str> {
    let number = |part: &str| part.trim().parse::<i64>().map_err(|_| "its ends must be whole numbers");
    let (from, to) = match text.split_once("..") {
        None => (number(text)?, number(text)?),
        Some((from, to)) => match to.strip_prefix('=') {
            Some(to) => (number(from)?, number(to)?),
            None => (number(from)?, number(to)?.checked_sub(1).ok_or("it is empty")?),
        },
    };
    if to < from { Err("it is empty") } else { Ok(from..=to) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_read_as_in_rust() {
        let parse = |text: &str| text.parse::<ProcessRange>().map(|range| (range.from, range.to)).ok();
        assert_eq!(parse("7"), Some((7, 7)));
        assert_eq!(parse("1..64"), Some((1, 63)));
        assert_eq!(parse("1..=64"), Some((1, 64)));
        assert_eq!(parse(" 2 ..= 5 "), Some((2, 5)));
        for wrong in ["", "..", "0", "0..4", "3..3", "5..=4", "a", "1..=x", "-1", "1...4", "1..=999999999999", "1..0"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_part_up_to_a_limit() {
        let range = ProcessRange { from: 3, to: 20 };
        assert_eq!(range.up_to(16), Some(ProcessRange { from: 3, to: 16 }));
        assert_eq!(range.up_to(2), None);
        assert_eq!(range.to_string(), "3..=20");
        assert_eq!(ProcessRange { from: 7, to: 7 }.to_string(), "7");
    }
}
