//! All errors of a declaration, collected.

pub(crate) use crate::schedule::similar::similar;
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fmt::Display;

/// Collects errors, so that the user sees all of them at once. It must be consumed.
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

/// The tokens of an item, for a later error.
pub(crate) fn tokens(of: impl ToTokens) -> TokenStream {
    of.into_token_stream()
}
