//! The functions that run the bodies of the harnesses: a test each, and a proof where Kani bears it.

use super::{bears_functions, facts, has_functions, has_harnesses, has_steps, sets};
use crate::check::{self, Points};
use crate::emission::rust::expr::{ident, number};
use crate::proof::harness::{WALKS, WHOLE_RANGES};
use crate::schedule::Schedule;
use crate::schedule::expr::{Builtin, Expr};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// A harness of a collective.
pub(super) struct HarnessEntry {
    /// The last part of its name.
    suffix: String,
    body: TokenStream,
    /// The attributes of the proof; `None` if it is a test only.
    proof: Option<TokenStream>,
}

/// All harnesses of a collective.
pub(super) fn all(schedule: &Schedule, name: &TokenStream) -> Vec<HarnessEntry> {
    let mut all = rounds(schedule, name);
    all.extend(walks(schedule, name));
    all.extend(turns(schedule, name));
    if has_harnesses(schedule) {
        all.extend(matching(schedule, name));
        all.extend(whole(schedule, name));
    }
    all
}

impl HarnessEntry {
    fn new(suffix: impl Into<String>, body: TokenStream, proof: Option<TokenStream>) -> Self {
        HarnessEntry { suffix: suffix.into(), body, proof }
    }

    /// The test, and the proof.
    pub(super) fn code(&self, snake: &str) -> TokenStream {
        let (function, body) = (format_ident!("roundel_{snake}_{}", self.suffix), &self.body);
        // A user's crate may not declare the condition `kani`, so the proof is in a block where the lint is off. Tests
        // cannot be in such a block.
        let proof = self.proof.as_ref().map(|attributes| {
            quote! {
                #[allow(unexpected_cfgs)]
                const _: () = {
                    #[cfg(kani)]
                    #[kani::proof]
                    #[cfg_attr(kani, #attributes)]
                    fn #function() {
                        ::roundel::__private::harness::shim::run(#body);
                    }
                };
            }
        });
        quote! {
            #[cfg(test)]
            #[test]
            #[allow(unnameable_test_items)]
            fn #function() {
                ::roundel::__private::harness::shim::run(#body);
            }
            #proof
        }
    }
}

/// One arbitrary round: its functions, and the sets of `holds`.
fn rounds(schedule: &Schedule, name: &TokenStream) -> Vec<HarnessEntry> {
    let mut all = Vec::new();
    if has_functions(schedule) {
        let proof = bears_functions(schedule).then(|| {
            let any = any_stubs(schedule);
            quote!(kani::unwind(5), #any)
        });
        let body = quote!(::roundel::__private::harness::functions::<#name>);
        all.push(HarnessEntry::new("functions", body, proof));
    }
    if sets::has_sets(schedule) {
        let proof = sets::is_simple(schedule).then(|| {
            let small = [("wrap", "exact_wrap"), ("div", "small_div"), ("rem", "small_rem")];
            let small = stubs(&[&small[..], &[("ceil_div", "small_ceil_div")]].concat());
            quote!(kani::unwind(8), #small)
        });
        all.push(HarnessEntry::new("sets", quote!(::roundel::__private::harness::sets::<#name>), proof));
    }
    all
}

/// Every round of a rank, which Kani cannot bear.
fn walks(schedule: &Schedule, name: &TokenStream) -> Vec<HarnessEntry> {
    let walk = |(ppn, nodes)| {
        let suffix = format!("walk_1_to_{nodes}_nodes_of_{ppn}");
        let (nodes, ppn) = (number(nodes), number(ppn));
        HarnessEntry::new(suffix, quote!(|| ::roundel::__private::harness::walk::<#name>(#nodes, #ppn)), None)
    };
    WALKS.into_iter().filter(|_| sets::has_walk(schedule)).map(walk).collect()
}

/// The parts of one arbitrary turn.
fn turns(schedule: &Schedule, name: &TokenStream) -> Vec<HarnessEntry> {
    let parts = if sets::has_turn(schedule) { sets::turn_parts(schedule) } else { 0 };
    let each = WALKS.into_iter().flat_map(|(ppn, nodes)| (0..parts).map(move |part| (part, nodes, ppn)));
    let turn = |(part, nodes, ppn)| {
        let suffix = format!("turn_{part}_1_to_{nodes}_nodes_of_{ppn}");
        let proof = sets::bears_turn(schedule, part, ppn).then(|| {
            // Loops go over the members of a group: those of a node, or where nodes have one rank, all ranks.
            let unwind = Literal::i64_unsuffixed(if ppn == 1 { nodes } else { ppn } + 2);
            let stubs = few_stubs();
            quote!(kani::unwind(#unwind), #stubs)
        });
        let (part, most, size) = (Literal::usize_unsuffixed(part), number(nodes), number(ppn));
        let body = quote!(|| ::roundel::__private::harness::turn::<#name>(#part, #most, #size));
        HarnessEntry::new(suffix, body, proof)
    };
    each.map(turn).collect()
}

/// Matching sends and receives of one arbitrary round, and its facts.
fn matching(schedule: &Schedule, name: &TokenStream) -> Vec<HarnessEntry> {
    if !has_steps(schedule) {
        return Vec::new();
    }
    let exact = [("wrap", "exact_wrap"), ("div", "exact_div"), ("rem", "exact_rem"), ("ceil_div", "exact_ceil_div")];
    let exact = stubs(&exact);
    let with_facts = schedule.loops.iter().any(|l| !l.indices.is_empty() && facts(l).next().is_some());
    let bodies = ["sends_match", "receives_match", "facts"].into_iter().filter(|body| *body != "facts" || with_facts);
    let entry = |body: &str| {
        let function = ident(body);
        let proof = quote!(kani::unwind(18), #exact);
        HarnessEntry::new(body, quote!(::roundel::__private::harness::#function::<#name>), Some(proof))
    };
    bodies.map(entry).collect()
}

/// Whole schedules.
fn whole(schedule: &Schedule, name: &TokenStream) -> Vec<HarnessEntry> {
    let wrap = stubs(&[("wrap", "exact_wrap")]);
    let entry = |(lo, hi)| {
        let suffix = format!("whole_{lo}_to_{hi}");
        let (lo, hi) = (number(lo), number(hi));
        let body = quote!(|| ::roundel::__private::harness::whole::<#name>(#lo, #hi));
        HarnessEntry::new(suffix, body, Some(quote!(kani::unwind(34), #wrap)))
    };
    WHOLE_RANGES.into_iter().filter(|&(lo, hi)| reaches(schedule, lo, hi)).map(entry).collect()
}

/// Whether the domain contains a p in the range, with more than one rank.
fn reaches(schedule: &Schedule, lo: i64, hi: i64) -> bool {
    let points = Points::new(schedule, lo.max(2) as usize..=hi as usize);
    points.iter().any(|point| check::in_domain(schedule, &point).unwrap_or(false))
}

fn stubs(pairs: &[(&str, &str)]) -> TokenStream {
    // Kani resolves paths itself, and does not know `roundel` as a name of the crate inside the crate.
    let inside = std::env::var("CARGO_CRATE_NAME").is_ok_and(|name| name == "roundel");
    let root = if inside { quote!(crate) } else { quote!(roundel) };
    let stubs = pairs.iter().map(|(original, model)| {
        let (original, model) = (ident(original), ident(model));
        quote!(kani::stub(#root::__private::arith::#original, #root::__private::harness::model::#model))
    });
    quote!(#(#stubs),*)
}

/// Stubs for few ranks on nodes.
fn few_stubs() -> TokenStream {
    stubs(&[
        ("wrap", "few_wrap"),
        ("div", "few_div"),
        ("rem", "few_rem"),
        ("ceil_div", "few_ceil_div"),
        ("pow", "few_pow"),
        ("ceil_log", "few_ceil_log"),
        ("part_size", "few_part_size"),
        ("part_begin", "few_part_begin"),
        ("part_of", "few_part_of"),
    ])
}

/// Stubs that may return any value of the original functions. Powers are stubbed only in facts: elsewhere this would
/// hide an overflow.
fn any_stubs(schedule: &Schedule) -> TokenStream {
    let mut pairs = vec![("wrap", "any_wrap"), ("div", "any_div"), ("rem", "any_rem"), ("ceil_div", "any_ceil_div")];
    let mut powers = false;
    schedule.for_each_expr(&mut |spot, e| {
        let in_facts =
            matches!(spot, crate::schedule::SchedulePart::Hold(..) | crate::schedule::SchedulePart::Bound(_));
        e.walk(&mut |e| {
            powers |= !in_facts && matches!(e, Expr::Builtin(Builtin::Pow, args) if !matches!(args[0], Expr::Int(2)));
        });
    });
    pairs.push(("ceil_log", "any_ceil_log"));
    if !powers {
        pairs.push(("pow", "any_pow"));
    }
    stubs(&pairs)
}
