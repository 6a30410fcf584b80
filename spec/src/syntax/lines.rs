//! The clauses and fields that only reductions have: lines, blocks of the vector, and how arriving data is combined.

use super::builder::DeclarationBuilder;
use super::clauses::Fields;
use super::errors::similar;
use super::items::Item;
use super::scope::Ty;
use crate::schedule::SchedulePart;
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::expr::{Binary, Expr};
use crate::schedule::message::Direction;
use crate::schedule::message::{Action, Line};
use crate::schedule::text::USUAL_LINE;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Ident, Result};

/// The effect of a message on the memory of its rank, and its condition.
#[derive(Clone)]
pub(super) struct Role {
    pub(super) line: Line,
    pub(super) action: Action,
    /// If set, the role applies only if the peer comes before this rank (`true`), or only if it does not (`false`).
    pub(super) peer_first: Option<bool>,
}

impl Role {
    /// The only line of a gather.
    pub(super) const PLAIN: Role = Role { line: 0, action: Action::Copy, peer_first: None };

    /// The condition under which this role applies, for a message to or from `peer`.
    pub(super) fn condition(&self, peer: &Expr, rank: Expr, p: Expr) -> Option<Expr> {
        let wrapped = Expr::binary(Binary::Rem, peer.clone(), p);
        let op = if self.peer_first? { Binary::Lt } else { Binary::Gt };
        Some(Expr::binary(op, wrapped, rank))
    }
}

impl DeclarationBuilder {
    // #[split(p)]
    pub(super) fn split(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
        let [item] = items else {
            return Err(Error::new_spanned(attr, "write the number of blocks: `#[split(p)]`"));
        };
        if !self.kind.is_divided() {
            let each = if self.kind.moves() { "pair of ranks" } else { "rank" };
            let message = format!("{} has a block for each {each}; remove `split`", self.kind.with_article());
            return Err(Error::new_spanned(attr, message));
        }
        if !self.loops.is_empty() {
            return Err(Error::new_spanned(attr, "write `split` above the first `round`"));
        }
        self.blocks = Some(self.lower_common(&item.tokens, Ty::Int, "the number of blocks")?);
        self.sources.insert(SchedulePart::Blocks, item.tokens.clone());
        Ok(())
    }

    // #[lines(acc, part)]
    pub(super) fn line(&mut self, item: &Item) -> Result<()> {
        let name: Ident =
            item.parse().map_err(|_| Error::new_spanned(&item.tokens, "a line is a name, such as `acc`"))?;
        if !self.kind.reduces() {
            let message = format!("{} has no lines; remove this clause", self.kind.with_article());
            return Err(Error::new_spanned(&item.tokens, message));
        }
        let text = name.to_string();
        if self.lines.contains(&text) {
            return Err(Error::new_spanned(name, format!("`{text}` is declared twice; remove one")));
        }
        if self.lines.len() >= Line::MAX as usize {
            return Err(Error::new_spanned(name, "there are too many lines"));
        }
        self.lines.push(text);
        Ok(())
    }

    // #[order(same_tree, rank_order)]
    pub(super) fn order(&mut self, item: &Item) -> Result<()> {
        let word = item.tokens.to_string();
        let spot = match word.as_str() {
            _ if !self.kind.reduces() => {
                let message = format!("{} reduces nothing; remove `order`", self.kind.with_article());
                return Err(Error::new_spanned(&item.tokens, message));
            }
            "same_tree" => {
                self.order.same_tree = true;
                SchedulePart::SameTree
            }
            "rank_order" => {
                self.order.rank_order = true;
                SchedulePart::RankOrder
            }
            _ => return Err(Error::new_spanned(&item.tokens, "an order is `same_tree` or `rank_order`")),
        };
        self.sources.insert(spot, item.tokens.clone());
        Ok(())
    }

    /// The line with a name; without `lines` there is only `acc`.
    pub(super) fn line_named(&self, tokens: &TokenStream) -> Result<Line> {
        let (name, lines) = (tokens.to_string(), self.all_lines());
        lines.iter().position(|line| *line == name).map(|i| i as Line).ok_or_else(|| {
            let hint = match similar(&name, lines.iter().map(String::as_str)) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("expected one of {}", lines.join(", ")),
            };
            Error::new_spanned(tokens, format!("there is no line `{name}`; {hint}"))
        })
    }

    /// The names of the lines, as declared or by default.
    pub(super) fn all_lines(&self) -> Vec<String> {
        match (self.kind.reduces(), self.lines.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => vec![USUAL_LINE.into()],
            (true, false) => self.lines.clone(),
        }
    }

    /// The fields that a clause may have.
    pub(super) fn transfer_fields(&self, direction: Direction) -> &'static [&'static str] {
        match (self.kind.reduces(), direction) {
            (false, Direction::Send) => &["when", "to", "blocks"],
            (false, Direction::Recv) => &["when", "from", "blocks"],
            (true, Direction::Send) => &["when", "to", "blocks", "line"],
            (true, Direction::Recv) => {
                &["when", "from", "blocks", "into", "combine", "operand", "replaces", "overwrites"]
            }
        }
    }

    /// What a `send` reads.
    pub(super) fn send_roles(&self, fields: &mut Fields) -> Result<Vec<Role>> {
        let line = fields.take("line").map_or(Ok(0), |line| self.line_named(&line))?;
        Ok(vec![Role { line, ..Role::PLAIN }])
    }

    /// The effect of a `recv` on arriving data.
    pub(super) fn recv_roles(&self, fields: &mut Fields) -> Result<Vec<Role>> {
        if !self.kind.reduces() {
            return Ok(vec![Role::PLAIN]);
        }
        let (into, replaces, combine) = (fields.take("into"), fields.take("replaces"), fields.take("combine"));
        let operand = fields.take("operand");
        if let Some(overwrites) = fields.take("overwrites") {
            if let Some(other) = into.or(combine).or(operand).or(replaces) {
                return Err(Error::new_spanned(other, "`overwrites` says it all; remove this"));
            }
            let line = self.line_named(&overwrites)?;
            return Ok(vec![Role { line, action: Action::Overwrite, peer_first: None }]);
        }
        if let Some(replaces) = replaces {
            if let Some(other) = into.or(combine).or(operand) {
                return Err(Error::new_spanned(other, "`replaces` says it all; remove this"));
            }
            return Ok(vec![Role { line: self.line_named(&replaces)?, action: Action::Replace, peer_first: None }]);
        }
        let line = into.as_ref().map_or(Ok(0), |into| self.line_named(into))?;
        let with = operand.as_ref().map_or(Ok(line), |operand| self.line_named(operand))?;
        let (left, right) = (Action::CombineLeft { with }, Action::CombineRight { with });
        let role = |action, peer_first| Role { line, action, peer_first };
        let Some(combine) = combine else {
            return match operand {
                Some(operand) => Err(Error::new_spanned(operand, "an operand needs `combine = left` or `right`")),
                None => Ok(vec![role(Action::Copy, None)]),
            };
        };
        match combine.to_string().as_str() {
            "left" => Ok(vec![role(left, None)]),
            "right" => Ok(vec![role(right, None)]),
            "by_rank" => Ok(vec![role(left, Some(true)), role(right, Some(false))]),
            _ => Err(Error::new_spanned(combine, "what arrives is combined `left`, `right` or `by_rank`")),
        }
    }

    /// The blocks of a message: those named, or all.
    pub(super) fn blocks_or_all(&mut self, tokens: Option<&TokenStream>) -> Result<BlockSet> {
        match tokens {
            Some(tokens) => self.blocks(tokens),
            None => {
                let var = self.scope.anonymous("b");
                let all = Index { var: var.clone(), lo: Expr::Int(0), hi: self.number_of_blocks() };
                Ok(BlockSet { parts: vec![Comprehension { item: Expr::Var(var), over: vec![all], filter: None }] })
            }
        }
    }

    /// The number of blocks, as declared or by default.
    pub(super) fn number_of_blocks(&self) -> Expr {
        let p = || Expr::Var(self.scope.builtin("p"));
        match &self.blocks {
            Some(blocks) => blocks.clone(),
            None if self.kind.has_a_block_each() => p(),
            None if self.kind.moves() => Expr::binary(Binary::Mul, p(), p()),
            None => Expr::Int(1),
        }
    }

    /// Points an error about a missing field at the clause.
    pub(super) fn blocks_field(
        &self,
        fields: &mut Fields,
        key: &'static str,
        attr: &Attribute,
    ) -> Result<Option<TokenStream>> {
        match fields.take(key) {
            Some(tokens) => Ok(Some(tokens)),
            None if self.kind.is_divided() => Ok(None),
            None => fields.required(key, attr).map(Some),
        }
    }

    /// The tokens that errors about the blocks of a clause point at.
    pub(super) fn blocks_source(tokens: Option<&TokenStream>, attr: &Attribute) -> TokenStream {
        tokens.cloned().unwrap_or_else(|| attr.meta.to_token_stream())
    }
}
