//! Rules 3, 4 and 8 for reductions: a rank holds what it sends, no contribution is reduced twice, every block is
//! complete at the end, and the order of reduction is the declared one.

use super::CheckInput;
use crate::check::violation::{Problem, Set, Violation};
use crate::schedule::message::Direction;
use crate::schedule::message::{Action, Line};
use crate::schedule::{Field, SchedulePart};
use crate::trace::record::{Message, RankLog};
use crate::trace::trees::{TreeValue, Trees};

/// What every rank holds, line by line and block by block, before every round and after the last.
#[derive(Clone, Debug)]
pub struct ReductionStates {
    lines: usize,
    blocks: usize,
    /// All trees of the run.
    pub trees: Trees,
    /// For each rank, line and block: the values it holds, each with the round before which it appeared; `None` where
    /// nothing is known of it any more.
    slots: Vec<Vec<(usize, Option<TreeValue>)>>,
}

impl ReductionStates {
    /// The state before the first round: each rank's own contribution in the first line.
    fn new(lines: usize, blocks: usize, p: usize) -> Self {
        let trees = Trees::new(p);
        let slot = |i: usize| {
            let (rank, line) = (i / (lines * blocks), i / blocks % lines);
            if line == 0 { vec![(0, Some(trees.leaf(rank)))] } else { Vec::new() }
        };
        let slots = (0..p * lines * blocks).map(slot).collect();
        ReductionStates { lines, blocks, trees, slots }
    }

    fn slot(&self, rank: usize, line: Line, block: usize) -> usize {
        (rank * self.lines + line as usize) * self.blocks + block
    }

    /// What a slot holds before `round`.
    pub fn before(&self, round: usize, rank: usize, line: Line, block: usize) -> Option<TreeValue> {
        let history = &self.slots[self.slot(rank, line, block)];
        history.iter().rev().find(|(since, _)| *since <= round).and_then(|(_, value)| *value)
    }

    /// Gives a slot a value before `round`.
    fn fill(&mut self, round: usize, slot: usize, value: Option<TreeValue>) {
        match self.slots[slot].last_mut() {
            Some((since, old)) if *since == round => *old = value,
            _ => self.slots[slot].push((round, value)),
        }
    }

    /// Applies what inner collectives have left on a rank before `round`.
    fn settle(&mut self, round: usize, rank: usize, log: &RankLog) {
        for (line, blocks) in log.forgotten(round) {
            for &block in blocks {
                let slot = self.slot(rank, line, block as usize);
                self.fill(round, slot, None);
            }
        }
        for (line, blocks) in log.reduced_here(round) {
            for &block in blocks {
                let value = self.before(round, rank, line, block as usize);
                let own = value.map(|value| self.trees.of_one(value, rank));
                let slot = self.slot(rank, line, block as usize);
                self.fill(round, slot, own);
            }
        }
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether exactly these ranks, all different, have contributed to a slot before `round`.
    pub fn is_from(&self, round: usize, rank: usize, line: Line, block: usize, ranks: &[usize]) -> bool {
        match self.before(round, rank, line, block) {
            None => ranks.is_empty(),
            Some(value) => {
                let has = |rank: &usize| self.trees.contains(value.tree, *rank);
                ranks.len() == self.trees.count(value.tree) && ranks.iter().all(has)
            }
        }
    }

    /// How many ranks have contributed to a slot before `round`.
    pub fn count(&self, round: usize, rank: usize, line: Line, block: usize) -> usize {
        self.before(round, rank, line, block).map_or(0, |value| self.trees.count(value.tree))
    }

    /// The ranks that have contributed to a slot before `round`.
    pub fn contributors(&self, round: usize, rank: usize, line: Line, block: usize) -> Set {
        let value = self.before(round, rank, line, block);
        Set(value.iter().flat_map(|value| self.trees.contributors(value.tree)).collect())
    }
}

/// Follows all contributions through all rounds.
pub fn follow(scene: &CheckInput<'_>, blocks: usize) -> Result<ReductionStates, Violation> {
    let mut memory = ReductionStates::new(scene.schedule.lines_in_memory(), blocks, scene.trace.p());
    for round in 0..scene.trace.rounds() {
        settle_all(scene, round, &mut memory);
        for rank in 0..scene.trace.p() {
            receive_all(scene, round, rank, &mut memory)?;
        }
    }
    settle_all(scene, scene.trace.rounds(), &mut memory);
    Ok(memory)
}

/// Follows all contributions up to the first fault, for pictures of how it arises.
pub fn follow_to_fault(scene: &CheckInput<'_>, blocks: usize) -> ReductionStates {
    let mut memory = ReductionStates::new(scene.schedule.lines_in_memory(), blocks, scene.trace.p());
    for round in 0..scene.trace.rounds() {
        if super::domain::check(scene, round).is_err() || super::matching::check(scene, round).is_err() {
            break;
        }
        settle_all(scene, round, &mut memory);
        // Ranks do not see what others receive in the same round, so all of them are followed.
        let wrong =
            (0..scene.trace.p()).filter(|&rank| receive_all(scene, round, rank, &mut memory).is_err()).count();
        if wrong > 0 {
            break;
        }
    }
    memory
}

/// What inner collectives have left on all ranks before a round.
fn settle_all(scene: &CheckInput<'_>, round: usize, memory: &mut ReductionStates) {
    scene.trace.ranks.iter().enumerate().for_each(|(rank, log)| memory.settle(round, rank, log));
}

/// What one rank receives in one round. Messages of a pair match in the order of their clauses, as rule 2 has checked.
fn receive_all(
    scene: &CheckInput<'_>,
    round: usize,
    rank: usize,
    memory: &mut ReductionStates,
) -> Result<(), Violation> {
    let log = &scene.trace.ranks[rank];
    for sent in log.directed(round, Direction::Send) {
        let empty =
            log.blocks(sent).iter().find(|&&b| memory.before(round, rank, sent.site.line, b as usize).is_none());
        if let Some(&block) = empty {
            let problem = Problem::Empty { rank, line: line_name(scene, sent.site.line), block: block as usize };
            return Err(scene.violation(SchedulePart::Transfer(sent.site, Field::Whole), Some(round), problem));
        }
    }
    for (i, received) in log.round(round).iter().enumerate() {
        if received.direction == Direction::Recv {
            let sent = partner(scene, round, rank, i);
            for &block in log.blocks(received) {
                let arrives = memory.before(round, received.peer, sent.site.line, block as usize);
                if let Some(arrives) = arrives {
                    store(scene, round, rank, received, block as usize, arrives, memory)?;
                }
            }
        }
    }
    Ok(())
}

/// The send that matches a receive: the one with the same number among the messages of the pair.
fn partner<'a>(scene: &'a CheckInput<'_>, round: usize, rank: usize, i: usize) -> &'a Message {
    let messages = scene.trace.ranks[rank].round(round);
    let from = messages[i].peer;
    let number = messages[..i].iter().filter(|m| m.direction == Direction::Recv && m.peer == from).count();
    let mut sends = scene.trace.ranks[from].directed(round, Direction::Send).filter(|m| m.peer == rank);
    sends.nth(number).expect("matching has been checked")
}

/// Stores what arrives.
fn store(
    scene: &CheckInput<'_>,
    round: usize,
    rank: usize,
    received: &Message,
    block: usize,
    arrives: TreeValue,
    memory: &mut ReductionStates,
) -> Result<(), Violation> {
    let (line, spot) = (received.site.line, SchedulePart::Transfer(received.site, Field::Whole));
    let name = || line_name(scene, line);
    let fail = |problem| Err(scene.violation(spot, Some(round), problem));
    let slot = memory.slot(rank, line, block);
    let now = memory.before(round + 1, rank, line, block);
    let value = match received.site.action {
        Action::Copy if now.is_some() => return fail(Problem::Overwritten { rank, line: name(), block }),
        Action::Copy => arrives,
        Action::Replace | Action::Overwrite if busy(scene, round, rank, received, block) => {
            return fail(Problem::ReplacedInUse { rank, line: name(), block });
        }
        Action::Replace => match now {
            Some(old) if !memory.trees.within(old.tree, arrives.tree) => {
                return fail(Problem::Forgets { rank, line: name(), block });
            }
            _ => arrives,
        },
        Action::Overwrite => arrives,
        Action::CombineLeft { with } | Action::CombineRight { with } => {
            // Several messages of a round may be combined into one slot, one after another.
            let Some(own) = memory.before(round + 1, rank, with, block) else {
                return fail(Problem::Empty { rank, line: line_name(scene, with), block });
            };
            let left = matches!(received.site.action, Action::CombineLeft { .. });
            let (a, b) = if left { (arrives, own) } else { (own, arrives) };
            match (memory.trees.join(a, b), now) {
                // A line that is not an operand must not lose contributions either.
                (Ok(value), Some(old)) if with != line && !memory.trees.within(old.tree, value.tree) => {
                    return fail(Problem::Forgets { rank, line: name(), block });
                }
                (Ok(value), _) => value,
                (Err(twice), _) => return fail(Problem::CountedTwice { rank, block, contributor: twice }),
            }
        }
    };
    memory.fill(round + 1, slot, Some(value));
    Ok(())
}

/// Whether another message of the round reads or writes the slot that `received` replaces: the result would depend on
/// their order.
fn busy(scene: &CheckInput<'_>, round: usize, rank: usize, received: &Message, block: usize) -> bool {
    let (log, line) = (&scene.trace.ranks[rank], received.site.line);
    log.round(round).iter().filter(|other| !std::ptr::eq(*other, received)).any(|other| {
        // A value that is overwritten at the end of the round may be sent in it.
        let sent = received.site.action == Action::Overwrite && other.direction == Direction::Send;
        let touches = other.site.line == line && !sent
            || matches!(other.site.action,
                Action::CombineLeft { with } | Action::CombineRight { with } if with == line);
        touches && log.blocks(other).contains(&(block as u32))
    })
}

/// The name of a line.
fn line_name(scene: &CheckInput<'_>, line: Line) -> String {
    let inner = || format!("{line} (of an inner collective)");
    scene.schedule.lines.get(line as usize).cloned().unwrap_or_else(inner)
}

/// Checks the end of the run: every block that a rank must have is complete, and reduced in the claimed order.
pub fn check_end(scene: &CheckInput<'_>, memory: &ReductionStates) -> Result<(), Violation> {
    let (schedule, p, end) = (scene.schedule, scene.trace.p(), scene.trace.rounds());
    let order = schedule.claimed_order();
    let last = SchedulePart::Round(schedule.loops.len().saturating_sub(1));
    for block in 0..memory.blocks {
        let mut first: Option<(usize, TreeValue)> = None;
        for rank in (0..p).filter(|&rank| schedule.kind.must_hold(rank, block, scene.root(), p)) {
            let value = memory.before(end, rank, 0, block);
            let lacks = |other: &usize| !value.is_some_and(|value| memory.trees.contains(value.tree, *other));
            if let Some(missing) = (0..p).find(lacks).filter(|_| memory.count(end, rank, 0, block) < p) {
                let found = memory.contributors(end, rank, 0, block);
                return Err(scene.violation(last, None, Problem::Incomplete { rank, block, missing, found }));
            }
            let Some(value) = value else { continue };
            // Ranks that are not numbered node by node are reduced in the order of nodes: no other order is promised.
            let ordered = order.rank_order && !scene.point.is_renumbered(schedule);
            if ordered && value.run.is_none() {
                return Err(scene.violation(SchedulePart::RankOrder, None, Problem::OutOfOrder { rank, block }));
            }
            match first {
                Some((other, tree)) if order.same_tree && tree.tree != value.tree => {
                    return Err(scene.violation(
                        SchedulePart::SameTree,
                        None,
                        Problem::OtherTree { ranks: (other, rank), block },
                    ));
                }
                Some(_) => {}
                None => first = Some((rank, value)),
            }
        }
    }
    Ok(())
}
