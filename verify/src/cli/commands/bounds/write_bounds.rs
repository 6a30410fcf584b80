//! `roundel bounds --write-bounds`: writes proved bounds into the source, below all other clauses.

use crate::error::Error;
use roundel_spec::Schedule;
use roundel_spec::schedule::Bound;
use roundel_spec::syntax::{self, CLAUSES};
use std::path::Path;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// Writes bounds into a declaration. False if there is nothing to write, or no place for it.
pub(super) fn write(path: &Path, schedule: &Schedule, bounds: &[Bound]) -> Result<bool, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
    // The clauses of a reverse are those of the forward collective.
    let clauses: Vec<String> = bounds.iter().filter_map(|bound| clause(schedule, bound)).collect();
    let Some(text) = with_bounds(&text, &schedule.name, &clauses) else { return Ok(false) };
    std::fs::write(path, text).map_err(|source| Error::Write { path: path.into(), source })?;
    Ok(true)
}

fn clause(schedule: &Schedule, bound: &Bound) -> Option<String> {
    let metric = if schedule.reverse_of.is_some() { bound.metric.reversed()? } else { bound.metric };
    Some(Bound { metric, ..bound.clone() }.to_string())
}

/// The text with a `bound` clause added, if it can be read back.
fn with_bounds(text: &str, name: &str, clauses: &[String]) -> Option<String> {
    let file = syn::parse_file(text).ok()?;
    let declared = syntax::declarations(&file).into_iter().find(|input| input.ident.unraw() == name)?;
    let is_clause = |attribute: &&syn::Attribute| CLAUSES.iter().any(|known| attribute.path().is_ident(known));
    let end = declared.attrs.iter().rfind(is_clause)?.span().byte_range().end;
    let begin = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
    let indent: String = text[begin..].chars().take_while(|c| *c == ' ').collect();
    if clauses.is_empty() {
        return None;
    }
    let mut new = text.to_string();
    new.insert_str(end, &format!("\n{indent}#[bound({})]", clauses.join(", ")));
    let again = syn::parse_file(&new).ok()?;
    let again = syntax::declarations(&again).into_iter().find(|input| input.ident.unraw() == name)?;
    syntax::parse_text(&again).is_ok().then_some(new)
}
