//! What one round does to an element: its messages, its groups, and the claims about them.

use super::named::names;
use super::rounds::{Follows, LoopCode};
use super::{limit, variables};
use crate::emission::rust::blocks::blocks;
use crate::emission::rust::expr::Needs;
use crate::emission::rust::functions::{TransferCode, scoped};
use crate::emission::rust::groups::WithinCode;
use crate::emission::rust::harness::{drawn, states};
use crate::schedule::{Bound, BoundScope, Metric};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

impl LoopCode<'_> {
    /// One arbitrary round.
    pub(super) fn kept(&self, clauses: &[TransferCode<'_>]) -> TokenStream {
        let bindings = self.bindings();
        let indices = self.l.indices.iter().map(|index| drawn(self.schedule, index, quote!(pick)));
        let (states, rest) = states(self.schedule, self.l);
        let rest: Vec<_> = if self.l.indices.is_empty() { Vec::new() } else { rest };
        let assumptions = rest.iter().map(|fact| scoped(self.schedule, &[fact], |e| e[0].clone()));
        let (name, before, held) = (self.name("kept"), self.name("before"), self.name("held"));
        let vars = self.arguments();
        let messages = clauses.iter().enumerate().map(|(i, code)| self.message(&clauses[..i], code));
        let (advance, facts) = (self.advance(), self.facts());
        quote! {
            fn #name(&self, at: &Place, element: &Element, width: Width) -> Verdict {
                #bindings
                #(#indices)*
                #(#states)*
                #(harness::assume(#assumptions)?;)*
                let roundel_before = self.#before(at, element, #(#vars),*)?;
                let mut roundel_counts = roundel_before;
                #(#messages)*
                #advance
                #facts
                harness::claim!(
                    harness::sets::equal(&self.#held(at, element, #(#vars),*)?, &roundel_counts),
                    "the sets of `holds` are what the round makes of them"
                );
                Ok(())
            }
        }
    }

    /// One round of a walk or of a turn.
    pub(super) fn walked(&self, clauses: &[TransferCode<'_>]) -> TokenStream {
        let (bindings, computed, facts) = (self.bindings(), self.computed(), self.facts());
        let (name, before, vars) = (self.name("kept"), self.name("before"), self.arguments());
        let messages = clauses.iter().enumerate().map(|(i, code)| self.message(&clauses[..i], code));
        let groups = WithinCode::of_loop(self.schedule, self.l).into_iter().map(|code| self.group(&code));
        let (left, held) = (self.name("left"), self.name("held"));
        let after = match self.l.indices.is_empty() {
            true => quote!(self.#left(at, element)?),
            false => quote!(self.#held(at, element, #(#vars),*)?),
        };
        let (advance, limits) = (self.advance(), self.limits());
        // Without an index, facts describe the state afterwards.
        let facts = if self.l.indices.is_empty() { quote!() } else { facts };
        // In a turn, facts are what the next round finds.
        let (facts, kept) = if self.walks() { (facts, quote!()) } else { (quote!(), facts) };
        let later = self.laters();
        quote! {
            fn #name(&self, at: &Place, element: &Element, used: &mut Crossings, #(#vars: i64,)* #(#later: i64),*)
                -> Verdict {
                #computed
                #bindings
                #facts
                used.begin();
                let roundel_before = self.#before(at, element, #(#vars),*)?;
                let mut roundel_counts = roundel_before;
                #(#messages)*
                #(#groups)*
                used.end();
                #limits
                #advance
                #kept
                harness::claim!(
                    harness::sets::equal(&#after, &roundel_counts),
                    "the sets of `holds` are what the round makes of them"
                );
                Ok(())
            }
        }
    }

    /// Claims the bounds on messages between nodes in one round.
    pub(super) fn limits(&self) -> TokenStream {
        let own = |bound: &&Bound| bound.scope == BoundScope::PerRound(self.n);
        let claims = self.schedule.bounds.iter().filter(own).filter_map(|bound| {
            let used = match bound.metric {
                Metric::NonlocalMessagesSent => quote!(used.sent_now),
                Metric::NonlocalMessagesReceived => quote!(used.received_now),
                _ => return None,
            };
            Some(limit(self.schedule, bound, used))
        });
        quote!(#(#claims)*)
    }

    /// What a group of ranks that runs an inner collective does, by its contract.
    pub(super) fn group(&self, code: &WithinCode<'_>) -> TokenStream {
        let (group, member, all) = (code.name("group"), code.name("member"), variables(self.l));
        let (vars, before, states) = (self.arguments(), self.name("before"), self.name("states"));
        let line = Literal::usize_unsuffixed(code.within().site.line.into());
        let brings = self.name_of("brings", code.within().site.number.into());
        let names = self.states_names();
        let theirs = match self.walks() && !names.is_empty() {
            true => quote!(let (#(#names,)*) = self.#states(at, #(#vars),*);),
            false => self.states_there(&quote!(at)),
        };
        let brought = match self.schedule.kind.reduces() {
            true => quote!(self.#before(at, element, #(#vars),*)?[#line]),
            false => quote!(self.#brings(at, element, #(#vars),*)?),
        };
        let own = match self.schedule.kind.reduces() {
            // What members have before the round is what they bring.
            true => quote!(harness::claim!(used.quiet(), "members of a group have no messages in the same round");),
            false => quote! {
                let roundel_own = self.#brings(at, element, #(#vars),*)?;
                harness::claim!(roundel_own <= roundel_counts[#line], "what is brought is held");
                roundel_counts[#line] -= roundel_own;
            },
        };
        let start = if self.schedule.kind.reduces() { quote!(0) } else { quote!(roundel_counts[#line]) };
        quote! {
            if let Some(roundel_group) = self.#group(at, #(#all),*) {
                #own
                roundel_counts[#line] = #start;
                for roundel_index in 0..roundel_group.p {
                    let roundel_there = at.of(self.#member(at, roundel_index, #(#all),*) as i64);
                    let at = &roundel_there;
                    #theirs
                    let roundel_same = self.#group(at, #(#all),*);
                    harness::sets::member(roundel_index, &roundel_group, roundel_same)?;
                    roundel_counts[#line] += #brought;
                }
                harness::claim!(roundel_counts[#line] <= 1, "nothing arrives or is reduced twice");
            }
        }
    }

    /// How often a member of a group brings the element.
    pub(super) fn brings(&self) -> TokenStream {
        let follows = self.follows != Follows::OneRound && !self.schedule.kind.reduces();
        let brought = self.l.within.iter().filter(|_| follows);
        let methods = brought.map(|within| {
            let (name, vars) = (self.name_of("brings", within.site.number.into()), self.arguments());
            let mut needs = Needs::new(self.schedule);
            needs.name("p");
            let _ = blocks(&within.brings, &mut needs);
            let (computed, bindings, definitions) = (self.computed(), needs.bindings(), needs.definitions());
            let names = names(self.schedule, &within.brings);
            quote! {
                fn #name(&self, at: &Place, element: &Element, #(#vars: i64),*) -> Result<i64, Stop> {
                    #computed
                    #bindings
                    #definitions
                    Ok(#names)
                }
            }
        });
        methods.collect()
    }
}
