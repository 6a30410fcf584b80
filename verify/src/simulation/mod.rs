//! Simulates a collective on a machine that need not exist: up to a million ranks, without a run.
//!
//! - [`rounds`]: the rounds of one rank, from generated code, the evaluator or a plan
//! - [`symmetry`]: whether one rank or one node stands for all, by the declaration; otherwise every rank is followed
//! - [`align`], [`turns`], [`window`]: common numbers of rounds, what ranks send, and the messages of some rounds
//! - [`machine`], [`topology`], [`network`]: the machine, and the links that messages share
//! - [`run`]: a clock for every rank
//! - [`goal`]: the same rounds as a file for other simulators
//!
//! docs/simulation.md says what the times mean.

pub mod align;
mod error;
pub mod goal;
pub mod machine;
pub mod network;
pub mod report;
pub mod rounds;
pub mod run;
pub mod symmetry;
pub mod topology;
pub mod turns;
pub mod window;

pub use error::SimulationError;

use crate::error::Error;
use align::{Alignment, Keep};
use machine::SimulatedMachine;
use network::NetworkLevels;
use roundel_spec::{Kind, Placement};
use rounds::RankSource;
use run::{RankClocks, RoundTime, Traffic};
use symmetry::Symmetry;
use turns::Followed;
use window::RoundWindow;

/// The largest number of ranks.
pub const MAX_P: usize = 1 << 20;

/// The largest number of messages of one round.
const MOST_AT_ONCE: u64 = 1 << 26;

/// A call on a machine.
pub struct SimulatedCall<'a> {
    /// The rounds of every rank.
    pub source: &'a dyn RankSource,
    /// Which ranks stand for all.
    pub symmetry: Symmetry,
    /// The contract, which says what a block is.
    pub kind: Kind,
    /// The placement of the ranks.
    pub placement: &'a Placement,
    /// The machine.
    pub machine: &'a SimulatedMachine,
    /// The bytes of a block, or of the data if it is not divided among ranks.
    pub bytes: u64,
}

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// The number of ranks.
    pub p: usize,
    /// The number of ranks that were followed.
    pub followed: usize,
    /// The names of the levels that messages cross.
    pub levels: Vec<String>,
    /// The rounds with messages.
    pub rounds: Vec<RoundTime>,
    /// When the last rank has ended.
    pub seconds: f64,
    /// When the first rank has ended.
    pub earliest: f64,
    /// The messages that determine the end, first to last; `None` if there are too many ranks and rounds to keep them.
    pub path: Option<Vec<PathStep>>,
}

/// A message on the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The round, also counting silent rounds.
    pub round: usize,
    /// The rank that was waited for.
    pub from: usize,
    /// The rank that waited.
    pub to: usize,
    /// The level between them.
    pub level: u8,
}

impl Simulation {
    /// The messages and bytes of each level, over all rounds.
    pub fn traffic(&self) -> Vec<Traffic> {
        let mut sum = vec![Traffic::default(); self.levels.len()];
        for round in &self.rounds {
            for (sum, level) in sum.iter_mut().zip(&round.traffic) {
                sum.messages += level.messages;
                sum.bytes += level.bytes;
            }
        }
        sum
    }

    /// The messages on the critical path, by level.
    pub fn path_levels(&self) -> Option<Vec<usize>> {
        let mut counts = vec![0; self.levels.len()];
        self.path.as_ref()?.iter().for_each(|step| counts[usize::from(step.level)] += 1);
        Some(counts)
    }
}

impl SimulatedCall<'_> {
    /// The bytes of a block. Data that is not divided among ranks consists of equal blocks, whose length need not be a
    /// whole number.
    pub fn block(&self) -> f64 {
        let each = self.kind.has_a_block_each() || self.kind.moves();
        self.bytes as f64 / if each { 1.0 } else { self.source.blocks().max(1) as f64 }
    }

    /// Simulates the call, with one rank, or one node, for all that are alike.
    pub fn simulate(&self) -> Result<Simulation, Error> {
        let network = NetworkLevels::new(self.placement, self.machine.topology());
        let alike = network.period().and_then(|period| self.symmetry.stand_in(period, self.placement.ppn()));
        self.following(alike.unwrap_or(self.placement.p()), window::ROOM)
    }

    /// Simulates the call by following so many ranks: all of them, or a period of ranks that are alike. `room` limits
    /// the bytes of the messages that are in memory at once.
    pub fn following(&self, followed: usize, room: u64) -> Result<Simulation, Error> {
        let p = self.placement.p();
        self.fits_nodes()?;
        let network = NetworkLevels::new(self.placement, self.machine.topology());
        let ranks = Followed { p, followed, block: self.block() };
        let keep = Keep { network: &network, room };
        let (alignment, mut turns) = Alignment::with_turns(self.source, ranks, self.source.patience(), keep)?;
        let active: Vec<usize> = (0..alignment.rounds()).filter(|&round| alignment.sent(round) > 0).collect();
        if let Some(work) = active.iter().map(|&round| alignment.sent(round)).find(|&sent| sent > MOST_AT_ONCE) {
            return Err(SimulationError::TooMany { ranks: followed, work, limit: MOST_AT_ONCE }.into());
        }
        if let Some(round) = alignment.unmatched() {
            return Err(SimulationError::Unmatched { round }.into());
        }
        let mut run = RankClocks::new(self.machine, &network, self.placement, ranks, active.len());
        let (mut rounds, mut first) = (Vec::with_capacity(active.len()), 0);
        while first < alignment.rounds() {
            let window = match turns.take() {
                Some(turns) => RoundWindow::whole(turns, &alignment, followed),
                None => RoundWindow::next(self.source, &alignment, &network, ranks, first, room)?,
            };
            let active = window.rounds.clone().filter(|&round| alignment.sent(round) > 0);
            rounds.extend(active.map(|round| run.round(&window, round)));
            first = window.rounds.end;
        }
        let ends = run.ends().fold((f64::INFINITY, 0.0f64), |(low, high), end| (low.min(end), high.max(end)));
        let path = run.path(active.len()).map(|path| steps(&path, &active, &network));
        let levels = network.names();
        Ok(Simulation { p, followed, levels, rounds, seconds: ends.1, earliest: ends.0, path })
    }

    /// Checks that no node has more ranks than one of the topology.
    fn fits_nodes(&self) -> Result<(), Error> {
        let Some(node) = self.machine.topology().and_then(|topology| topology.levels.first()) else { return Ok(()) };
        let found = self.placement.ppn();
        if found <= node.size {
            return Ok(());
        }
        Err(SimulationError::OtherNodes { found, size: node.size, level: node.name.clone() }.into())
    }
}

/// The messages of a path that is given from its end.
fn steps(path: &[(usize, usize)], active: &[usize], network: &NetworkLevels<'_>) -> Vec<PathStep> {
    let messages = path.iter().rev().zip(active).filter(|((to, from), _)| to != from);
    let step = |(&(to, from), &round): (&(usize, usize), &usize)| PathStep {
        round,
        from,
        to,
        level: network.level(from, to),
    };
    messages.map(step).collect()
}
