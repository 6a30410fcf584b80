//! Errors in the text of a selection. Every message names the line and tells how to fix it.

use super::rule_error::RuleError;
use crate::choice::selection::VERSION;

/// Why a text is not a valid selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not TOML.
    #[error("line {line}, column {column}: {what}; correct the line")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The parser's message.
        what: String,
    },
    /// The text is not a selection.
    #[error("line {line}: this is no selection: begin it with `format = \"roundel-selection\"`")]
    NotASelection {
        /// The line.
        line: usize,
    },
    /// The selection has an unknown version.
    #[error(
        "line {line}: this selection has version {found}, and this program reads version {VERSION}: write \
         `version = {VERSION}`"
    )]
    Version {
        /// The line.
        line: usize,
        /// The version found.
        found: String,
    },
    /// A key is missing.
    #[error("line {line}: `{key}` is missing in {of}: add it")]
    Missing {
        /// The line of its table.
        line: usize,
        /// The key.
        key: &'static str,
        /// The table.
        of: String,
    },
    /// A key is unknown.
    #[error("line {line}: {of} has no `{key}`: remove it, or write one of {known}")]
    Unknown {
        /// The line.
        line: usize,
        /// The key.
        key: String,
        /// The table.
        of: String,
        /// The valid keys.
        known: String,
    },
    /// A value is invalid.
    #[error("line {line}: `{key}` is {found}: write {expected}")]
    Value {
        /// The line.
        line: usize,
        /// The key.
        key: String,
        /// The value.
        found: String,
        /// The valid values.
        expected: String,
    },
    /// A rule has both an algorithm and ports.
    #[error("line {line}: a rule has an `algorithm` or `ports`, and this one has both: remove one")]
    Both {
        /// The line of the ports.
        line: usize,
    },
    /// A rule is invalid.
    #[error("line {line}: {error}")]
    Rule {
        /// The line.
        line: usize,
        /// The reason.
        error: Box<RuleError>,
    },
    /// A rule is repeated.
    #[error("line {line}: this rule is there already, at line {by}: remove it")]
    Repeated {
        /// The line of the rule.
        line: usize,
        /// The line of the other one.
        by: usize,
    },
    /// Two rules match the same calls.
    #[error(
        "line {line}: this rule matches what the one at line {by} matches, which says {other}: remove one of them"
    )]
    Contradiction {
        /// The line of the rule.
        line: usize,
        /// The line of the other one.
        by: usize,
        /// The implementation of the other one.
        other: String,
    },
    /// A rule never matches.
    #[error(
        "line {line}: this rule never matches, because the first that matches counts, and {} before it: move it up, \
         or remove it",
        lines(by)
    )]
    Covered {
        /// The line of the rule.
        line: usize,
        /// The lines of the rules that match all its calls.
        by: Vec<usize>,
    },
}

/// `that of line 3 stands`
fn lines(by: &[usize]) -> String {
    let numbers: Vec<String> = by.iter().map(usize::to_string).collect();
    match numbers.as_slice() {
        [one] => format!("the one at line {one} stands"),
        several => format!("those at lines {} stand", several.join(", ")),
    }
}

impl Error {
    /// The error for an invalid rule.
    pub(in crate::choice::selection) fn rule(line: usize, error: RuleError) -> Self {
        Error::Rule { line, error: Box::new(error) }
    }

    /// The line of the error, from 1.
    pub const fn line(&self) -> usize {
        match self {
            Error::Malformed { line, .. }
            | Error::NotASelection { line }
            | Error::Version { line, .. }
            | Error::Missing { line, .. }
            | Error::Unknown { line, .. }
            | Error::Value { line, .. }
            | Error::Both { line }
            | Error::Rule { line, .. }
            | Error::Repeated { line, .. }
            | Error::Contradiction { line, .. }
            | Error::Covered { line, .. } => *line,
        }
    }
}
