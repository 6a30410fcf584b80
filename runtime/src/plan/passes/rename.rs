//! Reduces working memory: reuses slots whose contents are dead.
//!
//! Time is counted in ticks, one for the messages of a round and one for each local step. A value lives from its
//! write to its last read. For each block, a value gets the first line that is free; a received value needs a line
//! that no message of its round uses.

use crate::plan::{RankPlan, SCRATCH, Slot};

/// How a slot is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotUse {
    Read,
    Arrive,
    Make,
}

/// A value in a slot, from its first to its last use.
struct SlotLifetime {
    block: u32,
    arrives: bool,
    from: usize,
    until: usize,
}

/// Renumbers the lines of working memory.
pub(super) fn rename(part: &mut RankPlan) {
    let (lives, uses) = lives(part);
    let lines = lines(&lives, part.blocks);
    let mut uses = uses.into_iter();
    each_slot(part, |slot, _, _| {
        if let Some(life) = uses.next().flatten() {
            slot.line = lines[life];
        }
    });
    part.lines = lines.iter().map(|&line| line as usize + 1).max().unwrap_or(0).max(SCRATCH as usize);
}

/// Visits all slots in the order of use, with the time.
fn each_slot(part: &mut RankPlan, mut visit: impl FnMut(&mut Slot, SlotUse, usize)) {
    let mut time = 1;
    for turn in &mut part.turns {
        let [sends, receives] = [&mut turn.sends, &mut turn.receives];
        sends.iter_mut().flat_map(|message| &mut message.slots).for_each(|slot| visit(slot, SlotUse::Read, time));
        receives
            .iter_mut()
            .flat_map(|message| &mut message.slots)
            .for_each(|slot| visit(slot, SlotUse::Arrive, time));
        for local in &mut turn.locals {
            time += 1;
            let mut slots = local.slots_mut().peekable();
            while let Some(slot) = slots.next() {
                visit(slot, if slots.peek().is_some() { SlotUse::Read } else { SlotUse::Make }, time);
            }
        }
        time += 1;
    }
}

/// The lifetimes of values in working memory, and the lifetime that each use of a slot belongs to.
fn lives(part: &mut RankPlan) -> (Vec<SlotLifetime>, Vec<Option<usize>>) {
    let (blocks, slots) = (part.blocks, part.lines * part.blocks);
    let (mut lives, mut uses, mut now) = (Vec::<SlotLifetime>::new(), Vec::new(), vec![None; slots]);
    each_slot(part, |slot, used, time| {
        if slot.line < SCRATCH {
            uses.push(None);
            return;
        }
        let held = &mut now[slot.line as usize * blocks + slot.block as usize];
        if used != SlotUse::Read || held.is_none() {
            *held = Some(lives.len());
            lives.push(SlotLifetime { block: slot.block, arrives: used == SlotUse::Arrive, from: time, until: time });
        }
        if let Some(life) = *held {
            lives[life].until = time;
        }
        uses.push(*held);
    });
    (lives, uses)
}

/// A line for each lifetime. The lifetimes are sorted by their beginnings.
fn lines(lives: &[SlotLifetime], blocks: usize) -> Vec<u32> {
    let mut until: Vec<Vec<usize>> = vec![Vec::new(); blocks];
    let line = |life: &SlotLifetime| {
        let places = &mut until[life.block as usize];
        let free = |&used: &usize| used < life.from || used == life.from && !life.arrives;
        let place = places.iter().position(free).unwrap_or(places.len());
        places.resize(places.len().max(place + 1), 0);
        places[place] = life.until;
        place as u32 + SCRATCH
    };
    lives.iter().map(line).collect()
}
