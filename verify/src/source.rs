//! Rust source with declarations, and errors that point into it.
//!
//! The same text serves two purposes: the parser reads it, and errors show the line at fault. So anything removed
//! before parsing must not move the rest.

use crate::error::Error;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use roundel::algorithms::Entry;
use roundel_spec::syntax::{self, Declaration};
use serde::Serialize;
use std::ops::Range;
use std::path::Path;
use syn::ext::IdentExt;

/// A source text with a name.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its origin: a path, or the name of a catalogue entry.
    pub origin: String,
    text: String,
}

/// A struct that derives `Collective`.
#[derive(Debug)]
pub struct DeclaredStruct {
    /// Its name.
    pub name: String,
    /// The declaration, or its errors.
    pub result: Result<Declaration, Vec<Diagnostic>>,
    /// The defaults of its type parameters.
    pub defaults: Vec<DefaultType>,
}

/// The default of a type parameter, which is an inner collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultType {
    /// The type parameter.
    pub parameter: String,
    /// The name of the type, if that is all there is to it: no type parameters of its own.
    pub named: Option<String>,
}

impl DefaultType {
    fn of(parameter: &syn::TypeParam) -> Option<Self> {
        let named = match parameter.default.as_ref()? {
            (_, syn::Type::Path(path)) => path.path.segments.last().filter(|last| last.arguments.is_none()),
            _ => None,
        };
        let named = named.map(|last| last.ident.unraw().to_string());
        Some(DefaultType { parameter: parameter.ident.unraw().to_string(), named })
    }
}

impl Source {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
        Ok(Source { origin: path.display().to_string(), text: without_preamble(text) })
    }

    /// A text that is not in a file.
    pub fn of_text(origin: &str, text: &str) -> Self {
        Source { origin: origin.into(), text: without_preamble(text.into()) }
    }

    /// The source of a catalogue entry.
    pub fn of_entry(entry: &Entry) -> Self {
        Source { origin: format!("{}.rs", entry.name), text: entry.source.into() }
    }

    /// The text, as positions of errors count it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All declarations in the text, in order; or the errors if it is not valid Rust.
    pub fn declarations(&self) -> Result<Vec<DeclaredStruct>, Vec<Diagnostic>> {
        let file = syn::parse_file(&self.text).map_err(|error| self.diagnose(&error))?;
        let declared = |input: &syn::DeriveInput| DeclaredStruct {
            name: input.ident.unraw().to_string(),
            result: syntax::parse_text(input).map_err(|error| self.diagnose(&error)),
            defaults: input.generics.type_params().filter_map(DefaultType::of).collect(),
        };
        Ok(syntax::declarations(&file).iter().map(declared).collect())
    }

    /// The messages of an error, each with its position in this text.
    pub fn diagnose(&self, error: &syn::Error) -> Vec<Diagnostic> {
        error.into_iter().map(|single| Diagnostic::new(self, &single)).collect()
    }
}

/// Replaces what the parser would cut off (a byte-order mark, a `#!` line) by blanks or nothing.
fn without_preamble(text: String) -> String {
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_string(),
        None => text,
    };
    if !text.starts_with("#!/") {
        return text;
    }
    let end = text.find('\n').unwrap_or(text.len());
    " ".repeat(end) + &text[end..]
}

/// One error, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The message.
    pub message: String,
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// Where it is in the text, in bytes.
    #[serde(skip)]
    pub range: Range<usize>,
    /// Another place that is involved.
    #[serde(skip)]
    other: Option<Range<usize>>,
}

fn within(source: &Source, bytes: Range<usize>) -> Range<usize> {
    bytes.start.min(source.text.len())..bytes.end.min(source.text.len())
}

/// Replaces the tokenizer's only message, which is not helpful, by a description of its errors.
fn plain(message: String) -> String {
    match message.as_str() {
        "cannot parse string into token stream" => {
            "this is not Rust: a bracket, a quote or a character does not fit".into()
        }
        _ => message,
    }
}

impl Diagnostic {
    fn new(source: &Source, error: &syn::Error) -> Self {
        let (start, bytes) = (error.span().start(), error.span().byte_range());
        let mut place = Diagnostic {
            message: plain(error.to_string()),
            file: source.origin.clone(),
            line: start.line.max(1),
            column: start.column + 1,
            range: within(source, bytes),
            other: None,
        };
        // The parser has no position for an error at the end of the text.
        if place.message.starts_with("unexpected end of input") && place.range == (0..0) {
            place.move_to_end(&source.text);
        }
        place
    }

    /// The same, with another place that is involved. (An exchange is one clause for a send and a receive.)
    pub fn with_other(self, source: &Source, other: Option<syn::Error>) -> Self {
        let other = other.map(|error| within(source, error.span().byte_range()));
        let other = other.filter(|other| other.end <= self.range.start || self.range.end <= other.start);
        Diagnostic { other, ..self }
    }

    fn move_to_end(&mut self, text: &str) {
        let read = text.trim_end();
        let last_line = read.lines().last().unwrap_or("");
        (self.line, self.column) = (read.lines().count().max(1), last_line.chars().count() + 1);
        self.range = read.len()..read.len();
    }

    /// The error as rustc would print it, with the source line and an underline.
    pub fn render(&self, source: &Source) -> String {
        let (title, rest) = match self.message.split_once('\n') {
            Some((title, rest)) => (title, Some(rest)),
            None => (self.message.as_str(), None),
        };
        let snippet = Snippet::source(source.text.as_str())
            .path(source.origin.as_str())
            .annotation(AnnotationKind::Primary.span(self.range.clone()))
            .annotations(self.other.iter().map(|other| AnnotationKind::Context.span(other.clone())));
        let mut group = Level::ERROR.primary_title(title).element(snippet);
        if let Some(rest) = rest {
            group = group.element(Level::NOTE.message(rest));
        }
        Renderer::styled().render(&[group])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { origin: "some.rs".into(), text: without_preamble(text.into()) }
    }

    #[test]
    fn errors_point_at_their_place() {
        let source = source("struct A;\nstruct ;\n");
        let errors = source.declarations().expect_err("no Rust");
        assert_eq!((errors[0].line, errors[0].column), (2, 8));
        let text = anstream::adapter::strip_str(&errors[0].render(&source)).to_string();
        assert!(text.contains("--> some.rs:2:8") && text.contains("struct ;") && text.contains('^'), "{text}");
    }

    #[test]
    fn a_preamble_does_not_move_anything() {
        for preamble in ["\u{feff}", "", "#!/usr/bin/env run\n"] {
            let errors = source(&format!("{preamble}\nstruct ;")).declarations().expect_err("no Rust");
            let line = if preamble.contains('\n') { 3 } else { 2 };
            assert_eq!((errors[0].line, errors[0].column), (line, 8), "{preamble:?}");
        }
        assert!(source("#![allow(dead_code)]\n").declarations().is_ok());
    }

    #[test]
    fn an_error_at_the_end_of_the_text_is_rendered() {
        for text in ["", "struct A", "fn f( {", "/*", "\"", "é struct"] {
            let source = source(text);
            if let Err(errors) = source.declarations() {
                errors.iter().for_each(|error| assert!(!error.render(&source).is_empty()));
            }
        }
    }
}
