//! Times, rates and sizes, in a readable form.

use crate::error::Error;
use std::str::FromStr;

/// A time in seconds: `3e-6`, `500us`, `1.2ms`. The caller checks whether it makes sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

/// A rate in bytes per second: `1.25e9`, `10GB/s`, `10Gbit/s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BytesPerSecond(pub f64);

/// Units of time, and how many of each a second has. Division by a power of ten is exact to the last bit, so `500us`
/// and `5e-4` are the same number.
const TIMES: [(&str, f64); 6] = [("ns", 1e9), ("us", 1e6), ("µs", 1e6), ("ms", 1e3), ("s", 1.0), ("", 1.0)];

/// Units of rates, in bytes per second.
const RATES: [(&str, f64); 8] = [
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("Mbit/s", 1e6 / 8.0),
    ("Gbit/s", 1e9 / 8.0),
    ("B/s", 1.0),
    ("bit/s", 1.0 / 8.0),
    ("", 1.0),
];

/// The number before the first matching unit, and the value of the unit.
fn split(text: &str, units: &[(&str, f64)]) -> Option<(f64, f64)> {
    let number = |unit: &str| text.trim().strip_suffix(unit)?.trim_end().parse().ok();
    units.iter().find_map(|&(unit, scale)| Some((number(unit)?, scale)))
}

impl FromStr for Seconds {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Quantity { text: text.into(), what: "time", examples: "`500us`, `1.2ms` or `3e-6`" };
        split(text, &TIMES).map(|(number, scale)| Seconds(number / scale)).ok_or_else(wrong)
    }
}

impl FromStr for BytesPerSecond {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::Quantity { text: text.into(), what: "rate", examples: "`10GB/s`, `10Gbit/s` or `1.25e9`" };
        split(text, &RATES).map(|(number, scale)| BytesPerSecond(number * scale)).ok_or_else(wrong)
    }
}

/// A value with about three digits: `54.7`, `5.47`, `547`.
fn three_digits(value: f64) -> String {
    match value {
        _ if value >= 99.95 => format!("{value:.0}"),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A time as text.
pub fn time(seconds: f64) -> String {
    let units = [("s", 1.0), ("ms", 1e3), ("us", 1e6)];
    // Rounding must not turn 0.9996 ms into 1000 us.
    let fits = units.iter().find(|(_, scale)| seconds * scale >= 0.9995);
    match fits {
        _ if seconds == 0.0 => "0 s".into(),
        Some((unit, scale)) => format!("{} {unit}", three_digits(seconds * scale)),
        None => format!("{} ns", three_digits(seconds * 1e9)),
    }
}

/// A rate as text.
pub fn rate(bytes_per_second: f64) -> String {
    let units = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
    let fits = units.iter().find(|(_, scale)| bytes_per_second / scale >= 0.9995);
    let (unit, scale) = fits.copied().unwrap_or(("B/s", 1.0));
    format!("{} {unit}", three_digits(bytes_per_second / scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let seconds = |text: &str| text.parse::<Seconds>().ok().map(|time| time.0);
        assert_eq!(seconds("500us"), Some(500e-6));
        assert_eq!(seconds("1.2ms"), Some(1.2e-3));
        assert_eq!(seconds("3e-6"), Some(3e-6));
        assert_eq!((seconds("3 s"), seconds("7ns"), seconds("2e3 µs")), (Some(3.0), Some(7e-9), Some(2e-3)));
        assert_eq!(seconds("-1us"), Some(-1e-6));
        assert!(seconds("NaN").is_some_and(f64::is_nan));
        for wrong in ["", "us", "3 GB/s", "fast", "1,5us", "3us4"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rates_are_read() {
        let rate = |text: &str| text.parse::<BytesPerSecond>().ok().map(|rate| rate.0);
        assert_eq!((rate("10GB/s"), rate("1.25e9"), rate("10 Gbit/s")), (Some(10e9), Some(1.25e9), Some(1.25e9)));
        assert_eq!((rate("3B/s"), rate("8bit/s"), rate("2kB/s")), (Some(3.0), Some(1.0), Some(2e3)));
        for wrong in ["", "GB/s", "10Gb", "10GB", "3us"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_and_rates_are_written() {
        let times = [0.0, 1e-9, 0.9999e-6, 54.7e-6, 0.99999e-3, 0.0123, 1.0, 75.0, 3600.0].map(time);
        assert_eq!(
            times,
            ["0 s", "1.00 ns", "1.00 us", "54.7 us", "1.00 ms", "12.3 ms", "1.00 s", "75.0 s", "3600 s"]
        );
        assert_eq!([1.25e9, 156.25e6, 2e3, 3.0].map(rate), ["1.25 GB/s", "156 MB/s", "2.00 kB/s", "3.00 B/s"]);
    }
}
