//! The harness about the sets of `holds`: which collectives have it, and how its methods are put together.

mod effects;
mod messages;
mod named;
mod rounds;
mod states;
mod turn;

use self::named::names;
use self::rounds::{Follows, LoopCode};
use self::turn::borne_nodes;
pub(super) use self::turn::has_turn;
use super::choice;
use crate::emission::rust::blocks::blocks;
use crate::emission::rust::expr::{Needs, ident};
use crate::emission::rust::functions::scoped;
use crate::proof::harness::SETS_CLAUSES;
use crate::proof::harness::sets::LINES;
use crate::schedule::blocks::BlockSet;
use crate::schedule::contract::Kind;
use crate::schedule::expr::Var;
use crate::schedule::message::{Action, Direction};
use crate::schedule::{Bound, BoundScope, Group, Hold, Loop, Metric, Schedule, State, Transfer, Within};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// The largest number of parts of the harness about turns.
const TURN_PARTS: usize = 5;

/// Whether the harness can follow an element through the collective: every line has a set in every loop, membership of
/// every set is a formula, every state is determined by a fact, and every clause makes one message at most.
pub(super) fn has_sets(schedule: &Schedule) -> bool {
    let flat = !schedule.uses_placement() && schedule.inners.is_empty() && schedule.reverse_of.is_none();
    flat && lines(schedule) <= LINES && schedule.loops.iter().all(|l| follows(schedule, l))
}

/// Whether Kani bears the harness: few clauses, each of which looks for its counterpart among the others; no
/// parameters; and sets that do not depend on the block.
pub(super) fn is_simple(schedule: &Schedule) -> bool {
    let by_block = |hold: &Hold| matches!(hold, Hold::Contributors { block: Some(_), .. });
    let parameters = schedule.numbers.len() + schedule.lists.len();
    parameters == 0
        && schedule.transfers().count() <= SETS_CLAUSES
        && !schedule.loops.iter().flat_map(|l| &l.holds).any(by_block)
}

/// Whether the harness can walk through a collective that looks at nodes: its states are computed, not determined by a
/// fact; a loop without a set is a single round before one with a set, or the last.
pub(super) fn has_walk(schedule: &Schedule) -> bool {
    let all = matches!(schedule.kind, Kind::Allgather | Kind::Allreduce);
    let parameters = schedule.numbers.len() + schedule.lists.len();
    let looks = schedule.uses_placement() && schedule.reverse_of.is_none() && parameters == 0 && all;
    looks && lines(schedule) == 1 && (0..schedule.loops.len()).all(|n| walks(schedule, n))
}

fn walks(schedule: &Schedule, n: usize) -> bool {
    let l = &schedule.loops[n];
    let next = schedule.loops.get(n + 1);
    let known = match set(l, 0) {
        Some((_, set)) => names(schedule, set).is_some(),
        None => l.indices.is_empty() && next.is_none_or(|next| !next.indices.is_empty() && set(next, 0).is_some()),
    };
    let brings = |within: &Within| {
        let group = matches!(within.group, Group::Node | Group::All);
        group && !schedule.is_stage(within) && (schedule.kind.reduces() || names(schedule, &within.brings).is_some())
    };
    known
        && independent(l)
        && l.states.iter().all(|state| state.each == 0)
        && l.within.iter().all(brings)
        && l.transfers.iter().all(|t| can_arrive(schedule, t) && names_block(schedule, t))
}

/// Whether a formula says which blocks a message names.
fn names_block(schedule: &Schedule, t: &Transfer) -> bool {
    blocks(&t.blocks, &mut Needs::new(schedule)).single || names(schedule, &t.blocks).is_some()
}

/// Whether the effect of a receive on one element depends on that element alone.
fn can_arrive(schedule: &Schedule, t: &Transfer) -> bool {
    !(schedule.kind.reduces() && t.direction == Direction::Recv && t.site.action == Action::Copy)
}

/// Whether the bounds of an index do not depend on the indices around it.
fn independent(l: &Loop) -> bool {
    l.indices.iter().enumerate().all(|(i, index)| {
        l.indices[..i].iter().all(|outer| !index.lo.mentions(outer.var.slot) && !index.hi.mentions(outer.var.slot))
    })
}

/// Whether all messages are stripes, so that their functions have no loops.
pub(super) fn has_stripes(schedule: &Schedule) -> bool {
    schedule.transfers().all(|t| blocks(&t.blocks, &mut Needs::new(schedule)).single)
}

fn follows(schedule: &Schedule, l: &Loop) -> bool {
    let slots: Vec<usize> = l.states.iter().map(|state| state.var.slot).collect();
    let forwards = |state: &State| !state.backward && super::value(l, state, &slots).is_some();
    let clause = |direction| l.transfers.iter().filter(move |t| t.direction == direction).count();
    let alone = clause(Direction::Send) == 1 && clause(Direction::Recv) == 1;
    independent(l)
        && l.states.iter().all(forwards)
        && (0..lines(schedule)).all(|line| set(l, line).is_some_and(|(_, set)| names(schedule, set).is_some()))
        && l.transfers.iter().all(|t| {
            let single = blocks(&t.blocks, &mut Needs::new(schedule)).single && !schedule.kind.moves();
            t.each.is_empty() && can_arrive(schedule, t) && (single || alone && names(schedule, &t.blocks).is_some())
        })
}

fn lines(schedule: &Schedule) -> usize {
    schedule.lines.len().max(1)
}

/// The set of a line, and the variable of its block.
fn set(l: &Loop, line: usize) -> Option<(Option<&Var>, &BlockSet)> {
    l.holds.iter().find_map(|hold| match hold {
        Hold::Blocks(set) if line == 0 => Some((None, set)),
        Hold::Contributors { line: own, block, ranks } if usize::from(*own) == line => Some((block.as_ref(), ranks)),
        _ => None,
    })
}

fn variables(l: &Loop) -> Vec<Ident> {
    let indices = l.indices.iter().map(|index| &index.var);
    indices.chain(l.states.iter().map(|state| &state.var)).map(|var| ident(&var.name)).collect()
}

/// The methods, and the body of `Probe::sets`.
pub(super) fn sets(schedule: &Schedule) -> (TokenStream, TokenStream) {
    let (mut methods, mut arms) = (TokenStream::new(), Vec::new());
    for (n, l) in schedule.loops.iter().enumerate() {
        let code = LoopCode { schedule, n, l, follows: Follows::OneRound };
        methods.extend(code.methods());
        let (step, first) = (format_ident!("roundel_kept_{n}"), format_ident!("roundel_first_{n}"));
        arms.push(quote!(self.#step(at, element, width)));
        if !l.indices.is_empty() {
            arms.push(quote!(self.#first(at, element)));
        }
    }
    arms.push(finally(schedule, Follows::OneRound));
    (methods, choice(arms))
}

/// The methods, and the body of `Probe::walk`: every round of the rank, one after another.
pub(super) fn walk(schedule: &Schedule) -> (TokenStream, TokenStream) {
    let mut methods = TokenStream::new();
    let mut rounds = TokenStream::new();
    let mut needs = Needs::new(schedule);
    for (n, l) in schedule.loops.iter().enumerate() {
        let code = LoopCode { schedule, n, l, follows: Follows::EveryRound };
        methods.extend(code.methods());
        l.indices.iter().for_each(|index| {
            needs.add(&index.lo).add(&index.hi);
        });
        let (kept, first, vars) = (code.name("kept"), code.name("first"), code.arguments());
        let body = quote!(self.#kept(at, element, used, #(#vars),*)?;);
        let body = l.indices.iter().rev().fold(body, |body, index| {
            let name = ident(&index.var.name);
            let range = scoped(schedule, &[&index.lo, &index.hi], |e| {
                let (lo, hi) = (&e[0], &e[1]);
                quote!(#lo..#hi)
            });
            quote!(for #name in #range { #body })
        });
        let first = (!l.indices.is_empty()).then(|| quote!(self.#first(at, element)?;));
        rounds.extend(quote!(#first #body));
    }
    let totals = totals(schedule);
    totals.iter().for_each(|(bound, _)| {
        needs.add(&bound.value);
    });
    let (bindings, finally) = (needs.bindings(), finally(schedule, Follows::EveryRound));
    let totals = totals.into_iter().map(|(bound, used)| limit(schedule, bound, used));
    let body = quote! {
        #bindings
        #rounds
        #(#totals)*
        #finally
    };
    (methods, body)
}

/// Claims that a bound is kept.
fn limit(schedule: &Schedule, bound: &Bound, used: TokenStream) -> TokenStream {
    let value = scoped(schedule, &[&bound.value], |e| e[0].clone());
    let text = Literal::string(&format!("the bound on {} is kept", bound.metric));
    quote!(harness::claim!(#used <= #value, #text);)
}

/// The methods, and the body of `Probe::turn`.
pub(super) fn turn(schedule: &Schedule) -> (TokenStream, TokenStream) {
    let (mut methods, mut rounds, mut others) = (TokenStream::new(), Vec::new(), Vec::new());
    for code in turns(schedule) {
        methods.extend(code.methods());
        rounds.extend(code.round_arms());
        others.extend(code.other_arms());
    }
    others.push(finally(schedule, Follows::OneTurn));
    let last = rounds.len().min(TURN_PARTS - 1);
    others.extend(rounds.split_off(last));
    let (numbers, others) = ((0..last).map(Literal::usize_unsuffixed), choice(others));
    (methods, quote!(match part { #(#numbers => #rounds,)* _ => #others }))
}

/// The number of parts into which the harness is divided: rounds of many clauses, one each, and all that is left.
pub(super) fn turn_parts(schedule: &Schedule) -> usize {
    let rounds: usize = turns(schedule).map(|code| code.round_arms().len()).sum();
    rounds.min(TURN_PARTS - 1) + 1
}

/// Whether Kani bears a part of the harness on nodes of this size.
pub(super) fn bears_turn(schedule: &Schedule, part: usize, ppn: i64) -> bool {
    let mut borne = turns(schedule).flat_map(|code| vec![borne_nodes(schedule, code.l); code.round_arms().len()]);
    let last = part + 1 == turn_parts(schedule);
    let all = schedule.loops.iter().any(|l| l.states.iter().any(|state| state.backward));
    if last {
        !all && borne.skip(part).all(|most| ppn <= most)
    } else {
        borne.nth(part).is_some_and(|most| ppn <= most)
    }
}

fn turns(schedule: &Schedule) -> impl Iterator<Item = LoopCode<'_>> {
    schedule.loops.iter().enumerate().map(|(n, l)| LoopCode { schedule, n, l, follows: Follows::OneTurn })
}

/// The bounds on the messages of a rank between nodes, each with what has been counted.
fn totals(schedule: &Schedule) -> Vec<(&Bound, TokenStream)> {
    let totals = schedule.bounds.iter().filter(|bound| matches!(bound.scope, BoundScope::Max | BoundScope::Each));
    totals
        .filter_map(|bound| match bound.metric {
            Metric::NonlocalMessagesSent => Some((bound, quote!(used.sent))),
            Metric::NonlocalMessagesReceived => Some((bound, quote!(used.received))),
            Metric::NonlocalRounds => Some((bound, quote!(used.rounds))),
            _ => None,
        })
        .collect()
}

/// Claims what a rank has at the end.
fn finally(schedule: &Schedule, follows: Follows) -> TokenStream {
    let n = schedule.loops.len();
    let last = schedule.loops.last().map(|l| LoopCode { schedule, n: n - 1, l, follows }.name("left"));
    let last = last.map_or_else(|| quote!(harness::sets::initially(self, at, element)), |name| left_by(&name, n));
    quote!({ harness::sets::finally(self, at, element, &#last) })
}

/// What a rank has before loop `n`; `left` is the method of the loop before it.
fn left_by(left: &Ident, n: usize) -> TokenStream {
    match n {
        0 => quote!(harness::sets::initially(self, at, element)),
        _ => quote!(self.#left(at, element)?),
    }
}
