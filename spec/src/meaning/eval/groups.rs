//! Interprets inner collectives.

use super::{Env, EvalFault, Halt, ListedBlocks, Outside, Walker, admits, at, blocks, rounds, stopped, walk};
use crate::meaning::arith;
use crate::meaning::group::{InnerContract, Inside};
use crate::meaning::place::Place;
use crate::meaning::sink::Sink;
use crate::meaning::stripes::{Blocks, Stripe};
use crate::schedule::arguments::Arguments;
use crate::schedule::reference;
use crate::schedule::{Field, Group, Loop, Schedule, SchedulePart, Within};
use crate::trace::record::Recorder;
use std::borrow::Cow;
use std::convert::Infallible;

/// The group of one rank.
struct GroupMembers<'a> {
    /// What the rank knows in its group; `None` if it takes no part.
    place: Option<Place<'a>>,
    /// The ranks of its members, by index.
    ranks: Vec<usize>,
}

/// Runs the inner collective of a clause.
pub(super) fn run<S: Sink>(env: &mut Env<'_>, within: &Within, sink: &mut S) -> Result<(), Halt<S::Error>> {
    sink.enter_groups().map_err(Halt::Stopped)?;
    let spot = |field| SchedulePart::Transfer(within.site, field);
    if at(spot(Field::When), takes_part(env, within))? {
        let members = at(spot(Field::Peer), members(env, within))?;
        if let Some(place) = members.place {
            let brought = at(spot(Field::Blocks), brought(env, within, &members))?;
            let args = at(spot(Field::Peer), inner_arguments(env, within))?;
            at(spot(Field::Peer), root_is_a_member(env, within, &place))?;
            inside(env, within, &args, &place, &members.ranks, &brought, sink)?;
        }
    }
    sink.leave_groups().map_err(Halt::Stopped)
}

/// Whether the rank runs a clause. In a sequence all members of its group must do as it does: a collective may need
/// ranks that the simplest one of its kind does without.
fn takes_part(env: &mut Env<'_>, within: &Within) -> Result<bool, EvalFault> {
    let Some(when) = &within.when else { return Ok(true) };
    let here = env.holds(when)?;
    if !env.schedule.is_stage(within) {
        return Ok(here);
    }
    let rank = env.place.rank;
    let group = members(env, within)?;
    for other in group.ranks.into_iter().filter(|_| group.place.is_some()) {
        let there = env.on(&env.place.of(other as i64)).holds(when)?;
        if here != there {
            return Err(EvalFault::NotTogether { when: when.to_string(), ranks: (rank, other as i64), here });
        }
    }
    Ok(here)
}

/// The parameters of the inner collective: the clause says what its root is.
fn inner_arguments(env: &mut Env<'_>, within: &Within) -> Result<Arguments, EvalFault> {
    let inner = &env.schedule.inners[within.inner];
    let mut args = env.args.inner.get(within.inner).cloned().unwrap_or_default();
    if let Some(root) = &within.root {
        let root = env.eval(root)?;
        // The simplest collective has no other number.
        let position = inner.schedule.as_ref().and_then(|schedule| schedule.root_parameter()).unwrap_or(0);
        args.numbers.resize(args.numbers.len().max(position + 1), 0);
        args.numbers[position] = root;
    }
    Ok(args)
}

/// The root of the inner collective is one of its members.
fn root_is_a_member(env: &mut Env<'_>, within: &Within, place: &Place<'_>) -> Result<(), EvalFault> {
    let Some(root) = &within.root else { return Ok(()) };
    let (value, p) = (env.eval(root)?, place.p);
    let wrong = || EvalFault::NoSuchRoot { root: root.to_string(), value, p };
    (0..p).contains(&value).then_some(()).ok_or_else(wrong)
}

fn inside<S: Sink>(
    env: &Env<'_>,
    within: &Within,
    args: &Arguments,
    place: &Place<'_>,
    ranks: &[usize],
    brought: &[Vec<usize>],
    sink: &mut S,
) -> Result<(), Halt<S::Error>> {
    let inner = &env.schedule.inners[within.inner];
    let schedule = match &inner.schedule {
        Some(schedule) => Cow::Borrowed(&**schedule),
        None => Cow::Owned(reference::of(inner.kind)),
    };
    // The rounds are recorded first: nested sinks would be a new type at every depth.
    let mut recorder = Recorder::default();
    // A part of the inner declaration has no meaning in the outer one.
    let outward = |halt: Halt<Infallible>| match halt {
        Halt::Fault(_, fault) => Halt::Fault(SchedulePart::Transfer(within.site, Field::Whole), fault),
        Halt::Stopped(never) => match never {},
    };
    rounds(&schedule, args, place, &mut recorder).map_err(outward)?;
    let contract = InnerContract {
        kind: inner.kind,
        member: place.rank as usize,
        members: place.p as usize,
        root: schedule.root(args),
        blocks: blocks(&schedule, args, place).map_err(outward)? as usize,
        lines: schedule.lines_in_memory(),
    };
    let around = env.around;
    // An inner collective that divides the vector is not admitted where it must take it as a whole.
    let brings = |block: usize| ListedBlocks { blocks: brought.get(block).map_or(&[], Vec::as_slice), around };
    let (member, site, lines) = (|index: usize| ranks[index], within.site, env.schedule.lines.len());
    Inside { sink, member, brings, site, lines }.replay(contract, &recorder.finish()).map_err(Halt::Stopped)
}

/// The ranks that run the clause together with the rank of `env`.
fn members<'a>(env: &mut Env<'a>, within: &Within) -> Result<GroupMembers<'a>, EvalFault> {
    let at = env.place;
    let (size, index) = match &within.group {
        Group::Node => (at.ppn, at.local),
        Group::Lane => (at.nodes, if at.local < at.lanes { at.node } else { -1 }),
        Group::All => (at.p, at.rank),
        Group::Stride { distance, count } => {
            let (distance, count) = (env.eval(distance)?, env.eval(count)?);
            let index = arith::checked_div(at.rank, distance).and_then(|steps| arith::checked_rem(steps, count));
            let no_index = || EvalFault::DivisionByZero { divisor: "stride".into() };
            (count, index.ok_or_else(no_index)?)
        }
        Group::Ranks { first, count } => (env.eval(count)?, at.rank.saturating_sub(env.eval(first)?)),
    };
    let all = match &within.members {
        Some(members) => env.eval(members)?.clamp(0, size),
        None => size,
    };
    env.spend(all.max(0), || "within".into())?;
    let rank = |env: &mut Env<'a>, k: i64| -> Result<i64, EvalFault> {
        Ok(match &within.group {
            Group::Node => at.first_rank(at.node) + k,
            Group::Lane => at.first_rank(k) + at.local,
            Group::All => k,
            Group::Stride { distance, .. } => {
                let ahead = (k - index).saturating_mul(env.eval(distance)?);
                arith::wrap(at.rank.saturating_add(ahead), at.p)
            }
            Group::Ranks { first, .. } => arith::wrap(env.eval(first)?.saturating_add(k), at.p),
        })
    };
    let ranks = (0..all).map(|k| Ok(rank(env, k)? as usize)).collect::<Result<_, EvalFault>>()?;
    let place = (0..all).contains(&index).then(|| match within.group {
        Group::Node if all == size => at.inside_node(),
        Group::Lane => Place::apart(index, all),
        _ => Place::flat(index, all),
    });
    Ok(GroupMembers { place, ranks })
}

/// The blocks that each member contributes.
fn brought(env: &mut Env<'_>, within: &Within, members: &GroupMembers<'_>) -> Result<Vec<Vec<usize>>, EvalFault> {
    let kind = env.schedule.inners[within.inner].kind;
    if kind.takes_whole() {
        // All blocks that it runs on are one to the inner collective.
        let mut blocks = Vec::new();
        match within.brings.parts.is_empty() {
            true => blocks.extend(Stripe::new(0, 1, env.around, env.around).each()),
            false => env.blocks(&within.brings, &mut blocks)?,
        }
        return Ok(vec![blocks]);
    }
    let bring = |rank: usize, to: Option<usize>| {
        let (mut blocks, mut there) = (Vec::new(), env.on(&env.place.of(rank as i64)));
        if let (Some(var), Some(to)) = (&within.to, to) {
            there.set(var.slot, to as i64);
        }
        there.blocks(&within.brings, &mut blocks)?;
        Ok(blocks)
    };
    if within.to.is_none() {
        return members.ranks.iter().map(|&rank| bring(rank, None)).collect();
    }
    let all = members.ranks.len();
    members
        .ranks
        .iter()
        .flat_map(|&rank| (0..all).map(move |to| (rank, to)))
        .map(|(rank, to)| bring(rank, Some(to)))
        .collect()
}

/// Why a known inner collective does not serve one of the groups, if so.
pub(super) fn admit(
    schedule: &Schedule,
    args: &Arguments,
    place: &Place<'_>,
) -> Result<Option<Outside>, Halt<Outside>> {
    ask(schedule, args, place, &mut |inner, args, group| {
        let Some(schedule) = &schedule.inners[inner].schedule else { return Ok(None) };
        let whole = schedule.kind.takes_whole();
        let outside = match admits(schedule, args, group)? {
            None if whole => Some(blocks(schedule, args, group)?).filter(|&n| n != 1).map(Outside::Divided),
            outside => outside,
        };
        Ok(outside.map(|outside| Outside::Inner { inner, p: group.p, outside: Box::new(outside) }))
    })
}

/// A question about an inner collective: its number, its parameters, and what a rank knows in its group. An answer ends
/// the walk.
type Question<'q, T> = dyn FnMut(usize, &Arguments, &Place<'_>) -> Result<Option<T>, Halt<T>> + 'q;

/// Asks something about every inner collective whose schedule is known, in every group of every rank. Returns the first
/// answer.
pub fn ask<T>(
    schedule: &Schedule,
    args: &Arguments,
    place: &Place<'_>,
    question: &mut Question<'_, T>,
) -> Result<Option<T>, Halt<T>> {
    if schedule.inners.iter().all(|inner| inner.schedule.is_none()) {
        return Ok(None);
    }
    for rank in 0..place.p {
        let mut env = Env::new(schedule, args, &place.of(rank));
        if let Some(answer) = stopped(walk(&mut env, &mut Asked { question: &mut *question }))? {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

/// Runs through the groups of a rank, to ask something about the inner collectives.
struct Asked<'a, 'q, T> {
    question: &'a mut Question<'q, T>,
}

impl<T> Walker for Asked<'_, '_, T> {
    type Stop = T;

    fn round(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<T>> {
        for within in &l.within {
            if env.schedule.inners[within.inner].schedule.is_none() {
                continue;
            }
            let spot = SchedulePart::Transfer(within.site, Field::Peer);
            let takes_part = at(spot, takes_part(env, within))?;
            let args = at(spot, inner_arguments(env, within))?;
            if let Some(group) = at(spot, members(env, within))?.place.filter(|_| takes_part)
                && let Some(answer) = (self.question)(within.inner, &args, &group)?
            {
                return Err(Halt::Stopped(answer));
            }
        }
        Ok(())
    }

    fn settled(&mut self, _env: &mut Env<'_>, _n: usize, _l: &Loop) -> Result<(), Halt<T>> {
        Ok(())
    }
}
