//! The clauses about calls: the kind and its parameters, the domain, definitions, layouts and limits of the check.

use super::fields::{Fields, HeadSyntax};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Expr, ListVar, Var};
use crate::schedule::{CombineSide, Domain, Function, Layout, ListParameter, Number, ROOT, SchedulePart};
use crate::syntax::blocks::fresh;
use crate::syntax::builder::DeclarationBuilder;
use crate::syntax::errors::similar;
use crate::syntax::expr::{Lower, both};
use crate::syntax::items::{Item, parse};
use crate::syntax::scope::{Entity, Ty};
use quote::ToTokens;
use std::mem::discriminant;
use syn::{Attribute, Error, Ident, Result, Token};

impl DeclarationBuilder {
    // #[collective(allgather, radix: 2.., ports: list(1..))]
    pub(super) fn collective(&mut self, attr: &Attribute, items: &[Item]) {
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

    // #[reverse_of(allgather, combine = right)]
    pub(super) fn reverse_of(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
        if self.reverse.is_some() || self.header.is_none() || !self.loops.is_empty() || self.blocks.is_some() {
            return Err(Error::new_spanned(attr, "`reverse_of` stands once, below `collective`"));
        }
        let Some(forward) = self.kind.reverse_of() else {
            let message = format!("{} is the reverse of nothing; declare it forwards", self.kind.with_article());
            return Err(Error::new_spanned(attr, message));
        };
        let (kind, rest) = items.split_first().map_or((None, items), |(kind, rest)| (Some(kind), rest));
        if kind.is_none_or(|kind| kind.tokens.to_string() != forward.name()) {
            let (this, other) = (self.kind.with_article(), forward.with_article());
            let message = format!("{this} is the reverse of {other}; write `#[reverse_of({forward})]`");
            return Err(Error::new_spanned(attr, message));
        }
        let fields: &[&str] = if self.kind.reduces() { &["combine"] } else { &[] };
        let side = match Fields::new("reverse_of", rest, fields)?.take("combine") {
            None => CombineSide::default(),
            Some(side) => match side.to_string().as_str() {
                "left" => CombineSide::Left,
                "right" => CombineSide::Right,
                _ => return Err(Error::new_spanned(side, "write `combine = left` or `combine = right`")),
            },
        };
        self.reverse = Some((self.kind, side));
        self.kind = forward;
        Ok(())
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
    pub(super) fn requires(&mut self, item: &Item) -> Result<()> {
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
    pub(super) fn define(&mut self, item: &Item) -> Result<()> {
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

    // #[layout(in_place, rotated(rank))]
    pub(super) fn layout(&mut self, item: &Item) -> Result<()> {
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
    pub(super) fn limit(&mut self, item: &Item) -> Result<()> {
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
