//! The contents of an attribute: items separated by commas.
//!
//! Commas inside brackets are in a token group of their own, so splitting at the top level is enough. Every item keeps
//! its tokens for errors that are found later.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parse;
use syn::{Attribute, Error, Ident, Meta, Result};

/// One item of an attribute.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) tokens: TokenStream,
}

/// The items of an attribute; empty for a bare one.
pub(crate) fn items(attr: &Attribute) -> Result<Vec<Item>> {
    match &attr.meta {
        Meta::Path(_) => Ok(Vec::new()),
        Meta::List(list) => Ok(split(list.tokens.clone())),
        Meta::NameValue(pair) => {
            let name = pair.path.to_token_stream();
            Err(Error::new_spanned(pair, format!("write `#[{name}(…)]`")))
        }
    }
}

fn split(tokens: TokenStream) -> Vec<Item> {
    let mut items = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => items.push(TokenStream::new()),
            _ => items.last_mut().expect("there is always a last item").extend([token]),
        }
    }
    items.into_iter().filter(|tokens| !tokens.is_empty()).map(|tokens| Item { tokens }).collect()
}

/// The two sides of `left = right` or `left <= right`.
pub(crate) struct Equation {
    pub(crate) left: TokenStream,
    pub(crate) exact: bool,
    pub(crate) right: TokenStream,
}

impl Item {
    /// Parses the whole item.
    pub(crate) fn parse<T: Parse>(&self) -> Result<T> {
        parse(&self.tokens)
    }

    /// The first word of the item.
    pub(crate) fn first_word(&self) -> Option<Ident> {
        match self.tokens.clone().into_iter().next() {
            Some(TokenTree::Ident(word)) => Some(word),
            _ => None,
        }
    }

    /// The item without its first word.
    pub(crate) fn rest(&self) -> Result<Item> {
        let tokens: TokenStream = self.tokens.clone().into_iter().skip(1).collect();
        if tokens.is_empty() {
            return Err(Error::new_spanned(&self.tokens, format!("nothing follows `{}`", self.tokens)));
        }
        Ok(Item { tokens })
    }

    /// `key = value`
    pub(crate) fn key_value(&self) -> Option<(Ident, TokenStream)> {
        let relation = self.relation()?;
        match syn::parse2(relation.left) {
            Ok(key) if relation.exact => Some((key, relation.right)),
            _ => None,
        }
    }

    /// `left = right` or `left <= right`, split at the first such sign; `None` also if nothing follows it.
    pub(crate) fn relation(&self) -> Option<Equation> {
        self.split_relation().filter(|relation| !relation.right.is_empty())
    }

    fn split_relation(&self) -> Option<Equation> {
        let trees: Vec<TokenTree> = self.tokens.clone().into_iter().collect();
        let is = |i: usize, c: char| matches!(trees.get(i), Some(TokenTree::Punct(p)) if p.as_char() == c);
        let joined = |i: usize| matches!(trees.get(i), Some(TokenTree::Punct(p)) if p.spacing() == Spacing::Joint);
        for i in 0..trees.len() {
            let part = |range: &[TokenTree]| range.iter().cloned().collect::<TokenStream>();
            if is(i, '<') && joined(i) && is(i + 1, '=') {
                return Some(Equation { left: part(&trees[..i]), exact: false, right: part(&trees[i + 2..]) });
            }
            let compound = (i > 0 && joined(i - 1)) || (joined(i) && is(i + 1, '='));
            if is(i, '=') && !compound {
                return Some(Equation { left: part(&trees[..i]), exact: true, right: part(&trees[i + 1..]) });
            }
        }
        None
    }
}

/// Parses tokens; an error at their end points at these tokens, not at the whole declaration.
pub(crate) fn parse<T: Parse>(tokens: &TokenStream) -> Result<T> {
    if tokens.is_empty() {
        return Err(Error::new(proc_macro2::Span::call_site(), "expected an expression"));
    }
    syn::parse2(tokens.clone()).map_err(|error| {
        let at_end = error.to_string().contains("unexpected end of input");
        if at_end { Error::new_spanned(tokens, "this expression is not complete") } else { error }
    })
}
