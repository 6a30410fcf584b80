//! The clauses that claim something: what ranks hold, hints for the prover, and bounds.

use super::fields::HeadSyntax;
use crate::schedule::expr::Expr;
use crate::schedule::message::Line;
use crate::schedule::{Bound, BoundScope as Extent, Hold, Metric, SchedulePart};
use crate::syntax::blocks::fresh;
use crate::syntax::builder::DeclarationBuilder;
use crate::syntax::errors::similar;
use crate::syntax::expr::both;
use crate::syntax::items::{Item, parse};
use crate::syntax::scope::Ty;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Error, Ident, Result};

impl DeclarationBuilder {
    // #[holds(blocks = [rank + k; k in 0..D], messages_sent = s, D <= p)]
    pub(super) fn hold(&mut self, item: &Item) -> Result<()> {
        let hold = match item.key_value() {
            Some((key, value)) if key == "blocks" && !self.kind.reduces() => {
                if self.current().holds.iter().any(|hold| matches!(hold, Hold::Blocks(_))) {
                    return Err(Error::new_spanned(key, "`blocks` is said twice; remove one"));
                }
                Hold::Blocks(self.blocks(&value)?)
            }
            Some((key, value)) if self.all_lines().iter().any(|line| key == line) => {
                let line = self.line_named(&key.to_token_stream())?;
                Hold::Contributors { line, block: None, ranks: self.blocks(&value)? }
            }
            None if self.kind.reduces() && self.line_of_block(item).is_some() => self.contributors_by_block(item)?,
            Some((key, _)) if key == "blocks" => {
                let line = &self.all_lines()[0];
                let message = format!(
                    "a reduction's `holds` says whose contributions a line has: write `{line} = [rank + k; k in 0..n]`"
                );
                return Err(Error::new_spanned(key, message));
            }
            Some((key, value)) => Hold::Counter(metric(&key, &self.held_names())?, self.lower(&value, Ty::Int)?),
            None => Hold::Fact(self.lower(&item.tokens, Ty::Bool)?),
        };
        let (n, i) = (self.loops.len() - 1, self.current().holds.len());
        self.sources.insert(SchedulePart::Hold(n, i), item.tokens.clone());
        self.current().holds.push(hold);
        Ok(())
    }

    /// The names that `holds` can use, besides counters.
    fn held_names(&self) -> Vec<String> {
        if self.kind.reduces() { self.all_lines() } else { vec!["blocks".into()] }
    }

    /// `acc(b)` on the left of `=`.
    fn line_of_block(&self, item: &Item) -> Option<(Line, Ident)> {
        let head: HeadSyntax = parse(&item.relation().filter(|relation| relation.exact)?.left).ok()?;
        let line = self.line_named(&head.name.to_token_stream()).ok()?;
        match head.args.as_slice() {
            [block] => Some((line, block.clone())),
            _ => None,
        }
    }

    // #[holds(acc(b) = [rank - k; k in 0..n(b)])]
    fn contributors_by_block(&mut self, item: &Item) -> Result<Hold> {
        let form = || Error::new_spanned(&item.tokens, "write `acc(b) = [rank]`");
        let (line, name) = self.line_of_block(item).ok_or_else(form)?;
        let value = item.relation().ok_or_else(form)?.right;
        let (mark, fresh) = (self.scope.mark(), fresh(&self.scope, &name));
        let block = self.scope.var(&name.to_string(), false);
        let ranks = self.blocks(&value);
        self.scope.forget(mark);
        let (ranks, ()) = both(ranks, fresh)?;
        Ok(Hold::Contributors { line, block: Some(block), ranks })
    }

    // #[hint(D == 2 * d)]
    pub(super) fn hint(&mut self, item: &Item) -> Result<()> {
        let fact = self.lower(&item.tokens, Ty::Bool)?;
        let (n, i) = (self.loops.len() - 1, self.current().hints.len());
        self.sources.insert(SchedulePart::Hint(n, i), item.tokens.clone());
        self.current().hints.push(fact);
        Ok(())
    }

    // #[bound(rounds = ceil_log(2, p), each blocks_sent <= p - 1, per_round messages_sent <= 1)]
    pub(super) fn bound(&mut self, item: &Item, checked: bool) -> Result<()> {
        let form = || {
            let message = "write a bound as `rounds = p - 1`, `blocks_sent <= p`, `each blocks_sent = p - 1`, \
                 `node nonlocal_messages_sent <= nodes` or `per_round messages_sent <= 1`";
            Error::new_spanned(&item.tokens, message)
        };
        let relation = item.relation().ok_or_else(form)?;
        let words: Vec<Ident> = relation.left.clone().into_iter().map(|t| parse(&t.into())).collect::<Result<_>>()?;
        let (scope, name) = match words.as_slice() {
            [name] => (Extent::Max, name),
            [scope, name] if scope == "each" => (Extent::Each, name),
            [scope, name] if scope == "node" => (Extent::Node, name),
            [scope, name] if scope == "per_round" => {
                let n = self.loops.len().checked_sub(1).ok_or_else(|| {
                    Error::new_spanned(scope, "`per_round` belongs to a round; write it below `#[round(…)]`")
                })?;
                (Extent::PerRound(n), name)
            }
            _ => return Err(form()),
        };
        let metric = metric(name, &[])?;
        if scope == Extent::Node && metric.counts_rounds() {
            return Err(Error::new_spanned(name, "all nodes have the same rounds; count them without `node`"));
        }
        if metric == Metric::Scratch && !(self.kind.moves() && matches!(scope, Extent::Max | Extent::Each)) {
            let message =
                "`scratch` counts the blocks of an alltoall that a rank keeps for others, over the whole run";
            return Err(Error::new_spanned(name, message));
        }
        let value = match scope {
            Extent::Each | Extent::Node => self.lower(&relation.right, Ty::Int)?,
            _ => self.lower_common(&relation.right, Ty::Int, "this bound")?,
        };
        if !matches!(scope, Extent::PerRound(_)) {
            let message = "this bound is on the whole run, write `per_round`";
            self.no_round_variable(&value, &relation.right, message)?;
        }
        self.sources.insert(SchedulePart::Bound(self.bounds.len()), item.tokens.clone());
        self.bounds.push(Bound { metric, scope, exact: relation.exact, checked, value });
        Ok(())
    }

    /// Rejects round variables in clauses about the whole run.
    pub(super) fn no_round_variable(&self, value: &Expr, tokens: &TokenStream, help: &str) -> Result<()> {
        let mut found = None;
        let globals = self.globals.unwrap_or(usize::MAX);
        value.walk(&mut |e| {
            let name = match e {
                Expr::Var(v) => &v.name,
                Expr::Call(name, ..) => name,
                _ => return,
            };
            if self.scope.position(name).is_some_and(|position| position >= globals) {
                found = Some(name.clone());
            }
        });
        match found {
            Some(name) => Err(Error::new_spanned(tokens, format!("`{name}` changes from round to round; {help}"))),
            None => Ok(()),
        }
    }
}

fn metric(name: &Ident, others: &[String]) -> Result<Metric> {
    let text = name.to_string();
    if let Some(metric) = Metric::ALL.into_iter().find(|metric| metric.name() == text) {
        return Ok(metric);
    }
    let all: Vec<&str> =
        others.iter().map(String::as_str).chain(Metric::ALL.iter().map(|metric| metric.name())).collect();
    let hint = match similar(&text, all.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("expected one of {}", all.join(", ")),
    };
    Err(Error::new_spanned(name, format!("`{text}` is nothing that can be counted; {hint}")))
}
