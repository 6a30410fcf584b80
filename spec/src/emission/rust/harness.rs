//! Harnesses: what the bodies of `crate::harness` need to know about a collective, and the functions that run them, as
//! proofs under Kani and as tests elsewhere.

mod entries;
mod sets;

use super::expr::{Needs, ident, number, rust};
use super::functions::{TransferCode, scoped};
use crate::proof::harness::claims::{Relation, claimed, facts, has_harnesses, has_steps};
use crate::schedule::expr::{Binary, Expr};
use crate::schedule::message::Direction;
use crate::schedule::{Bound, Loop, Schedule, State};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// Whether there are harnesses for a schedule.
pub(super) fn has_any(schedule: &Schedule) -> bool {
    has_harnesses(schedule) || sets::has_sets(schedule) || sets::has_walk(schedule)
}

/// Whether the generated functions of single rounds have a harness.
fn has_functions(schedule: &Schedule) -> bool {
    if has_harnesses(schedule) {
        has_steps(schedule)
    } else {
        sets::has_sets(schedule) && sets::has_stripes(schedule)
    }
}

/// Whether Kani bears the harness of the functions: blocks are not products, and no exchange combines by rank.
fn bears_functions(schedule: &Schedule) -> bool {
    let sends = schedule.transfers().filter(|t| t.direction == Direction::Send).count();
    has_harnesses(schedule) || !schedule.kind.moves() && 2 * sends == schedule.transfers().count()
}

/// The implementation of `Probe`. `name` is the type, with `inner` as its inner collectives.
pub(super) fn probe(schedule: &Schedule, name: &TokenStream, inner: &[TokenStream]) -> TokenStream {
    let (parameters, bounds, names) = (parameters(schedule, inner), bounds(schedule), super::own_names(schedule));
    let mut methods = messages(schedule);
    let mut round = quote!(Ok(()));
    if has_functions(schedule) {
        let (more, body) = rounds(schedule);
        methods.extend(more);
        round = body;
    }
    let sets = sets::has_sets(schedule).then(|| {
        let (more, body) = sets::sets(schedule);
        methods.extend(more);
        quote! {
            fn sets(&self, at: &Place, element: &Element, width: Width) -> Verdict {
                #body
            }
        }
    });
    let turn = sets::has_turn(schedule).then(|| {
        let (more, body) = sets::turn(schedule);
        methods.extend(more);
        quote! {
            fn turn(&self, part: usize, at: &Place, element: &Element, used: &mut Crossings, width: Width) -> Verdict {
                #body
            }
        }
    });
    let walk = sets::has_walk(schedule).then(|| {
        let (more, body) = sets::walk(schedule);
        methods.extend(more);
        quote! {
            fn walk(&self, at: &Place, element: &Element, used: &mut Crossings) -> Verdict {
                #body
            }
        }
    });
    quote! {
        #[allow(unexpected_cfgs, unused_imports)]
        const _: () = {
            #[cfg(any(test, kani))]
            const _: () = {
            use ::roundel::__private::{Action, Blocks, Collective, Place, Site, Stripe};
            use ::roundel::__private::harness::sets::{Counts, Crossings};
            use ::roundel::__private::harness::{Ask, Element, Probe, RankUsage, StepMessage, Stop, Verdict, Width};
            use ::roundel::__private::{arith, harness};
            use ::roundel::__private::{Err, None, Ok, Option, Result, Some, own_names};

            own_names!(#(#names),*);

            #[allow(non_snake_case, unused_variables, dead_code)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl #name {
                #methods
            }

            #[allow(non_snake_case, unused_variables)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            impl Probe for #name {
                #parameters

                fn round(&self, at: &Place, ask: Ask, width: Width) -> Verdict {
                    #round
                }

                #sets

                #walk

                #turn

                #bounds
            }
            };
        };
    }
}

/// The harnesses: proofs under Kani, tests elsewhere.
pub(super) fn harnesses(schedule: &Schedule, name: &TokenStream, snake: &str) -> TokenStream {
    entries::all(schedule, name).iter().map(|entry| entry.code(snake)).collect()
}

fn parameters(schedule: &Schedule, inner: &[TokenStream]) -> TokenStream {
    let inners: Vec<_> = schedule.inners.iter().map(|inner| ident(&inner.name)).collect();
    let numbers: Vec<_> = schedule.numbers.iter().map(|n| ident(&n.var.name)).collect();
    let lists: Vec<_> = schedule.lists.iter().map(|l| ident(&l.var.name)).collect();
    let domains: Vec<_> = schedule.numbers.iter().map(|n| n.domain).collect();
    let chosen = domains.iter().map(|d| number(d.hi.unwrap_or(i64::MAX).min(d.lo.saturating_add(1))));
    let small = domains.iter().zip(&schedule.limits.numbers).map(|(d, limit)| range(d.lo, d.hi, Some(*limit)));
    let any = domains.iter().map(|d| range(d.lo, d.hi, None));
    let chosen_lists = schedule.lists.iter().map(|l| {
        let hi = l.domain.hi.unwrap_or(i64::MAX);
        let (a, b) = (number(hi.min(l.domain.lo.saturating_add(1))), number(hi.min(l.domain.lo.saturating_add(2))));
        quote!(vec![#a, #b, #a])
    });
    let small_lists = schedule.lists.iter().zip(&schedule.limits.lists).map(|(l, (len, limit))| {
        let (draw, len) = (range(l.domain.lo, l.domain.hi, Some(*limit)), number(*len));
        quote!((0..harness::draw(0, #len + 1, 63)?).map(|_| #draw).collect::<Result<Vec<i64>, Stop>>()?)
    });
    let any_lists = schedule.lists.iter().map(|l| {
        let draw = range(l.domain.lo, l.domain.hi, None);
        quote!(vec![#draw?, #draw?])
    });
    quote! {
        fn sample() -> Result<Self, Stop> {
            #[cfg(kani)]
            return Ok(Self { #(#numbers: #chosen,)* #(#lists: #chosen_lists,)* #(#inners: #inner,)* });
            #[cfg(not(kani))]
            Ok(Self { #(#numbers: #small?,)* #(#lists: #small_lists,)* #(#inners: #inner,)* })
        }

        fn any(width: Width) -> Result<Self, Stop> {
            Ok(Self { #(#numbers: #any?,)* #(#lists: #any_lists,)* #(#inners: #inner,)* })
        }
    }
}

/// A number of a domain, up to a limit or up to the width.
fn range(lo: i64, hi: Option<i64>, limit: Option<i64>) -> TokenStream {
    let lo = number(lo);
    let end = match (hi, limit) {
        (Some(hi), Some(limit)) => number(hi.min(limit).saturating_add(1)),
        (Some(hi), None) => number(hi.saturating_add(1)),
        (None, Some(limit)) => number(limit.saturating_add(1)),
        (None, None) => quote!(width.p + 1),
    };
    let most = if limit.is_some() { quote!(0xffff) } else { quote!(width.p) };
    quote!(harness::draw(#lo, #end, #most))
}

/// The methods for messages.
fn messages(schedule: &Schedule) -> TokenStream {
    schedule.loops.iter().flat_map(|l| TransferCode::of_loop(schedule, l)).map(|code| code.message()).collect()
}

/// The methods for rounds, and the choice among the loops.
fn rounds(schedule: &Schedule) -> (TokenStream, TokenStream) {
    let mut methods = TokenStream::new();
    let mut arms = Vec::new();
    for (n, l) in schedule.loops.iter().enumerate() {
        let name = format_ident!("roundel_round_{n}");
        let body = one_round(schedule, l);
        methods.extend(quote! {
            fn #name(&self, at: &Place, ask: Ask, width: Width) -> Verdict {
                #body
            }
        });
        arms.push(quote!(self.#name(at, ask, width)));
    }
    (methods, choice(arms))
}

/// Draws one of several alternatives.
fn choice(mut arms: Vec<TokenStream>) -> TokenStream {
    let Some(last) = arms.pop() else { return quote!(Ok(())) };
    if arms.is_empty() {
        return last;
    }
    let (count, numbers) = (number(arms.len() as i64 + 1), (0..arms.len() as i64).map(number));
    quote!(match harness::draw(0, #count, 63)? { #(#numbers => #arms,)* _ => #last })
}

fn one_round(schedule: &Schedule, l: &Loop) -> TokenStream {
    let mut needs = Needs::new(schedule);
    needs.name("p");
    for e in facts(l).chain(l.indices.iter().flat_map(|i| [&i.lo, &i.hi])) {
        needs.add(e);
    }
    l.states.iter().for_each(|state| {
        needs.add(&state.init).add(&state.next);
    });
    l.transfers.iter().flat_map(|t| &t.each).for_each(|index| {
        needs.add(&index.lo).add(&index.hi);
    });
    let bindings = needs.bindings();
    let indices = l.indices.iter().map(|index| drawn(schedule, index, quote!(pick)));
    let (states, rest) = states(schedule, l);
    // In a `round` without an index, facts describe the state afterwards.
    let rest: Vec<_> = if l.indices.is_empty() { Vec::new() } else { rest };
    let assumptions = rest.iter().map(|fact| scoped(schedule, &[fact], |e| e[0].clone()));
    let reached = reached(schedule, l);
    let (matching, functions) = (matching(schedule, l), functions(schedule, l));
    let facts_arm = if l.indices.is_empty() { quote!(Ok(())) } else { kept(schedule, l) };
    let (sends, receives) = (matching(true), matching(false));
    quote! {
        #bindings
        #(#indices)*
        #(#[cfg(kani)] #states)*
        #reached
        #(harness::assume(#assumptions)?;)*
        match ask {
            Ask::Sends => #sends,
            Ask::Receives => #receives,
            Ask::Functions => #functions,
            Ask::Facts => { #facts_arm }
        }
    }
}

fn drawn(schedule: &Schedule, index: &crate::schedule::blocks::Index, how: TokenStream) -> TokenStream {
    let name = ident(&index.var.name);
    let bounds = scoped(schedule, &[&index.lo, &index.hi], |e| {
        let (lo, hi) = (&e[0], &e[1]);
        quote!((#lo, #hi))
    });
    quote!(let #name = { let (lo, hi) = #bounds; harness::#how(lo, hi, width.p)? };)
}

/// In a test: the states that this round really reaches. Facts too weak for an induction are not a fault of the code.
fn reached(schedule: &Schedule, l: &Loop) -> TokenStream {
    let [index] = &l.indices[..] else { return quote!() };
    let names: Vec<_> = l.states.iter().map(|state| ident(&state.var.name)).collect();
    if names.is_empty() {
        return quote!();
    }
    let inits = l.states.iter().map(|state| scoped(schedule, &[&state.init], |e| e[0].clone()));
    let next = l.states.iter().map(|state| scoped(schedule, &[&state.next], |e| e[0].clone()));
    let (s, lo) = (ident(&index.var.name), scoped(schedule, &[&index.lo], |e| e[0].clone()));
    quote! {
        #[cfg(not(kani))]
        let (#(#names,)*) = {
            let this_round = #s;
            #(let mut #names = #inits;)*
            for #s in #lo..this_round {
                (#(#names,)*) = (#(#next,)*);
            }
            (#(#names,)*)
        };
    }
}

/// The states, as a fact determines them or arbitrary; and the facts that are still to be assumed.
fn states<'a>(schedule: &Schedule, l: &'a Loop) -> (Vec<TokenStream>, Vec<&'a Expr>) {
    let slots: Vec<usize> = l.states.iter().map(|state| state.var.slot).collect();
    let mut used = Vec::new();
    let code = l.states.iter().map(|state| {
        let name = ident(&state.var.name);
        match value(l, state, &slots) {
            Some((fact, value)) => {
                used.push(fact);
                let value = scoped(schedule, &[value], |e| e[0].clone());
                quote!(let #name = harness::state(#value, width.state)?;)
            }
            None => quote!(let #name = harness::draw(0, harness::shim::states(p, width), width.state)?;),
        }
    });
    let code: Vec<_> = code.collect();
    let rest = facts(l).filter(|fact| !used.iter().any(|known| std::ptr::eq(*known, *fact))).collect();
    (code, rest)
}

/// The fact that determines a state without mentioning one, and the value.
fn value<'a>(l: &'a Loop, state: &State, slots: &[usize]) -> Option<(&'a Expr, &'a Expr)> {
    facts(l).find_map(|fact| match fact {
        Expr::Binary(Binary::Eq, left, value) => {
            let is_state = matches!(&**left, Expr::Var(v) if v.slot == state.var.slot);
            (is_state && !slots.iter().any(|&slot| value.mentions(slot))).then_some((fact, &**value))
        }
        _ => None,
    })
}

/// Compares each send with its receive, or the reverse.
fn matching<'a>(schedule: &'a Schedule, l: &'a Loop) -> impl Fn(bool) -> TokenStream + 'a {
    move |from_sends| {
        let codes = TransferCode::of_loop(schedule, l);
        let of = |direction| codes.iter().filter(move |code| code.direction() == direction);
        let pairs = of(Direction::Send).zip(of(Direction::Recv));
        let arms = pairs.map(|(send, recv)| {
            let (mine, theirs) = if from_sends { (send, recv) } else { (recv, send) };
            let indices = mine.each().iter().map(|index| drawn(schedule, index, quote!(draw)));
            // The counterpart takes the same values as positional arguments, whatever their names.
            let (a, b) = (mine.message_call(mine), theirs.message_call(mine));
            quote!({
                #(#indices)*
                let mine = #a;
                match harness::step::peer(at, mine.as_ref())? {
                    None => Ok(()),
                    Some(there) => {
                        let theirs = { let at = &there; #b };
                        harness::step::matched(at, mine, theirs)
                    }
                }
            })
        });
        choice(arms.collect())
    }
}

/// Calls every function of the round, and computes the next states.
fn functions(schedule: &Schedule, l: &Loop) -> TokenStream {
    let codes = TransferCode::of_loop(schedule, l);
    let mut arms: Vec<TokenStream> = codes
        .iter()
        .map(|code| {
            let indices = code.each().iter().map(|index| drawn(schedule, index, quote!(draw)));
            let call = code.message_call(code);
            quote!({ #(#indices)* harness::valid(at, Collective::blocks(self, at), #call) })
        })
        .collect();
    if !l.states.is_empty() {
        let values = l.states.iter().flat_map(|state| [&state.init, &state.next]);
        let values = values.map(|e| scoped(schedule, &[e], |e| e[0].clone()));
        arms.push(quote!({ #(let _: i64 = #values;)* Ok(()) }));
    }
    choice(arms)
}

/// Claims the facts at the beginning, and after the round.
fn kept(schedule: &Schedule, l: &Loop) -> TokenStream {
    let claims: Vec<_> = facts(l)
        .map(|fact| {
            let fact = scoped(schedule, &[fact], |e| e[0].clone());
            quote!(harness::claim!(#fact, "a fact of `holds` is true");)
        })
        .collect();
    let names: Vec<_> = l.states.iter().map(|state| ident(&state.var.name)).collect();
    let inits = l.states.iter().map(|state| scoped(schedule, &[&state.init], |e| e[0].clone()));
    let next = l.states.iter().map(|state| scoped(schedule, &[&state.next], |e| e[0].clone()));
    let index = &l.indices[0];
    let (s, lo) = (ident(&index.var.name), scoped(schedule, &[&index.lo], |e| e[0].clone()));
    quote! {
        harness::cover!(true, "there is a round");
        let (#(#names,)*) = (#(#next,)*);
        let #s = #s + 1;
        #(#claims)*
        #(let #names = #inits;)*
        let #s = #lo;
        #(#claims)*
        Ok(())
    }
}

fn bounds(schedule: &Schedule) -> TokenStream {
    // Only the harnesses of whole schedules count.
    let counted = schedule.bounds.iter().filter(|_| has_harnesses(schedule));
    let counted: Vec<(&Bound, Relation)> = counted.filter_map(|bound| Some((bound, claimed(bound)?))).collect();
    let mut needs = Needs::new(schedule);
    counted.iter().for_each(|(bound, _)| {
        needs.add(&bound.value);
    });
    let bindings = needs.bindings();
    let claims = counted.iter().map(|(bound, relation)| {
        let metric = ident(bound.metric.name());
        let value = scoped(schedule, &[&bound.value], |e| e[0].clone());
        let (relation, text) = match relation {
            Relation::Met => (quote!(==), "met"),
            Relation::Kept => (quote!(<=), "kept"),
        };
        let text = Literal::string(&format!("the bound on {} is {text}", bound.metric));
        quote!(harness::claim!(used.#metric #relation #value, #text);)
    });
    quote! {
        fn bounds(&self, at: &Place, used: &RankUsage) -> Verdict {
            #bindings
            #(#claims)*
            Ok(())
        }
    }
}

impl TransferCode<'_> {
    fn message_name(&self) -> Ident {
        format_ident!("roundel_message_{}", self.site())
    }

    /// The call of the message function, with the variables of `caller`.
    fn message_call(&self, caller: &TransferCode<'_>) -> TokenStream {
        let (name, vars) = (self.message_name(), caller.variables());
        quote!(self.#name(at, #(#vars),*))
    }

    /// The message of a clause at a place, if there is one.
    fn message(&self) -> TokenStream {
        let mut needs = Needs::new(self.schedule());
        self.each().iter().for_each(|index| {
            needs.add(&index.lo).add(&index.hi);
        });
        let (bindings, name, vars) = (needs.bindings(), self.message_name(), self.variables());
        let inside = self.each().iter().map(|index| {
            let (name, lo, hi) = (ident(&index.var.name), rust(&index.lo), rust(&index.hi));
            let mut needs = Needs::new(self.schedule());
            needs.add(&index.lo).add(&index.hi);
            let definitions = needs.definitions();
            quote!({ #definitions #lo <= #name && #name < #hi })
        });
        let when = self.when_call().map(|call| quote!(if !#call { return None; }));
        let (blocks, peer) = (self.blocks_call(), self.peer_call());
        let (generics, life, result) = self.blocks_type();
        quote! {
            fn #name #generics(&#life self, at: &#life Place #generics, #(#vars: i64),*) -> Option<StepMessage<#result>> {
                #bindings
                #(if !#inside { return None; })*
                #when
                harness::message(#blocks, || #peer)
            }
        }
    }
}
