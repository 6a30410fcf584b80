//! The function that hands one rank's rounds to a sink, and the domain check.

use super::checked;
use super::expr::{Needs, ident, number, rust};
use super::functions::{TransferCode, scoped};
use super::groups::WithinCode;
use crate::meaning::arith::MAX_P;
use crate::schedule::expr::Expr;
use crate::schedule::{Domain, Loop, Schedule};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// `rounds`; the type of the sink has a name that no inner collective has.
pub(super) fn rounds(schedule: &Schedule, inner_types: &[Ident]) -> TokenStream {
    let mut taker = "S".to_string();
    while inner_types.iter().any(|ty| *ty == taker) {
        taker.push('S');
    }
    let taker = ident(&taker);
    let mut needs = Needs::new(schedule);
    for l in &schedule.loops {
        add_loop(&mut needs, l);
        l.transfers.iter().flat_map(|t| &t.each).for_each(|index| {
            needs.add(&index.lo).add(&index.hi);
        });
    }
    let bindings = needs.bindings_at_once();
    let backwards = schedule.reverse_of.is_some();
    let loops = schedule.loops.iter().map(|l| {
        let messages = TransferCode::of_loop(schedule, l).into_iter().map(|code| code.statement());
        let groups = WithinCode::of_loop(schedule, l).into_iter().map(|code| code.statement());
        let round = quote! {
            sink.begin_round()?;
            #(#messages)*
            sink.end_round()?;
            #(#groups)*
        };
        if backwards { around_backwards(schedule, l, round) } else { around(schedule, l, round) }
    });
    let mut loops: Vec<TokenStream> = loops.collect();
    if backwards {
        loops.reverse();
    }
    quote! {
        fn rounds<#taker: Sink>(&self, at: &Place<'_>, sink: &mut #taker) -> Result<(), #taker::Error> {
            #bindings
            #(#loops)*
            Ok(())
        }
    }
}

pub(super) fn add_loop(needs: &mut Needs<'_>, l: &Loop) {
    l.indices.iter().for_each(|index| {
        needs.add(&index.lo).add(&index.hi);
    });
    l.states.iter().for_each(|state| {
        needs.add(&state.init).add(&state.next);
    });
}

/// The loops and states of a [`Loop`] around the code of one round.
pub(super) fn around(schedule: &Schedule, l: &Loop, round: TokenStream) -> TokenStream {
    let inits = l.states.iter().filter(|state| !state.backward).map(|state| {
        let name = ident(&state.var.name);
        let init = scoped(schedule, &[&state.init], |e| e[0].clone());
        quote!(let mut #name = #init;)
    });
    let mut body = round;
    for (level, index) in l.indices.iter().enumerate().rev() {
        let name = ident(&index.var.name);
        let range = scoped(schedule, &[&index.lo, &index.hi], |e| {
            let (lo, hi) = (&e[0], &e[1]);
            quote!(#lo..#hi)
        });
        let advance = advance(schedule, l, level);
        let past = if level == 0 { backward(schedule, l) } else { quote!() };
        body = quote!(for #name in #range { #past #body #advance });
    }
    quote!(#(#inits)* #body)
}

/// The loops of a [`Loop`] around the code of one round, from the last round to the first: the collective is a reverse.
/// States are declared forwards, so their values are computed anew for each round.
fn around_backwards(schedule: &Schedule, l: &Loop, round: TokenStream) -> TokenStream {
    let inits: Vec<TokenStream> = l
        .states
        .iter()
        .map(|state| {
            let (name, init) = (ident(&state.var.name), scoped(schedule, &[&state.init], |e| e[0].clone()));
            quote!(let mut #name = #init;)
        })
        .collect();
    let Some(first) = l.indices.first() else { return quote!(#(#inits)* #round) };
    let mut body = round;
    for index in l.indices.iter().skip(1).rev() {
        let name = ident(&index.var.name);
        let range = scoped(schedule, &[&index.lo, &index.hi], |e| {
            let (lo, hi) = (&e[0], &e[1]);
            quote!((#lo..#hi).rev())
        });
        body = quote!(for #name in #range { #body });
    }
    let name = ident(&first.var.name);
    let range = scoped(schedule, &[&first.lo, &first.hi], |e| {
        let (lo, hi) = (&e[0], &e[1]);
        quote!((#lo..#hi).rev())
    });
    let advance = advance(schedule, l, 0);
    let states = (!l.states.is_empty()).then(|| {
        let lo = scoped(schedule, &[&first.lo], |e| e[0].clone());
        quote!(#(#inits)* for #name in #lo..#name { #advance })
    });
    quote!(for #name in #range { #states #body })
}

/// Computes the states that run backwards for the current round, starting from their values after the last round.
pub(super) fn backward(schedule: &Schedule, l: &Loop) -> TokenStream {
    let all: Vec<_> = l.states.iter().filter(|state| state.backward).collect();
    let (Some(index), false) = (l.indices.first(), all.is_empty()) else { return quote!() };
    let names: Vec<_> = all.iter().map(|state| ident(&state.var.name)).collect();
    let inits = all.iter().map(|state| {
        let (name, init) = (ident(&state.var.name), scoped(schedule, &[&state.init], |e| e[0].clone()));
        quote!(let mut #name = #init;)
    });
    let next: Vec<&Expr> = all.iter().map(|state| &state.next).collect();
    let next = scoped(schedule, &next, |e| quote!((#(#e,)*)));
    let (index_name, end) = (ident(&index.var.name), scoped(schedule, &[&index.hi], |e| e[0].clone()));
    quote! {
        #(#inits)*
        for #index_name in (#index_name + 1..=#end).rev() {
            (#(#names,)*) = #next;
        }
    }
}

/// Advances the states of one index, all at once.
fn advance(schedule: &Schedule, l: &Loop, level: usize) -> TokenStream {
    let moving: Vec<_> = l.states.iter().filter(|state| state.each == level && !state.backward).collect();
    let names: Vec<_> = moving.iter().map(|state| ident(&state.var.name)).collect();
    let next: Vec<&Expr> = moving.iter().map(|state| &state.next).collect();
    match names.as_slice() {
        [] => quote!(),
        [name] => {
            let next = scoped(schedule, &next, |e| e[0].clone());
            quote!(#name = #next;)
        }
        names => {
            let next = scoped(schedule, &next, |e| quote!((#(#e),*)));
            quote!((#(#names),*) = #next;)
        }
    }
}

/// `admits`
pub(super) fn admits(schedule: &Schedule) -> TokenStream {
    let mut needs = Needs::new(schedule);
    needs.name("p");
    schedule.requires.iter().for_each(|e| {
        needs.add(e);
    });
    schedule.numbers.iter().for_each(|n| needs.name(&n.var.name));
    schedule.lists.iter().for_each(|l| needs.name(&l.var.name));
    schedule.loops.iter().filter(|l| !l.ends_with.is_empty()).for_each(|l| {
        add_loop(&mut needs, l);
        l.ends_with.iter().for_each(|e| {
            needs.add(e);
        });
    });
    let bindings = needs.bindings();
    let numbers = schedule.numbers.iter().map(|n| {
        let name = ident(&n.var.name);
        parameter(&n.var.name, &n.domain, quote!(#name))
    });
    let lists = schedule.lists.iter().map(|l| {
        let (name, check) = (ident(&l.var.name), parameter(&l.var.name, &l.domain, quote!(element)));
        quote!(for &element in #name { #check })
    });
    let requires =
        schedule.requires.iter().map(|clause| required(checked::condition(schedule, clause), clause.to_string()));
    let ends = schedule.loops.iter().flat_map(|l| {
        l.ends_with.iter().map(move |clause| {
            required(checked::condition_at_the_end(schedule, l, clause), format!("final {clause}"))
        })
    });
    let inners = match schedule.inners.is_empty() {
        true => quote!(Ok(())),
        false => quote!(self.inners_admit(at)),
    };
    quote! {
        fn admits(&self, at: &Place<'_>) -> Result<(), Refusal> {
            #bindings
            #(#numbers)*
            #(#lists)*
            #(#requires)*
            #(#ends)*
            #inners
        }
    }
}

fn parameter(name: &str, domain: &Domain, value: TokenStream) -> TokenStream {
    let (text, lo) = (domain.to_string(), number(domain.lo));
    let range = match domain.hi {
        Some(hi) => {
            let hi = number(hi);
            quote!(#lo..=#hi)
        }
        None => quote!(#lo..),
    };
    let largest = number(domain.hi.map_or(MAX_P, |hi| hi.min(MAX_P)));
    let too_large = match domain.hi {
        Some(hi) if hi <= MAX_P => quote!(),
        _ => quote! {
            if #value > #largest {
                return Err(Refusal::TooLarge { name: #name, value: #value });
            }
        },
    };
    quote! {
        if !(#range).contains(&#value) {
            return Err(Refusal::Parameter { name: #name, domain: #text, value: #value });
        }
        #too_large
    }
}

fn required(holds: TokenStream, text: String) -> TokenStream {
    quote!(Refusal::unless(#holds, #text, p)?;)
}

/// `rotation`
pub(super) fn rotation(schedule: &Schedule) -> TokenStream {
    let by = schedule.layouts.iter().find_map(|layout| match layout {
        crate::schedule::Layout::Rotated(by) => Some(by),
        crate::schedule::Layout::InPlace => None,
    });
    let body = match by {
        Some(by) => {
            let mut needs = Needs::new(schedule);
            needs.add(by);
            let (bindings, definitions, by) = (needs.bindings(), needs.definitions(), rust(by));
            quote!(#bindings #definitions Some(#by))
        }
        None => quote!(None),
    };
    quote! {
        fn rotation(&self, at: &Place<'_>) -> Option<i64> {
            #body
        }
    }
}
