//! The states of one loop: computed for a given round, and advanced to the next one.

use super::rounds::{Follows, LoopCode};
use crate::emission::rust::expr::ident;
use crate::emission::rust::functions::scoped;
use crate::emission::rust::rounds::backward;
use crate::schedule::State;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

impl LoopCode<'_> {
    /// The states of a round, computed.
    pub(super) fn states(&self) -> TokenStream {
        let names: Vec<Ident> = self.l.states.iter().map(|state| ident(&state.var.name)).collect();
        let Some(index) = self.l.indices.first().filter(|_| self.walks() && !names.is_empty()) else {
            return quote!();
        };
        let (name, vars, bindings) = (self.name("states"), self.arguments(), self.bindings());
        let forward: Vec<&State> = self.l.states.iter().filter(|state| !state.backward).collect();
        let moving: Vec<Ident> = forward.iter().map(|state| ident(&state.var.name)).collect();
        let inits = forward.iter().map(|state| scoped(self.schedule, &[&state.init], |e| e[0].clone()));
        let next = forward.iter().map(|state| scoped(self.schedule, &[&state.next], |e| e[0].clone()));
        let (s, lo) = (ident(&index.var.name), scoped(self.schedule, &[&index.lo], |e| e[0].clone()));
        let forward = (!forward.is_empty()).then(|| {
            quote! {
                #(let mut #moving = #inits;)*
                for #s in #lo..#s {
                    (#(#moving,)*) = (#(#next,)*);
                }
            }
        });
        let backward = backward(self.schedule, self.l);
        let types = names.iter().map(|_| quote!(i64));
        quote! {
            fn #name(&self, at: &Place, #(#vars: i64),*) -> (#(#types,)*) {
                #bindings
                #forward
                #backward
                (#(#names,)*)
            }
        }
    }

    /// Advances indices and states to the next round.
    pub(super) fn advance(&self) -> TokenStream {
        let Some(last) = self.l.indices.len().checked_sub(1) else { return quote!() };
        let stated = |state: &&State| match self.follows {
            Follows::OneRound => !state.backward,
            Follows::EveryRound => false,
            Follows::OneTurn => true,
        };
        let mut code = TokenStream::new();
        for (level, index) in self.l.indices.iter().enumerate().rev() {
            let name = ident(&index.var.name);
            let moving = self.l.states.iter().filter(stated).filter(|state| state.each == level);
            let moving: Vec<&State> = moving.collect();
            let names: Vec<_> = moving.iter().map(|state| ident(&state.var.name)).collect();
            let next = moving.iter().map(|state| match state.backward {
                true => self.later(state).into_token_stream(),
                false => scoped(self.schedule, &[&state.next], |e| e[0].clone()),
            });
            let step = quote! {
                let (#(#names,)*) = (#(#next,)*);
                let #name = #name + 1;
            };
            if level == last {
                code = step;
                continue;
            }
            // The inner index starts again when it has reached its end.
            let inner = &self.l.indices[level + 1];
            let inner_name = ident(&inner.var.name);
            let (lo, hi) = (
                scoped(self.schedule, &[&inner.lo], |e| e[0].clone()),
                scoped(self.schedule, &[&inner.hi], |e| e[0].clone()),
            );
            let changed = quote!((#inner_name, #name, #(#names),*));
            code = quote! {
                #code
                let #changed = if #inner_name < #hi { #changed } else {
                    #step
                    let #inner_name = #lo;
                    #changed
                };
            };
        }
        code
    }

    /// The states, if they are computed.
    pub(super) fn computed(&self) -> TokenStream {
        let (name, indices, states) = (self.name("states"), self.arguments(), self.states_names());
        match self.walks() && !states.is_empty() {
            true => quote!(let (#(#states,)*) = self.#name(at, #(#indices),*);),
            false => quote!(),
        }
    }
}
