//! Rule 3: a rank holds what it sends, and no slot is written twice.
//!
//! The messages of one round are in flight together, so a block that arrives in a round cannot be forwarded in the same
//! round. If messages move their blocks, a round cannot send a block twice. An inner collective of another kind does
//! not know which blocks a rank has already, and replaces them by themselves.

use super::CheckInput;
use crate::check::violation::{Problem, Set, Violation};
use crate::schedule::message::{Action, Direction, Site};
use crate::schedule::{Field, SchedulePart};
use crate::trace::provenance::Provenance;
use crate::trace::record::{Message, RankLog};
use std::collections::BTreeSet;

/// Applies what is forgotten before a round.
pub fn forget(scene: &CheckInput<'_>, round: usize, provenance: &mut Provenance) {
    for (rank, log) in scene.trace.ranks.iter().enumerate() {
        for &block in log.forgotten(round).flat_map(|(_, blocks)| blocks) {
            provenance.forget(rank, block as usize, round);
        }
    }
}

/// Checks one round and applies it.
pub fn check(scene: &CheckInput<'_>, round: usize, provenance: &mut Provenance) -> Result<(), Violation> {
    no_phantom_data(scene, round, provenance)?;
    if scene.schedule.kind.moves() {
        sent_once(scene, round)?;
    }
    single_write(scene, round, provenance)
}

fn no_phantom_data(scene: &CheckInput<'_>, round: usize, provenance: &Provenance) -> Result<(), Violation> {
    for (rank, log) in scene.trace.ranks.iter().enumerate() {
        for message in log.directed(round, Direction::Send) {
            let phantom = log.blocks(message).iter().find(|&&b| !provenance.holds(rank, b as usize, round));
            if let Some(&block) = phantom {
                let held = Set(provenance.held(rank, round));
                let problem = Problem::Phantom { rank, block: block as usize, held };
                return Err(scene.violation(
                    SchedulePart::Transfer(message.site, Field::Blocks),
                    Some(round),
                    problem,
                ));
            }
        }
    }
    Ok(())
}

/// A block that a message moves goes to one receiver only.
fn sent_once(scene: &CheckInput<'_>, round: usize) -> Result<(), Violation> {
    for (rank, log) in scene.trace.ranks.iter().enumerate() {
        if let Some((site, block)) = twice(log, round) {
            let problem = Problem::SentTwice { rank, block: block as usize };
            return Err(scene.violation(SchedulePart::Transfer(site, Field::Blocks), Some(round), problem));
        }
    }
    Ok(())
}

/// A block that a rank sends twice in a round, and the clause of the second send.
fn twice(log: &RankLog, round: usize) -> Option<(Site, u32)> {
    let mut sent = BTreeSet::new();
    let messages = log.directed(round, Direction::Send);
    let mut all = messages.flat_map(|message| log.blocks(message).iter().map(|&block| (message.site, block)));
    all.find(|(_, block)| !sent.insert(*block))
}

fn single_write(scene: &CheckInput<'_>, round: usize, provenance: &mut Provenance) -> Result<(), Violation> {
    for (rank, log) in scene.trace.ranks.iter().enumerate() {
        for message in log.directed(round, Direction::Recv) {
            for &block in log.blocks(message) {
                let replaces = message.site.action == Action::Replace && !in_use(log, round, message, block);
                let block = block as usize;
                if !provenance.receive(rank, block, round) && !replaces {
                    let earlier = provenance.arrived_in(rank, block);
                    let problem = Problem::WrittenTwice { rank, block, earlier };
                    let spot = SchedulePart::Transfer(message.site, Field::Blocks);
                    let violation = scene.violation(spot, Some(round), problem);
                    let first = earlier.and_then(|earlier| received_by(log, earlier, block));
                    let first = first.map(|site| SchedulePart::Transfer(site, Field::Whole));
                    return Err(Violation { other: first, ..violation });
                }
            }
        }
    }
    Ok(())
}

/// Whether another message of the round has the block, too.
fn in_use(log: &RankLog, round: usize, message: &Message, block: u32) -> bool {
    let mut others = log.round(round).iter().filter(|other| !std::ptr::eq(*other, message));
    others.any(|other| log.blocks(other).contains(&block))
}

/// The clause by which a block arrived first in a round.
fn received_by(log: &RankLog, round: usize, block: usize) -> Option<Site> {
    let mut messages = log.directed(round, Direction::Recv);
    messages.find(|message| log.blocks(message).contains(&(block as u32))).map(|message| message.site)
}
