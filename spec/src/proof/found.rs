//! Clauses that a prover found and a declaration does not state: a record keeps them, because the induction is about
//! the declaration together with them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A `holds` or `hint` of a round that the declaration leaves out: a line `round N: CLAUSE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FoundClause {
    /// The number of the `round` clause that it belongs to.
    pub round: usize,
    /// The clause as a user would write it: `holds(D == pow(2, s))`.
    pub clause: String,
}

impl fmt::Display for FoundClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}: {}", self.round, self.clause)
    }
}

impl From<FoundClause> for String {
    fn from(found: FoundClause) -> Self {
        found.to_string()
    }
}

impl TryFrom<String> for FoundClause {
    type Error = String;

    fn try_from(line: String) -> Result<Self, String> {
        let no_clause = || format!("`{line}` is no line `round N: CLAUSE`");
        let (round, clause) =
            line.strip_prefix("round ").and_then(|rest| rest.split_once(": ")).ok_or_else(no_clause)?;
        let round = round.parse().map_err(|_| no_clause())?;
        Ok(FoundClause { round, clause: clause.into() })
    }
}
