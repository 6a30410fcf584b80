//! `ROUNDEL_FORCE`: one algorithm for all calls of a collective.

use super::implementation::Implementation;
use super::kind::kind;
use super::parameter::Parameter;
use super::rules::rule_error::RuleError;
use roundel_spec::Kind;
use std::fmt;

/// An implementation that is used wherever it serves.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// The collective.
    pub kind: Kind,
    /// The implementation.
    pub implementation: Implementation,
}

/// Why a text forces nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForceError {
    /// The text has an invalid form.
    #[error(
        "`{text}` forces nothing: write `collective:algorithm` or `collective:algorithm:name=value`, such as \
         `allreduce:nap`"
    )]
    Shape {
        /// The text.
        text: String,
    },
    /// A parameter is invalid.
    #[error("`{text}` sets no parameter: write `name=4`, or `name=1+2` for a list")]
    Parameter {
        /// The text.
        text: String,
    },
    /// A collective is forced twice.
    #[error("{kind} is forced twice: keep one")]
    Twice {
        /// The collective.
        kind: Kind,
    },
    /// The algorithm does not fit.
    #[error("`{text}`: {error}")]
    Rule {
        /// The text.
        text: String,
        /// The reason.
        error: Box<RuleError>,
    },
}

impl Force {
    /// Parses forced implementations, separated by `;` or `,`: `allreduce:nap;alltoall:k-bruck:radix=4;allgather:8(1
    /// 1 1)`.
    ///
    /// # Errors
    /// If a part of the text is invalid, or no algorithm fits it.
    pub fn read(text: &str) -> Result<Vec<Force>, ForceError> {
        let mut all: Vec<Force> = Vec::new();
        for part in text.split(';').flat_map(apart).filter(|part| !part.trim().is_empty()) {
            let force = one(part.trim())?;
            if all.iter().any(|other| other.kind == force.kind) {
                return Err(ForceError::Twice { kind: force.kind });
            }
            all.push(force);
        }
        Ok(all)
    }
}

/// Splits at commas that precede a collective; other commas separate parameters.
fn apart(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match parts.last_mut() {
            Some(last) if !piece.contains(':') => *last = format!("{last},{piece}"),
            _ => parts.push(piece.into()),
        }
    }
    parts
}

fn one(text: &str) -> Result<Force, ForceError> {
    let wrong = |error| ForceError::Rule { text: text.into(), error: Box::new(error) };
    let mut parts = text.splitn(3, ':').map(str::trim);
    let (Some(name), Some(algorithm), parameters) = (parts.next(), parts.next(), parts.next()) else {
        return Err(ForceError::Shape { text: text.into() });
    };
    let kind = kind(name).ok_or_else(|| wrong(RuleError::Collective { name: name.into() }))?;
    let parameters = parameters.map_or(Ok(Vec::new()), assignments)?;
    let implementation = match (algorithm.contains('('), parameters.is_empty()) {
        (true, true) => Implementation::ports(kind, algorithm),
        (true, false) => Err(RuleError::NoParameters { what: "a plan with ports" }),
        (false, _) => Implementation::named(kind, algorithm, &parameters),
    };
    implementation.map(|implementation| Force { kind, implementation }).map_err(wrong)
}

fn assignments(text: &str) -> Result<Vec<(String, Parameter)>, ForceError> {
    text.split(',')
        .map(|one| assignment(one.trim()).ok_or_else(|| ForceError::Parameter { text: one.into() }))
        .collect()
}

/// `radix=4`, or `ports=1+2`; a list with one number ends with `+`.
fn assignment(text: &str) -> Option<(String, Parameter)> {
    let (name, value) = text.split_once('=')?;
    let value = match value.trim() {
        list if list.contains('+') => {
            let numbers = list.strip_suffix('+').unwrap_or(list).split('+');
            Parameter::List(numbers.map(|number| number.trim().parse().ok()).collect::<Option<_>>()?)
        }
        number => Parameter::Number(number.parse().ok()?),
    };
    Some((name.trim().into(), value))
}

impl fmt::Display for Force {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.implementation)
    }
}
