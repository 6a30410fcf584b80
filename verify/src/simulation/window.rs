//! The messages of some consecutive rounds, of all ranks.
//!
//! A rank's rounds come in one go, and the clock needs them round by round. So ranks are walked once for every window
//! of rounds, and a window is as long as a fixed amount of memory allows.

use super::align::Alignment;
use super::network::Network;
use super::rounds::{RankMessage, RankSource, RoundWatcher};
use crate::error::Error;
use roundel_spec::{Action, Direction};
use std::ops::{ControlFlow, Range};

/// The number of messages, and of rounds of single ranks, that a window may have.
pub const ROOM: u64 = 1 << 24;

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Its bytes.
    pub bytes: f64,
    /// The rank that stands for its receiver.
    pub to: u32,
    /// How much larger the number of the receiver is, modulo p.
    pub distance: u32,
    /// The level of the network that it crosses.
    pub level: u8,
}

/// The ranks that are followed: all, or those that stand for all.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    /// The number of ranks.
    pub p: usize,
    /// The number of ranks that are followed, the first ones: rank r is like rank r + followed.
    pub followed: usize,
    /// The bytes of a block.
    pub block: f64,
}

/// The messages of some rounds.
#[derive(Clone, Debug)]
pub struct Window {
    /// The rounds.
    pub rounds: Range<usize>,
    sends: Vec<Sent>,
    /// For each rank and round: the end of its messages, and the bytes it combines.
    turns: Vec<(u32, f64)>,
    /// For each round, the sum of a hash of all messages sent, less that of all messages received.
    unmatched: Vec<u64>,
}

impl Window {
    /// The next window from a round on, as long as memory allows.
    pub fn next(
        source: &dyn RankSource,
        alignment: &Alignment,
        network: &Network<'_>,
        ranks: Followed,
        first: usize,
        room: u64,
    ) -> Result<Self, Error> {
        let (mut end, mut messages) = (first, 0u64);
        while end < alignment.rounds() {
            messages += alignment.sent(end);
            let turns = (end + 1 - first) as u64 * ranks.followed as u64;
            // At least one round, whatever it takes.
            if end > first && messages.max(turns) > room {
                break;
            }
            end += 1;
        }
        let rounds = first..end;
        let mut watcher = WindowWatcher {
            window: Window {
                turns: Vec::with_capacity(ranks.followed * rounds.len()),
                unmatched: vec![0; rounds.len()],
                sends: Vec::new(),
                rounds,
            },
            network,
            ranks,
            rank: 0,
            own: &[],
            passed: 0,
            combined: 0.0,
        };
        for rank in 0..ranks.followed {
            watcher.begin(rank, alignment.of_rank(rank));
            source.walk(rank, &mut watcher)?;
            watcher.finish();
        }
        Ok(watcher.window)
    }

    /// What a rank sends in a round, and the bytes it combines afterwards.
    pub fn turn(&self, rank: usize, round: usize) -> (&[Sent], f64) {
        let at = rank * self.rounds.len() + (round - self.rounds.start);
        let (end, combined) = self.turns[at];
        let start = at.checked_sub(1).map_or(0, |before| self.turns[before].0);
        (&self.sends[start as usize..end as usize], combined)
    }

    /// The first round in which a message is sent that is not received, or received and not sent.
    pub fn unmatched(&self) -> Option<usize> {
        self.unmatched.iter().position(|&sum| sum != 0).map(|at| self.rounds.start + at)
    }
}

struct WindowWatcher<'a> {
    window: Window,
    network: &'a Network<'a>,
    ranks: Followed,
    rank: usize,
    /// The common number of each own round.
    own: &'a [u32],
    /// The number of own rounds that have passed.
    passed: usize,
    combined: f64,
}

impl<'a> WindowWatcher<'a> {
    fn begin(&mut self, rank: usize, own: &'a [u32]) {
        (self.rank, self.own, self.passed, self.combined) = (rank, own, 0, 0.0);
    }

    /// The common number of the current round.
    fn round(&self) -> usize {
        self.own.get(self.passed).map_or(usize::MAX, |&round| round as usize)
    }

    /// Adds silent turns up to a round.
    fn pad(&mut self, round: usize) {
        let wanted =
            self.rank * self.window.rounds.len() + round.min(self.window.rounds.end) - self.window.rounds.start;
        while self.window.turns.len() < wanted {
            self.window.turns.push((self.window.sends.len() as u32, 0.0));
        }
    }

    fn finish(&mut self) {
        self.pad(self.window.rounds.end);
    }
}

impl RoundWatcher for WindowWatcher<'_> {
    fn message(&mut self, message: &RankMessage<'_>) {
        let round = self.round();
        if !self.window.rounds.contains(&round) {
            return;
        }
        let Followed { p, followed, block } = self.ranks;
        let ahead = (message.peer + p - self.rank) % p;
        let bytes = message.count as f64 * block;
        let at = round - self.window.rounds.start;
        let peer = message.peer % followed;
        let sum = &mut self.window.unmatched[at];
        match message.direction {
            Direction::Send => {
                *sum = sum.wrapping_add(hash([self.rank, peer, ahead, message.count]));
                let level = self.network.level(self.rank, message.peer);
                let sent = Sent { bytes, to: peer as u32, distance: ahead as u32, level };
                // Turns before this round are complete only now.
                self.pad(round);
                self.window.sends.push(sent);
            }
            Direction::Recv => {
                *sum = sum.wrapping_sub(hash([peer, self.rank, (p - ahead) % p, message.count]));
                if matches!(message.site.action, Action::CombineLeft { .. } | Action::CombineRight { .. }) {
                    self.combined += bytes;
                }
            }
        }
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        let round = self.round();
        if self.window.rounds.contains(&round) {
            self.pad(round);
            self.window.turns.push((self.window.sends.len() as u32, self.combined));
        }
        self.combined = 0.0;
        self.passed += 1;
        if self.round() >= self.window.rounds.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A hash whose sum over messages tells sets of messages apart, however they are ordered.
fn hash(values: [usize; 4]) -> u64 {
    values.iter().fold(0x9e37_79b9_7f4a_7c15, |state: u64, &value| {
        let mixed = (state ^ value as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (mixed >> 32)
    })
}
