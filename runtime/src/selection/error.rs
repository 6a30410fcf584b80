//! What can be wrong with the text of a selection. Every message names the line and says what to do.

use super::VERSION;
use super::rule_error::RuleError;

/// A text that is no selection, or one with rules that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no TOML.
    #[error("line {line}, column {column}: {what}; correct the line")]
    Malformed {
        /// Which line, from 1.
        line: usize,
        /// Which column, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The text is something else.
    #[error("line {line}: this is no selection: begin it with `format = \"roundel-selection\"`")]
    NotASelection {
        /// Where the word is missing.
        line: usize,
    },
    /// The selection has a version that is not known here.
    #[error(
        "line {line}: this selection has version {found}, and this program reads version {VERSION}: write `version = {VERSION}`"
    )]
    Version {
        /// Which line.
        line: usize,
        /// What it says.
        found: String,
    },
    /// Something is not there.
    #[error("line {line}: `{key}` is missing in {of}: add it")]
    Missing {
        /// Where it should be.
        line: usize,
        /// What is missing.
        key: &'static str,
        /// Of what.
        of: String,
    },
    /// Something is there that no selection has.
    #[error("line {line}: {of} has no `{key}`: remove it, or write one of {known}")]
    Unknown {
        /// Where it is.
        line: usize,
        /// What it is.
        key: String,
        /// Of what.
        of: String,
        /// What there may be.
        known: String,
    },
    /// A value that makes no sense.
    #[error("line {line}: `{key}` is {found}: write {expected}")]
    Value {
        /// Which line.
        line: usize,
        /// What it is the value of.
        key: String,
        /// What it is.
        found: String,
        /// What would make sense.
        expected: String,
    },
    /// A rule that says twice what to do.
    #[error("line {line}: a rule has an `algorithm` or `ports`, and this one has both: remove one")]
    Both {
        /// Where the ports are.
        line: usize,
    },
    /// A rule that cannot be.
    #[error("line {line}: {misfit}")]
    Rule {
        /// Which line.
        line: usize,
        /// Why it cannot be.
        misfit: Box<RuleError>,
    },
    /// A rule that is there twice.
    #[error("line {line}: this rule is there already, at line {by}: remove it")]
    Repeated {
        /// The rule.
        line: usize,
        /// The other one.
        by: usize,
    },
    /// Two rules for the same calls.
    #[error(
        "line {line}: this rule matches what the one at line {by} matches, which says {other}: remove one of them"
    )]
    Contradiction {
        /// The rule.
        line: usize,
        /// The other one.
        by: usize,
        /// What the other one says.
        other: String,
    },
    /// A rule that never matches.
    #[error(
        "line {line}: this rule never matches, because the first that matches counts, and {} before it: move it up, or remove it",
        lines(by)
    )]
    Covered {
        /// The rule.
        line: usize,
        /// Those that match all its calls.
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
    /// A rule that cannot be.
    pub(super) fn rule(line: usize, misfit: RuleError) -> Self {
        Error::Rule { line, misfit: Box::new(misfit) }
    }

    /// The line that it names, from 1.
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
