//! The messages of some consecutive rounds, of all ranks.
//!
//! A rank's rounds come in one go, and the clock needs them round by round. So ranks are walked once for every window
//! of rounds, and a window is as long as a fixed amount of memory allows. Threads walk parts of the ranks.

use super::align::{Alignment, PART, part};
use super::network::NetworkLevels;
use super::rounds::{RankMessage, RankSource, RoundWatcher};
use crate::error::Error;
use crate::proving::sweep;
use roundel_spec::{Action, Direction};
use std::ops::{ControlFlow, Range};

/// The number of messages, and of rounds of single ranks, that a window may have.
pub const ROOM: u64 = 5 << 23;

/// A message on its way: 16 bytes, because there are tens of millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The rank that stands for its receiver.
    pub to: u32,
    /// How much larger the number of the receiver is, modulo p.
    pub distance: u32,
    /// The number of its blocks, and in the lowest byte the level.
    packed: u64,
}

impl SentMessage {
    fn new(to: usize, distance: usize, blocks: usize, level: u8) -> Self {
        SentMessage { to: to as u32, distance: distance as u32, packed: (blocks as u64) << 8 | u64::from(level) }
    }

    /// The level of the network that it crosses.
    pub fn level(&self) -> u8 {
        self.packed as u8
    }

    /// Its bytes, if a block has so many.
    pub fn bytes(&self, block: f64) -> f64 {
        (self.packed >> 8) as f64 * block
    }
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
pub struct RoundWindow {
    /// The rounds.
    pub rounds: Range<usize>,
    /// Parts of the ranks, [`PART`] of them each.
    parts: Vec<WindowPart>,
}

/// The messages of some ranks in the rounds of a window: round by round, as the clock needs them.
#[derive(Clone, Debug, Default)]
struct WindowPart {
    ranks: usize,
    sends: Vec<SentMessage>,
    /// For each round and rank, the end of its messages.
    ends: Vec<u32>,
    /// For each round and rank, the bytes it combines.
    combined: Vec<f64>,
    /// For each round, the sum of a hash of all messages sent, less that of all messages received.
    unmatched: Vec<u64>,
}

impl RoundWindow {
    /// The next window from a round on, as long as memory allows.
    pub fn next(
        source: &dyn RankSource,
        alignment: &Alignment,
        network: &NetworkLevels<'_>,
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
        Ok(RoundWindow { parts: parts.into_iter().collect::<Result<_, _>>()?, rounds })
    }

    /// What a rank sends in a round, and the bytes it combines afterwards.
    pub fn turn(&self, rank: usize, round: usize) -> (&[SentMessage], f64) {
        let part = &self.parts[rank / PART];
        let at = (round - self.rounds.start) * part.ranks + rank % PART;
        let start = at.checked_sub(1).map_or(0, |before| part.ends[before]);
        (&part.sends[start as usize..part.ends[at] as usize], part.combined[at])
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
        network: &NetworkLevels<'_>,
        ranks: Followed,
        rounds: &Range<usize>,
        own: Range<usize>,
    ) -> Result<Self, Error> {
        let turns = own.len() * rounds.len();
        let part = WindowPart {
            ranks: own.len(),
            sends: Vec::new(),
            ends: Vec::with_capacity(turns),
            combined: Vec::with_capacity(turns),
            unmatched: vec![0; rounds.len()],
        };
        let (rounds, first) = (rounds.clone(), own.start);
        let mut watcher =
            WindowWatcher { part, rounds, first, network, ranks, rank: first, own: &[], passed: 0, combined: 0.0 };
        for rank in own {
            watcher.begin(rank, alignment.of_rank(rank));
            source.walk(rank, &mut watcher)?;
            watcher.finish();
        }
        Ok(watcher.part.by_round())
    }

    /// Ranks are walked one after the other, so messages come rank by rank: sorts them by round.
    fn by_round(self) -> Self {
        let rounds = self.unmatched.len();
        let mut sorted = WindowPart {
            ranks: self.ranks,
            sends: Vec::with_capacity(self.sends.len()),
            ends: Vec::with_capacity(self.ends.len()),
            combined: Vec::with_capacity(self.combined.len()),
            unmatched: self.unmatched,
        };
        for round in 0..rounds {
            for at in (0..self.ranks).map(|rank| rank * rounds + round) {
                let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
                sorted.sends.extend_from_slice(&self.sends[start as usize..self.ends[at] as usize]);
                sorted.ends.push(sorted.sends.len() as u32);
                sorted.combined.push(self.combined[at]);
            }
        }
        sorted
    }

    fn end_turn(&mut self, combined: f64) {
        self.ends.push(self.sends.len() as u32);
        self.combined.push(combined);
    }
}

struct WindowWatcher<'a> {
    part: WindowPart,
    rounds: Range<usize>,
    /// The first rank of the part.
    first: usize,
    network: &'a NetworkLevels<'a>,
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
        while self.part.ends.len() < wanted {
            self.part.end_turn(0.0);
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
        let at = round - self.rounds.start;
        let peer = message.peer % followed;
        let sum = &mut self.part.unmatched[at];
        match message.direction {
            Direction::Send => {
                *sum = sum.wrapping_add(hash([self.rank, peer, ahead, message.count]));
                let level = self.network.level(self.rank, message.peer);
                // Turns before this round are complete only now.
                self.pad(round);
                self.part.sends.push(SentMessage::new(peer, ahead, message.count, level));
            }
            Direction::Recv => {
                *sum = sum.wrapping_sub(hash([peer, self.rank, (p - ahead) % p, message.count]));
                if matches!(message.site.action, Action::CombineLeft { .. } | Action::CombineRight { .. }) {
                    self.combined += message.count as f64 * block;
                }
            }
        }
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        let round = self.round();
        if self.rounds.contains(&round) {
            self.pad(round);
            self.part.end_turn(self.combined);
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
