//! Removes copies that are not needed.
//!
//! Forward: as long as a copy and its origin are equal, the origin is read. Then a copy that is never read is
//! removed. Backward: a value that is received or computed, and whose only use in the round is a copy, goes directly
//! to the destination of the copy, if nothing accesses that in between.

use crate::plan::{Local, OUTPUT, RankPlan, Slot, Turn};
use std::collections::{HashMap, HashSet};

/// Which slots hold copies of others.
#[derive(Default)]
struct Same {
    /// The slot that each slot was copied from.
    origin: HashMap<Slot, Slot>,
    /// The slots that were copied from each slot.
    copies: HashMap<Slot, Vec<Slot>>,
}

impl Same {
    /// The slot to read instead of a slot.
    fn read(&self, slot: Slot) -> Slot {
        self.origin.get(&slot).copied().unwrap_or(slot)
    }

    /// Notes that a slot is written: it is no longer a copy, and has no copies.
    fn written(&mut self, slot: Slot) {
        self.origin.remove(&slot);
        for copy in self.copies.remove(&slot).unwrap_or_default() {
            if self.origin.get(&copy) == Some(&slot) {
                self.origin.remove(&copy);
            }
        }
    }

    fn copied(&mut self, from: Slot, to: Slot) {
        self.origin.insert(to, from);
        self.copies.entry(from).or_default().push(to);
    }
}

/// Forwards copies: reads each copy at its origin.
pub(super) fn forward(part: &mut RankPlan) {
    let mut same = Same::default();
    for turn in &mut part.turns {
        let arriving: HashSet<Slot> = received(turn).collect();
        for slot in turn.sends.iter_mut().flat_map(|message| &mut message.slots) {
            // A message must not read a slot that another message of the turn writes.
            let origin = same.read(*slot);
            *slot = if arriving.contains(&origin) { *slot } else { origin };
        }
        arriving.iter().for_each(|&slot| same.written(slot));
        turn.locals.iter_mut().for_each(|local| forward_local(&mut same, local));
        turn.locals.retain(|local| !matches!(local, Local::Copy { from, to } if from == to));
    }
}

fn forward_local(same: &mut Same, local: &mut Local) {
    match local {
        Local::Copy { from, to } => {
            *from = same.read(*from);
            if from != to {
                same.written(*to);
                same.copied(*from, *to);
            }
        }
        Local::Combine { left, right, into } => {
            (*left, *right) = (same.read(*left), same.read(*right));
            same.written(*into);
        }
    }
}

fn received(turn: &Turn) -> impl Iterator<Item = Slot> + '_ {
    turn.receives.iter().flat_map(|message| message.slots.iter().copied())
}

/// The slots that are read after the last round.
fn results(part: &RankPlan) -> HashSet<Slot> {
    let promised = |&block: &usize| part.kind.must_hold(part.rank, block, part.root, part.p);
    (0..part.blocks).filter(promised).map(|block| Slot::new(OUTPUT, block as u32)).collect()
}

/// Updates liveness from after the messages of a turn to before them.
fn before_messages(turn: &Turn, live: &mut HashSet<Slot>) {
    received(turn).for_each(|slot| {
        live.remove(&slot);
    });
    live.extend(turn.sends.iter().flat_map(|message| message.slots.iter().copied()));
}

/// Updates liveness from after a local step to before it.
fn before_local(local: &Local, live: &mut HashSet<Slot>) {
    live.remove(&local.writes());
    live.extend(local.reads());
}

/// Removes local steps whose results are never read. Messages stay, because their other ends are on other ranks.
pub(super) fn remove_unused(part: &mut RankPlan) {
    let mut live = results(part);
    for turn in part.turns.iter_mut().rev() {
        let mut kept = Vec::with_capacity(turn.locals.len());
        for local in turn.locals.drain(..).rev() {
            if live.contains(&local.writes()) {
                before_local(&local, &mut live);
                kept.push(local);
            }
        }
        kept.reverse();
        turn.locals = kept;
        before_messages(turn, &mut live);
    }
}

/// Writes values that are only copied directly to the destination of the copy.
pub(super) fn backward(part: &mut RankPlan) {
    let mut live = results(part);
    for turn in part.turns.iter_mut().rev() {
        Backward::new(turn).run(&mut live);
        before_messages(turn, &mut live);
    }
}

/// One turn, processed backwards.
struct Backward<'a> {
    turn: &'a mut Turn,
    /// The local steps of each block, by number.
    steps: HashMap<u32, Vec<usize>>,
    /// Where each slot is received: message and position.
    arrivals: HashMap<Slot, (usize, usize)>,
    sent: HashSet<Slot>,
}

impl<'a> Backward<'a> {
    fn new(turn: &'a mut Turn) -> Self {
        let mut steps: HashMap<u32, Vec<usize>> = HashMap::new();
        for (number, local) in turn.locals.iter().enumerate() {
            steps.entry(local.writes().block).or_default().push(number);
        }
        let places = turn.receives.iter().enumerate().flat_map(|(number, message)| {
            message.slots.iter().enumerate().map(move |(place, &slot)| (slot, (number, place)))
        });
        let arrivals = places.collect();
        let sent = turn.sends.iter().flat_map(|message| message.slots.iter().copied()).collect();
        Backward { turn, steps, arrivals, sent }
    }

    fn run(mut self, live: &mut HashSet<Slot>) {
        let mut gone = HashSet::new();
        for number in (0..self.turn.locals.len()).rev() {
            let local = self.turn.locals[number];
            match local {
                Local::Copy { from, to } if !live.contains(&from) && self.redirect(number, from, to) => {
                    gone.insert(number);
                }
                _ => before_local(&local, live),
            }
        }
        let mut number = 0..;
        self.turn.locals.retain(|_| number.next().is_some_and(|number| !gone.contains(&number)));
    }

    /// Redirects the step before `before` that writes `from` so that it writes `to`; false if that is not possible in
    /// this turn.
    fn redirect(&mut self, before: usize, from: Slot, to: Slot) -> bool {
        let steps = self.steps.get(&to.block).map_or(&[][..], |steps| &steps[..]);
        for &number in steps.iter().rev().filter(|&&number| number < before) {
            let local = &mut self.turn.locals[number];
            if local.writes() == from {
                match local {
                    Local::Copy { to: writes, .. } | Local::Combine { into: writes, .. } => *writes = to,
                }
                return true;
            }
            if local.writes() == to || local.reads().any(|slot| slot == from || slot == to) {
                return false;
            }
        }
        let busy = self.sent.contains(&to) || self.arrivals.contains_key(&to);
        let Some((message, place)) = self.arrivals.get(&from).copied().filter(|_| !busy) else { return false };
        self.turn.receives[message].slots[place] = to;
        self.arrivals.remove(&from);
        self.arrivals.insert(to, (message, place));
        true
    }
}
