//! The clauses of a declaration, one function each.

use super::blocks::{BlocksSyntax, RangeSyntax, fresh};
use super::builder::DeclarationBuilder;
use super::errors::similar;
use super::expr::{Lower, both};
use super::items::{Item, items, parse};
use super::lines::Role;
use super::scope::{Entity, Ty};
use crate::schedule::blocks::{BlockSet, Index};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Binary, Expr, ListVar, Var};
use crate::schedule::message::Direction;
use crate::schedule::message::{Line, Site};
use crate::schedule::{
    Bound, BoundScope as Extent, Domain, Field, Function, Hold, Layout, ListParameter, Loop, Metric, Number, ROOT,
    SchedulePart, Transfer,
};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::mem::discriminant;
use syn::{Attribute, Error, Ident, Result, Token};

/// The clauses, in the order in which the documentation presents them.
pub const CLAUSES: [&str; 18] = [
    "collective",
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
    "checked",
    "layout",
    "check",
];

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
            "checked" => self.each(&items, |b, item| b.bound(item, true)),
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

    // #[collective(allgather, radix: 2.., ports: list(1..))]
    fn collective(&mut self, attr: &Attribute, items: &[Item]) {
        if self.header.replace(attr.to_token_stream()).is_some() {
            return self.errors.at(attr, "`collective` stands once, at the top");
        }
        if let Some((kind, params)) = items.split_first() {
            match kind.tokens.to_string().parse::<Kind>() {
                Ok(kind) => self.kind = kind,
                Err(()) => {
                    let (name, all) = (kind.tokens.to_string(), Kind::ALL.map(Kind::name));
                    let hint = match similar(&name, all) {
                        Some(close) => format!("did you mean `{close}`?"),
                        None => format!("expected {}", all.join(", ")),
                    };
                    self.unknown_kind = true;
                    return self.errors.at(&kind.tokens, format!("`{name}` is not a collective; {hint}"));
                }
            }
            self.each(params, Self::param);
            if self.kind.has_root() && !self.numbers.iter().any(|number| number.var.name == ROOT) {
                let message = format!(
                    "{0} has a root; declare it: `#[collective({1}, root: 0..)]`",
                    self.kind.with_article(),
                    self.kind
                );
                self.errors.at(&kind.tokens, message);
            }
        }
    }

    fn param(&mut self, item: &Item) -> Result<()> {
        if let Some(read) = self.inner(item) {
            return read;
        }
        let form = "write a parameter as `radix: 2..`, `radix: 2..=16`, `ports: list(1..)` or `inner: allgather`";
        let param: ParamSyntax = item.parse().map_err(|_| Error::new_spanned(&item.tokens, form))?;
        let (name, fresh, declared) = (param.name.to_string(), fresh(&self.scope, &param.name), param.domain());
        // A parameter with a wrong domain is still declared, so that its uses do not cause further errors.
        let domain = declared.as_ref().copied().unwrap_or(Domain { lo: 1, hi: None });
        if param.is_list {
            let var = ListVar { name: name.clone(), slot: self.lists.len() };
            self.scope.add(&name, Entity::List(var.clone()));
            self.lists.push(ListParameter { var, domain });
            self.limits.lists.push((3, domain.lo.saturating_add(1)));
            self.explicit.lists.push((false, false));
        } else {
            let var = self.scope.var(&name, false);
            self.numbers.push(Number { var, domain });
            self.limits.numbers.push(domain.lo.saturating_add(4));
            self.explicit.numbers.push(false);
        }
        self.params.push(param.name);
        both(fresh, declared).map(|_| ())
    }

    // #[requires(p % 2 == 0)], #[requires(final D == p)]
    fn requires(&mut self, item: &Item) -> Result<()> {
        if item.first_word().is_some_and(|word| word == "final") {
            let condition = self.lower_common(&item.rest()?.tokens, Ty::Bool, "the domain")?;
            if self.loops.last().is_some_and(|l| l.states.iter().any(|state| state.backward)) {
                let message = "states that run backwards end with what is declared; remove this";
                return Err(Error::new_spanned(&item.tokens, message));
            }
            let n = self.loops.len().checked_sub(1).ok_or_else(|| {
                Error::new_spanned(
                    &item.tokens,
                    "`final` speaks of state after the last round; write it below `round`",
                )
            })?;
            if let Some(index) = self.loops[n].indices.iter().find(|index| self.reaches(&condition, index.var.slot)) {
                let name = &index.var.name;
                let message = format!("`{name}` ends with the last round; after it there is state, p and parameters");
                return Err(Error::new_spanned(&item.tokens, message));
            }
            self.sources.insert(SchedulePart::EndsWith(n, self.loops[n].ends_with.len()), item.tokens.clone());
            self.current().ends_with.push(condition);
            return Ok(());
        }
        let condition = self.lower_common(&item.tokens, Ty::Bool, "the domain")?;
        if !self.loops.is_empty() {
            let message =
                "write `requires` above the first `round`; for state after the last round, `requires(final …)`";
            return Err(Error::new_spanned(&item.tokens, message));
        }
        self.sources.insert(SchedulePart::Requires(self.requires.len()), item.tokens.clone());
        self.requires.push(condition);
        Ok(())
    }

    /// Whether a variable occurs in `e`, directly or through definitions.
    fn reaches(&self, e: &Expr, slot: usize) -> bool {
        let mut found = e.mentions(slot);
        e.walk(&mut |e| {
            if let Expr::Call(_, index, _) = e {
                found |= self.reaches(&self.functions[*index].body, slot);
            }
        });
        found
    }

    // #[define(d = D / 2, get(l) = if l == 0 { 0 } else { d })]
    fn define(&mut self, item: &Item) -> Result<()> {
        let form =
            || Error::new_spanned(&item.tokens, "write a definition as `name = value` or `name(a, b) = value`");
        let relation = item.relation().filter(|relation| relation.exact).ok_or_else(form)?;
        let head: HeadSyntax = parse(&relation.left).map_err(|_| form())?;
        if head.args.len() > 8 {
            return Err(Error::new_spanned(&item.tokens, "a definition has at most 8 arguments"));
        }
        let fresh_name = fresh(&self.scope, &head.name);
        let name = head.name.to_string();
        let (index, mark) = (self.functions.len(), self.scope.mark());
        let args: Result<Vec<_>> = head.args.iter().map(|arg| self.argument(arg, &head.args, mark)).collect();
        let body = args.and_then(|args| {
            let e: syn::Expr = parse(&relation.right)?;
            let (body, ty) = Lower { scope: &self.scope, kind: self.kind }.any(&e)?;
            Ok((args, body, ty))
        });
        // A definition with a wrong body is still declared, so that its uses do not cause further errors.
        let varying = body.as_ref().is_ok_and(|(_, body, _)| self.scope.varies(body));
        let ty = body.as_ref().map_or(Ty::Int, |(_, _, ty)| *ty);
        self.scope.forget(mark);
        self.scope.add(&name, Entity::Function { index, arity: head.args.len(), ty, varying });
        self.sources.insert(SchedulePart::Define(index), item.tokens.clone());
        let (args, body, result) = match body {
            Ok((args, body, _)) => (args, body, Ok(())),
            Err(error) => (vec![], Expr::Int(0), Err(error)),
        };
        self.functions.push(Function { name, args, body });
        both(fresh_name, result).map(|_| ())
    }

    /// An argument of a definition, which shadows outer names. Back ends never see two variables of one name, so the
    /// argument is renamed for them.
    fn argument(&mut self, arg: &Ident, all: &[Ident], mark: usize) -> Result<Var> {
        let name = arg.to_string();
        match self.scope.position(&name) {
            Some(position) if position < mark => {
                let mut other = format!("{name}_");
                while self.scope.get(&other).is_some() || all.iter().any(|arg| *arg == other) {
                    other.push('_');
                }
                Ok(self.scope.alias(&name, &other))
            }
            _ => {
                fresh(&self.scope, arg)?;
                Ok(self.scope.var(&name, false))
            }
        }
    }

    // #[round], #[round("fold")], #[round(s in 0..ceil_log(2, p))], #[round("exchange", x in 0..w, z in 1..radix)]
    fn round(&mut self, attr: &Attribute, items: &[Item]) {
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
    fn transfer(&mut self, attr: &Attribute, items: &[Item], direction: Direction) -> Result<()> {
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
    fn exchange(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
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

    pub(super) fn blocks(&mut self, tokens: &TokenStream) -> Result<BlockSet> {
        let syntax: BlocksSyntax = parse(tokens)?;
        syntax.lower(&mut self.scope, self.kind)
    }

    // #[holds(blocks = [rank + k; k in 0..D], messages_sent = s, D <= p)]
    fn hold(&mut self, item: &Item) -> Result<()> {
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
    fn hint(&mut self, item: &Item) -> Result<()> {
        let fact = self.lower(&item.tokens, Ty::Bool)?;
        let (n, i) = (self.loops.len() - 1, self.current().hints.len());
        self.sources.insert(SchedulePart::Hint(n, i), item.tokens.clone());
        self.current().hints.push(fact);
        Ok(())
    }

    // #[bound(rounds = ceil_log(2, p), each blocks_sent <= p - 1, per_round messages_sent <= 1)]
    fn bound(&mut self, item: &Item, checked: bool) -> Result<()> {
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
    fn no_round_variable(&self, value: &Expr, tokens: &TokenStream, help: &str) -> Result<()> {
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

    // #[layout(in_place, rotated(rank))]
    fn layout(&mut self, item: &Item) -> Result<()> {
        let form = || Error::new_spanned(&item.tokens, "a layout is `in_place` or `rotated(rank)`");
        let layout = match item.parse::<syn::Expr>().map_err(|_| form())? {
            syn::Expr::Path(path) if path.path.is_ident("in_place") => Layout::InPlace,
            syn::Expr::Call(call) if call.func.to_token_stream().to_string() == "rotated" && call.args.len() == 1 => {
                let tokens = call.args[0].to_token_stream();
                let by = self.lower(&tokens, Ty::Int)?;
                self.no_round_variable(&by, &tokens, "a layout stays the same, use rank, p or a parameter")?;
                Layout::Rotated(by)
            }
            _ => return Err(form()),
        };
        if self.layouts.iter().any(|known| discriminant(known) == discriminant(&layout)) {
            return Err(Error::new_spanned(&item.tokens, "this layout is declared twice; remove one"));
        }
        if let Layout::Rotated(_) = layout {
            self.sources.insert(SchedulePart::Layout, item.tokens.clone());
        }
        self.layouts.push(layout);
        Ok(())
    }

    // #[check(p <= 40, radix <= 6, len(ports) <= 3, ports <= 2)]
    fn limit(&mut self, item: &Item) -> Result<()> {
        let form = || {
            let message = "write a limit as `p <= 40`, `radix <= 6`, `len(ports) <= 3` or `ports <= 2`";
            Error::new_spanned(&item.tokens, message)
        };
        let relation = item.relation().filter(|relation| !relation.exact).ok_or_else(form)?;
        let value = integer(&parse(&relation.right)?).ok_or_else(form)?;
        let name = relation.left.to_string().replace(' ', "");
        let (limit, explicit, least) = self.limit_named(&name).ok_or_else(form)?;
        if value < least {
            let message = format!("this leaves nothing to check; write at least `{name} <= {least}`");
            return Err(Error::new_spanned(&item.tokens, message));
        }
        (*limit, *explicit) = (value, true);
        if !self.explicit_at.is_empty() {
            self.explicit_at.extend(quote::quote!(,));
        }
        self.explicit_at.extend(item.tokens.clone());
        Ok(())
    }

    /// The limit that a name refers to, and the smallest useful value.
    fn limit_named(&mut self, name: &str) -> Option<(&mut i64, &mut bool, i64)> {
        let (limits, explicit) = (&mut self.limits, &mut self.explicit);
        if name == "p" {
            return Some((&mut limits.p, &mut explicit.p, 1));
        }
        if let Some(i) = self.numbers.iter().position(|n| n.var.name == name) {
            return Some((&mut limits.numbers[i], &mut explicit.numbers[i], self.numbers[i].domain.lo));
        }
        if let Some(i) = self.lists.iter().position(|l| l.var.name == name) {
            return Some((&mut limits.lists[i].1, &mut explicit.lists[i].1, self.lists[i].domain.lo));
        }
        let i = self.lists.iter().position(|l| format!("len({})", l.var.name) == name)?;
        Some((&mut limits.lists[i].0, &mut explicit.lists[i].0, 1))
    }
}

/// An example for a clause without items; a bare `round` needs none.
fn example(clause: &str) -> Option<&'static str> {
    Some(match clause {
        "collective" => "allgather",
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
        "bound" | "checked" => "rounds = ceil_log(2, p)",
        "layout" => "in_place",
        _ => "p <= 40",
    })
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
    let mut errors = super::errors::Errors::default();
    match (errors.keep(a), errors.keep(b), errors.keep(c)) {
        (Some(a), Some(b), Some(c)) => errors.finish((a, b, c)),
        _ => Err(errors.finish(()).expect_err("one of the three is an error")),
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

/// The fields of a clause, each at most once.
pub(super) struct Fields {
    clause: &'static str,
    found: Vec<(String, TokenStream)>,
}

impl Fields {
    pub(super) fn new(clause: &'static str, items: &[Item], known: &[&str]) -> Result<Self> {
        let mut found: Vec<(String, TokenStream)> = Vec::new();
        for item in items {
            let Some((key, value)) = item.key_value() else {
                let message = format!("expected `field = value` with one of the fields {}", known.join(", "));
                return Err(Error::new_spanned(&item.tokens, message));
            };
            let name = key.to_string();
            if !known.contains(&name.as_str()) {
                let message = format!("`{clause}` has no field `{name}`; expected one of {}", known.join(", "));
                return Err(Error::new_spanned(key, message));
            }
            if found.iter().any(|(known, _)| *known == name) {
                return Err(Error::new_spanned(key, format!("`{name}` is given twice; remove one")));
            }
            found.push((name, value));
        }
        Ok(Fields { clause, found })
    }

    pub(super) fn take(&mut self, key: &str) -> Option<TokenStream> {
        let position = self.found.iter().position(|(name, _)| name == key)?;
        Some(self.found.remove(position).1)
    }

    pub(super) fn required(&mut self, key: &str, attr: &Attribute) -> Result<TokenStream> {
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

/// `radix: 2..` or `ports: list(1..)`
struct ParamSyntax {
    name: Ident,
    is_list: bool,
    range: syn::Expr,
}

impl syn::parse::Parse for ParamSyntax {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let range: syn::Expr = input.parse()?;
        Ok(match range {
            syn::Expr::Call(call) if call.func.to_token_stream().to_string() == "list" && call.args.len() == 1 => {
                ParamSyntax { name, is_list: true, range: call.args[0].clone() }
            }
            range => ParamSyntax { name, is_list: false, range },
        })
    }
}

impl ParamSyntax {
    fn domain(&self) -> Result<Domain> {
        let error =
            || Error::new_spanned(&self.range, "a domain is a range of whole numbers, such as `2..` or `2..=16`");
        let syn::Expr::Range(range) = &self.range else { return Err(error()) };
        let lo = range.start.as_deref().and_then(integer).ok_or_else(error)?;
        let hi = match (&range.end, &range.limits) {
            (None, _) => None,
            (Some(end), syn::RangeLimits::Closed(_)) => Some(integer(end).ok_or_else(error)?),
            (Some(end), syn::RangeLimits::HalfOpen(_)) => Some(integer(end).ok_or_else(error)? - 1),
        };
        if hi.is_some_and(|hi| hi < lo) {
            return Err(Error::new_spanned(
                &self.range,
                "this domain is empty; write the smallest value first, as in `2..=16`",
            ));
        }
        Ok(Domain { lo, hi })
    }
}

/// An integer literal.
fn integer(e: &syn::Expr) -> Option<i64> {
    match e {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(n), .. }) => n.base10_parse().ok(),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => integer(expr).map(|n| -n),
        _ => None,
    }
}

/// `name` or `name(a, b)`
struct HeadSyntax {
    name: Ident,
    args: Vec<Ident>,
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
