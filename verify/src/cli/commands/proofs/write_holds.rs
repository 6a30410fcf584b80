//! `roundel prove --write-holds`: writes what was found into the source, below the clauses of its round.

use crate::error::Error;
use crate::proving::invariants::written::with_clauses;
use roundel_spec::proof::FoundClause;
use std::path::Path;

/// Writes clauses into the declaration of `name` in a file. False if the file does not declare it.
pub(super) fn write(path: &Path, name: &str, found: &[FoundClause]) -> Result<bool, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
    let Some(text) = with_clauses(&text, name, found) else { return Ok(false) };
    super::prove::write(path, &text).map(|()| true)
}
