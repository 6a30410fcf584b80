//! Parses a selection. The TOML parser reports the position of every value, so every error names a line.

use super::error::Error;
use super::range::NumberRange;
use super::region::{CallAxis, RANKS, Region};
use super::rule::{Rule, Wanted, consistent};
use super::rule_error::RuleError;
use crate::choice::question::NodeSizes;
use crate::choice::selection::implementation::Implementation;
use crate::choice::selection::kind::kind;
use crate::choice::selection::parameter::Parameter;
use crate::choice::selection::{Selection, VERSION};
use crate::choice::toml_text::{TomlText, Value, message, offset, whole};
use roundel_spec::Kind;
use toml::de::DeTable;

const TOP: [&str; 3] = ["format", "version", "rule"];
const RULE: [&str; 10] =
    ["collective", "p", "nodes", "ppn", "placement", "bytes", "order", "algorithm", "ports", "parameters"];

const RANKS_WRITTEN: &str = "a range of whole numbers from 1, such as \"2..=64\", \">=2\" or 8";
const BYTES_WRITTEN: &str = "a range of sizes, such as \"..4096\", \"4KiB..=1MiB\" or \">=64KiB\"";

impl Selection {
    /// Parses a selection, and checks every rule against the proofs.
    ///
    /// ```
    /// use roundel::selection::Selection;
    /// let text = r#"
    ///     format = "roundel-selection"
    ///     version = 1
    ///     [[rule]]
    ///     collective = "allgather"
    ///     algorithm = "neighbor-exchange"
    /// "#;
    /// let error = Selection::parse(text).expect_err("serves even p only");
    /// assert_eq!(error.line(), 4);
    /// ```
    ///
    /// # Errors
    /// Returns what is wrong with the text, and in which line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let rules = SelectionText(TomlText(text)).rules()?;
        consistent(&rules)?;
        Ok(Selection { rules, ..Selection::default() })
    }
}

/// The text of a selection.
#[derive(Clone, Copy)]
struct SelectionText<'i>(TomlText<'i>);

impl<'i> SelectionText<'i> {
    fn rules(self) -> Result<Vec<Rule>, Error> {
        let parsed = DeTable::parse(self.0.0).map_err(|error| self.malformed(&error))?;
        let top = parsed.get_ref();
        self.is_selection(top)?;
        self.knows(top, "the selection", &TOP)?;
        let Some(rules) = top.get("rule") else { return Ok(Vec::new()) };
        let odd = || self.odd(rules, "rule", "rules as tables `[[rule]]`");
        rules.get_ref().as_array().ok_or_else(odd)?.iter().map(|rule| self.rule(rule)).collect()
    }

    /// Checks the format and the version.
    fn is_selection(self, top: &DeTable<'_>) -> Result<(), Error> {
        let format = top.get("format");
        if format.and_then(|format| format.get_ref().as_str()) != Some("roundel-selection") {
            return Err(Error::NotASelection { line: format.map_or(1, |format| self.0.line(format)) });
        }
        let missing = Error::Missing { line: 1, key: "version", of: "the selection".into() };
        let version = top.get("version").ok_or(missing)?;
        match whole(version) {
            Some(VERSION) => Ok(()),
            _ => Err(Error::Version { line: self.0.line(version), found: self.0.written(version) }),
        }
    }

    fn rule(self, value: &Value<'i>) -> Result<Rule, Error> {
        let line = self.0.line(value);
        let table = value.get_ref().as_table().ok_or_else(|| self.odd(value, "rule", "a table `[[rule]]`"))?;
        self.knows(table, "a rule", &RULE)?;
        let kind = self.kind(line, table)?;
        let implementation = self.implementation(line, kind, table)?;
        let mut region = self.region(table)?;
        let (wanted, at) = self.wanted(line, table)?;
        wanted.restrict(kind, &implementation, &mut region).map_err(|error| Error::rule(at, error))?;
        implementation.covers(&region).map_err(|error| Error::rule(line, error))?;
        Ok(Rule { line, kind, region, implementation, knowing: wanted == Wanted::Any })
    }

    fn kind(self, line: usize, table: &DeTable<'i>) -> Result<Kind, Error> {
        let missing = Error::Missing { line, key: "collective", of: "this rule".into() };
        let value = table.get("collective").ok_or(missing)?;
        let name = self.words(value, "collective", "the name of a collective in quotes")?;
        let unknown = || RuleError::Collective { name: name.into() };
        kind(name).ok_or_else(|| Error::rule(self.0.line(value), unknown()))
    }

    /// The implementation that the rule sets.
    fn implementation(self, line: usize, kind: Kind, table: &DeTable<'i>) -> Result<Implementation, Error> {
        let parameters = self.parameters(table)?;
        let given = table.get("parameters");
        match (table.get("algorithm"), table.get("ports"), given) {
            (Some(_), Some(ports), _) => Err(Error::Both { line: self.0.line(ports) }),
            (None, None, _) => Err(Error::Missing { line, key: "algorithm", of: "this rule".into() }),
            (Some(value), None, _) => {
                let name = self.words(value, "algorithm", "the name of an algorithm in quotes")?;
                let implementation = Implementation::named(kind, name, &parameters);
                implementation.map_err(|error| Error::rule(self.named_at(value, given, &error), error))
            }
            (None, Some(_), Some(given)) => {
                let error = RuleError::NoParameters { what: "a plan with ports" };
                Err(Error::rule(self.0.line(given), error))
            }
            (None, Some(value), None) => {
                let text = self.words(value, "ports", "factors and ports in quotes, such as \"8(-1 1 1 1)\"")?;
                Implementation::ports(kind, text).map_err(|error| Error::rule(self.0.line(value), error))
            }
        }
    }

    /// The line of the name or of the parameters, whichever is wrong.
    fn named_at(self, name: &Value<'_>, parameters: Option<&Value<'_>>, error: &RuleError) -> usize {
        let at = match error {
            RuleError::Algorithm { .. } | RuleError::OtherKind { .. } => name,
            _ => parameters.unwrap_or(name),
        };
        self.0.line(at)
    }

    fn parameters(self, table: &DeTable<'i>) -> Result<Vec<(String, Parameter)>, Error> {
        let Some(value) = table.get("parameters") else { return Ok(Vec::new()) };
        let odd = || self.odd(value, "parameters", "names and values, such as { radix = 4 }");
        let entries = value.get_ref().as_table().ok_or_else(odd)?;
        entries.iter().map(|(name, value)| Ok((name.get_ref().to_string(), self.parameter(value)?))).collect()
    }

    fn parameter(self, value: &Value<'_>) -> Result<Parameter, Error> {
        let odd = || self.odd(value, "parameters", "a whole number, or a list of them");
        match value.get_ref().as_array() {
            None => whole(value).map(Parameter::Number).ok_or_else(odd),
            Some(list) => list.iter().map(whole).collect::<Option<_>>().map(Parameter::List).ok_or_else(odd),
        }
    }

    /// The calls, regardless of the order that they need.
    fn region(self, table: &DeTable<'_>) -> Result<Region, Error> {
        let mut region = Region::all();
        for (key, axes) in [
            ("p", [CallAxis::P, CallAxis::P]),
            ("nodes", [CallAxis::Nodes; 2]),
            ("ppn", [CallAxis::Least, CallAxis::Most]),
        ] {
            let range = self.range(table, key, RANKS, RANKS_WRITTEN)?;
            axes.iter().for_each(|&axis| region.set(axis, range));
        }
        region.set(CallAxis::Bytes, self.range(table, "bytes", NumberRange::up_to(u64::MAX), BYTES_WRITTEN)?);
        region.set(CallAxis::Shape, NumberRange::up_to(self.shape(table)? as u64));
        Ok(region)
    }

    /// A range, or all numbers if it is not set.
    fn range(self, table: &DeTable<'_>, key: &str, all: NumberRange, expected: &str) -> Result<NumberRange, Error> {
        let Some(value) = table.get(key) else { return Ok(all) };
        let text = value.get_ref().as_str().map(Into::into).or_else(|| whole(value).map(|number| number.to_string()));
        let range = text.and_then(|text: String| NumberRange::read(&text, all, key == "bytes"));
        range.ok_or_else(|| self.odd(value, key, expected))
    }

    fn shape(self, table: &DeTable<'_>) -> Result<NodeSizes, Error> {
        let Some(value) = table.get("placement") else { return Ok(NodeSizes::Any) };
        let named = |shape: &NodeSizes| value.get_ref().as_str() == Some(shape.name());
        let odd =
            || self.odd(value, "placement", "\"any\", \"regular\" (the last node may have fewer ranks) or \"even\"");
        NodeSizes::ALL.into_iter().find(named).ok_or_else(odd)
    }

    /// The order that a rule sets, and its line.
    fn wanted(self, line: usize, table: &DeTable<'_>) -> Result<(Wanted, usize), Error> {
        let Some(value) = table.get("order") else { return Ok((Wanted::Kept, line)) };
        let wanted = match value.get_ref().as_str() {
            Some("any") => Wanted::Any,
            Some("same-tree") => Wanted::SameTree,
            Some("rank-order") => Wanted::RankOrder,
            _ => return Err(self.odd(value, "order", "\"any\", \"same-tree\" or \"rank-order\"")),
        };
        Ok((wanted, self.0.line(value)))
    }

    /// Returns an error for unknown keys.
    fn knows(self, table: &DeTable<'_>, of: &str, known: &[&str]) -> Result<(), Error> {
        let strange = table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = strange else { return Ok(()) };
        let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let line = self.0.line_at(key.span().start);
        Err(Error::Unknown { line, key: key.get_ref().to_string(), of: of.into(), known })
    }

    fn words<'a>(self, value: &'a Value<'i>, key: &str, expected: &str) -> Result<&'a str, Error> {
        value.get_ref().as_str().ok_or_else(|| self.odd(value, key, expected))
    }

    /// The error for an invalid value.
    fn odd(self, value: &Value<'_>, key: &str, expected: &str) -> Error {
        Error::Value {
            line: self.0.line(value),
            key: key.into(),
            found: self.0.written(value),
            expected: expected.into(),
        }
    }

    fn malformed(self, error: &toml::de::Error) -> Error {
        let (line, column) = self.0.position(offset(error));
        Error::Malformed { line, column, what: message(error) }
    }
}
