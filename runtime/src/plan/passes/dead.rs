//! Removes dead blocks: those that arrive or are computed and are never used.
//!
//! A backward analysis from the result: a slot is *live* if its content contributes to some result. A step is needed
//! if it writes a live slot; then the slots that it reads are live before it, for a message on the other rank.
//! Everything else is removed, at both ends of the message. (Jocksch and others, 2021, algorithm 1, do this for
//! lines; here it is block by block, for any plan.)

use crate::plan::pairs::{End, receives, sends};
use crate::plan::{Local, OUTPUT, Plan, Slot, Turn};

/// Removes all local steps and all blocks of messages that no result needs, and rounds that become empty.
///
/// The plan must [replay](Plan::replay) without errors; otherwise the result is not correct either.
pub fn remove_dead(plan: &mut Plan) {
    let mut live = Live::at_the_end(plan);
    for round in plan.rounds.iter_mut().rev() {
        live.keep_locals(round);
        live.keep_messages(round);
    }
    plan.rounds.retain(|round| round.iter().any(|turn| !turn.is_empty()));
}

/// Which slots are live.
struct Live {
    lines: usize,
    blocks: usize,
    slots: Vec<bool>,
}

impl Live {
    fn at_the_end(plan: &Plan) -> Self {
        let &Plan { kind, p, root, lines, blocks, .. } = plan;
        let mut live = Live { lines, blocks, slots: vec![false; p * lines * blocks] };
        for (rank, block) in (0..p).flat_map(|rank| (0..blocks).map(move |block| (rank, block))) {
            *live.slot(rank, Slot::new(OUTPUT, block as u32)) = kind.must_hold(rank, block, root, p);
        }
        live
    }

    fn slot(&mut self, rank: usize, slot: Slot) -> &mut bool {
        &mut self.slots[(rank * self.lines + slot.line as usize) * self.blocks + slot.block as usize]
    }

    /// Updates liveness from after the local steps to before them, and removes dead steps.
    fn keep_locals(&mut self, round: &mut [Turn]) {
        for (rank, turn) in round.iter_mut().enumerate() {
            let mut kept: Vec<Local> = Vec::with_capacity(turn.locals.len());
            for local in turn.locals.drain(..).rev() {
                if std::mem::take(self.slot(rank, local.writes())) {
                    local.reads().for_each(|slot| *self.slot(rank, slot) = true);
                    kept.push(local);
                }
            }
            kept.reverse();
            turn.locals = kept;
        }
    }

    /// Updates liveness from after the messages to before them. Sends read the state before the round, so their slots
    /// become live last.
    fn keep_messages(&mut self, round: &mut [Turn]) {
        let needed = self.needed(round);
        let numbers = |ends: Vec<End<'_>>| -> Vec<(usize, usize, usize)> {
            ends.into_iter().map(|(from, to, number, _)| (from, to, number)).collect()
        };
        let pairs = numbers(sends(round)).into_iter().zip(numbers(receives(round)));
        for (((from, _, out), (_, to, into)), needed) in pairs.zip(needed) {
            keep(&mut round[from].sends[out].slots, &needed);
            keep(&mut round[to].receives[into].slots, &needed);
            for index in 0..round[from].sends[out].slots.len() {
                let slot = round[from].sends[out].slots[index];
                *self.slot(from, slot) = true;
            }
        }
        for turn in round {
            turn.sends.retain(|message| !message.slots.is_empty());
            turn.receives.retain(|message| !message.slots.is_empty());
        }
    }

    /// For each message, by its receive, which of its blocks are needed. Their slots are dead before the message.
    fn needed(&mut self, round: &[Turn]) -> Vec<Vec<bool>> {
        let undo = |(_, to, _, message): End<'_>| {
            message.slots.iter().map(|&slot| std::mem::take(self.slot(to, slot))).collect()
        };
        receives(round).into_iter().map(undo).collect()
    }
}

/// Keeps the slots that are needed.
fn keep(slots: &mut Vec<Slot>, needed: &[bool]) {
    let mut needed = needed.iter().copied();
    slots.retain(|_| needed.next().unwrap_or(false));
}
