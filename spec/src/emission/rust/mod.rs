//! The Rust back end: writes a schedule as readable code.
//!
//! Loops stay loops; each clause becomes ordinary functions of rank and round; definitions become closures, so that
//! they are evaluated exactly where and when they are used. Everything that the code uses is named with a path in
//! `::roundel`.

mod blocks;
mod checked;
mod expr;
mod functions;
mod groups;
mod harness;
mod proved;
mod rounds;
mod schedule;

use crate::proof::GrantedCalls;
use crate::schedule::contract::Kind;
use crate::schedule::expr::BUILTIN_VARS;
use crate::schedule::{Hold, Layout, Order, Schedule};
use crate::syntax::Declaration;
use expr::ident;
use functions::TransferCode;
use groups::WithinCode;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::DeriveInput;

/// Everything that the derive emits for a declaration that passed its check. `granted` are the calls for which it is
/// proved; `claimed` is its schedule with the clauses that its record adds, whose facts the harnesses use.
pub fn expand(declaration: &Declaration, granted: &GrantedCalls, claimed: &Schedule) -> TokenStream {
    let code = code(declaration, granted);
    let tests = tests(declaration, claimed);
    quote!(#code #tests)
}

/// The implementation of `Collective`, without the tests.
pub fn code(declaration: &Declaration, granted: &GrantedCalls) -> TokenStream {
    let (name, schedule) = (&declaration.ident, &declaration.schedule);
    let (functions, types_of_inner) = (functions(schedule), declaration.inner_types.as_slice());
    let (generics, types) = generics(declaration);
    let (rounds, admits, rotation) =
        (rounds::rounds(schedule, types_of_inner), rounds::admits(schedule), rounds::rotation(schedule));
    let (arguments, data, proved) =
        (arguments(schedule), schedule::build(schedule, &declaration.inner_types), proved::proved(schedule, granted));
    let (marker, kind, particulars) = (marker(schedule.kind), kind(schedule), particulars(declaration));
    let (text, names) = (schedule.name.as_str(), own_names(schedule));
    let prefers_rotation = matches!(schedule.layouts.first(), Some(Layout::Rotated(_)));
    let (helpers, markers) = (groups::helpers(schedule), markers(schedule));
    // Private aliases in an anonymous scope keep the code readable without taking names from the user. The lints of the
    // user's crate are not meant for this code.
    quote! {
        const _: () = {
            use ::roundel::__private::arith;

            /// The command that would prove more.
            const PROVE: &str = concat!("roundel prove ", file!());

            use ::roundel::__private::{
                Action, Arguments, Blocks, Collective, Inside, Kind, #(#markers,)* Order, Place, Refusal, Sink, Site,
                Stripe, Stripes,
            };
            use ::roundel::__private::{Err, None, Ok, Option, Result, Some, own_names};
            #helpers

            own_names!(#(#names),*);

            #[allow(non_snake_case, unused_variables)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #generics #name #types {
                #functions
            }

            #[allow(non_snake_case, unused_variables, unused_assignments)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #generics Collective for #name #types {
                const NAME: &'static str = #text;
                const PREFERS_ROTATION: bool = #prefers_rotation;

                #kind
                #particulars
                #rounds
                #admits
                #proved
                #rotation
                #arguments

                fn schedule() -> ::roundel::__private::Schedule {
                    use ::roundel::__private::data::*;
                    #data
                }
            }

            impl #generics #marker for #name #types {}
        };
    }
}

/// The functions of all clauses, and those of the groups of inner collectives.
fn functions(schedule: &Schedule) -> TokenStream {
    let transfers = schedule.loops.iter().flat_map(|l| TransferCode::of_loop(schedule, l));
    let withins = schedule.loops.iter().flat_map(|l| WithinCode::of_loop(schedule, l));
    let transfers = transfers.map(|transfer| transfer.functions());
    transfers.chain(withins.map(|within| within.functions())).chain([groups::groups(schedule)]).collect()
}

/// The type parameters with their bounds, and without: inner collectives.
fn generics(declaration: &Declaration) -> (TokenStream, TokenStream) {
    let types = &declaration.inner_types;
    if types.is_empty() {
        return (quote!(), quote!());
    }
    let markers = declaration.schedule.inners.iter().map(|inner| marker(inner.kind));
    (quote!(<#(#types: #markers),*>), quote!(<#(#types),*>))
}

/// The kind, unless it is the default one.
fn kind(schedule: &Schedule) -> TokenStream {
    let name = ident(&format!("{:?}", schedule.kind));
    let kind = (schedule.kind != Kind::Allgather).then(|| quote!(const KIND: Kind = Kind::#name;));
    let nodes = schedule.uses_placement().then(|| {
        quote!(
            const LOOKS_AT_NODES: bool = true;
        )
    });
    quote!(#kind #nodes)
}

/// The traits that provide the calls of a collective and of its inner ones.
fn markers(schedule: &Schedule) -> BTreeSet<Ident> {
    [schedule.kind].into_iter().chain(schedule.inners.iter().map(|inner| inner.kind)).map(marker).collect()
}

/// The trait that provides the calls of a collective.
fn marker(kind: Kind) -> Ident {
    format_ident!(
        "{}",
        match kind {
            Kind::Allgather => "IsAllgather",
            Kind::Allreduce => "IsAllreduce",
            Kind::ReduceScatter => "IsReduceScatter",
            Kind::Broadcast => "IsBroadcast",
            Kind::Reduce => "IsReduce",
            Kind::Gather => "IsGather",
            Kind::Scatter => "IsScatter",
            Kind::Alltoall => "IsAlltoall",
        }
    )
}

/// Items that only some kinds have: lines and order of a reduction, the number of blocks, the root.
fn particulars(declaration: &Declaration) -> TokenStream {
    let schedule = &declaration.schedule;
    let (lines, Order { same_tree, rank_order }) = (schedule.lines.len(), schedule.order);
    // An inner collective's first line is one of ours; its other lines follow ours.
    let inner = &declaration.inner_types;
    // What one rank reduces, and others get from it, is the same tree on all of them.
    let all = || schedule.inners.iter().zip(inner);
    let alike = all().filter(|(inner, _)| inner.kind == Kind::Allreduce).map(|(_, ty)| ty);
    let reducing = all().filter(|(inner, _)| inner.kind.reduces()).map(|(_, ty)| ty);
    let reduction = schedule.kind.reduces().then(|| {
        quote! {
            const LINES: usize = #lines #(+ #inner::LINES - 1)*;
            const ORDER: Order = Order {
                same_tree: #same_tree #(&& #alike::ORDER.same_tree)*,
                rank_order: #rank_order #(&& #reducing::ORDER.rank_order)*,
            };
        }
    });
    let blocks = (schedule.kind.is_divided() || schedule.kind.moves()).then(|| {
        let mut needs = expr::Needs::new(schedule);
        needs.add(&schedule.blocks);
        let (bindings, definitions, blocks) = (needs.bindings(), needs.definitions(), expr::rust(&schedule.blocks));
        quote! {
            fn blocks(&self, at: &Place<'_>) -> i64 {
                #bindings
                #definitions
                #blocks
            }
        }
    });
    let root = schedule.root_parameter().map(|position| {
        let position = Literal::usize_unsuffixed(position);
        quote! {
            #[inline]
            fn root(&self) -> i64 {
                self.root
            }

            fn rooted_at(&self, root: i64) -> Option<Self> {
                let mut args = self.arguments();
                *args.numbers.get_mut(#position)? = root;
                Self::from_arguments(&args)
            }
        }
    });
    quote!(#reduction #blocks #root)
}

/// The implementation for a type whose declaration is wrong: it never runs, and keeps rustc from reporting every use of
/// the type. Generic types get none, because it would need bounds on their parameters.
pub fn stub(input: &DeriveInput) -> TokenStream {
    if !input.generics.params.is_empty() {
        return quote!();
    }
    let (name, text) = (&input.ident, input.ident.to_string());
    quote! {
        const _: () = {
            use ::roundel::__private::{
                Arguments, Collective, IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce,
                IsReduceScatter,
                IsScatter, Place, Refusal, Schedule, Sink,
            };
            use ::roundel::__private::{Option, Result};

            impl Collective for #name {
                const NAME: &'static str = #text;
                const PREFERS_ROTATION: bool = false;

                fn schedule() -> Schedule {
                    unreachable!()
                }

                fn arguments(&self) -> Arguments {
                    unreachable!()
                }

                fn from_arguments(_: &Arguments) -> Option<Self> {
                    unreachable!()
                }

                fn admits(&self, _: &Place<'_>) -> Result<(), Refusal> {
                    unreachable!()
                }

                fn proved(&self, _: &Place<'_>) -> Result<(), Refusal> {
                    unreachable!()
                }

                fn rotation(&self, _: &Place<'_>) -> Option<i64> {
                    unreachable!()
                }

                fn rounds<Taker: Sink>(&self, _: &Place<'_>, _: &mut Taker) -> Result<(), Taker::Error> {
                    unreachable!()
                }
            }

            impl IsAllgather for #name {}
            impl IsAllreduce for #name {}
            impl IsReduceScatter for #name {}
            impl IsBroadcast for #name {}
            impl IsReduce for #name {}
            impl IsGather for #name {}
            impl IsScatter for #name {}
            impl IsAlltoall for #name {}
        };
    }
}

fn arguments(schedule: &Schedule) -> TokenStream {
    let numbers: Vec<_> = schedule.numbers.iter().map(|n| ident(&n.var.name)).collect();
    let lists: Vec<_> = schedule.lists.iter().map(|l| ident(&l.var.name)).collect();
    let inners: Vec<_> = schedule.inners.iter().map(|inner| ident(&inner.name)).collect();
    quote! {
        fn arguments(&self) -> Arguments {
            Arguments {
                numbers: vec![#(self.#numbers),*],
                lists: vec![#(self.#lists.clone()),*],
                inner: vec![#(self.#inners.arguments()),*],
            }
        }

        #[inline]
        fn has_arguments(&self, args: &Arguments) -> bool {
            let (numbers, lists): (&[i64], &[&[i64]]) = (&[#(self.#numbers),*], &[#(&self.#lists),*]);
            let [#(#inners),*] = &args.inner[..] else { return false };
            args.numbers == numbers && args.lists == lists #(&& self.#inners.has_arguments(#inners))*
        }

        fn from_arguments(args: &Arguments) -> Option<Self> {
            let [#(#numbers),*] = args.numbers[..] else { return None };
            let [#(#lists),*] = &args.lists[..] else { return None };
            let [#(#inners),*] = &args.inner[..] else { return None };
            Some(Self {
                #(#numbers,)*
                #(#lists: #lists.clone(),)*
                #(#inners: Collective::from_arguments(#inners)?,)*
            })
        }
    }
}

/// Every variable name in generated code: those of the declaration, and the code's own.
fn own_names(schedule: &Schedule) -> Vec<Ident> {
    let own =
        ["at", "sink", "blocks", "element", "args", "steps_left", "ask", "width", "used", "lo", "hi", "this_round"];
    let mut names: BTreeSet<&str> = BUILTIN_VARS.into_iter().chain(own).collect();
    names.extend(schedule.numbers.iter().map(|number| number.var.name.as_str()));
    names.extend(schedule.lists.iter().map(|list| list.var.name.as_str()));
    names.extend(schedule.inners.iter().map(|inner| inner.name.as_str()));
    names.extend(["member", "group", "brings"].into_iter().filter(|_| schedule.within().next().is_some()));
    names.extend(["inner", "root"].into_iter().filter(|_| schedule.within().any(|within| within.root.is_some())));
    for function in &schedule.functions {
        names.insert(&function.name);
        names.extend(function.args.iter().map(|arg| arg.name.as_str()));
    }
    for l in &schedule.loops {
        names.extend(l.states.iter().map(|state| state.var.name.as_str()));
        let sets = l.holds.iter().filter_map(|hold| match hold {
            Hold::Blocks(set) | Hold::Contributors { ranks: set, .. } => Some(set),
            Hold::Counter(..) | Hold::Fact(_) => None,
        });
        let brought = l.within.iter().map(|within| &within.brings);
        let sets = sets.chain(l.transfers.iter().map(|t| &t.blocks)).chain(brought).flat_map(|set| &set.parts);
        let indices = l.indices.iter().chain(l.transfers.iter().flat_map(|t| &t.each));
        names.extend(indices.chain(sets.flat_map(|part| &part.over)).map(|index| index.var.name.as_str()));
    }
    names.into_iter().map(ident).collect()
}

/// The tests that go into the user's crate with the code: free functions, because a module could not name a type that
/// is declared inside a function.
fn tests(declaration: &Declaration, claimed: &Schedule) -> TokenStream {
    let name = &declaration.ident;
    let snake = snake(&declaration.schedule.name);
    let agrees = format_ident!("roundel_{snake}_generated_code_equals_the_schedule", span = Span::call_site());
    let plain: Vec<_> = declaration.schedule.inners.iter().map(|inner| plain(inner.kind)).collect();
    let types = if plain.is_empty() { quote!() } else { quote!(<#(#plain),*>) };
    let (probe, harnesses) = match harness::has_any(claimed) {
        false => (quote!(), quote!()),
        true => {
            let name = quote!(#name #types);
            (harness::probe(claimed, &name, &plain), harness::harnesses(claimed, &name, &snake))
        }
    };
    // An all-to-all has a block for every pair of ranks, and each member contributes one for every other, so such
    // collectives are compared with fewer ranks.
    let most: usize = if declaration.schedule.kind.moves() { if plain.is_empty() { 64 } else { 24 } } else { 128 };
    quote! {
        #[cfg(test)]
        #[test]
        #[allow(unnameable_test_items)]
        fn #agrees() {
            ::roundel::__private::assert_code_equals_schedule::<#name #types>(#most);
        }

        #probe
        #harnesses
    }
}

/// The inner collective that tests use.
fn plain(kind: Kind) -> TokenStream {
    match kind {
        Kind::Allgather => quote!(::roundel::algorithms::allgather::Bruck),
        Kind::Allreduce => quote!(::roundel::algorithms::allreduce::RecursiveDoublingAllreduce),
        Kind::ReduceScatter => quote!(::roundel::algorithms::reduce_scatter::PairwiseReduceScatter),
        Kind::Broadcast => quote!(::roundel::algorithms::broadcast::BinomialBroadcast),
        Kind::Reduce => quote!(::roundel::algorithms::reduce::BinomialReduce),
        Kind::Gather => quote!(::roundel::algorithms::gather::BinomialGather),
        Kind::Scatter => quote!(::roundel::algorithms::scatter::BinomialScatter),
        Kind::Alltoall => quote!(::roundel::algorithms::alltoall::SpreadOut),
    }
}

/// `NeighborExchange` as `neighbor_exchange`. Different names stay different, even those not in Rust's style:
/// `Neighbor_exchange` becomes `neighbor__exchange`, and a lower-case letter at the beginning gets a `_` in front.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c == '_' || c.is_uppercase() == (i > 0) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::snake;

    #[test]
    fn names_of_tests_differ() {
        let names = ["NeighborExchange", "RingA", "Ring_a", "Ring_A", "ringA", "ring_a", "_RingA", "r", "R", "type"];
        let snakes: std::collections::BTreeSet<String> = names.into_iter().map(snake).collect();
        assert_eq!(snakes.len(), names.len(), "{snakes:?}");
        assert_eq!(snake("NeighborExchange"), "neighbor_exchange");
        assert_eq!(snake("KBruck"), "k_bruck");
    }
}
