//! The clauses of a declaration, one function each.

mod claims;
mod domain;
mod fields;
mod messages;

pub(super) use fields::Fields;

use crate::schedule::Loop;
use crate::schedule::expr::Expr;
use crate::schedule::message::Direction;
use crate::syntax::builder::DeclarationBuilder;
use crate::syntax::expr::Lower;
use crate::syntax::items::{Item, items, parse};
use crate::syntax::scope::Ty;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Result};

/// The clauses, in the order in which the documentation presents them.
pub const CLAUSES: [&str; 19] = [
    "collective",
    "reverse_of",
    "split",
    "lines",
    "order",
    "requires",
    "define",
    "round",
    "state",
    "send",
    "recv",
    "exchange",
    "within",
    "holds",
    "hint",
    "bound",
    "unproved_bound",
    "layout",
    "check",
];

/// Earlier names of clauses, which are still read.
const EARLIER: [(&str, &str); 1] = [("checked", "unproved_bound")];

/// The name of a clause today.
pub(super) fn current(name: &str) -> &str {
    EARLIER.iter().find(|(earlier, _)| *earlier == name).map_or(name, |(_, today)| today)
}

impl DeclarationBuilder {
    /// Reads one attribute.
    pub(super) fn clause(&mut self, name: &str, attr: &Attribute) {
        if self.unknown_kind {
            return;
        }
        let Some(items) = self.errors.keep(items(attr)) else { return };
        self.has_messages |= matches!(name, "send" | "recv" | "exchange" | "within");
        if let Some(example) = example(name).filter(|_| items.is_empty()) {
            return self.errors.at(attr, format!("`{name}` is empty; write for example `#[{name}({example})]`"));
        }
        match name {
            "collective" => self.collective(attr, &items),
            "reverse_of" => {
                let result = self.reverse_of(attr, &items);
                self.errors.keep(result);
            }
            "split" => {
                let result = self.split(attr, &items);
                self.errors.keep(result);
            }
            "lines" => self.each(&items, Self::line),
            "order" => self.each(&items, Self::order),
            "requires" => self.each(&items, Self::requires),
            "define" => self.each(&items, Self::define),
            "round" => self.round(attr, &items),
            "state" => self.in_round(attr, |b| b.state(attr, &items)),
            "send" => self.in_round(attr, |b| b.transfer(attr, &items, Direction::Send)),
            "recv" => self.in_round(attr, |b| b.transfer(attr, &items, Direction::Recv)),
            "exchange" => self.in_round(attr, |b| b.exchange(attr, &items)),
            "within" => self.in_round(attr, |b| b.within(attr, &items)),
            "holds" => self.in_round(attr, |b| {
                b.each(&items, Self::hold);
                Ok(())
            }),
            "hint" => self.in_round(attr, |b| {
                b.each(&items, Self::hint);
                Ok(())
            }),
            "bound" => self.each(&items, |b, item| b.bound(item, false)),
            "unproved_bound" => self.each(&items, |b, item| b.bound(item, true)),
            "layout" => self.each(&items, Self::layout),
            _ => self.each(&items, Self::limit),
        }
    }

    /// Reads items one by one, so that each can have its own error.
    fn each(&mut self, items: &[Item], read: impl Fn(&mut Self, &Item) -> Result<()>) {
        for item in items {
            let result = read(self, item);
            self.errors.keep(result);
        }
    }

    /// Reads a clause that belongs to a round.
    fn in_round(&mut self, attr: &Attribute, read: impl FnOnce(&mut Self) -> Result<()>) {
        if self.loops.is_empty() {
            let name = attr.path().to_token_stream();
            let message = format!("`{name}` belongs to a round; write `#[round(s in 0..n)]` or `#[round]` above it");
            return self.errors.at(attr, message);
        }
        let result = read(self);
        self.errors.keep(result);
    }

    pub(super) fn current(&mut self) -> &mut Loop {
        self.loops.last_mut().expect("`in_round` has seen a round")
    }

    pub(super) fn lower(&self, tokens: &TokenStream, ty: Ty) -> Result<Expr> {
        let e: syn::Expr = parse(tokens)?;
        Lower { scope: &self.scope, kind: self.kind }.typed(&e, ty)
    }

    /// Lowers an expression whose value must be the same on all ranks.
    pub(super) fn lower_common(&self, tokens: &TokenStream, ty: Ty, what: &str) -> Result<Expr> {
        let e = self.lower(tokens, ty)?;
        if self.scope.varies(&e) {
            let message = format!(
                "{what} must be the same on all ranks, so it cannot depend on rank, node, local or ppn; \
                 use p, nodes, lanes or a parameter"
            );
            return Err(Error::new_spanned(tokens, message));
        }
        Ok(e)
    }
}

/// An example for a clause without items; a bare `round` needs none.
fn example(clause: &str) -> Option<&'static str> {
    Some(match clause {
        "collective" | "reverse_of" => "allgather",
        "split" => "p",
        "lines" => "acc",
        "order" => "same_tree",
        "requires" => "p % 2 == 0",
        "define" => "n = min(D, p - D)",
        "round" => return None,
        "state" => "D = 1, next = 2 * D",
        "send" => "to = rank + 1, blocks = [rank]",
        "recv" => "from = rank - 1, blocks = [rank - 1]",
        "exchange" => "with = rank ^ 1, send = [rank], recv = [rank ^ 1]",
        "within" => "node, inner",
        "holds" => "blocks = [rank + k; k in 0..D]",
        "bound" | "unproved_bound" => "rounds = ceil_log(2, p)",
        "layout" => "in_place",
        _ => "p <= 40",
    })
}
