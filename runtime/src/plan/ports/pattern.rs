//! The communication of all nodes, relative to each node's own number.
//!
//! A node has lines: each is the partial reduction of one fraction over some nodes. A step makes new lines from the
//! node's own lines and from received ones. Nodes and fractions are counted from the own node, so that one pattern
//! fits all nodes: if line 7 arrives from the node at distance 4, then this node's line 7 goes to the node at
//! distance -4.

use super::Ports;
use super::digits::Digits;
use super::grow::Grower;
use super::phases::{GroupsError, factors};
use roundel_spec::Kind;
use std::ops::Range;

/// The number of fractions of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fractions {
    /// One for each node, as in the description of the algorithms.
    All,
    /// Only as many as steps of reduce_scatter or allgather distinguish, as the algorithms run.
    Scattered,
}

/// A line that arrives from another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Received {
    /// The distance of the sender in the digit of the step.
    pub distance: usize,
    /// The line of the sender.
    pub line: u32,
}

/// The partial reduction of one fraction over some nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The fraction, counted from the own node.
    pub fraction: u32,
    /// The line of the same node that it is computed from, if any.
    pub own: Option<u32>,
    /// The range of arrivals for it.
    pub received: Range<u32>,
}

/// One step, which makes new lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The digit in which communicating nodes differ.
    pub digit: usize,
    /// The lines that the step makes.
    pub made: Range<u32>,
    /// The lines that remain after a step of reduce_scatter. After a step of allgather all remain.
    pub kept: Option<Vec<u32>>,
}

/// The communication pattern, equal on all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) kind: Kind,
    pub(super) digits: Digits,
    pub(super) first: u32,
    pub(super) lines: Vec<Line>,
    pub(super) received: Vec<Received>,
    pub(super) steps: Vec<Step>,
    pub(super) results: Vec<u32>,
    pub(super) live: Vec<bool>,
}

impl Ports {
    /// The communication pattern, with the data divided in one of two ways. A reduce_scatter and an allgather have a
    /// fraction for each node either way.
    ///
    /// # Errors
    /// If the groups do not make such a collective.
    pub fn pattern(&self, kind: Kind, fractions: Fractions) -> Result<Pattern, GroupsError> {
        let runs = self.runs(kind)?;
        let factors = factors(&runs)?;
        let scatters = |digit: usize| runs.iter().any(|run| run.digit == digit && run.divides());
        let divide = |(digit, &factor)| if fractions == Fractions::All || scatters(digit) { factor } else { 1 };
        let divided = factors.iter().enumerate().map(divide).collect();
        let digits = Digits::new(factors, divided, kind != Kind::Allreduce);
        let mut grower = Grower::new(digits, kind);
        runs.iter().try_for_each(|run| grower.run(run))?;
        Ok(grower.finish(kind))
    }
}

impl Pattern {
    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.digits.nodes()
    }

    /// The number of fractions.
    pub fn fractions(&self) -> usize {
        self.digits.fractions()
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The initial lines.
    pub fn initial(&self) -> Range<u32> {
        0..self.first
    }

    /// The lines with all contributions at the end, one for each fraction that a node gets.
    pub fn results(&self) -> &[u32] {
        &self.results
    }

    /// The number of nodes that communicate in a step.
    pub fn factor(&self, step: &Step) -> usize {
        self.digits.factor(step.digit)
    }

    /// The node at a distance in the digit of a step.
    pub fn peer(&self, node: usize, step: &Step, distance: usize) -> usize {
        self.digits.peer(node, step.digit, distance)
    }

    /// The numbers of all fractions, relative to a node.
    pub fn numbers(&self, node: usize) -> Vec<u32> {
        self.digits.numbers(node)
    }

    /// A line.
    pub fn line(&self, line: u32) -> &Line {
        &self.lines[line as usize]
    }

    /// The arrivals for a line.
    pub fn received(&self, line: u32) -> &[Received] {
        let Range { start, end } = self.lines[line as usize].received;
        &self.received[start as usize..end as usize]
    }

    /// Whether a result needs a line.
    pub fn is_live(&self, line: u32) -> bool {
        self.live[line as usize]
    }

    /// The lines that a step makes and a result needs.
    pub fn made<'a>(&'a self, step: &Step) -> impl Iterator<Item = u32> + use<'a> {
        step.made.clone().filter(|&line| self.is_live(line))
    }

    /// The number of lines that a node sends, and the number of messages.
    pub fn sent(&self) -> (usize, usize) {
        let arrivals = |step| self.made(step).flat_map(|line| self.received(line));
        let messages =
            |step| arrivals(step).map(|arrival| arrival.distance).collect::<std::collections::HashSet<_>>();
        let count = |step| (arrivals(step).count(), messages(step).len());
        self.steps.iter().map(count).fold((0, 0), |(lines, messages), (l, m)| (lines + l, messages + m))
    }
}
