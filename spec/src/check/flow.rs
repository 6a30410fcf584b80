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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Point;
    use crate::meaning::place::Placement;
    use crate::meaning::sink::{Sink, infallible};
    use crate::meaning::stripes::Stripe;
    use crate::schedule::arguments::Arguments;
    use crate::schedule::contract::Kind;
    use crate::schedule::reference;
    use crate::trace::record::{Recorder, Trace};

    const PLAIN: Site = Site::plain(0);
    const AGAIN: Site = Site { number: 0, line: 0, action: Action::Replace };

    /// What two ranks do with block 0 in one round: directions, each with the clause.
    type Turn<'a> = [&'a [(Direction, Site)]; 2];

    /// The problem in the last of some rounds of an allgather of two ranks; rank 1 forgets block 0 before a round.
    fn problem(turns: &[Turn<'_>], forgets: Option<usize>) -> Option<&'static str> {
        let log = |rank: usize| {
            let mut log = Recorder::default();
            for (round, turn) in turns.iter().enumerate() {
                if rank == 1 && forgets == Some(round) {
                    infallible(log.forget(0, Stripe::one(0, 2)));
                }
                infallible(log.begin_round());
                for (direction, site) in turn[rank] {
                    let block = Stripe::one(0, 2);
                    match direction {
                        Direction::Send => infallible(log.send(*site, 1 - rank, block)),
                        Direction::Recv => infallible(log.recv(*site, 1 - rank, block)),
                    }
                }
                infallible(log.end_round());
            }
            log.finish()
        };
        let (schedule, trace) = (reference::of(Kind::Allgather), Trace::lockstep(vec![log(0), log(1)]));
        let point = Point { placement: Placement::consecutive(2, 2), args: Arguments::default() };
        let scene = CheckInput { schedule: &schedule, point: &point, trace: &trace };
        let mut provenance = Provenance::new(Kind::Allgather, 2, 2, 0);
        let mut last = None;
        for round in 0..turns.len() {
            assert_eq!(last, None, "before the last round");
            forget(&scene, round, &mut provenance);
            last = check(&scene, round, &mut provenance).err().map(|violation| violation.code());
        }
        last
    }

    #[test]
    fn a_block_may_replace_itself_if_nothing_else_touches_it() {
        use Direction::{Recv, Send};
        let plain: Turn<'_> = [&[(Send, PLAIN)], &[(Recv, PLAIN)]];
        let again: Turn<'_> = [&[(Send, PLAIN)], &[(Recv, AGAIN)]];
        assert_eq!(problem(&[plain, plain], None), Some("written-twice"));
        assert_eq!(problem(&[plain, again], None), None);
        let twice: Turn<'_> = [&[(Send, PLAIN), (Send, PLAIN)], &[(Recv, AGAIN), (Recv, AGAIN)]];
        assert_eq!(problem(&[twice], None), Some("written-twice"));
        let both: Turn<'_> = [&[(Send, PLAIN), (Recv, AGAIN)], &[(Recv, AGAIN), (Send, PLAIN)]];
        assert_eq!(problem(&[plain, both], None), Some("written-twice"));
    }

    #[test]
    fn what_is_forgotten_is_not_sent_and_may_arrive() {
        use Direction::{Recv, Send};
        let plain: Turn<'_> = [&[(Send, PLAIN)], &[(Recv, PLAIN)]];
        let back: Turn<'_> = [&[(Recv, AGAIN)], &[(Send, PLAIN)]];
        assert_eq!(problem(&[plain, back], None), None);
        assert_eq!(problem(&[plain, back], Some(1)), Some("phantom-data"));
        assert_eq!(problem(&[plain, plain], Some(1)), None);
        assert_eq!(problem(&[plain, plain, back], Some(1)), None);
    }
}
