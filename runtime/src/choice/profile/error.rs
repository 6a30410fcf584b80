//! Errors in the text of a profile. Every message names the line and tells how to fix it.

use super::VERSION;

/// Why a text is not a profile, or not one for this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not TOML.
    #[error("line {line}, column {column}: {what}; correct the line, or measure anew with `roundel tune`")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The parser's message.
        what: String,
    },
    /// The text ends too early.
    #[error(
        "line {line}: the profile ends here, before `[end]`: it is truncated; copy it again, or measure anew with \
         `roundel tune`"
    )]
    Truncated {
        /// The last line.
        line: usize,
    },
    /// The text is not a profile.
    #[error(
        "line {line}: this is no profile, which begins with `format = \"roundel-profile\"`; `roundel tune` writes one"
    )]
    NotAProfile {
        /// The line.
        line: usize,
    },
    /// The profile has an unknown version.
    #[error(
        "line {line}: this profile has version {found}, and this program reads version {VERSION}: measure anew with \
         `roundel tune`"
    )]
    Version {
        /// The line.
        line: usize,
        /// The version found.
        found: String,
    },
    /// A key is missing.
    #[error("line {line}: `{key}` is missing in {of}: add it, or measure anew with `roundel tune`")]
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
    /// The profile is for another machine.
    #[error(
        "line {line}: this profile was taken on another machine: its `{key}` is {found}, and here it is {expected}; \
         measure this one with `roundel tune`, or say that it serves all the same (`--foreign`)"
    )]
    Foreign {
        /// The line.
        line: usize,
        /// The property that differs.
        key: &'static str,
        /// The value of this machine.
        expected: String,
        /// The value in the profile.
        found: String,
    },
}

impl Error {
    /// The line of the error, from 1.
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
