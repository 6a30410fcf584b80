//! The methods of one loop: what a round does to an element, and what `holds` says of it before and after.

use super::named::names;
use super::turn::backward_states;
use super::{left_by, lines, set, variables};
use crate::emission::rust::expr::{Needs, ident};
use crate::emission::rust::functions::{TransferCode, scoped};
use crate::emission::rust::harness::value;
use crate::emission::rust::rounds::add_loop;
use crate::proof::harness::claims::facts;
use crate::schedule::message::Direction;
use crate::schedule::{BoundScope, Loop, Schedule};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// Which rounds of a loop the code is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// One arbitrary round: any index is drawn, and facts determine the states.
    OneRound,
    /// Every round of a rank: indices are given, and states are computed from the first round on.
    EveryRound,
    /// A round of an arbitrary turn of the first index: indices and states are given.
    OneTurn,
}

/// A loop, as the number of it that the names of its methods have.
pub(super) struct LoopCode<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) n: usize,
    pub(super) l: &'a Loop,
    pub(super) follows: Follows,
}

impl LoopCode<'_> {
    pub(super) fn name(&self, what: &str) -> Ident {
        self.name_of(what, self.n)
    }

    /// The name of a method of another loop.
    pub(super) fn name_of(&self, what: &str, n: usize) -> Ident {
        match self.follows {
            Follows::OneTurn => format_ident!("roundel_turn_{what}_{n}"),
            _ => format_ident!("roundel_{what}_{n}"),
        }
    }

    pub(super) fn walks(&self) -> bool {
        self.follows == Follows::EveryRound
    }

    /// What the methods get about a round: its indices, and its states unless they are computed.
    pub(super) fn arguments(&self) -> Vec<Ident> {
        match self.walks() {
            true => self.indices(),
            false => variables(self.l),
        }
    }

    pub(super) fn indices(&self) -> Vec<Ident> {
        self.l.indices.iter().map(|index| ident(&index.var.name)).collect()
    }

    pub(super) fn states_names(&self) -> Vec<Ident> {
        self.l.states.iter().map(|state| ident(&state.var.name)).collect()
    }

    pub(super) fn methods(&self) -> TokenStream {
        let clauses = TransferCode::of_loop(self.schedule, self.l);
        let carries: TokenStream = clauses.iter().map(TransferCode::carries).collect();
        let (held, left, before) = (self.held(), self.left(), self.before());
        let (sent, received) = (self.counterpart(Direction::Send), self.counterpart(Direction::Recv));
        let kept = match self.follows {
            Follows::OneRound => self.kept(&clauses),
            Follows::EveryRound | Follows::OneTurn => self.walked(&clauses),
        };
        let (first, brings) = (self.first(), self.brings());
        let more = match self.follows {
            Follows::OneTurn => self.turn(),
            // What a turn carries, the walk has methods for.
            Follows::OneRound | Follows::EveryRound => {
                let states = self.states();
                quote!(#carries #states)
            }
        };
        quote!(#held #left #before #sent #received #kept #first #brings #more)
    }

    /// What `holds` says that a rank has.
    pub(super) fn held(&self) -> TokenStream {
        if set(self.l, 0).is_none() {
            return quote!();
        }
        let mut needs = Needs::new(self.schedule);
        needs.name("p");
        needs.add(&self.schedule.blocks);
        let sets = (0..lines(self.schedule)).filter_map(|line| set(self.l, line));
        let parts = sets.clone().flat_map(|(_, set)| &set.parts);
        for part in parts {
            needs.add(&part.item);
            part.filter.iter().for_each(|filter| {
                needs.add(filter);
            });
            part.over.iter().for_each(|index| {
                needs.add(&index.lo).add(&index.hi);
            });
        }
        let lines = sets.enumerate().map(|(line, (block, set))| {
            let line = Literal::usize_unsuffixed(line);
            let block = block.map(|var| ident(&var.name)).map(|name| quote!(let #name = element.block;));
            let names = names(self.schedule, set);
            quote!(roundel_counts[#line] = { #block #names };)
        });
        let (name, vars, computed) = (self.name("held"), self.arguments(), self.computed());
        let (bindings, definitions) = (needs.bindings(), needs.definitions());
        quote! {
            fn #name(&self, at: &Place, element: &Element, #(#vars: i64),*) -> Result<Counts, Stop> {
                #computed
                #bindings
                #definitions
                let mut roundel_counts = Counts::default();
                #(#lines)*
                Ok(roundel_counts)
            }
        }
    }

    /// What a rank has after the last round.
    pub(super) fn left(&self) -> TokenStream {
        let (name, held, vars) = (self.name("left"), self.name("held"), self.arguments());
        if self.l.indices.is_empty() {
            // Without a set of its own, the loop leaves what the next one begins with, or what the contract says.
            let begun = self.name_of("begun", self.n + 1);
            let counts = match set(self.l, 0) {
                Some(_) => quote!(self.#held(at, element)),
                None if self.n + 1 < self.schedule.loops.len() => quote!(self.#begun(at, element)),
                None => quote!(Ok(harness::sets::complete())),
            };
            return quote! {
                fn #name(&self, at: &Place, element: &Element) -> Result<Counts, Stop> {
                    #counts
                }
            };
        }
        let bindings = self.bindings();
        let indices = self.l.indices.iter().enumerate().map(|(i, index)| {
            let name = ident(&index.var.name);
            let value = scoped(self.schedule, &[&index.lo, &index.hi], |e| {
                let (lo, hi) = (&e[0], &e[1]);
                if i == 0 { quote!(arith::max(#lo, #hi)) } else { lo.clone() }
            });
            quote!(let #name = #value;)
        });
        let slots: Vec<usize> = self.l.states.iter().map(|state| state.var.slot).collect();
        let determined = self.l.states.iter().filter(|_| !self.walks());
        let states = determined.filter_map(|state| {
            let name = ident(&state.var.name);
            let value = if state.backward { &state.init } else { value(self.l, state, &slots)?.1 };
            let value = scoped(self.schedule, &[value], |e| e[0].clone());
            Some(quote!(let #name = #value;))
        });
        quote! {
            fn #name(&self, at: &Place, element: &Element) -> Result<Counts, Stop> {
                #bindings
                #(#indices)*
                #(#states)*
                self.#held(at, element, #(#vars),*)
            }
        }
    }

    /// What a rank has before a round.
    pub(super) fn before(&self) -> TokenStream {
        let (name, vars) = (self.name("before"), self.arguments());
        let counts = if self.l.indices.is_empty() {
            let left = self.left_before();
            quote!(Ok(#left))
        } else {
            let held = self.name("held");
            quote!(self.#held(at, element, #(#vars),*))
        };
        quote! {
            fn #name(&self, at: &Place, element: &Element, #(#vars: i64),*) -> Result<Counts, Stop> {
                #counts
            }
        }
    }

    pub(super) fn bindings(&self) -> TokenStream {
        let mut needs = Needs::new(self.schedule);
        needs.name("p");
        facts(self.l).for_each(|fact| {
            needs.add(fact);
        });
        add_loop(&mut needs, self.l);
        self.l.transfers.iter().flat_map(|t| &t.each).for_each(|index| {
            needs.add(&index.lo).add(&index.hi);
        });
        let limits = self.schedule.bounds.iter().filter(|bound| bound.scope == BoundScope::PerRound(self.n));
        limits.filter(|_| self.follows != Follows::OneRound).for_each(|bound| {
            needs.add(&bound.value);
        });
        needs.bindings()
    }

    /// Claims the facts of `holds`.
    pub(super) fn facts(&self) -> TokenStream {
        let facts = facts(self.l).map(|fact| scoped(self.schedule, &[fact], |e| e[0].clone()));
        quote!(#(harness::claim!(#facts, "a fact of `holds` is true");)*)
    }

    /// Claims that a loop begins with what is there.
    fn first(&self) -> TokenStream {
        if self.l.indices.is_empty() || self.follows == Follows::OneTurn && backward_states(self.l) {
            return quote!();
        }
        let (name, held, vars) = (self.name("first"), self.name("held"), self.arguments());
        let (bindings, facts, left) = (self.bindings(), self.facts(), self.left_before());
        let indices = self.begins();
        let computed = self.computed();
        let states = self.l.states.iter().filter(|_| !self.walks()).map(|state| {
            let (name, init) = (ident(&state.var.name), scoped(self.schedule, &[&state.init], |e| e[0].clone()));
            quote!(let #name = #init;)
        });
        let begun = self.name("begun");
        quote! {
            fn #begun(&self, at: &Place, element: &Element) -> Result<Counts, Stop> {
                #bindings
                #indices
                #(#states)*
                #computed
                #facts
                self.#held(at, element, #(#vars),*)
            }

            fn #name(&self, at: &Place, element: &Element) -> Verdict {
                harness::claim!(
                    harness::sets::equal(&self.#begun(at, element)?, &#left),
                    "the sets of `holds` are true where a loop begins"
                );
                Ok(())
            }
        }
    }

    /// The indices of the first round.
    pub(super) fn begins(&self) -> TokenStream {
        let indices = self.l.indices.iter().map(|index| {
            let (name, lo) = (ident(&index.var.name), scoped(self.schedule, &[&index.lo], |e| e[0].clone()));
            quote!(let #name = #lo;)
        });
        quote!(#(#indices)*)
    }

    /// What a rank has when the loop begins.
    pub(super) fn left_before(&self) -> TokenStream {
        left_by(&self.name_of("left", self.n.wrapping_sub(1)), self.n)
    }
}
