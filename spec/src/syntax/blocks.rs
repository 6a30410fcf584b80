//! Block sets and index ranges: `[item; k in lo..hi, condition] + [item, item]`. An item is a block, the blocks of a
//! node, or, in an all-to-all, `source -> destination`.

use super::expr::{Lower, both, is_function};
use super::items::parse;
use super::scope::{NameScope, Ty};
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Binary, Builtin, Expr};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Result, Token, bracketed};

/// `name in lo..hi`
pub(crate) struct RangeSyntax {
    pub(crate) name: Ident,
    range: syn::Expr,
}

impl Parse for RangeSyntax {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // An error at the end of the input has no position; the caller adds one.
        let or = |e: Error| if input.is_empty() { e } else { Error::new(e.span(), "write an index as `k in 0..n`") };
        let name = input.parse().map_err(or)?;
        input.parse::<Token![in]>().map_err(or)?;
        Ok(RangeSyntax { name, range: input.parse()? })
    }
}

impl RangeSyntax {
    /// Whether the input continues with `name in`.
    pub(crate) fn peek(input: ParseStream<'_>) -> bool {
        input.peek(syn::Ident) && input.peek2(Token![in])
    }

    /// Brings the index into scope even if it is wrong, so that its uses do not cause further errors.
    pub(crate) fn lower(&self, scope: &mut NameScope, kind: Kind) -> Result<Index> {
        let (bounds, fresh) = (self.bounds(scope, kind), fresh(scope, &self.name));
        let var = scope.var(&self.name.to_string(), false);
        let ((lo, hi), ()) = both(bounds, fresh)?;
        Ok(Index { var, lo, hi })
    }

    fn bounds(&self, scope: &NameScope, kind: Kind) -> Result<(Expr, Expr)> {
        let lower = Lower { scope, kind };
        let syn::Expr::Range(range) = &self.range else {
            return Err(Error::new_spanned(&self.range, "expected a range such as `0..n`"));
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return Err(Error::new_spanned(range, "a range has both ends, as in `0..n`"));
        };
        let (lo, hi) = (lower.int(start)?, lower.int(end)?);
        Ok(match range.limits {
            syn::RangeLimits::HalfOpen(_) => (lo, hi),
            syn::RangeLimits::Closed(_) => (lo, one_more(hi)),
        })
    }
}

fn one_more(e: Expr) -> Expr {
    match e {
        Expr::Int(n) if n < i64::MAX => Expr::Int(n + 1),
        other => Expr::binary(Binary::Add, other, Expr::Int(1)),
    }
}

/// Names that a declaration cannot use for its own variables, because generated code uses them.
const RESERVED: [&str; 19] = [
    "at",
    "sink",
    "blocks",
    "self",
    "element",
    "Some",
    "None",
    "Ok",
    "Err",
    "Site",
    "Stripes",
    "PROVE",
    "ask",
    "width",
    "harness",
    "used",
    "steps_left",
    "this_round",
    "member",
];

/// Rejects a name that is in use.
pub(crate) fn fresh(scope: &NameScope, name: &Ident) -> Result<()> {
    let text = name.to_string();
    let reason = if text.starts_with("r#") {
        "is a keyword of Rust"
    } else if RESERVED.contains(&text.as_str()) {
        "is reserved for generated code"
    } else if is_function(&text) {
        "is a function of the language"
    } else if scope.get(&text).is_some() {
        "is already in use here"
    } else {
        return Ok(());
    };
    Err(Error::new_spanned(name, format!("`{name}` {reason}; choose another name")))
}

enum ComprehensionClause {
    Over(RangeSyntax),
    Filter(syn::Expr),
}

/// One pair of brackets.
struct PartSyntax {
    items: Vec<ItemSyntax>,
    clauses: Vec<ComprehensionClause>,
}

/// `block`, or `source -> destination`.
struct ItemSyntax {
    block: syn::Expr,
    destination: Option<syn::Expr>,
    tokens: TokenStream,
}

impl Parse for ItemSyntax {
    /// Splits the item at its arrow: the expression parser would read `->` as a minus sign.
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (mut tokens, mut sides) = (TokenStream::new(), vec![TokenStream::new()]);
        while !(input.is_empty() || input.peek(Token![,]) || input.peek(Token![;])) {
            if input.peek(Token![->]) {
                input.parse::<Token![->]>()?.to_tokens(&mut tokens);
                sides.push(TokenStream::new());
                continue;
            }
            let token: proc_macro2::TokenTree = input.parse()?;
            tokens.extend([token.clone()]);
            sides.last_mut().expect("there is a side").extend([token]);
        }
        if sides.iter().any(TokenStream::is_empty) {
            let message = "expected a block, such as `rank`, or in an alltoall `rank -> rank + s`";
            return Err(if tokens.is_empty() { input.error(message) } else { Error::new_spanned(&tokens, message) });
        }
        match sides.as_slice() {
            [block] => Ok(ItemSyntax { block: parse(block)?, destination: None, tokens }),
            [source, destination] => {
                Ok(ItemSyntax { block: parse(source)?, destination: Some(parse(destination)?), tokens })
            }
            _ => Err(Error::new_spanned(tokens, "a block has one source and one destination: `rank -> rank + s`")),
        }
    }
}

impl Parse for PartSyntax {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let content;
        let brackets = bracketed!(content in input);
        if content.is_empty() {
            let message = "there are no blocks here; leave the clause out, or write a condition after `when`";
            return Err(Error::new(brackets.span.join(), message));
        }
        let mut items = vec![content.parse()?];
        let mut clauses = Vec::new();
        while content.peek(Token![,]) {
            content.parse::<Token![,]>()?;
            if !content.is_empty() {
                items.push(content.parse()?);
            }
        }
        if content.peek(Token![;]) {
            let semicolon: Token![;] = content.parse()?;
            if content.is_empty() {
                return Err(Error::new_spanned(semicolon, "expected an index such as `k in 0..n` after `;`"));
            }
            let parsed = Punctuated::<ComprehensionClause, Token![,]>::parse_terminated(&content)?;
            clauses.extend(parsed);
            if items.len() > 1 {
                let message = "a comprehension has one item; write `[a; …] + [b; …]`";
                return Err(Error::new_spanned(semicolon, message));
            }
        }
        if !content.is_empty() {
            return Err(content.error("expected `;` and an index such as `k in 0..n`, or `]`"));
        }
        Ok(PartSyntax { items, clauses })
    }
}

impl Parse for ComprehensionClause {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(if RangeSyntax::peek(input) {
            ComprehensionClause::Over(input.parse()?)
        } else {
            ComprehensionClause::Filter(input.parse()?)
        })
    }
}

impl PartSyntax {
    fn lower(&self, scope: &mut NameScope, kind: Kind) -> Result<Vec<Comprehension>> {
        let mark = scope.mark();
        let parts = self.lower_inside(scope, kind);
        scope.forget(mark);
        parts
    }

    fn lower_inside(&self, scope: &mut NameScope, kind: Kind) -> Result<Vec<Comprehension>> {
        let mut over = Vec::new();
        let mut filter: Option<Expr> = None;
        for clause in &self.clauses {
            match clause {
                ComprehensionClause::Over(range) if filter.is_none() => over.push(range.lower(scope, kind)?),
                ComprehensionClause::Over(range) => {
                    return Err(Error::new_spanned(&range.name, "write all indices before the conditions"));
                }
                ComprehensionClause::Filter(e) => {
                    let condition = Lower { scope, kind }.typed(e, Ty::Bool)?;
                    filter = Some(match filter {
                        Some(first) => Expr::binary(Binary::And, first, condition),
                        None => condition,
                    });
                }
            }
        }
        self.items.iter().map(|item| part(item, over.clone(), filter.clone(), scope, kind)).collect()
    }
}

/// One item over its indices: a block, or the blocks of a node, `region(node + k)`.
fn part(
    item: &ItemSyntax,
    mut over: Vec<Index>,
    filter: Option<Expr>,
    scope: &mut NameScope,
    kind: Kind,
) -> Result<Comprehension> {
    let item = match (&item.destination, kind.moves()) {
        (None, false) => side(&item.block, &mut over, scope, kind)?,
        (Some(destination), true) => {
            let source = side(&item.block, &mut over, scope, kind);
            let (source, destination) = both(source, side(destination, &mut over, scope, kind))?;
            Expr::Builtin(Builtin::Pair, vec![source, destination])
        }
        (None, true) => {
            let message = "a block of an alltoall has a source and a destination: write `rank -> rank + s`";
            return Err(Error::new_spanned(&item.tokens, message));
        }
        (Some(_), false) => {
            let message = format!("a block of {} is a number; `->` belongs to an alltoall", kind.with_article());
            return Err(Error::new_spanned(&item.tokens, message));
        }
    };
    Ok(Comprehension { item, over, filter })
}

/// A block, a source or a destination; `region(…)` adds an index for the ranks of the node.
fn side(item: &syn::Expr, over: &mut Vec<Index>, scope: &mut NameScope, kind: Kind) -> Result<Expr> {
    let Some(node) = region(item)? else {
        return Lower { scope, kind }.int(item);
    };
    let node = Lower { scope, kind }.int(node)?;
    // A name that is not in use here: it appears in the text of the set.
    let taken = |name: &str| scope.get(name).is_some() || over.iter().any(|index| index.var.name == name);
    let name = (0..).map(|n| format!("seat{}", "_".repeat(n))).find(|name| !taken(name));
    let var = scope.anonymous(&name.unwrap_or_default());
    let of = |function| Expr::Builtin(function, vec![node.clone()]);
    let item = Expr::binary(Binary::Add, of(Builtin::FirstRank), Expr::Var(var.clone()));
    over.push(Index { var, lo: 0.into(), hi: of(Builtin::NodeSize) });
    Ok(item)
}

/// The argument of `region(…)`.
fn region(item: &syn::Expr) -> Result<Option<&syn::Expr>> {
    let syn::Expr::Call(call) = item else { return Ok(None) };
    if call.func.to_token_stream().to_string() != "region" {
        return Ok(None);
    }
    match call.args.first() {
        Some(node) if call.args.len() == 1 => Ok(Some(node)),
        _ => Err(Error::new_spanned(call, "write the blocks of a node as `region(node + k)`")),
    }
}

/// A whole block set.
pub(crate) struct BlocksSyntax {
    parts: Vec<PartSyntax>,
}

impl Parse for BlocksSyntax {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if !input.peek(syn::token::Bracket) {
            return Err(input.error("expected blocks in brackets, such as `[rank + k; k in 0..n]` or `[rank]`"));
        }
        let mut parts = vec![input.parse()?];
        while input.peek(Token![+]) {
            input.parse::<Token![+]>()?;
            parts.push(input.parse()?);
        }
        Ok(BlocksSyntax { parts })
    }
}

impl BlocksSyntax {
    /// The set, in the given scope.
    pub(crate) fn lower(&self, scope: &mut NameScope, kind: Kind) -> Result<BlockSet> {
        let mut set = BlockSet::default();
        for part in &self.parts {
            set.parts.extend(part.lower(scope, kind)?);
        }
        Ok(set)
    }
}
