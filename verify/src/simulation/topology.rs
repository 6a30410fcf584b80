//! Reads a topology: the levels of a network, and the links that the ranks of a group share.

use super::SimulationError;
use crate::error::Error;
use crate::report::units::{BytesPerSecond, Seconds};
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

/// The format that a file names.
const FORMAT: &str = "roundel-topology";
/// The version that is read.
const VERSION: i64 = 1;
/// The largest number of levels.
const MOST_LEVELS: usize = 8;
/// Valid latencies, in seconds.
const LATENCIES: RangeInclusive<f64> = 0.0..=1e3;
/// Valid bandwidths, in bytes per second.
const RATES: RangeInclusive<f64> = 1.0..=1e18;

/// The levels of a network, from nodes upwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// The levels; the first one is that of nodes.
    pub levels: Vec<Level>,
}

/// One level: groups of nodes, or of groups of the level below.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// The number of ranks of a node, or of groups of the level below in a group.
    pub size: usize,
    /// L of a message that does not leave its group; that of the machine if left out.
    pub latency: Option<f64>,
    /// G of such a message.
    pub byte_gap: Option<f64>,
    /// The bytes per second of the link that leads out of a group, for each direction, which its ranks share.
    pub uplink: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopologyFile {
    format: String,
    version: i64,
    #[serde(default)]
    level: Vec<LevelTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelTable {
    name: String,
    size: i64,
    latency: Option<Quantity>,
    bandwidth: Option<Quantity>,
    uplink: Option<Quantity>,
}

/// A number, or a text with a unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Quantity {
    Number(f64),
    Text(String),
}

impl Quantity {
    fn read<T: FromStr<Err = Error>>(&self, number: fn(f64) -> T) -> Result<T, Error> {
        match self {
            Quantity::Number(value) => Ok(number(*value)),
            Quantity::Text(text) => text.parse(),
        }
    }
}

impl Topology {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
        Self::parse(&text).map_err(|what| SimulationError::Topology { path: path.into(), what }.into())
    }

    /// Reads a text; the error says what to correct.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: TopologyFile = toml::from_str(text).map_err(|error| located(text, &error))?;
        if file.format != FORMAT || file.version != VERSION {
            return Err(format!("begin it with `format = \"{FORMAT}\"` and `version = {VERSION}`"));
        }
        if !(1..=MOST_LEVELS).contains(&file.level.len()) {
            let found = file.level.len();
            return Err(format!("it has {found} levels: write 1 to {MOST_LEVELS} tables `[[level]]`, nodes first"));
        }
        let mut levels: Vec<Level> = Vec::new();
        for (number, table) in file.level.into_iter().enumerate() {
            let level = read_level(table, number)?;
            if levels.iter().any(|known| known.name == level.name) {
                return Err(format!("two levels are called `{}`: give each a name of its own", level.name));
            }
            levels.push(level);
        }
        Ok(Topology { levels })
    }
}

fn read_level(table: LevelTable, number: usize) -> Result<Level, String> {
    let LevelTable { name, size, latency, bandwidth, uplink } = table;
    if name.trim().is_empty() {
        return Err(format!("level {number} has no name: write, for example, `name = \"switch\"`"));
    }
    let least = if number == 0 { 1 } else { 2 };
    let fits = (least..=1 << 31).contains(&size);
    let of = if number == 0 { "ranks" } else { "groups of the level below" };
    if !fits {
        return Err(format!("`size` of level `{name}` is {size}: write a number of {of}, at least {least}"));
    }
    let rate = |key: &str, value: Option<Quantity>| {
        let read = value.map(|value| value.read(BytesPerSecond).map(|rate| rate.0)).transpose();
        within(&name, key, read, &RATES, "bytes per second")
    };
    let latency_read = latency.map(|value| value.read(Seconds).map(|time| time.0)).transpose();
    Ok(Level {
        latency: within(&name, "latency", latency_read, &LATENCIES, "seconds")?,
        byte_gap: rate("bandwidth", bandwidth)?.map(|rate| 1.0 / rate),
        uplink: rate("uplink", uplink)?,
        size: size as usize,
        name,
    })
}

fn within(
    level: &str,
    key: &str,
    read: Result<Option<f64>, Error>,
    range: &RangeInclusive<f64>,
    unit: &str,
) -> Result<Option<f64>, String> {
    let value = read.map_err(|error| format!("`{key}` of level `{level}`: {error}"))?;
    match value {
        // NaN lies in no range.
        Some(value) if !range.contains(&value) => {
            let (low, high) = (range.start(), range.end());
            Err(format!("`{key}` of level `{level}` is {value}: write {unit} in {low:e}..={high:e}"))
        }
        fine => Ok(fine),
    }
}

/// The parser's message with its line.
fn located(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    format!("line {line}: {}", error.message().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format = \"roundel-topology\"\nversion = 1\n";
    const NODE: &str =
        "[[level]]\nname = \"node\"\nsize = 4\nlatency = \"0.5us\"\nbandwidth = 2e10\nuplink = \"25GB/s\"\n";

    #[test]
    fn levels_are_read() {
        let pod = "[[level]]\nname = \"pod\"\nsize = 16\nlatency = 1e-6\n";
        let topology = Topology::parse(&format!("{HEAD}{NODE}{pod}")).expect("is a topology");
        let [node, pod] = topology.levels.as_slice() else { panic!("{topology:?}") };
        assert_eq!((node.size, node.latency, node.byte_gap, node.uplink), (4, Some(0.5e-6), Some(5e-11), Some(25e9)));
        assert_eq!((pod.size, pod.latency, pod.byte_gap, pod.uplink), (16, Some(1e-6), None, None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let says = |text: &str, words: &str| {
            let error = Topology::parse(text).expect_err(words);
            assert!(error.contains(words), "{error}");
        };
        let changed = |from: &str, to: &str| format!("{HEAD}{}", NODE.replace(from, to));
        says("", "missing field `format`");
        says("format = \"x\"\nversion = 1\n", "begin it with");
        says(&HEAD.replace('1', "2"), "begin it with");
        says(HEAD, "it has 0 levels");
        says(&format!("{HEAD}{}", NODE.repeat(9)), "it has 9 levels");
        says(&format!("{HEAD}{NODE}{NODE}"), "two levels are called `node`");
        says(&changed("size", "width"), "line 5: unknown field `width`");
        says(&changed("size = 4", "size = 0"), "`size` of level `node` is 0: write a number of ranks, at least 1");
        says(&changed("size = 4", "size = \"4\""), "line 5: invalid type");
        says(&changed("0.5us", "-0.5us"), "write seconds in 0e0..=1e3");
        says(&changed("0.5us", "fast"), "`latency` of level `node`: `fast` is no time");
        says(&changed("2e10", "nan"), "write bytes per second in");
        says(&changed("25GB/s", "0"), "`uplink` of level `node` is 0");
        says(&changed("\"node\"", "\" \""), "level 0 has no name");
        says("{\"json\": 1}", "line 1: ");
        says("[[level]", "line 1: ");
    }
}
