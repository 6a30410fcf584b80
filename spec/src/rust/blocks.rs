//! Block sets as Rust: one stripe where the item is affine in the last index, an iterator of stripes elsewhere.

use super::expr::{Needs, ident, rust};
use crate::blocks::{BlockSet, Part};
use crate::expr::{Binary, Expr, Unary};
use proc_macro2::TokenStream;
use quote::quote;

/// A block set as a Rust expression, and its type.
pub(super) struct BlocksCode {
    /// The expression.
    pub(super) value: TokenStream,
    /// Whether it is one [`Stripe`](crate::Stripe).
    pub(super) single: bool,
}

/// The code of a block set; notes in `needs` what it mentions.
pub(super) fn blocks(set: &BlockSet, needs: &mut Needs<'_>) -> BlocksCode {
    needs.name("p");
    for part in &set.parts {
        needs.add(&part.item);
        part.over.iter().for_each(|index| {
            needs.add(&index.lo).add(&index.hi);
        });
        part.filter.iter().for_each(|filter| {
            needs.add(filter);
        });
    }
    match set.parts.as_slice() {
        [part] if part.filter.is_none() && part.over.len() <= 1 && stripe(part).is_some() => {
            BlocksCode { value: stripe(part).expect("just seen"), single: true }
        }
        parts => {
            let parts: Vec<TokenStream> = parts.iter().map(iterator).collect();
            let (first, rest) = parts.split_first().expect("a block set has a part");
            BlocksCode { value: quote!(Stripes(#first #(.chain(#rest))*)), single: false }
        }
    }
}

/// The innermost index of a part as one stripe.
fn stripe(part: &Part) -> Option<TokenStream> {
    let Some(index) = part.over.last() else {
        let item = rust(&part.item);
        return Some(quote!(Stripe::one(#item, p)));
    };
    let (base, step) = affine(&part.item, index.var.slot)?;
    let first = rust(&add(base, mul(step.clone(), index.lo.clone())));
    let count = rust(&sub(index.hi.clone(), index.lo.clone()));
    let step = rust(&step);
    Some(quote!(Stripe::new(#first, #step, #count, p)))
}

/// A part as an iterator of stripes.
fn iterator(part: &Part) -> TokenStream {
    if part.filter.is_none()
        && let Some(stripe) = stripe(part)
    {
        let outer = &part.over[..part.over.len().saturating_sub(1)];
        return over(outer, None, stripe);
    }
    let item = rust(&part.item);
    over(&part.over, part.filter.as_ref(), quote!(Stripe::one(#item, p)))
}

/// Nested indices around one stripe.
fn over(indices: &[crate::blocks::Index], filter: Option<&Expr>, stripe: TokenStream) -> TokenStream {
    let Some((index, inner)) = indices.split_first() else { return quote!(std::iter::once(#stripe)) };
    let (name, lo, hi) = (ident(&index.var.name), rust(&index.lo), rust(&index.hi));
    if !inner.is_empty() {
        let inside = over(inner, filter, stripe);
        return quote!((#lo..#hi).flat_map(move |#name| #inside));
    }
    match filter {
        Some(condition) => {
            let condition = rust(condition);
            quote!((#lo..#hi).filter(move |&#name| #condition).map(move |#name| #stripe))
        }
        None => quote!((#lo..#hi).map(move |#name| #stripe)),
    }
}

/// `e` as `base + step * k`, with `k` in neither of them.
fn affine(e: &Expr, k: usize) -> Option<(Expr, Expr)> {
    if !e.mentions(k) {
        return Some((e.clone(), Expr::Int(0)));
    }
    match e {
        Expr::Var(_) => Some((Expr::Int(0), Expr::Int(1))),
        Expr::Unary(Unary::Neg, a) => {
            let (base, step) = affine(a, k)?;
            Some((sub(Expr::Int(0), base), sub(Expr::Int(0), step)))
        }
        Expr::Binary(Binary::Add, a, b) => {
            let ((a, m), (b, n)) = (affine(a, k)?, affine(b, k)?);
            Some((add(a, b), add(m, n)))
        }
        Expr::Binary(Binary::Sub, a, b) => {
            let ((a, m), (b, n)) = (affine(a, k)?, affine(b, k)?);
            Some((sub(a, b), sub(m, n)))
        }
        Expr::Binary(Binary::Mul, a, b) if !a.mentions(k) => {
            let (base, step) = affine(b, k)?;
            Some((mul((**a).clone(), base), mul((**a).clone(), step)))
        }
        Expr::Binary(Binary::Mul, a, b) if !b.mentions(k) => {
            let (base, step) = affine(a, k)?;
            Some((mul(base, (**b).clone()), mul(step, (**b).clone())))
        }
        _ => None,
    }
}

fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(a + b),
        (Expr::Int(0), e) | (e, Expr::Int(0)) => e,
        (a, Expr::Unary(Unary::Neg, b)) => Expr::binary(Binary::Sub, a, *b),
        (a, b) => Expr::binary(Binary::Add, a, b),
    }
}

fn sub(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(a - b),
        (e, Expr::Int(0)) => e,
        (Expr::Int(0), Expr::Unary(Unary::Neg, e)) => *e,
        (Expr::Int(0), e) => Expr::Unary(Unary::Neg, Box::new(e)),
        (a, b) => Expr::binary(Binary::Sub, a, b),
    }
}

fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(a * b),
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (Expr::Int(1), e) | (e, Expr::Int(1)) => e,
        (Expr::Unary(Unary::Neg, a), b) => Expr::Unary(Unary::Neg, Box::new(mul(*a, b))),
        (a, b) => Expr::binary(Binary::Mul, a, b),
    }
}
