//! Parses a profile. The TOML parser reports the position of every value, so every error names a line.

use super::error::Error;
use super::grid::{Grid, GridFault, TIMES};
use super::{Contention, Machine, NodeSpeed, Profile, VERSION};
use crate::choice::toml_text::{TomlText, Value, message, offset, whole};
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

/// Valid rates, in bytes per second.
const RATES: RangeInclusive<f64> = 1.0..=1e18;
/// Valid slowdown factors.
const FACTORS: RangeInclusive<f64> = 0.01..=1e6;
/// The largest valid count.
const MANY: i64 = 1 << 31;

const TOP: [&str; 8] = ["format", "version", "machine", "node", "crowd", "inside", "between", "end"];

impl Profile {
    /// Reads a profile of any machine.
    ///
    /// # Errors
    /// Returns what is wrong with the text, and in which line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        ProfileText(TomlText(text)).profile().map(|(profile, _)| profile)
    }

    /// Reads a profile of this machine.
    ///
    /// # Errors
    /// Returns what is wrong with the text, and in which line; [`Error::Foreign`] if the profile is for another
    /// machine.
    pub fn parse_for(text: &str, machine: &Machine) -> Result<Self, Error> {
        let (profile, [cpu, cores, mpi]) = ProfileText(TomlText(text)).profile()?;
        let Some((key, found, expected)) = profile.machine.differs(machine) else { return Ok(profile) };
        let line = match key {
            "cpu" => cpu,
            "cores" => cores,
            _ => mpi,
        };
        Err(Error::Foreign { line, key, expected, found })
    }
}

/// A table with its name and position.
struct ProfileTable<'a, 'i> {
    name: String,
    at: usize,
    entries: &'a DeTable<'i>,
}

/// The text of a profile.
#[derive(Clone, Copy)]
struct ProfileText<'i>(TomlText<'i>);

impl<'i> ProfileText<'i> {
    /// The profile, and the lines that identify its machine.
    fn profile(self) -> Result<(Profile, [usize; 3]), Error> {
        let parsed = DeTable::parse(self.0.0).map_err(|error| self.malformed(&error))?;
        let top = ProfileTable { name: "the profile".into(), at: 0, entries: parsed.get_ref() };
        self.is_profile(&top)?;
        self.knows(&top, &TOP)?;
        self.is_complete(&top)?;
        let (machine, lines) = self.machine(&self.table(&top, "machine")?)?;
        let profile = Profile {
            machine,
            node: self.node(&self.table(&top, "node")?)?,
            contention: self.contention(&self.table(&top, "crowd")?)?,
            inside: self.grid(&top, "inside", |default| default.inside)?,
            between: self.grid(&top, "between", |default| default.between)?,
        };
        Ok((profile, lines))
    }

    /// Checks the format and the version.
    fn is_profile(self, top: &ProfileTable<'_, '_>) -> Result<(), Error> {
        let format = top.entries.get("format");
        let named = format.is_some_and(|format| format.get_ref().as_str() == Some("roundel-profile"));
        if !named {
            return Err(Error::NotAProfile { line: format.map_or(1, |format| self.0.line(format)) });
        }
        let version = self.entry(top, "version")?;
        match whole(version) {
            Some(VERSION) => Ok(()),
            _ => Err(Error::Version { line: self.0.line(version), found: self.0.written(version) }),
        }
    }

    /// Checks the end marker, which a truncated text lacks.
    fn is_complete(self, top: &ProfileTable<'_, '_>) -> Result<(), Error> {
        let end = top.entries.get("end").and_then(|end| end.get_ref().as_table());
        let complete = end.and_then(|end| end.get("complete")).and_then(|complete| complete.get_ref().as_bool());
        if complete == Some(true) { Ok(()) } else { Err(Error::Truncated { line: self.0.last_line() }) }
    }

    fn machine(self, table: &ProfileTable<'_, '_>) -> Result<(Machine, [usize; 3]), Error> {
        self.knows(table, &["host", "cores", "cpu", "mpi", "date", "nodes", "ranks"])?;
        let machine = Machine {
            host: self.words(table, "host")?,
            cores: self.count(table, "cores", 0)?,
            cpu: self.words(table, "cpu")?,
            mpi: self.words(table, "mpi")?,
            date: self.words(table, "date")?,
            nodes: self.count(table, "nodes", 0)?,
            ranks: self.count(table, "ranks", 0)?,
        };
        let line = |key| self.entry(table, key).map(|value| self.0.line(value));
        Ok((machine, [line("cpu")?, line("cores")?, line("mpi")?]))
    }

    fn node(self, table: &ProfileTable<'_, '_>) -> Result<NodeSpeed, Error> {
        self.knows(table, &["signal", "copy", "combine"])?;
        Ok(NodeSpeed {
            signal: self.number(table, "signal", TIMES, "seconds")?,
            copy: self.number(table, "copy", RATES, "bytes per second")?,
            combine: self.number(table, "combine", RATES, "bytes per second")?,
        })
    }

    fn contention(self, table: &ProfileTable<'_, '_>) -> Result<Contention, Error> {
        self.knows(table, &["lanes", "short", "long"])?;
        Ok(Contention {
            lanes: self.count(table, "lanes", 2)?,
            short: self.number(table, "short", FACTORS, "times the time")?,
            long: self.number(table, "long", FACTORS, "times the time")?,
        })
    }

    /// A grid, or the default one if it was not measured.
    fn grid(
        self,
        top: &ProfileTable<'_, '_>,
        key: &'static str,
        default: fn(Profile) -> Grid,
    ) -> Result<Grid, Error> {
        if self.entry(top, key)?.get_ref().as_str() == Some("not measured") {
            return Ok(default(Profile::default()));
        }
        let table = self.table(top, key)?;
        self.knows(&table, &["sizes", "ports", "seconds"])?;
        let sizes = self.list(&table, "sizes", |value| self.natural(value, "sizes"))?;
        let ports = self.list(&table, "ports", |value| self.natural(value, "ports"))?;
        let row = |row: &Value<'_>| self.items(row, "seconds", |value| self.float(value, "seconds"));
        let seconds = self.list(&table, "seconds", row)?;
        let ports = ports.into_iter().map(|ports| ports as usize).collect();
        Grid::new(sizes, ports, seconds).map_err(|fault| self.fault(&table, fault))
    }

    /// The error for an invalid grid, with its line.
    fn fault(self, table: &ProfileTable<'_, '_>, fault: GridFault) -> Error {
        let (path, expected): (Vec<usize>, String) = match fault {
            GridFault::NoSizes => (vec![], "at least one size in bytes".into()),
            GridFault::Size { at } => (vec![at], "sizes above 0 that increase".into()),
            GridFault::FirstPorts => (vec![], "numbers of messages at once that begin with 1".into()),
            GridFault::Ports { at } => (vec![at], "numbers of messages that increase".into()),
            GridFault::Rows { .. } => (vec![], "a row of seconds for each number of ports".into()),
            GridFault::Row { row, .. } => (vec![row], "a time for each of the sizes".into()),
            GridFault::Seconds { row, at } => {
                (vec![row, at], format!("seconds in {:e}..={:e}", TIMES.start(), TIMES.end()))
            }
        };
        let key = match fault {
            GridFault::NoSizes | GridFault::Size { .. } => "sizes",
            GridFault::FirstPorts | GridFault::Ports { .. } => "ports",
            _ => "seconds",
        };
        let Some(mut value) = table.entries.get(key) else {
            return Error::Missing { line: self.0.line_at(table.at), key, of: table.name.clone() };
        };
        for index in path {
            value = value.get_ref().as_array().and_then(|list| list.get(index)).unwrap_or(value);
        }
        self.odd(value, key, expected)
    }

    fn table<'a>(self, of: &ProfileTable<'a, 'i>, key: &'static str) -> Result<ProfileTable<'a, 'i>, Error> {
        let value = self.entry(of, key)?;
        let expected = || self.odd(value, key, format!("a table `[{key}]`"));
        let entries = value.get_ref().as_table().ok_or_else(expected)?;
        Ok(ProfileTable { name: format!("`[{key}]`"), at: value.span().start, entries })
    }

    fn entry<'a>(self, of: &ProfileTable<'a, 'i>, key: &'static str) -> Result<&'a Value<'i>, Error> {
        let missing = || Error::Missing { line: self.0.line_at(of.at), key, of: of.name.clone() };
        of.entries.get(key).ok_or_else(missing)
    }

    /// Returns an error for unknown keys.
    fn knows(self, table: &ProfileTable<'_, '_>, known: &[&str]) -> Result<(), Error> {
        let strange = table.entries.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = strange else { return Ok(()) };
        let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let (line, of) = (self.0.line_at(key.span().start), table.name.clone());
        Err(Error::Unknown { line, key: key.get_ref().to_string(), of, known })
    }

    fn words(self, table: &ProfileTable<'_, 'i>, key: &'static str) -> Result<String, Error> {
        let value = self.entry(table, key)?;
        value.get_ref().as_str().map(Into::into).ok_or_else(|| self.odd(value, key, "a text in quotes".into()))
    }

    fn count(self, table: &ProfileTable<'_, 'i>, key: &'static str, least: i64) -> Result<usize, Error> {
        let value = self.entry(table, key)?;
        let fits = whole(value).filter(|number| (least..=MANY).contains(number));
        let odd = || self.odd(value, key, format!("a whole number, at least {least}"));
        fits.map(|number| number as usize).ok_or_else(odd)
    }

    fn number(
        self,
        table: &ProfileTable<'_, 'i>,
        key: &'static str,
        within: RangeInclusive<f64>,
        unit: &str,
    ) -> Result<f64, Error> {
        let value = self.entry(table, key)?;
        let number = self.float(value, key)?;
        let odd = || self.odd(value, key, format!("{unit} in {:e}..={:e}", within.start(), within.end()));
        if within.contains(&number) { Ok(number) } else { Err(odd()) }
    }

    fn float(self, value: &Value<'_>, key: &str) -> Result<f64, Error> {
        let digits = match value.get_ref() {
            DeValue::Float(float) => Some(float.as_str()),
            DeValue::Integer(integer) if integer.radix() == 10 => Some(integer.as_str()),
            _ => None,
        };
        digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| self.odd(value, key, "a number".into()))
    }

    fn natural(self, value: &Value<'_>, key: &str) -> Result<u64, Error> {
        let fits = whole(value).filter(|number| (0..=1 << 40).contains(number));
        fits.map(|number| number as u64).ok_or_else(|| self.odd(value, key, "whole numbers, not negative".into()))
    }

    fn list<T>(
        self,
        table: &ProfileTable<'_, 'i>,
        key: &'static str,
        item: impl Fn(&Value<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.items(self.entry(table, key)?, key, item)
    }

    fn items<T>(
        self,
        value: &Value<'_>,
        key: &str,
        item: impl Fn(&Value<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let list = value.get_ref().as_array().ok_or_else(|| self.odd(value, key, "a list in brackets".into()))?;
        list.iter().map(item).collect()
    }

    /// The error for an invalid value.
    fn odd(self, value: &Value<'_>, key: &str, expected: String) -> Error {
        Error::Value { line: self.0.line(value), key: key.into(), found: self.0.written(value), expected }
    }

    /// The parser's error. An error at the end means that the text is truncated.
    fn malformed(self, error: &toml::de::Error) -> Error {
        let start = offset(error);
        if start >= self.0.0.trim_end().len() && self.0.0.contains("roundel-profile") {
            return Error::Truncated { line: self.0.last_line() };
        }
        let (line, column) = self.0.position(start);
        Error::Malformed { line, column, what: message(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> Profile {
        let default = Profile::default();
        let again = |grid: &Grid| Grid::new(grid.sizes().to_vec(), grid.ports().to_vec(), grid.rows().to_vec());
        Profile {
            machine: Machine {
                host: "n\"1\\".into(),
                cores: 64,
                cpu: "Fast".into(),
                mpi: "MPI 1".into(),
                date: "2026-11-15".into(),
                nodes: 2,
                ranks: 8,
            },
            inside: again(&default.inside).expect("makes sense"),
            between: again(&default.between).expect("makes sense"),
            ..default
        }
    }

    /// The error after replacing a piece of the profile's text.
    fn changed(from: &str, to: &str) -> Error {
        let text = measured().to_string();
        assert!(text.contains(from), "{from}");
        Profile::parse(&text.replacen(from, to, 1)).expect_err(to)
    }

    /// The line in which a text begins.
    fn line_of(text: &str) -> usize {
        let all = measured().to_string();
        all[..all.find(text).expect("is there")].matches('\n').count() + 1
    }

    #[test]
    fn what_is_written_is_read() {
        for profile in [measured(), Profile::default()] {
            let read = Profile::parse(&profile.to_string());
            assert_eq!(read.as_ref(), Ok(&profile));
            assert_eq!(read.map(|read| read.fingerprint()), Ok(profile.fingerprint()));
        }
        let text = Profile::default().to_string();
        assert!(text.contains("between = \"not measured\""), "{text}");
    }

    #[test]
    fn every_cut_is_found() {
        let text = measured().to_string();
        for end in (0..text.len() - 1).filter(|&end| text.is_char_boundary(end)) {
            let error = Profile::parse(&text[..end]).expect_err("a part of a profile");
            assert!(error.line() <= text[..end].lines().count().max(1), "{end}: {error}");
        }
        let cut = Profile::parse(&text[..text.find("[between]").expect("is there")]);
        assert!(matches!(cut, Err(Error::Truncated { .. })), "{cut:?}");
    }

    #[test]
    fn other_files_are_no_profiles() {
        assert_eq!(Profile::parse(""), Err(Error::NotAProfile { line: 1 }));
        assert_eq!(Profile::parse("[package]\nname = \"x\"\n"), Err(Error::NotAProfile { line: 1 }));
        assert_eq!(Profile::parse("# a\n\nformat = \"x\"\n"), Err(Error::NotAProfile { line: 3 }));
        assert!(matches!(Profile::parse("{\"json\": 1}"), Err(Error::Malformed { line: 1, .. })));
    }

    #[test]
    fn other_versions_are_refused() {
        let error = changed("version = 1", "version = 2");
        assert_eq!(error, Error::Version { line: 3, found: "`2`".into() });
        assert!(error.to_string().contains("this program reads version 1"));
    }

    #[test]
    fn wrong_values_name_their_line() {
        let cases = [
            ("signal = 5e-7", "signal = -1.0", "`signal` is `-1.0`: write seconds in"),
            ("signal = 5e-7", "signal = nan", "`signal` is `nan`"),
            ("copy = 8e9", "copy = inf", "`copy` is `inf`: write bytes per second in"),
            ("copy = 8e9", "copy = \"fast\"", "`copy` is `\"fast\"`: write a number"),
            ("cores = 64", "cores = -3", "`cores` is `-3`: write a whole number, at least 0"),
            ("cpu = \"Fast\"", "cpu = 7", "`cpu` is `7`: write a text in quotes"),
            ("lanes = 4", "lanes = 1", "`lanes` is `1`: write a whole number, at least 2"),
            ("long = 4e0", "long = 0", "`long` is `0`"),
        ];
        for (from, to, words) in cases {
            let error = changed(from, to);
            assert_eq!(error.line(), line_of(from), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn wrong_grids_name_their_line() {
        // The grid within nodes comes first.
        let first = |key: &str| line_of(&format!("{key} = ["));
        let cases = [
            ("sizes = [8, 32,", "sizes = [32, 8,", first("sizes"), "sizes above 0 that increase"),
            ("sizes = [8, 32,", "sizes = [0, 32,", first("sizes"), "sizes above 0"),
            ("sizes = [8, 32,", "sizes = [-8, 32,", first("sizes"), "whole numbers, not negative"),
            ("ports = [1, 2,", "ports = [2, 2,", first("ports"), "begin with 1"),
            ("ports = [1, 2,", "ports = [1, 1,", first("ports"), "that increase"),
            ("ports = [1, 2,", "ports = [1,", first("seconds"), "a row of seconds for each number of ports"),
            ("sizes = [8, 32,", "sizes = [32,", first("seconds") + 1, "a time for each of the sizes"),
            ("  [1.3", "  [-1.3", first("seconds") + 1, "seconds in 1e-12..=1e6"),
            ("  [1.9", "  [nan, 1.9", first("seconds") + 3, "a time for each of the sizes"),
        ];
        for (from, to, line, words) in cases {
            let error = changed(from, to);
            assert_eq!(error.line(), line, "{to}: {error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        let (begin, end) = (measured().to_string(), "]\n\n[between]");
        let sizes = begin.lines().find(|line| line.starts_with("sizes")).expect("is there").to_string();
        let empty = changed(&sizes, "sizes = []");
        assert!(empty.to_string().contains("at least one size") && begin.contains(end), "{empty}");
    }

    #[test]
    fn missing_and_strange_keys_are_named() {
        let error = changed("copy = 8e9\n", "");
        assert!(error.to_string().contains("`copy` is missing in `[node]`"), "{error}");
        assert_eq!(error.line(), line_of("[node]"));
        let error = changed("copy = 8e9", "copi = 8e9");
        assert!(error.to_string().contains("`[node]` has no `copi`"), "{error}");
        assert_eq!(error.line(), line_of("copy = "));
        let error = changed("[crowd]", "[crowds]");
        assert!(error.to_string().contains("the profile has no `crowds`"), "{error}");
        let error = changed("signal = 5e-7", "signal == 5e-7");
        assert!(matches!(error, Error::Malformed { column: 9, .. }), "{error:?}");
        assert_eq!(error.line(), line_of("signal = "));
    }

    #[test]
    fn foreign_profiles_are_told() {
        let (profile, text) = (measured(), measured().to_string());
        assert_eq!(Profile::parse_for(&text, &profile.machine), Ok(profile.clone()));
        let here = Machine { cpu: "Slow".into(), ..profile.machine.clone() };
        let error = Profile::parse_for(&text, &here).expect_err("foreign");
        let (expected, found) = ("`Slow`".into(), "`Fast`".into());
        assert_eq!(error, Error::Foreign { line: line_of("cpu = "), key: "cpu", expected, found });
        let here = Machine { mpi: "MPI 2".into(), ..profile.machine };
        assert_eq!(Profile::parse_for(&text, &here).expect_err("foreign").line(), line_of("mpi = "));
    }
}
