//! The methods of one loop: what a round does to an element, and what `holds` says of it before and after.

use super::named::names;
use super::turn::backward_states;
use super::{left_by, limit, lines, set, variables};
use crate::emission::rust::blocks::blocks;
use crate::emission::rust::expr::{Needs, ident, rust};
use crate::emission::rust::functions::{TransferCode, scoped, site};
use crate::emission::rust::groups::WithinCode;
use crate::emission::rust::harness::{drawn, states, value};
use crate::emission::rust::rounds::{add_loop, backward};
use crate::proof::harness::claims::facts;
use crate::schedule::message::Direction;
use crate::schedule::{Bound, BoundScope, Loop, Metric, Schedule, State};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

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

    fn walks(&self) -> bool {
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

    /// The states, if they are computed.
    fn computed(&self) -> TokenStream {
        let (name, indices, states) = (self.name("states"), self.arguments(), self.states_names());
        match self.walks() && !states.is_empty() {
            true => quote!(let (#(#states,)*) = self.#name(at, #(#indices),*);),
            false => quote!(),
        }
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
    fn held(&self) -> TokenStream {
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
    fn left(&self) -> TokenStream {
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
    fn before(&self) -> TokenStream {
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

    /// The message with this number among those of a rank with the other one. In a walk there is one at most.
    fn counterpart(&self, direction: Direction) -> TokenStream {
        let (name, before, vars) = (
            self.name(if direction == Direction::Send { "sent" } else { "received" }),
            self.name("before"),
            self.arguments(),
        );
        let codes = TransferCode::of_loop(self.schedule, self.l);
        let clauses = codes.iter().filter(|code| code.direction() == direction).map(|code| {
            let (carries, line) = (code.carries_name(), Literal::usize_unsuffixed(code.line()));
            // Of a message that I send, the other rank's receive tells nothing but the message.
            let held = if direction == Direction::Send { quote!(roundel_held[#line]) } else { quote!(0) };
            let (all, found) =
                (code.variables(), quote!(harness::sets::Arrival { message: roundel_message, held: #held }));
            let found = match self.follows {
                Follows::EveryRound | Follows::OneTurn => quote! {
                    harness::claim!(roundel_found.is_none(), "a rank has one message for another in a round");
                    roundel_found = Some(#found);
                },
                Follows::OneRound => quote! {
                    if roundel_left == 0 {
                        return Ok(Some(#found));
                    }
                    roundel_left -= 1;
                },
            };
            self.each(
                code,
                quote! {
                    if let Some(roundel_message) = self.#carries(at, element, #(#all),*)? {
                        if roundel_message.peer == roundel_with {
                            #found
                        }
                    }
                },
            )
        });
        let (bindings, computed) = (self.bindings(), self.computed());
        let held = (direction == Direction::Send)
            .then(|| quote!(let roundel_held = self.#before(at, element, #(#vars),*)?;));
        quote! {
            fn #name(&self, at: &Place, roundel_with: i64, roundel_number: i64, element: &Element, #(#vars: i64),*)
                -> Result<Option<harness::sets::Arrival>, Stop> {
                #held
                let mut roundel_left = roundel_number;
                let mut roundel_found = None;
                #computed
                #bindings
                #(#clauses)*
                Ok(roundel_found)
            }
        }
    }

    /// The loops of a clause around the code of one message.
    pub(super) fn each(&self, code: &TransferCode<'_>, inside: TokenStream) -> TokenStream {
        code.each().iter().rev().fold(inside, |inside, index| {
            let name = ident(&index.var.name);
            let range = scoped(self.schedule, &[&index.lo, &index.hi], |e| {
                let (lo, hi) = (&e[0], &e[1]);
                quote!(#lo..#hi)
            });
            quote!(for #name in #range { #inside })
        })
    }

    fn bindings(&self) -> TokenStream {
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

    /// One arbitrary round.
    fn kept(&self, clauses: &[TransferCode<'_>]) -> TokenStream {
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
    fn walked(&self, clauses: &[TransferCode<'_>]) -> TokenStream {
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
    fn limits(&self) -> TokenStream {
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
    fn group(&self, code: &WithinCode<'_>) -> TokenStream {
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

    /// The states of a round, computed.
    fn states(&self) -> TokenStream {
        let names: Vec<Ident> = self.l.states.iter().map(|state| ident(&state.var.name)).collect();
        let Some(index) = self.l.indices.first().filter(|_| self.walks() && !names.is_empty()) else {
            return quote!();
        };
        let (name, vars, bindings) = (self.name("states"), self.arguments(), self.bindings());
        let forward: Vec<&State> = self.l.states.iter().filter(|state| !state.backward).collect();
        let moving: Vec<Ident> = forward.iter().map(|state| ident(&state.var.name)).collect();
        let inits = forward.iter().map(|state| scoped(self.schedule, &[&state.init], |e| e[0].clone()));
        let next = forward.iter().map(|state| scoped(self.schedule, &[&state.next], |e| e[0].clone()));
        let (s, lo) = (ident(&index.var.name), scoped(self.schedule, &[&index.lo], |e| e[0].clone()));
        let forward = (!forward.is_empty()).then(|| {
            quote! {
                #(let mut #moving = #inits;)*
                for #s in #lo..#s {
                    (#(#moving,)*) = (#(#next,)*);
                }
            }
        });
        let backward = backward(self.schedule, self.l);
        let types = names.iter().map(|_| quote!(i64));
        quote! {
            fn #name(&self, at: &Place, #(#vars: i64),*) -> (#(#types,)*) {
                #bindings
                #forward
                #backward
                (#(#names,)*)
            }
        }
    }

    /// How often a member of a group brings the element.
    fn brings(&self) -> TokenStream {
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

    /// What one clause does to the element.
    fn message(&self, earlier: &[TransferCode<'_>], code: &TransferCode<'_>) -> TokenStream {
        let (vars, all) = (self.arguments(), code.variables());
        let (carries, site, sent) = (code.carries_name(), site(code.its_site()), self.name("sent"));
        let received = self.name("received");
        let ordered = self.follows == Follows::OneRound;
        let same = earlier.iter().filter(|other| other.direction() == code.direction() && ordered).map(|other| {
            let carries = other.carries_name();
            quote! {
                if let Some(roundel_earlier) = self.#carries(at, element, #(#vars),*)? {
                    roundel_number += (roundel_earlier.peer == roundel_mine.peer) as i64;
                }
            }
        });
        let theirs = self.states_there(&quote!(&roundel_there));
        let effect = match code.direction() {
            Direction::Send => quote! {
                harness::sets::send::<Self>(&roundel_mine, #site, &roundel_before, &mut roundel_counts)?;
                match { #theirs self.#received(&roundel_there, at.rank, roundel_number, element, #(#vars),*)? } {
                    Some(roundel_theirs) => harness::sets::agree(&roundel_mine, &roundel_theirs.message)?,
                    None => harness::claim!(roundel_mine.times == 0, "the peer receives what is sent"),
                }
            },
            Direction::Recv => quote! {
                let roundel_theirs =
                    { #theirs self.#sent(&roundel_there, at.rank, roundel_number, element, #(#vars),*)? };
                harness::sets::receive::<Self>(&roundel_mine, #site, roundel_theirs, &mut roundel_counts)?;
            },
        };
        let sends = code.direction() == Direction::Send;
        let counted = (self.follows != Follows::OneRound).then(|| quote!(used.message(at, &roundel_there, #sends);));
        self.each(
            code,
            quote! {
                if let Some(roundel_mine) = self.#carries(at, element, #(#all),*)? {
                    let roundel_there = harness::sets::other(at, &roundel_mine)?;
                    let mut roundel_number = 0;
                    #(#same)*
                    #counted
                    #effect
                }
            },
        )
    }

    /// Advances indices and states to the next round.
    fn advance(&self) -> TokenStream {
        let Some(last) = self.l.indices.len().checked_sub(1) else { return quote!() };
        let stated = |state: &&State| match self.follows {
            Follows::OneRound => !state.backward,
            Follows::EveryRound => false,
            Follows::OneTurn => true,
        };
        let mut code = TokenStream::new();
        for (level, index) in self.l.indices.iter().enumerate().rev() {
            let name = ident(&index.var.name);
            let moving = self.l.states.iter().filter(stated).filter(|state| state.each == level);
            let moving: Vec<&State> = moving.collect();
            let names: Vec<_> = moving.iter().map(|state| ident(&state.var.name)).collect();
            let next = moving.iter().map(|state| match state.backward {
                true => self.later(state).into_token_stream(),
                false => scoped(self.schedule, &[&state.next], |e| e[0].clone()),
            });
            let step = quote! {
                let (#(#names,)*) = (#(#next,)*);
                let #name = #name + 1;
            };
            if level == last {
                code = step;
                continue;
            }
            // The inner index starts again when it has reached its end.
            let inner = &self.l.indices[level + 1];
            let inner_name = ident(&inner.var.name);
            let (lo, hi) = (
                scoped(self.schedule, &[&inner.lo], |e| e[0].clone()),
                scoped(self.schedule, &[&inner.hi], |e| e[0].clone()),
            );
            let changed = quote!((#inner_name, #name, #(#names),*));
            code = quote! {
                #code
                let #changed = if #inner_name < #hi { #changed } else {
                    #step
                    let #inner_name = #lo;
                    #changed
                };
            };
        }
        code
    }

    /// Claims the facts of `holds`.
    fn facts(&self) -> TokenStream {
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

impl TransferCode<'_> {
    fn carries_name(&self) -> Ident {
        format_ident!("roundel_carries_{}", self.site())
    }

    /// The method for what the clause's message means for the element.
    fn carries(&self) -> TokenStream {
        let schedule = self.schedule();
        let set = self.blocks_set();
        let mut needs = Needs::new(schedule);
        needs.name("p");
        needs.add(&schedule.blocks);
        let single = blocks(set, &mut needs).single && !schedule.kind.moves();
        let (name, vars) = (self.carries_name(), self.variables());
        let (bindings, definitions) = (needs.bindings(), needs.definitions());
        let body = if single {
            let (message, modulus) = (self.message_call(self), rust(&schedule.blocks));
            // The bindings may take a copy of the place.
            quote! {
                let roundel_message = #message;
                #bindings
                #definitions
                harness::sets::carried(roundel_message, element.block, #modulus)
            }
        } else {
            let when = self.when_call().map(|call| quote!(if !#call { return Ok(None); }));
            let (peer, times) = (self.peer_call(), names(schedule, set));
            if !schedule.kind.moves() {
                let message = self.message_call(self);
                quote! {
                    let Some(roundel_message) = #message else { return Ok(None) };
                    #bindings
                    #definitions
                    let roundel_peer = roundel_message.peer as i64;
                    Ok(Some(harness::sets::Carried { peer: roundel_peer, times: #times, stripe: None }))
                }
            } else {
                // A message of many blocks: without the element it does not matter, and without blocks it has no peer.
                quote! {
                    #bindings
                    #definitions
                    #when
                    let roundel_times = #times;
                    if roundel_times == 0 {
                        return Ok(None);
                    }
                    Ok(Some(harness::sets::Carried { peer: #peer as i64, times: roundel_times, stripe: None }))
                }
            }
        };
        quote! {
            fn #name(&self, at: &Place, element: &Element, #(#vars: i64),*)
                -> Result<Option<harness::sets::Carried>, Stop> {
                #body
            }
        }
    }
}
