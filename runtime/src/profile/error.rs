//! What can be wrong with the text of a profile. Every message names the line and says what to do.

use super::VERSION;

/// A text that is no profile, or none for this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is no TOML.
    #[error("line {line}, column {column}: {what}; correct the line, or measure anew with `roundel tune`")]
    Malformed {
        /// Which line, from 1.
        line: usize,
        /// Which column, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The text ends too early.
    #[error(
        "line {line}: the profile ends here, before `[end]`: it is truncated; copy it again, or measure anew with `roundel tune`"
    )]
    Truncated {
        /// The last line.
        line: usize,
    },
    /// The text is something else.
    #[error(
        "line {line}: this is no profile, which begins with `format = \"roundel-profile\"`; `roundel tune` writes one"
    )]
    NotAProfile {
        /// Where the word is missing.
        line: usize,
    },
    /// The profile has a version that is not known here.
    #[error(
        "line {line}: this profile has version {found}, and this program reads version {VERSION}: measure anew with `roundel tune`"
    )]
    Version {
        /// Which line.
        line: usize,
        /// What it says.
        found: String,
    },
    /// Something is not there.
    #[error("line {line}: `{key}` is missing in {of}: add it, or measure anew with `roundel tune`")]
    Missing {
        /// Where it should be.
        line: usize,
        /// What is missing.
        key: &'static str,
        /// Of what.
        of: String,
    },
    /// Something is there that no profile has.
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
    /// The profile of another machine.
    #[error(
        "line {line}: this profile was taken on another machine: its `{key}` is {found}, and here it is {expected}; \
         measure this one with `roundel tune`, or say that it serves all the same (`--foreign`)"
    )]
    Foreign {
        /// Which line.
        line: usize,
        /// What differs.
        key: &'static str,
        /// What this machine is.
        expected: String,
        /// What the profile says.
        found: String,
    },
}

impl Error {
    /// The line that it names, from 1.
    pub const fn line(&self) -> usize {
        match self {
            Error::Malformed { line, .. }
            | Error::Truncated { line }
            | Error::NotAProfile { line }
            | Error::Version { line, .. }
            | Error::Missing { line, .. }
            | Error::Unknown { line, .. }
            | Error::Value { line, .. }
            | Error::Foreign { line, .. } => *line,
        }
    }
}
