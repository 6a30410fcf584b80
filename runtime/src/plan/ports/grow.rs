//! Derives the lines of a pattern step by step.

use super::digits::Digits;
use super::pattern::{Line, Pattern, Received, Step};
use super::phases::{GroupRun, GroupsError};
use roundel_spec::Kind;

/// The most lines that a pattern may have.
const MOST_LINES: usize = 1 << 23;

/// Stands for no line.
const NONE: u32 = u32::MAX;

/// A pattern under construction.
pub(super) struct Grower {
    digits: Digits,
    lines: Vec<Line>,
    received: Vec<Received>,
    steps: Vec<Step>,
    /// The current lines: for each fraction the one with most contributions.
    current: Vec<u32>,
}

impl Grower {
    /// The initial state: all fractions, or for an allgather only the node's own.
    pub(super) fn new(digits: Digits, kind: Kind) -> Self {
        let held = if kind == Kind::Allgather { 1 } else { digits.fractions() as u32 };
        let lines = (0..held).map(|fraction| Line { fraction, own: None, received: 0..0 }).collect();
        Grower { digits, lines, received: Vec::new(), steps: Vec::new(), current: (0..held).collect() }
    }

    /// Adds all steps of a group.
    pub(super) fn run(&mut self, run: &GroupRun<'_>) -> Result<(), GroupsError> {
        let (negative, positive): (Vec<i64>, Vec<i64>) = run.group.ports.iter().partition(|&&port| port < 0);
        let [negative, positive] = [negative, positive]
            .map(|ports| ports.iter().map(|port| port.unsigned_abs() as usize).collect::<Vec<_>>());
        self.scatter(run.digit, &negative)?;
        self.gather(run.digit, &positive)
    }

    /// Steps of reduce_scatter: each keeps fewer of the first fractions along the digit.
    fn scatter(&mut self, digit: usize, ports: &[usize]) -> Result<(), GroupsError> {
        let mut size = self.digits.factor(digit);
        for (&ports, distance) in ports.iter().zip(distances(size, ports)) {
            self.scatter_step(digit, ports, distance, size)?;
            size = size.min(distance);
        }
        Ok(())
    }

    /// Sends all fractions from `distance` on to the nodes where they are among the first ones.
    fn scatter_step(&mut self, digit: usize, ports: usize, distance: usize, size: usize) -> Result<(), GroupsError> {
        let start = self.lines.len() as u32;
        let at = self.by_fraction();
        let (factor, mut kept) = (self.digits.factor(digit), Vec::new());
        for line in std::mem::take(&mut self.current) {
            let fraction = self.lines[line as usize].fraction;
            let place = self.digits.of(fraction, digit);
            if place >= distance {
                continue;
            }
            let arrive = (1..=ports).take_while(|j| j.saturating_mul(distance) < size - place).map(|j| {
                let far = j * distance;
                Received { distance: factor - far, line: at[self.digits.shifted(fraction, digit, far) as usize] }
            });
            let arrive: Vec<Received> = arrive.collect();
            kept.push(if arrive.is_empty() { line } else { self.push(fraction, Some(line), &arrive)? });
        }
        self.current.clone_from(&kept);
        self.step(digit, start, Some(kept));
        Ok(())
    }

    /// Steps of allgather: the current lines grow by those of other nodes.
    fn gather(&mut self, digit: usize, ports: &[usize]) -> Result<(), GroupsError> {
        let (factor, unit) = (self.digits.factor(digit), self.current.len());
        let mut last = self.by_fraction();
        let mut worth = 1;
        for &ports in ports {
            let start = self.lines.len() as u32;
            let at_hand = self.current.len();
            for far in (1..=ports).map_while(|j| j.checked_mul(worth)).take_while(|&far| far < factor) {
                let arrive = worth.min(factor - far) * unit;
                self.gather_from(digit, far, arrive.min(at_hand), &mut last)?;
            }
            self.step(digit, start, None);
            worth = factor.min(worth.saturating_mul(ports + 1));
        }
        self.current.retain(|&line| last[self.lines[line as usize].fraction as usize] == line);
        Ok(())
    }

    /// Receives the first lines of a node. A line whose fraction is already present is combined with its last line.
    fn gather_from(&mut self, digit: usize, far: usize, lines: usize, last: &mut [u32]) -> Result<(), GroupsError> {
        let start = self.lines.len() as u32;
        for i in 0..lines {
            let line = self.current[i];
            let fraction = self.digits.shifted(self.lines[line as usize].fraction, digit, far);
            let own = Some(last[fraction as usize]).filter(|&own| own != NONE);
            self.push(fraction, own, &[Received { distance: far, line }])?;
        }
        let made = start..self.lines.len() as u32;
        made.clone().for_each(|line| last[self.lines[line as usize].fraction as usize] = line);
        self.current.extend(made);
        Ok(())
    }

    fn push(&mut self, fraction: u32, own: Option<u32>, arrive: &[Received]) -> Result<u32, GroupsError> {
        if self.lines.len() >= MOST_LINES {
            return Err(GroupsError::TooManyLines { limit: MOST_LINES });
        }
        let (line, start) = (self.lines.len() as u32, self.received.len() as u32);
        self.received.extend_from_slice(arrive);
        self.lines.push(Line { fraction, own, received: start..self.received.len() as u32 });
        Ok(line)
    }

    /// Ends a step, and drops it if it makes no lines.
    fn step(&mut self, digit: usize, start: u32, kept: Option<Vec<u32>>) {
        let made = start..self.lines.len() as u32;
        if !made.is_empty() {
            self.steps.push(Step { digit, made, kept });
        }
    }

    /// The current line of each fraction.
    fn by_fraction(&self) -> Vec<u32> {
        let mut at = vec![NONE; self.digits.fractions()];
        self.current.iter().for_each(|&line| at[self.lines[line as usize].fraction as usize] = line);
        at
    }

    pub(super) fn finish(self, kind: Kind) -> Pattern {
        let first = if kind == Kind::Allgather { 1 } else { self.digits.fractions() as u32 };
        let Grower { digits, lines, received, steps, current: results } = self;
        let live = live(&lines, &received, &results);
        Pattern { kind, digits, first, lines, received, steps, results, live }
    }
}

/// The distances of nodes in steps of reduce_scatter. Complete groups run an allgather with the same ports in
/// reverse; in others, each step divides the rest as evenly as it can.
fn distances(factor: usize, ports: &[usize]) -> Vec<usize> {
    let rest = |from: usize| ports[from..].iter().fold(1usize, |all, port| all.saturating_mul(port + 1));
    if rest(0) >= factor {
        return (1..=ports.len()).map(rest).collect();
    }
    let divide = |size: &mut usize, port: &usize| {
        *size = size.div_ceil(port + 1);
        Some(*size)
    };
    ports.iter().scan(factor, divide).collect()
}

/// Which lines the results need, traced backwards. All nodes need the same lines, so the requests of other nodes are
/// included.
fn live(lines: &[Line], received: &[Received], results: &[u32]) -> Vec<bool> {
    let mut live = vec![false; lines.len()];
    results.iter().for_each(|&line| live[line as usize] = true);
    for (number, line) in lines.iter().enumerate().rev() {
        if live[number] {
            let arrive = &received[line.received.start as usize..line.received.end as usize];
            arrive.iter().map(|arrival| arrival.line).chain(line.own).for_each(|needed| live[needed as usize] = true);
        }
    }
    live
}
