//! Makes one node's part from a pattern.

use super::pattern::{Pattern, Step};
use super::phases::GroupsError;
use super::places::LinePlaces;
use crate::plan::{INPUT, Local, OUTPUT, Plan, RankPlan, Slot, SlotMessage, Turn};
use std::collections::HashMap;

impl Pattern {
    /// The part of one node.
    ///
    /// # Errors
    /// If the node does not exist.
    pub fn part(&self, node: usize) -> Result<RankPlan, GroupsError> {
        let (p, blocks) = (self.nodes(), self.fractions());
        if node >= p {
            return Err(GroupsError::NoSuchNode { node, nodes: p });
        }
        let places = LinePlaces::new(self);
        let turns = Emitter::new(self, &places, node).turns();
        Ok(RankPlan { kind: self.kind, p, rank: node, root: 0, blocks, lines: places.count, turns })
    }

    /// The plan of all nodes.
    pub fn plan(&self) -> Plan {
        let places = LinePlaces::new(self);
        let mut plan = Plan::new(self.kind, self.nodes(), places.count, self.fractions());
        for node in 0..plan.p {
            let turns = Emitter::new(self, &places, node).turns();
            plan.rounds.resize(turns.len(), Vec::with_capacity(plan.p));
            plan.rounds.iter_mut().zip(turns).for_each(|(round, turn)| round.push(turn));
        }
        plan
    }
}

/// A pattern from the point of view of one node.
struct Emitter<'a> {
    pattern: &'a Pattern,
    places: &'a LinePlaces,
    node: usize,
    /// The numbers of the fractions, relative to the node.
    blocks: Vec<u32>,
}

impl<'a> Emitter<'a> {
    fn new(pattern: &'a Pattern, places: &'a LinePlaces, node: usize) -> Self {
        Emitter { pattern, places, node, blocks: pattern.digits.numbers(node) }
    }

    fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = self.pattern.steps.iter().map(|step| self.turn(step)).collect();
        turns.retain(|turn| !turn.is_empty());
        let copied = self.pattern.results.iter().filter(|line| self.pattern.initial().contains(line));
        let copies: Vec<Local> = copied.map(|&line| self.copy(line)).collect();
        match turns.first_mut() {
            Some(turn) => turn.locals.extend(copies),
            None => turns.push(Turn { locals: copies, ..Turn::default() }),
        }
        turns
    }

    /// Copies a result that is already in the input.
    fn copy(&self, line: u32) -> Local {
        let block = self.block(line);
        Local::Copy { from: Slot::new(INPUT, block), to: Slot::new(OUTPUT, block) }
    }

    fn block(&self, line: u32) -> u32 {
        self.blocks[self.pattern.line(line).fraction as usize]
    }

    fn slot(&self, line: u32) -> Slot {
        Slot::new(self.places.lines[line as usize], self.block(line))
    }

    fn turn(&self, step: &Step) -> Turn {
        let mut turn = self.messages(step);
        self.pattern.made(step).for_each(|line| self.combine(step, line, &mut turn.locals));
        turn
    }

    /// The messages of a step. For each arrival from a distance, the other end has a matching send, in the same
    /// order.
    fn messages(&self, step: &Step) -> Turn {
        let (mut turn, mut numbers) = (Turn::default(), HashMap::new());
        let digits = &self.pattern.digits;
        let factor = digits.factor(step.digit);
        for line in self.pattern.made(step) {
            for (number, arrival) in self.pattern.line(line).received.clone().zip(self.pattern.received(line)) {
                let index = *numbers.entry(arrival.distance).or_insert_with(|| {
                    let to = digits.peer(self.node, step.digit, factor - arrival.distance);
                    turn.sends.push(SlotMessage::new(to, Vec::new()));
                    let from = digits.peer(self.node, step.digit, arrival.distance);
                    turn.receives.push(SlotMessage::new(from, Vec::new()));
                    turn.sends.len() - 1
                });
                turn.sends[index].slots.push(self.slot(arrival.line));
                let to = Slot::new(self.places.arrivals[number as usize], self.block(line));
                turn.receives[index].slots.push(to);
            }
        }
        turn
    }

    /// Combines a line with the data that arrived for it: from nodes before this one in a reduce_scatter, after it in
    /// an allgather.
    fn combine(&self, step: &Step, line: u32, locals: &mut Vec<Local>) {
        let Some(own) = self.pattern.line(line).own else { return };
        let (mut so_far, into) = (self.slot(own), self.slot(line));
        for arrival in self.pattern.line(line).received.clone() {
            let arrived = Slot::new(self.places.arrivals[arrival as usize], into.block);
            let (left, right) = if step.kept.is_some() { (arrived, so_far) } else { (so_far, arrived) };
            locals.push(Local::Combine { left, right, into });
            so_far = into;
        }
    }
}
