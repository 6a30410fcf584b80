//! The parser, from text to schedule; the derive and the command line share it.
//!
//! A declaration is a struct with `#[derive(Collective)]` and one attribute per clause. Clauses are read from top to
//! bottom, and a clause sees the names above it. All errors of a declaration are reported together, each at its own
//! position.

mod blocks;
mod builder;
mod clauses;
mod errors;
mod expr;
mod found;
mod groups;
mod items;
mod lines;
mod scope;
mod states;
#[cfg(test)]
mod tests;

use crate::check::Points;
use crate::check::violation::{Problem, Violation};
use crate::repair;
use crate::schedule::message::Direction;
use crate::schedule::{Field, Schedule, SchedulePart};
use builder::DeclarationBuilder;
pub use clauses::CLAUSES;
use clauses::current;
use errors::{Errors, similar, tokens};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::HashMap;
use std::ops::Range;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Result};

/// A parsed declaration: the schedule, and the source position of each part.
#[derive(Debug)]
pub struct Declaration {
    /// The declared type.
    pub ident: Ident,
    /// What it declares.
    pub schedule: Schedule,
    /// The type parameters of inner collectives, in order.
    pub inner_types: Vec<Ident>,
    /// The doc comments of the type.
    pub docs: Vec<String>,
    sources: HashMap<SchedulePart, TokenStream>,
}

impl Declaration {
    /// A violation as an error at the clause at fault: with the other clause that is involved, and with a repair if
    /// there is one that passes all checks at these points.
    pub fn error(&self, violation: &Violation, points: &Points) -> Error {
        let whole = self.ident.to_token_stream();
        let source = self.sources.get(&violation.spot).or_else(|| self.clause_of(violation.spot));
        let mut message = violation.to_string();
        if let Some(other) = violation.other.and_then(|other| self.other_in_words(violation, other)) {
            message += &format!("\n{other}");
        }
        if let Some(repair) = repair::suggest(&self.schedule, violation, points) {
            message += &format!("\n{repair}");
        }
        Error::new_spanned(source.unwrap_or(&whole), message)
    }

    /// The other clause that is involved.
    fn other_in_words(&self, violation: &Violation, other: SchedulePart) -> Option<String> {
        let SchedulePart::Transfer(site, _) = other else { return None };
        let transfer = self.schedule.transfers().find(|t| t.site.number == site.number)?;
        let clause = repair::clause(&self.schedule, transfer);
        let same = violation.spot.site().is_some_and(|spot| spot.number == site.number);
        Some(match (&violation.problem, transfer.direction) {
            _ if same => return None,
            (Problem::WrittenTwice { .. }, _) => format!("it arrived by `{clause}`"),
            (_, Direction::Send) => format!("it is sent by `{clause}`"),
            (_, Direction::Recv) => format!("it is received by `{clause}`"),
        })
    }

    /// The position of the other clause that is involved, if there is another one, as an error without a message.
    pub fn place_of_other(&self, violation: &Violation) -> Option<Error> {
        let other = violation.other?;
        let number = |part: SchedulePart| part.site().map(|site| site.number);
        if number(other).is_some() && number(other) == number(violation.spot) {
            return None;
        }
        let source = self.sources.get(&other).or_else(|| self.clause_of(other))?;
        Some(Error::new_spanned(source, ""))
    }

    /// Where a part stands in the source, in bytes from its beginning; `None` if it was not written there.
    pub fn place(&self, part: SchedulePart) -> Option<Range<usize>> {
        let source = self.sources.get(&part).or_else(|| self.clause_of(part))?.clone();
        let spans: Vec<Range<usize>> = source.into_iter().map(|token| token.span().byte_range()).collect();
        Some(spans.first()?.start..spans.last()?.end)
    }

    /// The clause of a message whose action is not declared there: messages of an inner collective have their own
    /// actions.
    fn clause_of(&self, spot: SchedulePart) -> Option<&TokenStream> {
        let SchedulePart::Transfer(site, _) = spot else { return None };
        let is_whole = |known: &SchedulePart| match known {
            SchedulePart::Transfer(other, Field::Whole) => other.number == site.number,
            _ => false,
        };
        self.sources.iter().find(|(known, _)| is_whole(known)).map(|(_, tokens)| tokens)
    }
}

/// Parses the declaration of one collective that a compiler has seen, which reports unknown attributes itself.
pub fn parse(input: &DeriveInput) -> Result<Declaration> {
    read(input, DeclarationBuilder::new())
}

/// Parses the declaration of one collective from text that no compiler has seen: an unknown attribute is an error.
pub fn parse_text(input: &DeriveInput) -> Result<Declaration> {
    let mut builder = DeclarationBuilder::new();
    for unknown in unknown_attributes(input) {
        let message = format!("`{unknown}` is not a clause of a collective; expected one of {}", CLAUSES.join(", "));
        builder.errors.at(unknown, message);
    }
    read(input, builder)
}

fn read(input: &DeriveInput, mut builder: DeclarationBuilder) -> Result<Declaration> {
    for attr in &input.attrs {
        match clause_name(attr) {
            Ok(Some(name)) => builder.clause(&name, attr),
            Ok(None) => {}
            // Reads the intended clause anyway, so that the following ones make sense.
            Err((error, meant)) => {
                builder.errors.push(error);
                builder.clause(meant, attr);
            }
        }
    }
    // All further checks depend on the kind.
    if builder.unknown_kind {
        return Err(builder.errors.finish(()).expect_err("an unknown kind is an error"));
    }
    builder.missing_parts(input);
    let inner_types = check_fields(input, &mut builder);
    let (errors, schedule, sources) = builder.schedule(input);
    errors?;
    Ok(Declaration { ident: input.ident.clone(), schedule, inner_types, docs: docs(input), sources })
}

/// Attributes of structs that do not belong to Roundel.
const FOREIGN: [&str; 14] = [
    "doc",
    "derive",
    "allow",
    "warn",
    "deny",
    "expect",
    "cfg",
    "cfg_attr",
    "must_use",
    "deprecated",
    "non_exhaustive",
    "repr",
    "serde",
    "rustfmt",
];

/// The name of the clause, if the attribute is one of ours; an error with the intended clause if it is misspelled.
fn clause_name(attr: &Attribute) -> std::result::Result<Option<String>, (Error, &'static str)> {
    let Some(ident) = attr.path().get_ident() else { return Ok(None) };
    let name = ident.to_string();
    let today = current(&name);
    if CLAUSES.contains(&today) {
        return Ok(Some(today.into()));
    }
    match similar(&name, CLAUSES) {
        Some(close) if !FOREIGN.contains(&name.as_str()) => {
            let message = format!("`{name}` is not a clause of a collective; did you mean `{close}`?");
            Err((Error::new_spanned(ident, message), close))
        }
        _ => Ok(None),
    }
}

/// Derives that have no attributes of their own, or only those of Rust itself.
const DERIVES: [&str; 10] =
    ["Collective", "Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// The attributes that are neither Roundel's nor Rust's. If another derive is present, they may belong to it, so none
/// is reported; an attribute with a path is a macro.
fn unknown_attributes(input: &DeriveInput) -> Vec<&Ident> {
    let derives = input.attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let known = |attr: &Attribute| {
        let all = attr.parse_args_with(Punctuated::<syn::Path, syn::Token![,]>::parse_terminated).unwrap_or_default();
        all.iter().all(|path| path.segments.last().is_some_and(|last| DERIVES.iter().any(|name| last.ident == name)))
    };
    if !derives.clone().all(known) {
        return Vec::new();
    }
    let unknown = |ident: &&Ident| {
        let name = ident.to_string();
        let known = FOREIGN.contains(&name.as_str()) || CLAUSES.contains(&current(&name));
        !known && similar(&name, CLAUSES).is_none()
    };
    input.attrs.iter().filter_map(|attr| attr.path().get_ident()).filter(unknown).collect()
}

/// Checks that every parameter is a field, and every field a parameter. Returns the types of inner collectives.
fn check_fields(input: &DeriveInput, builder: &mut DeclarationBuilder) -> Vec<Ident> {
    let types = type_parameters(input, &mut builder.errors);
    let errors: &mut Errors = &mut builder.errors;
    let Data::Struct(data) = &input.data else {
        errors.at(&input.ident, "a collective is a struct: `pub struct Name;`");
        return Vec::new();
    };
    let fields: Vec<(&Ident, &syn::Type)> = match &data.fields {
        Fields::Named(named) => named.named.iter().filter_map(|f| Some((f.ident.as_ref()?, &f.ty))).collect(),
        Fields::Unit => Vec::new(),
        Fields::Unnamed(unnamed) => {
            errors.at(unnamed, "name the fields after the parameters: `{ pub radix: i64 }`");
            return Vec::new();
        }
    };
    let mut inner_types = Vec::new();
    for param in &builder.params {
        if builder.inners.iter().any(|inner| *param == inner.name) {
            let ty = fields.iter().find(|(name, _)| *name == param).map(|(_, ty)| tokens(ty).to_string());
            match types.iter().find(|name| ty.as_deref() == Some(&name.to_string())) {
                Some(name) if !inner_types.contains(name) => inner_types.push(name.clone()),
                _ => {
                    let name = &input.ident;
                    let message = format!(
                        "the inner collective `{param}` is a type parameter of its own: \
                         `pub struct {name}<I> {{ pub {param}: I }}`"
                    );
                    errors.at(param, message);
                }
            }
            continue;
        }
        let is_list = builder.lists.iter().any(|list| *param == list.var.name);
        let ty = if is_list { "Vec<i64>" } else { "i64" };
        match fields.iter().find(|(name, _)| *name == param) {
            None => {
                errors.at(param, format!("parameter `{param}` needs a field: add `pub {param}: {ty}` to the struct"))
            }
            Some((_, found)) if tokens(found).to_string().replace(' ', "") != ty => {
                errors.at(found, format!("parameter `{param}` has the type `{ty}`; write `{param}: {ty}`"));
            }
            Some(_) => {}
        }
    }
    for (name, _) in fields {
        if !builder.params.contains(name) {
            let message = format!("`{name}` is no parameter; declare it as `#[collective(allgather, {name}: 1..)]`");
            errors.at(name, message);
        }
    }
    if let Some(unused) = types.iter().find(|name| !inner_types.contains(name)).filter(|_| builder.inners.is_empty())
    {
        let message = "a collective has no type parameters but for inner collectives; remove it";
        errors.at(unused, message);
    }
    inner_types
}

/// The names of the type parameters.
fn type_parameters(input: &DeriveInput, errors: &mut Errors) -> Vec<Ident> {
    let mut types = Vec::new();
    for param in &input.generics.params {
        match param {
            syn::GenericParam::Type(param) if param.bounds.is_empty() => types.push(param.ident.clone()),
            syn::GenericParam::Type(param) => {
                errors.at(&param.bounds, "the derive says what an inner collective is; remove this bound");
            }
            other => errors.at(other, "a collective has no such parameters; remove it"),
        }
    }
    if let Some(clause) = &input.generics.where_clause {
        errors.at(clause, "the derive says what an inner collective is; remove this");
    }
    types
}

fn docs(input: &DeriveInput) -> Vec<String> {
    let text = |attr: &Attribute| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value().trim().to_string()),
            _ => None,
        },
        _ => None,
    };
    input.attrs.iter().filter_map(text).collect()
}

/// Every struct of a source file that derives `Collective`, including those in inline modules and functions.
pub fn declarations(file: &syn::File) -> Vec<DeriveInput> {
    let mut found = Found(Vec::new());
    found.visit_file(file);
    found.0
}

struct Found(Vec<DeriveInput>);

impl<'ast> Visit<'ast> for Found {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.attrs.iter().any(|attr| derives_collective(&attr.meta)) {
            self.0.push(item.clone().into());
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if item.attrs.iter().any(|attr| derives_collective(&attr.meta)) {
            self.0.push(item.clone().into());
        }
    }
}

/// Whether an attribute is a derive of `Collective`, even a conditional one. Rustc reports those that do not parse.
fn derives_collective(meta: &syn::Meta) -> bool {
    let syn::Meta::List(list) = meta else { return false };
    let inner =
        || list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated).unwrap_or_default();
    let is_collective =
        |meta: syn::Meta| meta.path().segments.last().is_some_and(|segment| segment.ident == "Collective");
    if list.path.is_ident("derive") {
        return inner().into_iter().any(is_collective);
    }
    list.path.is_ident("cfg_attr") && inner().iter().skip(1).any(derives_collective)
}
