//! How often a set names one arbitrary element, as a formula without a loop over the set.

use crate::emission::rust::expr::{ident, rust};
use crate::schedule::Schedule;
use crate::schedule::affine::Progression;
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::expr::{Binary, Builtin, Expr};
use proc_macro2::TokenStream;
use quote::quote;

/// How often a set names the element.
pub(super) fn names(schedule: &Schedule, set: &BlockSet) -> Option<TokenStream> {
    let parts = set.parts.iter().map(|part| part_names(schedule, part)).collect::<Option<Vec<_>>>()?;
    Some(quote!(0 #(+ #parts)*))
}

fn part_names(schedule: &Schedule, part: &Comprehension) -> Option<TokenStream> {
    if let Some(nodes) = regions(part) {
        return number_names(schedule, &nodes, quote!(element.node), quote!(at.nodes));
    }
    if let Expr::Builtin(Builtin::Pair, ends) = &part.item {
        let (counts, index) = (counts(part), only(part)?);
        let (source, destination) = (rust(&ends[0]), rust(&ends[1]));
        let named = quote!(
            #counts && arith::wrap(#source, p) == element.rank && arith::wrap(#destination, p) == element.block
        );
        let Some(index) = index else { return Some(quote!((#named) as i64)) };
        is_distance(&ends[0], &ends[1], index.var.slot).then_some(())?;
        let (name, lo, hi) = (ident(&index.var.name), rust(&index.lo), rust(&index.hi));
        return Some(quote!(
            harness::sets::among(arith::wrap(element.block - element.rank, p), #lo, #hi, p, |#name| #named)?
        ));
    }
    match schedule.kind.reduces() {
        true => number_names(schedule, part, quote!(element.rank), quote!(p)),
        false => number_names(schedule, part, quote!(element.block), rust(&schedule.blocks)),
    }
}

fn counts(part: &Comprehension) -> TokenStream {
    part.filter.as_ref().map_or(quote!(true), rust)
}

/// The index of a part that has one at most.
fn only(part: &Comprehension) -> Option<Option<&Index>> {
    (part.over.len() < 2).then(|| part.over.first())
}

/// The nodes of a part that consists of all ranks of some nodes: `[region(e); …]`.
fn regions(part: &Comprehension) -> Option<Comprehension> {
    let (seat, over) = part.over.split_last()?;
    let is_seat = |e: &Expr| matches!(e, Expr::Var(var) if var.slot == seat.var.slot);
    let (Expr::Binary(Binary::Add, first, last), Expr::Int(0)) = (&part.item, &seat.lo) else { return None };
    match (&**first, &seat.hi) {
        (Expr::Builtin(Builtin::FirstRank, node), Expr::Builtin(Builtin::NodeSize, same)) if node == same => {
            let item = node.first().filter(|_| is_seat(last))?.clone();
            Some(Comprehension { item, over: over.to_vec(), filter: part.filter.clone() })
        }
        _ => None,
    }
}

/// How often a part names a number.
fn number_names(
    schedule: &Schedule,
    part: &Comprehension,
    number: TokenStream,
    modulus: TokenStream,
) -> Option<TokenStream> {
    let (counts, index) = (counts(part), only(part)?);
    let Some(index) = index else {
        let item = rust(&part.item);
        return Some(quote!((arith::wrap(#item, #modulus) == #number && #counts) as i64));
    };
    let (name, lo, hi) = (ident(&index.var.name), rust(&index.lo), rust(&index.hi));
    if matches!(&part.item, Expr::Var(var) if var.slot == index.var.slot) {
        return Some(quote!(harness::sets::among(#number, #lo, #hi, #modulus, |#name| #counts)?));
    }
    let Progression { count, first, step, .. } = Progression::of(part, &schedule.functions)?;
    let downwards = match step {
        Expr::Int(1) => false,
        Expr::Int(-1) => true,
        _ => return None,
    };
    let (count, first) = (rust(&count), rust(&first));
    Some(quote!(
        harness::sets::times(#number, #count, #modulus, #downwards, || #first, |roundel_position| {
            let #name = #lo + roundel_position;
            #counts
        })?
    ))
}

/// Whether an index is the distance from the source to the destination: one is the other plus or minus the index.
fn is_distance(source: &Expr, destination: &Expr, index: usize) -> bool {
    let is = |e: &Expr| matches!(e, Expr::Var(var) if var.slot == index);
    match (source, destination) {
        (source, Expr::Binary(Binary::Add, base, by)) if is(by) && **base == *source => true,
        (Expr::Binary(Binary::Sub, base, by), destination) => is(by) && **base == *destination,
        _ => false,
    }
}
