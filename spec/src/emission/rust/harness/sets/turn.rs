//! The harness about one turn of a loop: the rounds that one value of its first index has.
//!
//! A walk computes the states of every rank from the first round on, which Kani cannot bear. Here the states are given:
//! those that a fact of `holds` determines, or, where states are computed from the last round backwards, any that
//! satisfy the facts. Other ranks have the same states if they belong to the same group, which is also shown: whoever
//! satisfies the facts after a turn satisfied them before it, and computes the same.

use super::rounds::{Follows, LoopCode};
use super::{has_walk, limit, set, totals};
use crate::emission::rust::expr::{Needs, ident, number};
use crate::emission::rust::functions::{TransferCode, scoped};
use crate::emission::rust::harness::{drawn, value};
use crate::emission::rust::rounds::add_loop;
use crate::proof::harness::claims::facts;
use crate::schedule::expr::Expr;
use crate::schedule::message::{Action, Direction};
use crate::schedule::{Loop, Schedule, State};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// Whether the harness can follow an element through one turn: states are the same on all ranks and determined by a
/// fact, or computed backwards from what all ranks know, with facts that tell which ranks have the same.
pub(in crate::emission::rust) fn has_turn(schedule: &Schedule) -> bool {
    has_walk(schedule)
        && schedule.loops.iter().enumerate().all(|(n, l)| {
            let next = schedule.loops.get(n + 1);
            let opens = l.indices.is_empty() && set(l, 0).is_none() && next.is_some_and(backward_states);
            !opens && ranges_agree(schedule, l) && states_known(schedule, l)
        })
}

/// The largest nodes on which Kani bears a round of a loop: none where states are computed backwards, because too much
/// is divided by what is not constant, or where the order of ranks decides the side of an operand.
pub(super) fn borne_nodes(schedule: &Schedule, l: &Loop) -> i64 {
    let has = |combines: fn(&Action) -> bool| l.transfers.iter().any(|t| combines(&t.site.action));
    let by_rank =
        has(|a| matches!(a, Action::CombineLeft { .. })) && has(|a| matches!(a, Action::CombineRight { .. }));
    if by_rank || schedule.loops.iter().any(backward_states) {
        0
    } else if !l.transfers.is_empty() && !l.within.is_empty() {
        2
    } else {
        i64::MAX
    }
}

/// Whether the states of a loop are computed backwards.
pub(super) fn backward_states(l: &Loop) -> bool {
    l.states.iter().any(|state| state.backward)
}

fn ranges_agree(schedule: &Schedule, l: &Loop) -> bool {
    l.indices.iter().all(|index| !looks(schedule, &index.lo) && !looks(schedule, &index.hi))
}

fn states_known(schedule: &Schedule, l: &Loop) -> bool {
    let slots: Vec<usize> = l.states.iter().map(|state| state.var.slot).collect();
    let begins_alike = l.states.iter().all(|state| !looks(schedule, &state.init));
    let forward = |state: &State| {
        let value = value(l, state, &slots).is_some_and(|(_, value)| !looks(schedule, value));
        !state.backward && value && !looks(schedule, &state.next)
    };
    let backward = l.states.iter().all(|state| state.backward) && facts(l).any(|fact| looks(schedule, fact));
    begins_alike && (l.states.iter().all(forward) || backward)
}

/// Whether an expression may differ between ranks.
fn looks(schedule: &Schedule, e: &Expr) -> bool {
    let mut needs = Needs::new(schedule);
    needs.add(e);
    ["rank", "node", "local", "ppn"].iter().any(|name| needs.has(name))
}

/// What to do with facts.
#[derive(Clone, Copy)]
enum FactUse {
    Claimed,
    Assumed,
}

impl LoopCode<'_> {
    /// The states after a turn, where the states of the turn follow from them.
    pub(super) fn laters(&self) -> Vec<Ident> {
        let backward = self.l.states.iter().filter(|state| state.backward && self.follows == Follows::OneTurn);
        backward.map(|state| self.later(state)).collect()
    }

    pub(super) fn later(&self, state: &State) -> Ident {
        format_ident!("roundel_later_{}", state.var.name)
    }

    /// Binds the states of another rank, if they may differ from one's own.
    pub(super) fn states_there(&self, there: &TokenStream) -> TokenStream {
        let (laters, names) = (self.laters(), self.states_names());
        let Some(index) = self.l.indices.first().filter(|_| !laters.is_empty()) else { return quote!() };
        let (name, index) = (self.name("states"), ident(&index.var.name));
        quote!(let (#(#names,)*) = self.#name(#there, #index, #(#laters),*)?;)
    }

    /// The claims about single rounds, each an alternative.
    pub(super) fn round_arms(&self) -> Vec<TokenStream> {
        if self.l.indices.is_empty() {
            let kept = self.name("kept");
            return vec![quote!(self.#kept(at, element, used))];
        }
        let any = self.name("any");
        self.inner_values().into_iter().map(|values| quote!(self.#any(at, element, used, width, #values))).collect()
    }

    /// The claims about what is between rounds, each an alternative.
    pub(super) fn other_arms(&self) -> Vec<TokenStream> {
        if self.l.indices.is_empty() {
            return Vec::new();
        }
        let [first, agree, total] = ["first", "agree", "total"].map(|what| self.name(what));
        let mut arms = match backward_states(self.l) {
            true => vec![quote!(self.#first(at, element, width)), quote!(self.#agree(at, width))],
            false => vec![quote!(self.#first(at, element))],
        };
        if self.has_totals() {
            arms.push(quote!(self.#total(at, used, width)));
        }
        arms
    }

    /// The values of the inner indices, if they are literal: a choice for each alternative. Otherwise none, and any
    /// values are drawn.
    fn inner_values(&self) -> Vec<TokenStream> {
        match literal(self.l) {
            Some(values) => values.map(|value| number(value).into_token_stream()).collect(),
            None => vec![quote!()],
        }
    }

    /// The methods that only a turn has.
    pub(super) fn turn(&self) -> TokenStream {
        if self.l.indices.is_empty() {
            return quote!();
        }
        let (any, assumed) = (self.any(), self.facts_method("assumed", FactUse::Assumed, |_| true));
        let total = self.has_totals().then(|| self.total());
        let backward = backward_states(self.l).then(|| self.backward_methods());
        quote!(#any #total #assumed #backward)
    }

    fn backward_methods(&self) -> TokenStream {
        let place = |fact: &Expr| looks(self.schedule, fact);
        let claimed = self.facts_method("claimed", FactUse::Claimed, |_| true);
        let (near, member) = (
            self.facts_method("near", FactUse::Assumed, place),
            self.facts_method("member", FactUse::Claimed, place),
        );
        let (computed, first, agree) = (self.computed_back(), self.first_back(), self.agree());
        quote!(#claimed #near #member #computed #first #agree)
    }

    fn turn_bindings(&self) -> TokenStream {
        let mut needs = Needs::new(self.schedule);
        needs.name("p");
        add_loop(&mut needs, self.l);
        facts(self.l).for_each(|fact| {
            needs.add(fact);
        });
        if self.has_totals() {
            self.l.transfers.iter().flat_map(|t| &t.each).for_each(|index| {
                needs.add(&index.lo).add(&index.hi);
            });
            totals(self.schedule).iter().for_each(|(bound, _)| {
                needs.add(&bound.value);
            });
        }
        needs.bindings()
    }

    /// Claims or assumes some facts at a place, for given indices and states.
    fn facts_method(&self, what: &str, how: FactUse, which: impl Fn(&Expr) -> bool) -> TokenStream {
        let (name, vars, bindings) = (self.name(what), self.arguments(), self.turn_bindings());
        let facts = facts(self.l).filter(|fact| which(fact)).map(|fact| {
            let fact = scoped(self.schedule, &[fact], |e| e[0].clone());
            match how {
                FactUse::Claimed => quote!(harness::claim!(#fact, "a fact of `holds` is true");),
                FactUse::Assumed => quote!(harness::assume(#fact)?;),
            }
        });
        quote! {
            fn #name(&self, at: &Place, #(#vars: i64),*) -> Verdict {
                #bindings
                #(#facts)*
                Ok(())
            }
        }
    }

    /// Any value of the first index, and the others as they are when a turn begins.
    fn any_turn(&self) -> TokenStream {
        let draws = drawn(self.schedule, &self.l.indices[0], quote!(pick));
        let inner = self.inner_begins();
        quote!(#draws #inner)
    }

    fn inner_begins(&self) -> TokenStream {
        let inner = self.l.indices[1..].iter().map(|index| {
            let (name, lo) = (ident(&index.var.name), scoped(self.schedule, &[&index.lo], |e| e[0].clone()));
            quote!(let #name = #lo;)
        });
        quote!(#(#inner)*)
    }

    /// Any states that satisfy the facts at `index`; in a test, those that the rank reaches.
    fn any_states(&self, names: &[Ident], index: &TokenStream) -> TokenStream {
        let walked = format_ident!("roundel_states_{}", self.n);
        let (assumed, inner) = (self.name("assumed"), &self.indices()[1..]);
        quote! {
            #[cfg(kani)]
            #(let #names = harness::draw(0, width.state + 1, width.state)?;)*
            #[cfg(not(kani))]
            let (#(#names,)*) = self.#walked(at, #index, #(#inner),*);
            self.#assumed(at, #index, #(#inner,)* #(#names),*)?;
        }
    }

    /// The states of a turn, from those after it.
    fn computed_back(&self) -> TokenStream {
        let (name, member, bindings, inner) =
            (self.name("states"), self.name("member"), self.turn_bindings(), self.inner_begins());
        let (laters, names, indices) = (self.laters(), self.states_names(), self.indices());
        let index = &indices[0];
        let next = self.l.states.iter().map(|state| scoped(self.schedule, &[&state.next], |e| e[0].clone()));
        let types = names.iter().map(|_| quote!(i64));
        quote! {
            fn #name(&self, at: &Place, #index: i64, #(#laters: i64),*) -> Result<(#(#types,)*), Stop> {
                #bindings
                let #index = #index + 1;
                #inner
                let (#(#names,)*) = (#(#laters,)*);
                self.#member(at, #(#indices,)* #(#names),*)?;
                Ok((#(#next,)*))
            }
        }
    }

    /// Claims that a loop begins with what is there.
    fn first_back(&self) -> TokenStream {
        let (name, held, left) = (self.name("first"), self.name("held"), self.left_before());
        let (bindings, begins, vars, names) =
            (self.turn_bindings(), self.begins(), self.arguments(), self.states_names());
        let index = &self.indices()[0];
        let states = self.any_states(&names, &quote!(#index));
        quote! {
            fn #name(&self, at: &Place, element: &Element, width: Width) -> Verdict {
                #bindings
                #begins
                #states
                harness::claim!(
                    harness::sets::equal(&self.#held(at, element, #(#vars),*)?, &#left),
                    "the sets of `holds` are true where a loop begins"
                );
                Ok(())
            }
        }
    }

    /// Claims that the facts are true after the last turn, and that ranks of which the facts of a turn are true had the
    /// same states after it and compute the same.
    fn agree(&self) -> TokenStream {
        let (name, computed, near, claimed) =
            (self.name("agree"), self.name("states"), self.name("near"), self.name("claimed"));
        let (bindings, turn, inner) = (self.turn_bindings(), self.any_turn(), self.inner_begins());
        let (indices, names, laters) = (self.indices(), self.states_names(), self.laters());
        let index = &indices[0];
        let later = self.any_states(&laters, &quote!(#index + 1));
        let end = scoped(self.schedule, &[&self.l.indices[0].lo, &self.l.indices[0].hi], |e| {
            let (lo, hi) = (&e[0], &e[1]);
            quote!(arith::max(#lo, #hi))
        });
        let inits = self.l.states.iter().map(|state| scoped(self.schedule, &[&state.init], |e| e[0].clone()));
        quote! {
            fn #name(&self, at: &Place, width: Width) -> Verdict {
                #bindings
                {
                    let #index = #end;
                    #inner
                    let (#(#names,)*) = (#(#inits,)*);
                    self.#claimed(at, #(#indices,)* #(#names),*)?;
                }
                #turn
                #later
                let (#(#names,)*) = self.#computed(at, #index, #(#laters),*)?;
                let roundel_there = harness::sets::anywhere(at)?;
                self.#near(&roundel_there, #(#indices,)* #(#names),*)?;
                let roundel_theirs = self.#computed(&roundel_there, #index, #(#laters),*)?;
                harness::claim!(roundel_theirs == (#(#names,)*), "the ranks of a group have the same states");
                Ok(())
            }
        }
    }

    /// Any round: of any turn, with these values of the inner indices, or any.
    fn any(&self) -> TokenStream {
        let (name, kept, bindings, turn) =
            (self.name("any"), self.name("kept"), self.turn_bindings(), self.any_turn());
        let (vars, laters, states) = (self.arguments(), self.laters(), self.turn_states());
        let inner = &self.l.indices[1..];
        let (given, drawn) = match literal(self.l) {
            Some(_) => {
                let (names, given): (Vec<_>, Vec<_>) =
                    inner.iter().map(|i| (ident(&i.var.name), format_ident!("roundel_any_{}", i.var.name))).unzip();
                (quote!(#(, #given: i64)*), quote!(#(let #names = #given;)*))
            }
            None => {
                let drawn = inner.iter().map(|index| drawn(self.schedule, index, quote!(pick)));
                (quote!(), quote!(#(#drawn)*))
            }
        };
        quote! {
            fn #name(&self, at: &Place, element: &Element, used: &mut Crossings, width: Width #given) -> Verdict {
                #bindings
                #turn
                #states
                #drawn
                self.#kept(at, element, used, #(#vars,)* #(#laters),*)
            }
        }
    }

    /// The states of a turn: determined by facts, or computed from any after it.
    fn turn_states(&self) -> TokenStream {
        let (vars, indices, names) = (self.arguments(), self.indices(), self.states_names());
        let index = &indices[0];
        if backward_states(self.l) {
            let (laters, computed, claimed) = (self.laters(), self.name("states"), self.name("claimed"));
            let later = self.any_states(&laters, &quote!(#index + 1));
            return quote! {
                #later
                let (#(#names,)*) = self.#computed(at, #index, #(#laters),*)?;
                self.#claimed(at, #(#vars),*)?;
            };
        }
        let slots: Vec<usize> = self.l.states.iter().map(|state| state.var.slot).collect();
        let values = self.l.states.iter().filter_map(|state| {
            let (name, (_, value)) = (ident(&state.var.name), value(self.l, state, &slots)?);
            let value = scoped(self.schedule, &[value], |e| e[0].clone());
            Some(quote!(let #name = harness::state(#value, width.state)?;))
        });
        let assumed = self.name("assumed");
        quote! {
            #(#values)*
            self.#assumed(at, #(#vars),*)?;
        }
    }

    /// Whether there are bounds on messages between nodes, and all declared messages are in this loop.
    fn has_totals(&self) -> bool {
        let alone = self.schedule.loops.iter().enumerate().all(|(n, l)| n == self.n || l.transfers.is_empty());
        alone && !totals(self.schedule).is_empty()
    }

    /// Claims the bounds on messages between nodes: as many turns as the loop has, each like this one, keep them.
    fn total(&self) -> TokenStream {
        let (name, bindings, turn) = (self.name("total"), self.turn_bindings(), self.any_turn());
        let (states, clauses) = (self.turn_states(), TransferCode::of_loop(self.schedule, self.l));
        let counted = clauses.iter().map(|code| {
            let (message, sends) = (code.message_call(code), code.direction() == Direction::Send);
            let counted = quote! {
                if let Some(roundel_message) = #message {
                    used.message(at, &harness::sets::toward(at, roundel_message.peer as i64)?, #sends);
                }
            };
            self.each(code, counted)
        });
        let round = quote! {
            used.begin();
            #(#counted)*
            used.end();
        };
        let rounds = self.l.indices[1..].iter().rev().fold(round, |round, index| {
            let name = ident(&index.var.name);
            let range = scoped(self.schedule, &[&index.lo, &index.hi], |e| {
                let (lo, hi) = (&e[0], &e[1]);
                quote!(#lo..#hi)
            });
            quote!(for #name in #range { #round })
        });
        let first = &self.l.indices[0];
        let turns = scoped(self.schedule, &[&first.lo, &first.hi], |e| {
            let (lo, hi) = (&e[0], &e[1]);
            quote!((#hi - #lo))
        });
        let totals = totals(self.schedule);
        let claims = totals.into_iter().map(|(bound, used)| limit(self.schedule, bound, quote!(#used * #turns)));
        quote! {
            fn #name(&self, at: &Place, used: &mut Crossings, width: Width) -> Verdict {
                #bindings
                #turn
                #states
                #rounds
                #(#claims)*
                Ok(())
            }
        }
    }
}

/// The values of the only inner index, if its range is literal.
pub(super) fn literal(l: &Loop) -> Option<std::ops::Range<i64>> {
    match l.indices.get(1..)? {
        [index] => match (&index.lo, &index.hi) {
            (Expr::Int(lo), Expr::Int(hi)) => Some(*lo..*hi),
            _ => None,
        },
        _ => None,
    }
}
