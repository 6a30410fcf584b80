//! All errors of a declaration, collected.

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;

/// Collects errors, so that a user sees all of them at once. It must be consumed.
#[derive(Default)]
#[must_use = "collected errors must be reported"]
pub(crate) struct Errors {
    all: Option<syn::Error>,
}

impl Errors {
    /// Adds an error at the tokens of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    /// Adds an error.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.all {
            Some(all) => all.combine(error),
            None => self.all = Some(error),
        }
    }

    /// Keeps the value of a result, or its error.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// The value, unless there were errors.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        self.all.map_or(Ok(value), Err)
    }
}

/// The tokens of anything, for a later error.
pub(crate) fn tokens(of: impl ToTokens) -> TokenStream {
    of.into_token_stream()
}

/// The candidate that looks most like `name`, for "did you mean".
pub(crate) fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let scored = candidates.iter().map(|&candidate| (distance(name, candidate), candidate));
    // A letter has nothing in common with another letter.
    let close = |d: usize, candidate: &str| d <= 1 + candidate.len() / 4 && d < name.chars().count();
    let closest = scored.filter(|(d, candidate)| close(*d, candidate)).min().map(|(_, candidate)| candidate);
    closest.or_else(|| candidates.into_iter().find(|candidate| shortens(candidate, name)))
}

/// Whether a word is short for another one, as `recv` is for `receive`: the same letter first, then some of the others.
fn shortens(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    let is_part = short.chars().all(|letter| letters.any(|other| other == letter));
    is_part && short.chars().next() == long.chars().next() && short.len() >= 4 && long.len() <= 2 * short.len()
}

/// How many letters must change to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + (x != *y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        assert_eq!(similar("sends", ["send", "recv"]), Some("send"));
        assert_eq!(similar("ceillog", ["ceil_log", "floor_log"]), Some("ceil_log"));
        assert_eq!(similar("quux", ["send", "recv"]), None);
        assert_eq!(similar("s", ["p", "D"]), None);
        assert_eq!(similar("receive", ["send", "recv"]), Some("recv"));
        assert_eq!(similar("serendipity", ["send", "recv"]), None);
    }
}
