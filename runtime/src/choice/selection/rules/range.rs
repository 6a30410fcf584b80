//! Ranges of whole numbers, as rules write them.

use std::fmt;

/// The whole numbers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberRange {
    /// The first number.
    pub from: u64,
    /// The last number; `u64::MAX` for no limit.
    pub to: u64,
}

/// Units of sizes, in bytes; a unit that ends with another one comes before it.
const UNITS: [(&str, u64); 8] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
    ("", 1),
];

impl NumberRange {
    /// Only this number.
    pub const fn only(number: u64) -> Self {
        NumberRange { from: number, to: number }
    }

    /// From 0 to this number.
    pub const fn up_to(to: u64) -> Self {
        NumberRange { from: 0, to }
    }

    /// Whether a number lies in it.
    pub const fn contains(&self, number: u64) -> bool {
        self.from <= number && number <= self.to
    }

    /// The intersection of two ranges; empty if `from` is larger than `to`.
    pub(in crate::choice::selection) fn and(self, other: NumberRange) -> NumberRange {
        NumberRange { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    pub(in crate::choice::selection) const fn is_empty(&self) -> bool {
        self.from > self.to
    }

    /// Parses `7`, `2..8` (7 is the last), `2..=8`, `2..`, `..8`, `>=2`, `>2`, `<8` or `<=8`, within `all`. `None` if
    /// the text has another form, or the range is empty or exceeds `all`. Sizes may have units.
    pub(in crate::choice::selection) fn read(text: &str, all: NumberRange, sizes: bool) -> Option<NumberRange> {
        let number = |text: &str| number(text.trim(), sizes);
        let text = text.trim();
        let (from, to) = if let Some(from) = text.strip_prefix(">=") {
            (number(from)?, all.to)
        } else if let Some(below) = text.strip_prefix('>') {
            (number(below)?.checked_add(1)?, all.to)
        } else if let Some(to) = text.strip_prefix("<=") {
            (all.from, number(to)?)
        } else if let Some(above) = text.strip_prefix('<') {
            (all.from, number(above)?.checked_sub(1)?)
        } else if let Some((from, to)) = text.split_once("..") {
            between(from.trim(), to.trim(), all, number)?
        } else {
            (number(text)?, number(text)?)
        };
        let inside = all.from <= from && from <= to && to <= all.to;
        inside.then_some(NumberRange { from, to })
    }
}

/// The ends of `2..8`, both of which are optional.
fn between(from: &str, to: &str, all: NumberRange, number: impl Fn(&str) -> Option<u64>) -> Option<(u64, u64)> {
    let from = if from.is_empty() { all.from } else { number(from)? };
    let to = match (to, to.strip_prefix('=')) {
        ("", _) => all.to,
        (_, Some(last)) => number(last)?,
        (above, None) => number(above)?.checked_sub(1)?,
    };
    Some((from, to))
}

/// An unsigned number; a size may have a unit.
fn number(text: &str, size: bool) -> Option<u64> {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    if !size {
        return plain(text);
    }
    let scaled = |&(unit, scale): &(&str, u64)| {
        let digits: Option<u64> = text.strip_suffix(unit).and_then(|digits| plain(digits.trim_end()));
        digits.and_then(|digits| digits.checked_mul(scale))
    };
    UNITS.iter().find_map(scaled)
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, to) if from == to => write!(f, "{from}"),
            (from, u64::MAX) => write!(f, "{from}.."),
            (from, to) => write!(f, "{from}..={to}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: NumberRange = NumberRange { from: 1, to: u64::MAX };

    #[test]
    fn every_way_of_writing() {
        let cases = [
            ("7", 7, 7),
            ("2..8", 2, 7),
            ("2..=8", 2, 8),
            (" 2 .. ", 2, u64::MAX),
            ("..8", 1, 7),
            ("..=8", 1, 8),
            ("..", 1, u64::MAX),
            (">=2", 2, u64::MAX),
            ("> 2", 3, u64::MAX),
            ("<8", 1, 7),
            ("<= 8", 1, 8),
        ];
        for (text, from, to) in cases {
            assert_eq!(NumberRange::read(text, ALL, false), Some(NumberRange { from, to }), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        let read =
            |text| NumberRange::read(text, NumberRange::up_to(u64::MAX), true).map(|range| (range.from, range.to));
        assert_eq!(read("4 KiB..1MiB"), Some((4096, (1 << 20) - 1)));
        assert_eq!(read("..=2kB"), Some((0, 2000)));
        assert_eq!(read(">=3GB"), Some((3_000_000_000, u64::MAX)));
        assert_eq!(read("8B"), Some((8, 8)));
        assert_eq!(NumberRange::read("4KiB", ALL, false), None);
    }

    #[test]
    fn what_is_no_range() {
        let wrong =
            ["", "x", "8..2", "2..2", "-1", "0", "0..4", "<1", "1.5", "2...4", "=3", "99999999999999999999", "+3"];
        for text in wrong.into_iter().chain([">18446744073709551615", "2 3", "1..=", "≥2"]) {
            assert_eq!(NumberRange::read(text, ALL, false), None, "{text}");
        }
        assert_eq!(NumberRange::read("99999999999GiB", NumberRange::up_to(u64::MAX), true), None);
        assert_eq!(NumberRange::read("2..=9", NumberRange { from: 1, to: 8 }, false), None);
    }

    #[test]
    fn they_are_written_as_they_are_read() {
        for range in [NumberRange::only(7), NumberRange { from: 2, to: 9 }, NumberRange { from: 3, to: u64::MAX }] {
            assert_eq!(NumberRange::read(&range.to_string(), ALL, false), Some(range));
        }
    }
}
