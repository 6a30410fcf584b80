//! Variables that change from round to round.

use super::blocks::fresh;
use super::builder::DeclarationBuilder;
use super::clauses::Fields;
use super::items::{Item, parse};
use super::scope::Ty;
use crate::schedule::expr::{Expr, Var};
use crate::schedule::{SchedulePart, State};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Ident, Result};

const FORM: &str = "write a state as `#[state(D = 1, next = 2 * D)]`";

impl DeclarationBuilder {
    /// Reads a state, or states that run backwards.
    pub(super) fn state(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
        let is_last =
            |item: &&Item| item.first_word().is_some_and(|word| word == "last") && item.key_value().is_none();
        match items.iter().take_while(is_last).count() {
            0 => self.forward(attr, items),
            count => self.backward(attr, &items[..count], &items[count..]),
        }
    }

    // #[state(D = 1, next = 2 * D)], #[state(W = 1, next = radix * W, each = x)]
    fn forward(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
        let (first, rest) = items.split_first().ok_or_else(|| Error::new_spanned(attr, FORM))?;
        let (name, var, init) = self.named_state(first)?;
        self.one_direction(attr, false)?;
        let mut fields = Fields::new("state", rest, &["next", "each"])?;
        let next = self.lower(&fields.required("next", attr)?, Ty::Int)?;
        let each = match fields.take("each") {
            Some(index) => self.index_named(&index)?,
            None => 0,
        };
        self.push_state(attr, &name, State { var, init: init?, next, each, backward: false });
        Ok(())
    }

    // #[state(last lo = 0, last g = nodes, previous = (lo + begin, size))]
    fn backward(&mut self, attr: &Attribute, items: &[Item], rest: &[Item]) -> Result<()> {
        let states: Vec<_> = items.iter().map(|item| self.named_state(&item.rest()?)).collect::<Result<_>>()?;
        self.one_direction(attr, true)?;
        let previous = Fields::new("state", rest, &["previous"])?.required("previous", attr)?;
        let values = match parse(&previous)? {
            syn::Expr::Tuple(tuple) => tuple.elems.iter().map(ToTokens::to_token_stream).collect(),
            _ => vec![previous.clone()],
        };
        if values.len() != states.len() {
            let message = format!("there are {} states; write as many values, in parentheses", states.len());
            return Err(Error::new_spanned(previous, message));
        }
        // If one of several mutually dependent states differs between ranks, all of them may.
        let values: Vec<Expr> = values.iter().map(|value| self.lower(value, Ty::Int)).collect::<Result<_>>()?;
        let varies = values.iter().any(|value| self.scope.varies(value));
        for ((name, var, init), next) in states.into_iter().zip(values) {
            self.push_state(attr, &name, State { var, init: init?, next, each: 0, backward: true });
            if varies {
                self.scope.set_varying(&name.to_string());
            }
        }
        Ok(())
    }

    /// `D = 1`: declares the name.
    fn named_state(&mut self, item: &Item) -> Result<(Ident, Var, Result<Expr>)> {
        let (name, init) = item.key_value().ok_or_else(|| Error::new_spanned(&item.tokens, FORM))?;
        let (init, fresh) = (self.lower(&init, Ty::Int), fresh(&self.scope, &name));
        let var = self.scope.var(&name.to_string(), init.as_ref().is_ok_and(|e| self.scope.varies(e)));
        fresh?;
        Ok((name, var, init))
    }

    fn one_direction(&mut self, attr: &Attribute, backward: bool) -> Result<()> {
        let l = self.current();
        let message = if l.indices.is_empty() {
            "a state changes from round to round; give this round an index, or write `define`"
        } else if l.states.iter().any(|state| state.backward != backward) {
            "states that run backwards and others do not mix; use two loops"
        } else {
            return Ok(());
        };
        Err(Error::new_spanned(attr, message))
    }

    fn push_state(&mut self, attr: &Attribute, name: &Ident, state: State) {
        if self.scope.varies(&state.next) {
            self.scope.set_varying(&name.to_string());
        }
        let (n, i) = (self.loops.len() - 1, self.current().states.len());
        self.sources.insert(SchedulePart::State(n, i), attr.meta.to_token_stream());
        self.current().states.push(state);
    }

    fn index_named(&mut self, tokens: &TokenStream) -> Result<usize> {
        let (name, indices) = (tokens.to_string(), &self.current().indices);
        indices.iter().position(|index| index.var.name == name).ok_or_else(|| {
            let all: Vec<&str> = indices.iter().map(|index| index.var.name.as_str()).collect();
            Error::new_spanned(tokens, format!("`each` names an index of this round: {}", all.join(", ")))
        })
    }
}
