//! Block sets as Rust: one stripe if the item is affine in the last index, an iterator of stripes otherwise.

use super::expr::{Needs, ident, rust};
use crate::schedule::affine::Progression;
use crate::schedule::blocks::{BlockSet, Comprehension};
use crate::schedule::expr::Expr;
use proc_macro2::TokenStream;
use quote::quote;

/// A block set as a Rust expression, and whether it is a single stripe.
pub(super) struct BlocksCode {
    /// The expression.
    pub(super) value: TokenStream,
    /// Whether it is one [`Stripe`](crate::Stripe).
    pub(super) single: bool,
}

/// The code of a block set; adds what it mentions to `needs`.
pub(super) fn blocks(set: &BlockSet, needs: &mut Needs<'_>) -> BlocksCode {
    let around = needs.schedule().blocks.clone();
    needs.add(&around);
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
        [part] if part.filter.is_none() && part.over.len() <= 1 && stripe(part, needs).is_some() => {
            BlocksCode { value: stripe(part, needs).expect("just seen"), single: true }
        }
        parts => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| iterator(part, needs)).collect();
            let (first, rest) = parts.split_first().expect("a block set has a part");
            BlocksCode { value: quote!(Stripes(#first #(.chain(#rest))*)), single: false }
        }
    }
}

/// The innermost index of a part as one stripe.
fn stripe(part: &Comprehension, needs: &Needs<'_>) -> Option<TokenStream> {
    let around = rust(&needs.schedule().blocks);
    if part.over.is_empty() {
        let item = rust(&part.item);
        return Some(quote!(Stripe::one(#item, #around)));
    }
    let Progression { count, first, step, lazy } = needs.progression(part)?;
    let (count, first, step) = (rust(&count), rust(&first), rust(&step));
    Some(match lazy {
        false => quote!(Stripe::new(#first, #step, #count, #around)),
        true => quote!(Stripe::lazy(#count, #around, || (#first, #step))),
    })
}

/// A part as an iterator of stripes.
fn iterator(part: &Comprehension, needs: &Needs<'_>) -> TokenStream {
    if part.filter.is_none()
        && let Some(stripe) = stripe(part, needs)
    {
        let outer = &part.over[..part.over.len().saturating_sub(1)];
        return over(outer, None, stripe);
    }
    let (item, around) = (rust(&part.item), rust(&needs.schedule().blocks));
    over(&part.over, part.filter.as_ref(), quote!(Stripe::one(#item, #around)))
}

/// Nested indices around one stripe.
fn over(indices: &[crate::schedule::blocks::Index], filter: Option<&Expr>, stripe: TokenStream) -> TokenStream {
    let Some((index, inner)) = indices.split_first() else {
        return match filter.map(rust) {
            Some(condition) => quote!((#condition).then(|| #stripe).into_iter()),
            None => quote!(::std::iter::once(#stripe)),
        };
    };
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
