//! Evaluates expressions at a point, and interprets a schedule's rounds.
//!
//! This is the *second* reading of a declaration: the first is the generated code, which is what runs. The check at
//! compile time has no generated code yet and uses this one. A test compares the two, and they share only [`arith`].
//! This file therefore evaluates every set element by element, where generated code computes whole stripes.

mod groups;
mod memo;
mod reverse;
mod value;

use crate::meaning::arith::MAX_P;
use crate::meaning::arith::{self, budget};
use crate::meaning::place::Place;
use crate::meaning::sink::Sink;
use crate::meaning::stripes::{Blocks, Stripe};
use crate::schedule::affine::is_affine;
use crate::schedule::arguments::Arguments;
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::contract::Kind;
use crate::schedule::expr::Expr;
use crate::schedule::message::Direction;
use crate::schedule::{Field, Layout, Loop, Schedule, SchedulePart, State, Transfer};
pub use groups::ask as ask_groups;
use memo::Memo;
use std::convert::Infallible;
use std::fmt;

/// An expression that has no value at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalFault {
    /// A divisor is zero.
    DivisionByZero {
        /// The divisor, as written.
        divisor: String,
    },
    /// A function is not defined for its arguments.
    Undefined {
        /// The expression, as written.
        expr: String,
        /// The values of its arguments.
        values: Vec<i64>,
    },
    /// The value does not fit 64 bits.
    Overflow {
        /// The expression, as written.
        expr: String,
    },
    /// A list has no such element.
    NoElement {
        /// The expression, as written.
        expr: String,
        /// The index asked for.
        index: i64,
        /// The number of elements.
        len: usize,
    },
    /// The evaluation takes more steps than a collective can need.
    TooLong {
        /// The range or definition that exceeds the limit, as written.
        what: String,
        /// The number of steps that a rank may take.
        limit: i64,
    },
    /// The root of an inner collective is no rank.
    NoSuchRoot {
        /// The root, as written.
        root: String,
        /// Its value.
        value: i64,
        /// The number of ranks.
        p: i64,
    },
    /// Some members of a group run an inner collective, and others do not.
    NotTogether {
        /// The condition, as written.
        when: String,
        /// Two members.
        ranks: (i64, i64),
        /// Whether the first one runs it.
        here: bool,
    },
    /// A fault inside a definition.
    Inside {
        /// The definition, by its number.
        definition: usize,
        /// The fault.
        fault: Box<EvalFault>,
    },
}

impl EvalFault {
    /// The fault with its location: inside a definition, or `spot` itself.
    pub fn located(self, spot: SchedulePart) -> (SchedulePart, EvalFault) {
        match self {
            EvalFault::Inside { definition, fault } => (SchedulePart::Define(definition), *fault),
            fault => (spot, fault),
        }
    }

    /// The fault of a call; if definitions are nested, the innermost one is named.
    fn inside(self, definition: usize) -> EvalFault {
        match self {
            EvalFault::Inside { .. } => self,
            fault => EvalFault::Inside { definition, fault: Box::new(fault) },
        }
    }
}

impl fmt::Display for EvalFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalFault::DivisionByZero { divisor } => {
                write!(
                    f,
                    "the divisor `{divisor}` is 0; write `max(1, …)`, or exclude the case with `when` or `requires`"
                )
            }
            EvalFault::Undefined { expr, values } => write!(f, "`{expr}` is not defined for {values:?}"),
            EvalFault::Overflow { expr } => write!(f, "`{expr}` does not fit 64 bits"),
            EvalFault::NoElement { expr, index, len } => {
                write!(f, "`{expr}` asks for element {index} of a list of {len}; elements count from 0")
            }
            EvalFault::TooLong { what, limit } => {
                write!(f, "`{what}` takes more than {limit} steps; use ranges that grow with p, such as `0..p`")
            }
            EvalFault::NoSuchRoot { root, value, p } => {
                let last = p - 1;
                write!(f, "the root `{root}` is {value}, and the last rank is {last}; write for example `root = 0`")
            }
            EvalFault::NotTogether { when, ranks: (_, other), here } => write!(
                f,
                "`{when}` is {here}, and on rank {other} of the same group {}; write a condition on which all members \
                 agree",
                !here
            ),
            EvalFault::Inside { fault, .. } => fault.fmt(f),
        }
    }
}

/// Values for the variables of a schedule, on one rank.
#[derive(Clone, Debug)]
pub struct Env<'a> {
    schedule: &'a Schedule,
    values: Vec<i64>,
    args: &'a Arguments,
    place: Place<'a>,
    p: i64,
    /// The modulus around which the items of sets wrap.
    around: i64,
    /// The remaining steps.
    budget: i64,
    memo: Memo,
}

impl<'a> Env<'a> {
    /// The environment of the rank at `place`.
    pub fn new(schedule: &'a Schedule, args: &'a Arguments, place: &Place<'a>) -> Self {
        let mut values = vec![0; schedule.slots];
        values[..7].copy_from_slice(&place.values());
        for (number, value) in schedule.numbers.iter().zip(&args.numbers) {
            values[number.var.slot] = *value;
        }
        let around = if schedule.kind.moves() { place.p * place.p } else { place.p };
        let memo = Memo::new(schedule.functions.len());
        Env { schedule, values, args, place: *place, p: place.p, around, budget: budget(place.p), memo }
    }

    /// Takes steps from the budget; `what` names the cause when it is used up.
    fn spend(&mut self, steps: i64, what: impl FnOnce() -> String) -> Result<(), EvalFault> {
        self.budget = self.budget.saturating_sub(steps);
        if self.budget >= 0 { Ok(()) } else { Err(EvalFault::TooLong { what: what(), limit: budget(self.p) }) }
    }

    /// The bounds of a range that is about to be iterated over.
    fn range(&mut self, index: &Index) -> Result<(i64, i64), EvalFault> {
        let (lo, hi) = (self.eval(&index.lo)?, self.eval(&index.hi)?);
        self.spend(hi.saturating_sub(lo).max(0), || index.to_string())?;
        Ok((lo, hi))
    }

    /// Sets the number of blocks around which block sets wrap.
    pub fn wrap_around(&mut self, blocks: i64) {
        self.around = blocks;
    }

    /// Gives a variable a value.
    pub fn set(&mut self, slot: usize, value: i64) {
        self.values[slot] = value;
    }

    /// The value of a variable.
    pub fn get(&self, slot: usize) -> i64 {
        self.values[slot]
    }

    /// The same indices and states on another rank, with a budget of its own.
    pub fn on(&self, place: &Place<'a>) -> Self {
        let mut there = self.clone();
        there.values[..7].copy_from_slice(&place.values());
        let memo = Memo::new(self.schedule.functions.len());
        Env { place: *place, p: place.p, budget: budget(place.p), memo, ..there }
    }

    /// Whether a condition is true.
    pub fn holds(&mut self, condition: &Expr) -> Result<bool, EvalFault> {
        Ok(self.eval(condition)? != 0)
    }

    /// Calls `visit` for all values of nested indices.
    pub fn over<E: From<EvalFault>>(
        &mut self,
        indices: &[Index],
        visit: &mut impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((first, rest)) = indices.split_first() else { return visit(self) };
        let (lo, hi) = self.range(first)?;
        for value in lo..hi {
            self.values[first.var.slot] = value;
            self.over(rest, visit)?;
        }
        Ok(())
    }

    /// The same blocks as [`blocks`](Env::blocks), but faster for long ranges whose item is affine in the index: two
    /// evaluations give the first block and the step. For invariants, which name everything that is held in every
    /// round.
    pub fn many_blocks(&mut self, set: &BlockSet, out: &mut Vec<usize>) -> Result<(), EvalFault> {
        for part in &set.parts {
            match part.over.as_slice() {
                [index] if part.filter.is_none() && is_affine(&part.item, index.var.slot) => {
                    self.progression(part, index, out)?;
                }
                _ => self.part(part, out)?,
            }
        }
        Ok(())
    }

    fn progression(&mut self, part: &Comprehension, index: &Index, out: &mut Vec<usize>) -> Result<(), EvalFault> {
        let (lo, hi) = self.range(index)?;
        if hi.saturating_sub(lo) < 2 {
            return self.part(part, out);
        }
        let mut at = |value: i64| {
            self.values[index.var.slot] = value;
            self.eval(&part.item)
        };
        let (first, second, _last) = (at(lo)?, at(lo + 1)?, at(hi - 1)?);
        let step = second.checked_sub(first).ok_or_else(|| EvalFault::Overflow { expr: part.item.to_string() })?;
        out.extend(Stripe::new(first, step, hi - lo, self.around).iter());
        Ok(())
    }

    /// The peer of a clause's message for the current values of its indices, with its blocks in `blocks`; `None` if
    /// there is no message.
    pub fn message(&mut self, t: &Transfer, blocks: &mut Vec<usize>) -> Result<Option<usize>, (Field, EvalFault)> {
        let at = |field| move |fault| (field, fault);
        blocks.clear();
        if let Some(when) = &t.when
            && !self.holds(when).map_err(at(Field::When))?
        {
            return Ok(None);
        }
        self.blocks(&t.blocks, blocks).map_err(at(Field::Blocks))?;
        if blocks.is_empty() {
            return Ok(None);
        }
        Ok(Some(arith::wrap(self.eval(&t.peer).map_err(at(Field::Peer))?, self.p) as usize))
    }

    /// Writes the blocks of a set to `out`, in order.
    pub fn blocks(&mut self, set: &BlockSet, out: &mut Vec<usize>) -> Result<(), EvalFault> {
        set.parts.iter().try_for_each(|part| self.part(part, out))
    }

    fn part(&mut self, part: &Comprehension, out: &mut Vec<usize>) -> Result<(), EvalFault> {
        self.over(&part.over, &mut |env| {
            let counts = match &part.filter {
                Some(filter) => env.holds(filter)?,
                None => true,
            };
            if counts {
                let block = env.eval(&part.item)?;
                out.push(arith::wrap(block, env.around) as usize);
            }
            Ok::<(), EvalFault>(())
        })
    }
}

/// Why a walk ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt<E> {
    /// An expression has no value.
    Fault(SchedulePart, EvalFault),
    /// The walker, or its sink, stopped the walk.
    Stopped(E),
}

/// Adds the location to a fault.
pub fn at<T, E>(spot: SchedulePart, result: Result<T, EvalFault>) -> Result<T, Halt<E>> {
    result.map_err(|fault| {
        let (spot, fault) = fault.located(spot);
        Halt::Fault(spot, fault)
    })
}

/// Visits the rounds of a schedule, with the values of its variables.
pub trait Walker {
    /// The reason for a stop.
    type Stop;

    /// A round of loop number `n`.
    fn round(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Self::Stop>>;

    /// The end of loop number `n`: its outer index is one past its last value, its state is final.
    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Self::Stop>>;
}

/// Walks through all rounds of one rank.
pub fn walk<W: Walker>(env: &mut Env<'_>, walker: &mut W) -> Result<(), Halt<W::Stop>> {
    let schedule = env.schedule;
    if schedule.reverse_of.is_some() {
        return reverse::walk(env, walker);
    }
    for (n, l) in schedule.loops.iter().enumerate() {
        for (i, state) in l.states.iter().enumerate() {
            env.values[state.var.slot] = at(SchedulePart::State(n, i), env.eval(&state.init))?;
        }
        let past = backward(env, n, l)?;
        nest(env, n, l, 0, &past, walker)?;
        for inner in l.indices.iter().skip(1) {
            env.values[inner.var.slot] = at(SchedulePart::Round(n), env.eval(&inner.lo))?;
        }
        walker.settled(env, n, l)?;
    }
    Ok(())
}

/// The values of the states that run backwards in every round, computed from the last round on.
fn backward<E>(env: &mut Env<'_>, n: usize, l: &Loop) -> Result<Vec<Vec<i64>>, Halt<E>> {
    let all: Vec<(usize, &State)> = l.states.iter().enumerate().filter(|(_, state)| state.backward).collect();
    let (Some(index), false) = (l.indices.first(), all.is_empty()) else { return Ok(Vec::new()) };
    let (lo, hi) = at(SchedulePart::Round(n), env.range(index))?;
    let mut rounds = Vec::new();
    for later in (lo + 1..=hi).rev() {
        env.values[index.var.slot] = later;
        let values: Vec<i64> = all
            .iter()
            .map(|(i, state)| at(SchedulePart::State(n, *i), env.eval(&state.next)))
            .collect::<Result<_, _>>()?;
        all.iter().zip(&values).for_each(|((_, state), value)| env.values[state.var.slot] = *value);
        rounds.push(values);
    }
    Ok(rounds)
}

fn nest<W: Walker>(
    env: &mut Env<'_>,
    n: usize,
    l: &Loop,
    level: usize,
    past: &[Vec<i64>],
    walker: &mut W,
) -> Result<(), Halt<W::Stop>> {
    let Some(index) = l.indices.get(level) else { return walker.round(env, n, l) };
    let (lo, hi) = at(SchedulePart::Round(n), env.range(index))?;
    for value in lo..hi {
        env.values[index.var.slot] = value;
        if let Some(values) = past.get((hi - 1 - value) as usize).filter(|_| level == 0) {
            let states = l.states.iter().filter(|state| state.backward);
            states.zip(values).for_each(|(state, value)| env.values[state.var.slot] = *value);
        }
        nest(env, n, l, level + 1, past, walker)?;
        env.values[index.var.slot] = value;
        advance(env, n, l, level)?;
    }
    env.values[index.var.slot] = lo.max(hi);
    for (i, state) in l.states.iter().enumerate().filter(|(_, state)| state.backward && level == 0) {
        env.values[state.var.slot] = at(SchedulePart::State(n, i), env.eval(&state.init))?;
    }
    Ok(())
}

/// Advances the states of one index, all at once.
fn advance<E>(env: &mut Env<'_>, n: usize, l: &Loop, level: usize) -> Result<(), Halt<E>> {
    let moving = || l.states.iter().enumerate().filter(|(_, state)| state.each == level && !state.backward);
    let mut next = Vec::with_capacity(l.states.len());
    for (i, state) in moving() {
        next.push(at(SchedulePart::State(n, i), env.eval(&state.next))?);
    }
    moving().zip(next).for_each(|((_, state), value)| env.values[state.var.slot] = value);
    Ok(())
}

/// A list of blocks, for a [`Sink`].
#[derive(Clone)]
struct ListedBlocks<'a> {
    blocks: &'a [usize],
    around: i64,
}

impl Blocks for ListedBlocks<'_> {
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        let around = self.around;
        self.blocks.iter().map(move |&block| Stripe::one(block as i64, around))
    }
}

struct Drive<'s, S> {
    sink: &'s mut S,
    blocks: Vec<usize>,
}

impl<S: Sink> Drive<'_, S> {
    fn transfer(&mut self, env: &mut Env<'_>, t: &Transfer) -> Result<(), Halt<S::Error>> {
        // Faults inside `over` belong to its ranges; all others name their own field.
        struct Located<E>(Field, Halt<E>);
        impl<E> From<EvalFault> for Located<E> {
            fn from(fault: EvalFault) -> Self {
                Located(Field::Each, Halt::Fault(SchedulePart::Declaration, fault))
            }
        }
        let result = env.over(&t.each, &mut |env| self.message(env, t).map_err(|(field, halt)| Located(field, halt)));
        result.map_err(|Located(field, halt)| match halt {
            Halt::Fault(_, fault) => {
                let (spot, fault) = fault.located(SchedulePart::Transfer(t.site, field));
                Halt::Fault(spot, fault)
            }
            stopped => stopped,
        })
    }

    fn message(&mut self, env: &mut Env<'_>, t: &Transfer) -> Result<(), (Field, Halt<S::Error>)> {
        let fault = |(field, fault)| (field, Halt::Fault(SchedulePart::Declaration, fault));
        let Some(peer) = env.message(t, &mut self.blocks).map_err(fault)? else { return Ok(()) };
        let blocks = ListedBlocks { blocks: &self.blocks, around: env.around };
        let result = match t.direction {
            Direction::Send => self.sink.send(t.site, peer, blocks),
            Direction::Recv => self.sink.recv(t.site, peer, blocks),
        };
        result.map_err(|error| (Field::Whole, Halt::Stopped(error)))
    }
}

impl<S: Sink> Walker for Drive<'_, S> {
    type Stop = S::Error;

    fn round(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<S::Error>> {
        self.sink.begin_round().map_err(Halt::Stopped)?;
        for t in &l.transfers {
            self.transfer(env, t)?;
        }
        self.sink.end_round().map_err(Halt::Stopped)?;
        l.within.iter().try_for_each(|within| groups::run(env, within, self.sink))
    }

    fn settled(&mut self, _env: &mut Env<'_>, _n: usize, _l: &Loop) -> Result<(), Halt<S::Error>> {
        Ok(())
    }
}

/// Hands the rounds of the rank at `place` to `sink`, by interpretation.
pub fn rounds<S: Sink>(
    schedule: &Schedule,
    args: &Arguments,
    place: &Place<'_>,
    sink: &mut S,
) -> Result<(), Halt<S::Error>> {
    let mut env = Env::new(schedule, args, place);
    env.around = blocks(schedule, args, place)?;
    walk(&mut env, &mut Drive { sink, blocks: Vec::new() })
}

/// The number of blocks that a collective may always have, however few ranks there are.
pub const FEW_BLOCKS: i64 = 4096;

/// The number of blocks that a collective may have per rank.
pub const BLOCKS_PER_RANK: i64 = 16;

/// The largest number of blocks that a collective may have with `p` ranks; it is limited because every rank's part of
/// every block is kept in memory.
pub const fn most_blocks(kind: Kind, p: i64) -> i64 {
    let by_rank = p.saturating_mul(if kind.moves() { p } else { BLOCKS_PER_RANK });
    if by_rank > FEW_BLOCKS { by_rank } else { FEW_BLOCKS }
}

/// The number of blocks: at least one.
pub fn blocks<E>(schedule: &Schedule, args: &Arguments, place: &Place) -> Result<i64, Halt<E>> {
    match at(SchedulePart::Blocks, Env::new(schedule, args, place).eval(&schedule.blocks))? {
        blocks if blocks > most_blocks(schedule.kind, place.p) => {
            let (what, limit) = (format!("split({})", schedule.blocks), most_blocks(schedule.kind, place.p));
            Err(Halt::Fault(SchedulePart::Blocks, EvalFault::TooLong { what, limit }))
        }
        blocks if blocks > 0 => Ok(blocks),
        blocks => {
            let (expr, values) = (format!("split({})", schedule.blocks), vec![blocks]);
            Err(Halt::Fault(SchedulePart::Blocks, EvalFault::Undefined { expr, values }))
        }
    }
}

/// How far the blocks are rotated on the rank at `place`, if the schedule has a rotated layout.
pub fn rotation(schedule: &Schedule, args: &Arguments, place: &Place) -> Result<Option<i64>, Halt<Infallible>> {
    let by = schedule.layouts.iter().find_map(|layout| match layout {
        Layout::Rotated(by) => Some(by),
        Layout::InPlace => None,
    });
    by.map(|by| at(SchedulePart::Layout, Env::new(schedule, args, place).eval(by))).transpose()
}

/// The clause that a call violates, if it lies outside the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A parameter is not in its domain: its name.
    Parameter(String),
    /// A clause is false.
    Clause(SchedulePart),
    /// It divides the vector into so many blocks, and must take it as a whole.
    Divided(i64),
    /// An inner collective does not serve a group.
    Inner {
        /// The number of the inner collective.
        inner: usize,
        /// The number of ranks of the group.
        p: i64,
        /// The clause of the inner collective.
        outside: Box<Outside>,
    },
}

/// Whether a call lies in the declared domain.
pub fn admits(schedule: &Schedule, args: &Arguments, place: &Place) -> Result<Option<Outside>, Halt<Outside>> {
    for (number, &value) in schedule.numbers.iter().zip(&args.numbers) {
        if !number.domain.contains(value) || value > MAX_P {
            return Ok(Some(Outside::Parameter(number.var.name.clone())));
        }
    }
    for (list, values) in schedule.lists.iter().zip(&args.lists) {
        if !values.iter().all(|&value| list.domain.contains(value) && value <= MAX_P) {
            return Ok(Some(Outside::Parameter(list.var.name.clone())));
        }
    }
    let mut env = Env::new(schedule, args, place);
    for (i, clause) in schedule.requires.iter().enumerate() {
        if !at(SchedulePart::Requires(i), env.holds(clause))? {
            return Ok(Some(Outside::Clause(SchedulePart::Requires(i))));
        }
    }
    if schedule.loops.iter().any(|l| !l.ends_with.is_empty())
        && let Some(outside) = stopped(walk(&mut env, &mut FinalState))?
    {
        return Ok(Some(outside));
    }
    groups::admit(schedule, args, place)
}

/// The reason why a walk stopped.
fn stopped<E>(walked: Result<(), Halt<E>>) -> Result<Option<E>, Halt<E>> {
    match walked {
        Ok(()) => Ok(None),
        Err(Halt::Stopped(reason)) => Ok(Some(reason)),
        Err(fault) => Err(fault),
    }
}

/// Runs through the states only, to get their final values.
struct FinalState;

impl Walker for FinalState {
    type Stop = Outside;

    fn round(&mut self, _env: &mut Env<'_>, _n: usize, _l: &Loop) -> Result<(), Halt<Outside>> {
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Outside>> {
        for (i, clause) in l.ends_with.iter().enumerate() {
            let spot = SchedulePart::EndsWith(n, i);
            if !at(spot, env.holds(clause))? {
                return Err(Halt::Stopped(Outside::Clause(spot)));
            }
        }
        Ok(())
    }
}
