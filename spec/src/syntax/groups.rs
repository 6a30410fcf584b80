//! Collectives inside groups: parameters that are collectives, and the `within` clause.

use super::blocks::fresh;
use super::builder::DeclarationBuilder;
use super::clauses::Fields;
use super::items::{Item, parse};
use super::scope::Ty;
use crate::schedule::contract::Kind;
use crate::schedule::expr::Var;
use crate::schedule::message::{Action, Line, Site};
use crate::schedule::{Field, Group, Inner, SchedulePart, Within};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Ident, Result, Token};

/// `inner: allgather`
struct InnerSyntax {
    name: Ident,
    kind: Ident,
}

impl syn::parse::Parse for InnerSyntax {
    fn parse(input: syn::parse::ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(InnerSyntax { name, kind: input.parse()? })
    }
}

/// The kinds of inner collectives of a kind, for messages.
fn names_inside(outer: Kind) -> String {
    let names: Vec<String> =
        Kind::ALL.into_iter().filter(|kind| kind.runs_inside(outer)).map(|kind| format!("`{kind}`")).collect();
    match names.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        one => one.concat(),
    }
}

fn lacks_root(attr: &Attribute, outer: Kind, kind: Kind) -> Error {
    let example = if outer.has_root() { "root" } else { "0" };
    let message = format!("{} needs a root; add for example `root = {example}`", kind.with_article());
    Error::new_spanned(attr, message)
}

const GROUPS: &str = "a group is `node`, `lane`, `all`, `stride(distance, count)` or `ranks(first, count)`";

impl DeclarationBuilder {
    /// Reads a parameter that is a collective; `None` if it is something else.
    pub(super) fn inner(&mut self, item: &Item) -> Option<Result<()>> {
        let InnerSyntax { name, kind } = item.parse().ok()?;
        let known = kind.to_string().parse::<Kind>();
        let fresh = fresh(&self.scope, &name);
        let twice = self.inners.iter().any(|inner| name == inner.name);
        let (text, outer) = (name.to_string(), self.kind);
        // A wrong kind causes no further errors.
        let instead = match outer {
            Kind::Alltoall => Kind::Alltoall,
            _ if outer.reduces() => Kind::Allreduce,
            _ => Kind::Allgather,
        };
        let kind_or_other = known.ok().filter(|kind| kind.runs_inside(outer)).unwrap_or(instead);
        self.inners.push(Inner { name: text, kind: kind_or_other, schedule: None });
        self.params.push(name.clone());
        Some(match known {
            Err(()) => {
                let message = format!("`{kind}` is not a collective; expected {}", names_inside(outer));
                Err(Error::new_spanned(&kind, message))
            }
            Ok(found) if !found.runs_inside(outer) => {
                let reason = match found.reduces() && !outer.reduces() {
                    true => format!("{} reduces nothing", outer.with_article()),
                    false => "all-to-alls have blocks of their own".into(),
                };
                let message = format!("{reason}; an inner collective is {}", names_inside(outer));
                Err(Error::new_spanned(&kind, message))
            }
            Ok(_) if twice => Err(Error::new_spanned(&name, format!("`{name}` is declared twice; remove one"))),
            Ok(_) => fresh,
        })
    }

    // #[within(node, inner, when = lanes > 1, members = q, brings = [region(node + k); k in 0..n])]
    pub(super) fn within(&mut self, attr: &Attribute, items: &[Item]) -> Result<()> {
        let form = || Error::new_spanned(attr, "write the group and the collective: `#[within(node, inner)]`");
        let [group, inner, rest @ ..] = items else { return Err(form()) };
        let (group, inner) = (self.group(&group.tokens), self.inner_named(&inner.tokens));
        match inner {
            Ok(inner) if self.is_stage(self.inners[inner].kind) => self.stage(attr, group?, inner, rest),
            inner => self.part(attr, group, inner, rest),
        }
    }

    /// Whether an inner collective of this kind is a stage of a sequence, as the schedule will say.
    pub(super) fn is_stage(&self, kind: Kind) -> bool {
        kind != self.kind || !matches!(kind, Kind::Allgather | Kind::Allreduce | Kind::Alltoall)
    }

    /// An inner collective of the declared kind.
    fn part(&mut self, attr: &Attribute, group: Result<Group>, inner: Result<usize>, rest: &[Item]) -> Result<()> {
        let known: &[&str] = match self.kind {
            Kind::Alltoall => &["when", "members", "to", "brings"],
            kind if kind.reduces() => &["when", "members", "line", "blocks"],
            _ => &["when", "members", "brings"],
        };
        let mut fields = Fields::new("within", rest, known)?;
        let (when, members) = (fields.take("when"), fields.take("members"));
        let brings = fields.take("brings").or_else(|| fields.take("blocks"));
        let to = fields.take("to");
        let line = fields.take("line").map_or(Ok(0), |line| self.line_named(&line))?;
        let site = self.clause_of_group(attr, line, Action::Copy, [&members, &when, &brings]);
        let when = when.map(|when| self.lower(&when, Ty::Bool)).transpose()?;
        let members = members.map(|members| self.lower(&members, Ty::Int)).transpose()?;
        let mark = self.scope.mark();
        let to = match to {
            Some(to) => Some(self.receiving_member(&to)?),
            None => None,
        };
        let brings = match brings {
            Some(brings) if self.kind.moves() && to.is_none() => {
                let message = "name the member that the blocks are for: `to = m, brings = [rank -> at(n, m); …]`";
                return Err(Error::new_spanned(brings, message));
            }
            None if self.kind.moves() => {
                let message = "say what each member brings for another: `to = m, brings = [rank -> at(n, m); …]`";
                return Err(Error::new_spanned(attr, message));
            }
            Some(brings) => {
                let blocks = self.blocks(&brings);
                self.scope.forget(mark);
                blocks?
            }
            None => Within::usual_blocks(self.kind, self.kind, &Group::All),
        };
        let within = Within { site, inner: inner?, group: group?, members, when, root: None, to, brings };
        self.current().within.push(within);
        Ok(())
    }

    // #[within(all, scatter, root = root)]
    // #[within(node, scatter, when = nodes > 1, blocks = [local; local < lanes])]
    fn stage(&mut self, attr: &Attribute, group: Group, inner: usize, rest: &[Item]) -> Result<()> {
        let (outer, kind) = (self.kind, self.inners[inner].kind);
        self.has_a_block_for_each(attr, &group, kind)?;
        let mut known = vec!["when", "blocks"];
        known.extend(kind.has_root().then_some("root"));
        known.extend(outer.reduces().then_some("line"));
        let mut fields = Fields::new("within", rest, &known)?;
        let [when, root, blocks, line] = ["when", "root", "blocks", "line"].map(|key| fields.take(key));
        let line = line.map_or(Ok(0), |line| self.line_named(&line))?;
        // What a collective that only moves data brings is complete where it replaces something.
        let action = if kind.reduces() { Action::Copy } else { Action::Replace };
        let site = self.clause_of_group(attr, line, action, [&root, &when, &blocks]);
        let when = when.map(|when| self.lower(&when, Ty::Bool)).transpose()?;
        let root = match root {
            Some(root) => Some(self.lower_common(&root, Ty::Int, "the root of an inner collective")?),
            None if kind.has_root() => return Err(lacks_root(attr, outer, kind)),
            None => None,
        };
        let brings = match blocks {
            Some(blocks) => self.blocks(&blocks)?,
            None => Within::usual_blocks(outer, kind, &group),
        };
        self.current().within.push(Within { site, inner, group, members: None, when, root, to: None, brings });
        Ok(())
    }

    /// An inner collective that has a block for each member needs as many.
    fn has_a_block_for_each(&self, attr: &Attribute, group: &Group, kind: Kind) -> Result<()> {
        if !kind.has_a_block_each() || self.kind.has_a_block_each() || self.blocks.is_some() {
            return Ok(());
        }
        let (each, blocks) = match group {
            Group::All => ("rank", "p".to_string()),
            Group::Node => ("member", "lanes".into()),
            Group::Lane => ("member", "nodes".into()),
            Group::Stride { count, .. } | Group::Ranks { count, .. } => ("member", count.to_string()),
        };
        let message = format!(
            "{} has a block for each {each}; divide what is to be moved: add `#[split({blocks})]` above the first `round`",
            kind.with_article()
        );
        Err(Error::new_spanned(attr, message))
    }

    /// The number of a clause, and where its fields are: its members or root, its condition, its blocks.
    fn clause_of_group(
        &mut self,
        attr: &Attribute,
        line: Line,
        action: Action,
        [peer, when, blocks]: [&Option<TokenStream>; 3],
    ) -> Site {
        let site = Site { number: self.sites, line, action };
        self.sites += 1;
        let whole = attr.meta.to_token_stream();
        let spots = [(Field::Whole, &None), (Field::Peer, peer), (Field::When, when), (Field::Blocks, blocks)];
        for (field, tokens) in spots {
            let tokens = tokens.as_ref().unwrap_or(&whole).clone();
            self.sources.insert(SchedulePart::Transfer(site, field), tokens);
        }
        site
    }

    /// The index of the member that receives the blocks.
    fn receiving_member(&mut self, tokens: &TokenStream) -> Result<Var> {
        let name: Ident =
            parse(tokens).map_err(|_| Error::new_spanned(tokens, "name the receiving member, such as `to = m`"))?;
        fresh(&self.scope, &name)?;
        Ok(self.scope.var(&name.to_string(), false))
    }

    fn inner_named(&self, tokens: &TokenStream) -> Result<usize> {
        let name = tokens.to_string();
        self.inners.iter().position(|inner| inner.name == name).ok_or_else(|| {
            let kind = self.kind;
            let message = match self.inners.as_slice() {
                [] => format!("declare the collective as a parameter: `#[collective({kind}, {name}: {kind})]`"),
                all => {
                    let all: Vec<&str> = all.iter().map(|inner| inner.name.as_str()).collect();
                    format!("`{name}` is no inner collective; expected {}", all.join(", "))
                }
            };
            Error::new_spanned(tokens, message)
        })
    }

    fn group(&mut self, tokens: &TokenStream) -> Result<Group> {
        let form = || Error::new_spanned(tokens, GROUPS);
        match parse::<syn::Expr>(tokens).map_err(|_| form())? {
            syn::Expr::Path(path) if path.path.is_ident("node") => Ok(Group::Node),
            syn::Expr::Path(path) if path.path.is_ident("lane") => Ok(Group::Lane),
            syn::Expr::Path(path) if path.path.is_ident("all") => Ok(Group::All),
            syn::Expr::Call(call) if call.args.len() == 2 => {
                let (a, b) = (call.args[0].to_token_stream(), call.args[1].to_token_stream());
                let (a, count) = (self.lower(&a, Ty::Int)?, self.lower(&b, Ty::Int)?);
                match call.func.to_token_stream().to_string().as_str() {
                    "stride" => Ok(Group::Stride { distance: a, count }),
                    "ranks" => Ok(Group::Ranks { first: a, count }),
                    _ => Err(form()),
                }
            }
            _ => Err(form()),
        }
    }
}
