//! The messages of one loop: what each clause carries of an element, and what the other end says of the same message.

use super::named::names;
use super::rounds::{Follows, LoopCode};
use crate::emission::rust::blocks::blocks;
use crate::emission::rust::expr::{Needs, ident, rust};
use crate::emission::rust::functions::{TransferCode, scoped, site};
use crate::schedule::message::Direction;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

impl LoopCode<'_> {
    /// The message with this number among those of a rank with the other one. In a walk there is one at most.
    pub(super) fn counterpart(&self, direction: Direction) -> TokenStream {
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

    /// What one clause does to the element.
    pub(super) fn message(&self, earlier: &[TransferCode<'_>], code: &TransferCode<'_>) -> TokenStream {
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
}

impl TransferCode<'_> {
    fn carries_name(&self) -> Ident {
        format_ident!("roundel_carries_{}", self.site())
    }

    /// The method for what the clause's message means for the element.
    pub(super) fn carries(&self) -> TokenStream {
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
