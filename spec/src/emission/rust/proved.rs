//! Refuses calls that are not proved.

use super::expr::{Needs, ident, number};
use crate::check::range::{Placements, ProvedRange};
use crate::meaning::arith::MAX_P;
use crate::proof::{GrantedCalls, Record};
use crate::schedule::Schedule;
use proc_macro2::TokenStream;
use quote::quote;
use std::path::Path;

/// `proved`, and `proved_in_order` where it differs.
pub(super) fn proved(schedule: &Schedule, granted: &GrantedCalls) -> TokenStream {
    let proved = method(schedule, &granted.all, "proved", Some("inners_proved"));
    let alone = (!schedule.inners.is_empty()).then(|| method(schedule, &granted.all, "proved_alone", None));
    let may_differ = granted.ordered != granted.all || !schedule.inners.is_empty();
    let ordered = (schedule.kind.reduces() && may_differ)
        .then(|| method(schedule, &granted.ordered, "proved_in_order", Some("inners_proved_in_order")));
    let bounds = (granted.bounded != granted.all).then(|| {
        let text = granted.bounded.text(schedule);
        quote!(const BOUNDS_PROVED_FOR: Option<&'static str> = Some(#text);)
    });
    let record = granted.recorded.then(|| {
        let path = Record::path(Path::new(""), schedule).to_string_lossy().into_owned();
        quote!(const RECORD: Option<&'static str> = Some(#path);)
    });
    quote!(#bounds #record #proved #alone #ordered)
}

/// A method that refuses calls outside a range, and those that a method for the inner collectives refuses.
fn method(schedule: &Schedule, range: &ProvedRange, name: &str, inners: Option<&str>) -> TokenStream {
    let (name_of_method, inners) = (ident(name), inners.filter(|_| !schedule.inners.is_empty()).map(ident));
    let mut needs = Needs::new(schedule);
    needs.name("p");
    let most = number(range.p.unwrap_or(MAX_P));
    let mut outside = vec![quote!(p > #most)];
    let mut limits = vec![quote!(("p", p, 1, #most))];
    for (parameter, limit) in schedule.numbers.iter().zip(&range.numbers) {
        // The domain already refuses a parameter that does not fit the machine.
        let Some(limit) = limit else { continue };
        let (text, name) = (&parameter.var.name, ident(&parameter.var.name));
        let (least, most) = (number(parameter.domain.lo), number(*limit));
        needs.name(text);
        outside.push(quote!(#name > #most));
        limits.push(quote!((#text, #name, #least, #most)));
    }
    for (parameter, limit) in schedule.lists.iter().zip(&range.lists) {
        let (text, name) = (&parameter.var.name, ident(&parameter.var.name));
        let (len_text, least) = (format!("len({text})"), number(parameter.domain.lo));
        needs.name(text);
        let (len, value) = limit.unwrap_or((MAX_P, MAX_P));
        let (len, value) = (number(len), number(value));
        outside.push(quote!(#name.len() as i64 > #len || #name.iter().any(|&element| element > #value)));
        limits.push(quote!((#len_text, #name.len() as i64, 0, #len)));
        let largest = quote!(#name.iter().copied().max().unwrap_or(#least));
        limits.push(quote!((#text, #largest, #least, #value)));
    }
    let (bindings, text) = (needs.bindings(), range.text(schedule));
    let elsewhere = match range.placements {
        // The answer must be the same on all ranks: all of them know whether a placement is regular.
        Some(Placements::Regular { all_up_to }) => {
            let all_up_to = number(all_up_to);
            quote! {
                if p > #all_up_to && !at.is_regular() {
                    return Err(Refusal::Placement { range: #text });
                }
            }
        }
        Some(Placements::Every) | None => quote!(),
    };
    let inners = match inners {
        None => quote!(Ok(())),
        Some(inners) => quote!(self.#inners(at)),
    };
    quote! {
        fn #name_of_method(&self, at: &Place<'_>) -> Result<(), Refusal> {
            #bindings
            if #(#outside)||* {
                return Err(Refusal::beyond(#text, PROVE, &[#(#limits),*]));
            }
            #elsewhere
            #inners
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// The methods that are emitted for a reduction that is proved for all p and in order for p <= 8.
    fn emitted(ordered: Option<i64>) -> String {
        let schedule = crate::schedule::reference::of(crate::Kind::Allreduce);
        let all = ProvedRange { p: None, ..ProvedRange::nothing(&schedule) };
        let granted = GrantedCalls { ordered: ProvedRange { p: ordered, ..all.clone() }, ..GrantedCalls::fully(all) };
        proved(&schedule, &granted).to_string()
    }

    #[test]
    fn an_order_that_is_proved_for_fewer_calls_has_a_method_of_its_own() {
        let method = "fn proved_in_order";
        assert!(!emitted(None).contains(method));
        let differs = emitted(Some(8));
        let (all, ordered) = differs.split_once(method).unwrap();
        assert!(!all.contains("p > 8"), "{all}");
        assert!(ordered.contains("p > 8"), "{ordered}");
    }

    #[test]
    fn a_record_is_named_if_there_is_one() {
        let schedule = crate::schedule::reference::of(crate::Kind::Allreduce);
        let told = |recorded| {
            let granted = GrantedCalls { recorded, ..GrantedCalls::nothing(&schedule) };
            proved(&schedule, &granted).to_string()
        };
        assert!(!told(false).contains("RECORD"));
        let named = format!("Some (\"proofs/{}.json\")", schedule.name);
        assert!(told(true).contains(&named), "{}", told(true));
    }

    #[test]
    fn bounds_that_are_proved_for_fewer_calls_are_told() {
        let schedule = crate::schedule::reference::of(crate::Kind::Allreduce);
        let all = ProvedRange { p: None, ..ProvedRange::nothing(&schedule) };
        let told = |p| {
            let bounded = ProvedRange { p, ..all.clone() };
            proved(&schedule, &GrantedCalls { bounded, ..GrantedCalls::fully(all.clone()) }).to_string()
        };
        assert!(!told(None).contains("BOUNDS_PROVED_FOR"));
        assert!(told(Some(8)).contains("BOUNDS_PROVED_FOR : Option < & 'static str > = Some (\"p <= 8\")"));
    }
}
