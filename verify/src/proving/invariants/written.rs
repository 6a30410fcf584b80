//! Found clauses as text: below the clauses of their round, as a person would write them.

use roundel_spec::proof::FoundClause;
use roundel_spec::syntax;
use std::collections::BTreeMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// The width of a line.
const WIDTH: usize = 120;

/// Clauses that a found one may use, or that it follows.
const ABOVE: [&str; 7] = ["round", "state", "define", "send", "recv", "exchange", "within"];

/// The text with clauses added; `None` if it does not declare `name`.
pub fn with_clauses(text: &str, name: &str, found: &[FoundClause]) -> Option<String> {
    let file = syn::parse_file(text).ok()?;
    let declared = syntax::declarations(&file).into_iter().find(|input| input.ident.unraw() == name)?;
    let mut round = None;
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for attribute in &declared.attrs {
        let clause = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if clause == "round" {
            round = Some(round.map_or(0, |round: usize| round + 1));
        }
        if let Some(round) = round.filter(|_| ABOVE.contains(&clause.as_str())) {
            ends.insert(round, attribute.span().byte_range().end);
        }
    }
    let mut text = text.to_string();
    // From the last to the first, so that no position moves.
    for (round, end) in ends.into_iter().rev() {
        let begin = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
        let indent: String = text[begin..].chars().take_while(|c| *c == ' ').collect();
        let lines = lines(found.iter().filter(|one| one.round == round), WIDTH.saturating_sub(indent.len()));
        let added: String = lines.iter().map(|line| format!("\n{indent}{line}")).collect();
        text.insert_str(end, &added);
    }
    Some(text)
}

/// The clauses of one round as attributes, as many in one as a line takes.
pub fn lines<'a>(found: impl Iterator<Item = &'a FoundClause>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for FoundClause { clause, .. } in found {
        let (name, inside) = clause.split_once('(').unwrap_or((clause, ")"));
        let inside = inside.strip_suffix(')').unwrap_or(inside);
        let begin = format!("#[{name}(");
        match lines.last_mut().filter(|last| last.starts_with(&begin) && last.len() + inside.len() + 2 <= width) {
            Some(last) => {
                last.truncate(last.len() - 2);
                *last += &format!(", {inside})]");
            }
            None => lines.push(format!("{begin}{inside})]")),
        }
    }
    lines
}
