//! The fields of a clause, and the heads of definitions.

use crate::syntax::errors::similar;
use crate::syntax::items::Item;
use proc_macro2::TokenStream;
use syn::{Attribute, Error, Ident, Result, Token};

/// The fields of a clause, each at most once.
pub(in crate::syntax) struct Fields {
    clause: &'static str,
    found: Vec<(String, TokenStream)>,
}

impl Fields {
    pub(in crate::syntax) fn new(clause: &'static str, items: &[Item], known: &[&str]) -> Result<Self> {
        let mut found: Vec<(String, TokenStream)> = Vec::new();
        for item in items {
            let Some((key, value)) = item.key_value() else {
                let message = match index_alone(&item.tokens).filter(|_| known.contains(&"when")) {
                    Some(index) => {
                        format!("one message for each `{index}` begins with `for`: write `for {index} in …`")
                    }
                    None => format!("expected `field = value` with one of the fields {}", known.join(", ")),
                };
                return Err(Error::new_spanned(&item.tokens, message));
            };
            let name = key.to_string();
            if !known.contains(&name.as_str()) {
                let hint = match similar(&name, known.iter().copied()) {
                    Some(close) => format!("did you mean `{close}`?"),
                    None => format!("expected one of {}", known.join(", ")),
                };
                return Err(Error::new_spanned(key, format!("`{clause}` has no field `{name}`; {hint}")));
            }
            if found.iter().any(|(known, _)| *known == name) {
                return Err(Error::new_spanned(key, format!("`{name}` is given twice; remove one")));
            }
            found.push((name, value));
        }
        Ok(Fields { clause, found })
    }

    pub(in crate::syntax) fn take(&mut self, key: &str) -> Option<TokenStream> {
        let position = self.found.iter().position(|(name, _)| name == key)?;
        Some(self.found.remove(position).1)
    }

    pub(in crate::syntax) fn required(&mut self, key: &str, attr: &Attribute) -> Result<TokenStream> {
        self.take(key).ok_or_else(|| {
            let example = match key {
                "to" => "to = rank + 1",
                "from" => "from = rank - 1",
                "with" => "with = rank ^ 1",
                "next" => "next = 2 * D",
                "previous" => "previous = g / 2",
                "send" => "send = [rank]",
                "recv" => "recv = [rank ^ 1]",
                _ => "blocks = [rank + k; k in 0..n]",
            };
            Error::new_spanned(attr, format!("`{}` lacks `{key}`; add for example `{example}`", self.clause))
        })
    }
}

/// The name of an index `j in 1..n` that stands where a field should.
fn index_alone(tokens: &TokenStream) -> Option<String> {
    let mut tokens = tokens.clone().into_iter();
    let name = tokens.next()?.to_string();
    tokens.next().filter(|token| token.to_string() == "in").map(|_| name)
}

/// `name` or `name(a, b)`
pub(super) struct HeadSyntax {
    pub(super) name: Ident,
    pub(super) args: Vec<Ident>,
}

impl syn::parse::Parse for HeadSyntax {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let mut args = Vec::new();
        if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            args.extend(syn::punctuated::Punctuated::<Ident, Token![,]>::parse_terminated(&content)?);
        }
        Ok(HeadSyntax { name, args })
    }
}
