//! Writes the rounds of all ranks in GOAL, the input of LogGOPSim and ATLAHS.
//!
//! A round of a rank is a set of sends and receives that do not depend on each other, and a `calc` that depends on all
//! of them; those of the next round depend on the `calc`. The tag is the number of the round. The length of a message
//! is rounded up to whole bytes, and combining takes no time.

use super::SimulationError;
use super::align::Alignment;
use super::rounds::{RankMessage, RankSource, RoundWatcher};
use super::turns::Followed;
use crate::error::Error;
use roundel_spec::Direction;
use std::fmt::Write as _;
use std::io::Write;
use std::ops::ControlFlow;

/// The largest number of messages of a file.
const MOST: u64 = 20_000_000;

/// Writes all ranks to `out`. A block has `block` bytes.
pub fn write(source: &dyn RankSource, p: usize, block: f64, out: &mut impl Write) -> Result<(), Error> {
    let alignment = Alignment::of(source, Followed { p, followed: p, block }, source.patience())?;
    let messages = (0..alignment.rounds()).map(|round| alignment.sent(round)).sum();
    if messages > MOST {
        return Err(SimulationError::TooLong { messages, limit: MOST }.into());
    }
    writeln!(out, "num_ranks {p}\n")?;
    for rank in 0..p {
        let mut goal = RankGoal {
            text: String::new(),
            block,
            own: alignment.of_rank(rank),
            passed: 0,
            label: 0,
            before: None,
            now: Vec::new(),
        };
        source.walk(rank, &mut goal)?;
        writeln!(out, "rank {rank} {{\n{}}}\n", goal.text)?;
    }
    Ok(())
}

/// One rank.
struct RankGoal<'a> {
    text: String,
    block: f64,
    /// The common number of each own round.
    own: &'a [u32],
    passed: usize,
    /// The last label.
    label: usize,
    /// The `calc` of the round before.
    before: Option<usize>,
    /// The messages of this round.
    now: Vec<usize>,
}

impl RankGoal<'_> {
    /// Adds an operation after all of some others.
    fn add(&mut self, operation: &str, after: &[usize]) -> usize {
        self.label += 1;
        let label = self.label;
        let _ = writeln!(self.text, "l{label}: {operation}");
        after.iter().for_each(|before| {
            let _ = writeln!(self.text, "l{label} requires l{before}");
        });
        label
    }
}

impl RoundWatcher for RankGoal<'_> {
    fn message(&mut self, message: &RankMessage<'_>) {
        let bytes = (message.count as f64 * self.block).ceil() as u64;
        let tag = self.own.get(self.passed).copied().unwrap_or(0);
        let operation = match message.direction {
            Direction::Send => format!("send {bytes}b to {} tag {tag}", message.peer),
            Direction::Recv => format!("recv {bytes}b from {} tag {tag}", message.peer),
        };
        let before: Vec<usize> = self.before.into_iter().collect();
        let label = self.add(&operation, &before);
        self.now.push(label);
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        let messages = std::mem::take(&mut self.now);
        if !messages.is_empty() {
            self.before = Some(self.add("calc 0", &messages));
        }
        self.passed += 1;
        ControlFlow::Continue(())
    }
}
