//! What all nodes do, seen from each of them.
//!
//! A node has lines: each is the reduction of one fraction over some nodes. A step makes new lines from own ones and
//! from what arrives. Nodes and fractions are counted from the own node on, so that one pattern is right for all nodes:
//! where a line says that line 7 arrives from 4 nodes further on, the node 4 before receives this node's line 7.

use super::Ports;
use super::digits::Digits;
use super::grow::Grower;
use super::phases::{GroupsError, factors};
use roundel_spec::Kind;
use std::ops::Range;

/// Into how many fractions the data is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fractions {
    /// One for each node: as the algorithms are described.
    All,
    /// Only as many as steps of reduce_scatter or allgather tell apart: as the algorithms are run.
    Scattered,
}

/// Something that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Received {
    /// From which node: so many further on, in the digit of the step.
    pub distance: usize,
    /// Which of its lines.
    pub line: u32,
}

/// The reduction of one fraction over some nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The fraction, counted from the own node on.
    pub fraction: u32,
    /// The line of the same node that it is made from, if there is one.
    pub own: Option<u32>,
    /// What arrives for it, by number.
    pub received: Range<u32>,
}

/// One step: new lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The digit in which nodes differ that exchange messages.
    pub digit: usize,
    /// The lines that it makes.
    pub made: Range<u32>,
    /// The lines that are left after a step of reduce_scatter. After a step of allgather all are left.
    pub kept: Option<Vec<u32>>,
}

/// What all nodes do.
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
    /// What all nodes do, with the data divided in one of two ways. A reduce_scatter and an allgather have a fraction
    /// for each node either way.
    ///
    /// # Errors
    /// When the groups are not those of such a collective.
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

    /// The lines that are there in the beginning.
    pub fn initial(&self) -> Range<u32> {
        0..self.first
    }

    /// The lines that are there in the end and have all contributions, one of each fraction that a node gets.
    pub fn results(&self) -> &[u32] {
        &self.results
    }

    /// How many nodes exchange messages in a step.
    pub fn factor(&self, step: &Step) -> usize {
        self.digits.factor(step.digit)
    }

    /// The node that is so many further on in the digit of a step.
    pub fn peer(&self, node: usize, step: &Step, distance: usize) -> usize {
        self.digits.peer(node, step.digit, distance)
    }

    /// For all fractions as a node sees them, their numbers.
    pub fn numbers(&self, node: usize) -> Vec<u32> {
        self.digits.numbers(node)
    }

    /// A line.
    pub fn line(&self, line: u32) -> &Line {
        &self.lines[line as usize]
    }

    /// What arrives for a line.
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

    /// How many lines a node sends, and how many messages.
    pub fn sent(&self) -> (usize, usize) {
        let arrivals = |step| self.made(step).flat_map(|line| self.received(line));
        let messages =
            |step| arrivals(step).map(|arrival| arrival.distance).collect::<std::collections::HashSet<_>>();
        let count = |step| (arrivals(step).count(), messages(step).len());
        self.steps.iter().map(count).fold((0, 0), |(lines, messages), (l, m)| (lines + l, messages + m))
    }
}
