//! The messages of some consecutive rounds, of all ranks.
//!
//! A rank's rounds come in one go, and the clock needs them round by round. So ranks are walked once for every window
//! of rounds, and a window is as long as a fixed amount of memory allows. Threads walk parts of the ranks.

use super::align::{Alignment, PART, part};
use super::network::Network;
use super::rounds::{RankMessage, RankSource, RoundWatcher};
use crate::error::Error;
use crate::proving::sweep;
use roundel_spec::{Action, Direction};
use std::ops::{ControlFlow, Range};

/// The number of messages, and of rounds of single ranks, that a window may have.
pub const ROOM: u64 = 3 << 23;

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
    /// Parts of the ranks, [`PART`] of them each.
    parts: Vec<WindowPart>,
}

/// The messages of some ranks in the rounds of a window.
#[derive(Clone, Debug)]
struct WindowPart {
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
        let parts = sweep::parallel(ranks.followed.div_ceil(PART), |n| {
            WindowPart::of(source, alignment, network, ranks, &rounds, part(n, ranks.followed))
        });
        Ok(Window { parts: parts.into_iter().collect::<Result<_, _>>()?, rounds })
    }

    /// What a rank sends in a round, and the bytes it combines afterwards.
    pub fn turn(&self, rank: usize, round: usize) -> (&[Sent], f64) {
        let part = &self.parts[rank / PART];
        let at = rank % PART * self.rounds.len() + (round - self.rounds.start);
        let (end, combined) = part.turns[at];
        let start = at.checked_sub(1).map_or(0, |before| part.turns[before].0);
        (&part.sends[start as usize..end as usize], combined)
    }

    /// The first round in which a message is sent that is not received, or received and not sent.
    pub fn unmatched(&self) -> Option<usize> {
        let sum = |at: usize| self.parts.iter().fold(0u64, |sum, part| sum.wrapping_add(part.unmatched[at]));
        (0..self.rounds.len()).find(|&at| sum(at) != 0).map(|at| self.rounds.start + at)
    }
}

impl WindowPart {
    fn of(
        source: &dyn RankSource,
        alignment: &Alignment,
        network: &Network<'_>,
        ranks: Followed,
        rounds: &Range<usize>,
        own: Range<usize>,
    ) -> Result<Self, Error> {
        let turns = Vec::with_capacity(own.len() * rounds.len());
        let part = WindowPart { turns, unmatched: vec![0; rounds.len()], sends: Vec::new() };
        let (rounds, first) = (rounds.clone(), own.start);
        let mut watcher =
            WindowWatcher { part, rounds, first, network, ranks, rank: first, own: &[], passed: 0, combined: 0.0 };
        for rank in own {
            watcher.begin(rank, alignment.of_rank(rank));
            source.walk(rank, &mut watcher)?;
            watcher.finish();
        }
        Ok(watcher.part)
    }
}

struct WindowWatcher<'a> {
    part: WindowPart,
    rounds: Range<usize>,
    /// The first rank of the part.
    first: usize,
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
        let wanted = (self.rank - self.first) * self.rounds.len() + round.min(self.rounds.end) - self.rounds.start;
        while self.part.turns.len() < wanted {
            self.part.turns.push((self.part.sends.len() as u32, 0.0));
        }
    }

    fn finish(&mut self) {
        self.pad(self.rounds.end);
    }
}

impl RoundWatcher for WindowWatcher<'_> {
    fn message(&mut self, message: &RankMessage<'_>) {
        let round = self.round();
        if !self.rounds.contains(&round) {
            return;
        }
        let Followed { p, followed, block } = self.ranks;
        let ahead = (message.peer + p - self.rank) % p;
        let bytes = message.count as f64 * block;
        let at = round - self.rounds.start;
        let peer = message.peer % followed;
        let sum = &mut self.part.unmatched[at];
        match message.direction {
            Direction::Send => {
                *sum = sum.wrapping_add(hash([self.rank, peer, ahead, message.count]));
                let level = self.network.level(self.rank, message.peer);
                let sent = Sent { bytes, to: peer as u32, distance: ahead as u32, level };
                // Turns before this round are complete only now.
                self.pad(round);
                self.part.sends.push(sent);
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
        if self.rounds.contains(&round) {
            self.pad(round);
            self.part.turns.push((self.part.sends.len() as u32, self.combined));
        }
        self.combined = 0.0;
        self.passed += 1;
        if self.round() >= self.rounds.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A hash whose sum over messages tells sets of messages apart, however they are ordered.
fn hash(values: [usize; 4]) -> u64 {
    values.iter().fold(0x9e37_79b9_7f4a_7c15, |state: u64, &value| {
        let mixed = (state ^ value as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (mixed >> 32)
    })
}
