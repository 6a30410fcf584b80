//! The clauses about rounds and their messages.

use super::fields::Fields;
use crate::schedule::blocks::{BlockSet, Index};
use crate::schedule::expr::{Binary, Expr, Var};
use crate::schedule::message::Direction;
use crate::schedule::message::Site;
use crate::schedule::{Field, Loop, SchedulePart, Transfer};
use crate::syntax::blocks::{BlocksSyntax, RangeSyntax};
use crate::syntax::builder::DeclarationBuilder;
use crate::syntax::errors::Errors;
use crate::syntax::items::{Item, parse};
use crate::syntax::lines::Role;
use crate::syntax::scope::Ty;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Result};

impl DeclarationBuilder {
    // #[round], #[round("fold")], #[round(s in 0..ceil_log(2, p))], #[round("exchange", x in 0..w, z in 1..radix)]
    pub(super) fn round(&mut self, attr: &Attribute, items: &[Item]) {
        // A label describes the round; it also distinguishes rounds without an index.
        let items = match items {
            [label, indices @ ..] if label.parse::<syn::LitStr>().is_ok() => indices,
            items => items,
        };
        let global = *self.globals.get_or_insert(self.scope.mark());
        self.scope.forget(global);
        let n = self.loops.len();
        self.loops.push(Loop::default());
        self.sources.insert(SchedulePart::Round(n), attr.meta.to_token_stream());
        self.scope.set_nameless(false);
        self.each(items, |b, item| {
            // A round with a wrong range still has an index.
            let nothing = |name: &str| Index { var: Var { name: name.into(), slot: 0 }, lo: 0.into(), hi: 0.into() };
            if matches!(item.parse(), Ok(syn::Expr::Range(_))) {
                b.scope.set_nameless(true);
                b.current().indices.push(nothing(""));
                let message = "the index of the rounds needs a name: write `s in 0..n`";
                return Err(Error::new_spanned(&item.tokens, message));
            }
            let range: RangeSyntax = item.parse()?;
            let index = range.lower(&mut b.scope, b.kind).and_then(|index| {
                if b.scope.varies(&index.lo) || b.scope.varies(&index.hi) {
                    let message = "the number of rounds must be the same on all ranks; \
                                   give ranks that take no part an empty message, or a `when`";
                    return Err(Error::new_spanned(&item.tokens, message));
                }
                Ok(index)
            });
            b.current().indices.push(index.as_ref().map_or_else(|_| nothing(&range.name.to_string()), Index::clone));
            index.map(|_| ())
        });
    }

    // #[send(for j in 1..radix, when = …, to = rank - D, blocks = [rank + k; k in 0..n])]
    pub(super) fn transfer(&mut self, attr: &Attribute, items: &[Item], direction: Direction) -> Result<()> {
        let (clause, peer) = match direction {
            Direction::Send => ("send", "to"),
            Direction::Recv => ("recv", "from"),
        };
        self.with_indices(items, |b, (each, each_tokens), rest| {
            let mut fields = Fields::new(clause, rest, b.transfer_fields(direction))?;
            let (when, peer) = (fields.take("when"), fields.required(peer, attr)?);
            let blocks = b.blocks_field(&mut fields, "blocks", attr)?;
            let roles = match direction {
                Direction::Send => b.send_roles(&mut fields)?,
                Direction::Recv => b.recv_roles(&mut fields)?,
            };
            b.push_transfer(attr, direction, &each, &ClauseParts { each: each_tokens, when, peer, blocks, roles })
        })
    }

    // #[exchange(with = rank ^ D, send = [rank], recv = [rank ^ D])]
    pub(super) fn exchange(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
        self.with_indices(items, |b, (each, each_tokens), rest| {
            let known: &[&str] = match b.kind.reduces() {
                false => &["when", "with", "send", "recv"],
                true => {
                    &["when", "with", "send", "recv", "line", "into", "combine", "operand", "replaces", "overwrites"]
                }
            };
            let mut fields = Fields::new("exchange", rest, known)?;
            let (when, with) = (fields.take("when"), fields.required("with", attr)?);
            for (direction, key) in [(Direction::Send, "send"), (Direction::Recv, "recv")] {
                let blocks = b.blocks_field(&mut fields, key, attr)?;
                let roles = match direction {
                    Direction::Send => b.send_roles(&mut fields)?,
                    Direction::Recv => b.recv_roles(&mut fields)?,
                };
                let (when, peer) = (when.clone(), with.clone());
                let parts = ClauseParts { each: each_tokens.clone(), when, peer, blocks, roles };
                b.push_transfer(attr, direction, &each, &parts)?;
            }
            Ok(())
        })
    }

    /// Brings the leading `for` indices of a clause into scope while the rest of it is read.
    fn with_indices(
        &mut self,
        items: &[Item],
        read: impl FnOnce(&mut Self, (Vec<Index>, TokenStream), &[Item]) -> Result<()>,
    ) -> Result<()> {
        let mark = self.scope.mark();
        let count = items.iter().take_while(|item| item.first_word().is_some_and(|word| word == "for")).count();
        let each: Result<Vec<Index>> = items[..count]
            .iter()
            .map(|item| item.rest()?.parse::<RangeSyntax>()?.lower(&mut self.scope, self.kind))
            .collect();
        let tokens = items[..count].iter().map(|item| item.tokens.clone()).collect();
        let result = each.and_then(|each| read(self, (each, tokens), &items[count..]));
        self.scope.forget(mark);
        result
    }

    fn push_transfer(
        &mut self,
        attr: &Attribute,
        direction: Direction,
        each: &[Index],
        parts: &ClauseParts,
    ) -> Result<()> {
        let when = parts.when.as_ref().map(|when| self.lower(when, Ty::Bool)).transpose();
        let peer = self.lower(&parts.peer, Ty::Int);
        let blocks = self.blocks_or_all(parts.blocks.as_ref());
        let (when, peer, blocks) = all_three(when, peer, blocks)?;
        let (rank, p) = (Expr::Var(self.scope.builtin("rank")), Expr::Var(self.scope.builtin("p")));
        for role in &parts.roles {
            let site = Site { number: self.sites, line: role.line, action: role.action };
            self.sites += 1;
            self.remember(attr, site, parts);
            let condition = role.condition(&peer, rank.clone(), p.clone());
            let when = when.clone().into_iter().chain(condition).reduce(|a, b| Expr::binary(Binary::And, a, b));
            let (each, peer, blocks) = (each.to_vec(), peer.clone(), blocks.clone());
            self.current().transfers.push(Transfer { direction, site, each, when, peer, blocks });
        }
        Ok(())
    }

    /// Remembers the source positions of the parts of a message.
    fn remember(&mut self, attr: &Attribute, site: Site, parts: &ClauseParts) {
        let (whole, blocks) = (attr.meta.to_token_stream(), Self::blocks_source(parts.blocks.as_ref(), attr));
        let spots = [
            (Field::Whole, &whole),
            (Field::Each, &parts.each),
            (Field::Peer, &parts.peer),
            (Field::Blocks, &blocks),
            (Field::When, parts.when.as_ref().unwrap_or(&whole)),
        ];
        for (field, tokens) in spots {
            self.sources.insert(SchedulePart::Transfer(site, field), tokens.clone());
        }
    }

    pub(in crate::syntax) fn blocks(&mut self, tokens: &TokenStream) -> Result<BlockSet> {
        let syntax: BlocksSyntax = parse(tokens)?;
        syntax.lower(&mut self.scope, self.kind)
    }
}

struct ClauseParts {
    each: TokenStream,
    when: Option<TokenStream>,
    peer: TokenStream,
    /// `None` stands for all blocks.
    blocks: Option<TokenStream>,
    roles: Vec<Role>,
}

fn all_three<A, B, C>(a: Result<A>, b: Result<B>, c: Result<C>) -> Result<(A, B, C)> {
    let mut errors = Errors::default();
    match (errors.keep(a), errors.keep(b), errors.keep(c)) {
        (Some(a), Some(b), Some(c)) => errors.finish((a, b, c)),
        _ => Err(errors.finish(()).expect_err("one of the three is an error")),
    }
}
