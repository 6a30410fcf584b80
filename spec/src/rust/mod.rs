//! The Rust back end: a schedule as code that a person can read.
//!
//! Loops stay loops; each clause becomes ordinary functions of rank and round; definitions become closures, so that
//! they are evaluated exactly where and when they are used. The code names everything it uses from `::roundel`.

mod blocks;
mod checked;
mod expr;
mod functions;
mod harness;
mod proved;
mod rounds;
mod schedule;

use crate::proof::ProvedRange;
use crate::schedule::{Layout, Schedule};
use crate::syntax::Declaration;
use expr::ident;
use functions::TransferCode;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::DeriveInput;

/// Everything the derive emits for a declaration that passed its check. `range` is what is proved of it.
pub fn expand(declaration: &Declaration, range: &ProvedRange) -> TokenStream {
    let code = code(declaration, range);
    let tests = tests(declaration);
    quote!(#code #tests)
}

/// The implementation of `Collective`, without the tests.
pub fn code(declaration: &Declaration, range: &ProvedRange) -> TokenStream {
    let (name, schedule) = (&declaration.ident, &declaration.schedule);
    let functions: TokenStream = schedule
        .loops
        .iter()
        .flat_map(|l| TransferCode::of_loop(schedule, l))
        .map(|transfer| transfer.functions())
        .collect();
    let (rounds, admits, rotation) = (rounds::rounds(schedule), rounds::admits(schedule), rounds::rotation(schedule));
    let (arguments, data, proved) = (arguments(schedule), schedule::build(schedule), proved::proved(schedule, range));
    let text = schedule.name.as_str();
    let prefers_rotation = matches!(schedule.layouts.first(), Some(Layout::Rotated(_)));
    // Private aliases in an anonymous scope: the code reads well and takes no name from the user. What style the user
    // wants of their own code is no matter of this one.
    quote! {
        const _: () = {
            use ::roundel::arith;

            /// The command that would prove more.
            const PROVE: &str = concat!("roundel prove ", file!());

            use ::roundel::generated::{Arguments, Blocks, Collective, IsAllgather, Place, Refusal, Sink, Site, Stripe, Stripes};

            #[allow(non_snake_case, unused_variables)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #name {
                #functions
            }

            #[allow(non_snake_case, unused_variables, unused_assignments)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl Collective for #name {
                const NAME: &'static str = #text;
                const PREFERS_ROTATION: bool = #prefers_rotation;

                #rounds
                #admits
                #proved
                #rotation
                #arguments

                fn schedule() -> ::roundel::generated::Schedule {
                    use ::roundel::generated::data::*;
                    #data
                }
            }

            impl IsAllgather for #name {}
        };
    }
}

/// The implementation for a type whose declaration is wrong: it never runs, and keeps rustc from complaining about every
/// use of the type.
pub fn stub(input: &DeriveInput) -> TokenStream {
    let (name, text) = (&input.ident, input.ident.to_string());
    let (generics, arguments, clause) = input.generics.split_for_impl();
    quote! {
        const _: () = {
            use ::roundel::generated::{Arguments, Collective, IsAllgather, Place, Refusal, Schedule, Sink};

            impl #generics Collective for #name #arguments #clause {
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

                fn admits(&self, _: &Place) -> Result<(), Refusal> {
                    unreachable!()
                }

                fn proved(&self, _: &Place) -> Result<(), Refusal> {
                    unreachable!()
                }

                fn rotation(&self, _: &Place) -> Option<i64> {
                    unreachable!()
                }

                fn rounds<Taker: Sink>(&self, _: &Place, _: &mut Taker) -> Result<(), Taker::Error> {
                    unreachable!()
                }
            }

            impl #generics IsAllgather for #name #arguments #clause {}
        };
    }
}

fn arguments(schedule: &Schedule) -> TokenStream {
    let numbers: Vec<_> = schedule.numbers.iter().map(|n| ident(&n.var.name)).collect();
    let lists: Vec<_> = schedule.lists.iter().map(|l| ident(&l.var.name)).collect();
    quote! {
        fn arguments(&self) -> Arguments {
            Arguments { numbers: vec![#(self.#numbers),*], lists: vec![#(self.#lists.clone()),*] }
        }

        #[inline]
        fn has_arguments(&self, args: &Arguments) -> bool {
            let (numbers, lists): (&[i64], &[&[i64]]) = (&[#(self.#numbers),*], &[#(&self.#lists),*]);
            args.numbers == numbers && args.lists == lists
        }

        fn from_arguments(args: &Arguments) -> Option<Self> {
            let [#(#numbers),*] = args.numbers[..] else { return None };
            let [#(#lists),*] = &args.lists[..] else { return None };
            Some(Self { #(#numbers,)* #(#lists: #lists.clone(),)* })
        }
    }
}

/// The tests that travel with the code into the user's crate: free functions, because a module could not name a type that is
/// declared inside a function.
fn tests(declaration: &Declaration) -> TokenStream {
    let name = &declaration.ident;
    let snake = snake(&name.to_string());
    let agrees = format_ident!("roundel_{snake}_generated_code_equals_the_schedule", span = Span::call_site());
    let probe = harness::probe(&declaration.schedule, name);
    let harnesses = harness::harnesses(&declaration.schedule, name, &snake);
    quote! {
        #[cfg(test)]
        #[test]
        #[allow(unnameable_test_items)]
        fn #agrees() {
            ::roundel::generated::assert_code_equals_schedule::<#name>(128);
        }

        #probe
        #harnesses
    }
}

/// `NeighborExchange` as `neighbor_exchange`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Names that a declaration cannot use for its own variables, because generated code uses them.
pub const RESERVED: [&str; 16] = [
    "at", "sink", "blocks", "self", "element", "Some", "None", "Ok", "Err", "Site", "Stripes", "PROVE", "ask",
    "width", "harness", "used",
];
