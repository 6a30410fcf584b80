//! The messages of some consecutive rounds, of all ranks.
//!
//! A rank's rounds come in one go, and the clock needs them round by round. If a fixed amount of memory is enough for
//! all turns, those of the walk that aligns the rounds are sorted by round. Otherwise ranks are walked once more for
//! every window of rounds that fits. Threads walk parts of the ranks.

use super::align::{Alignment, PART, part};
use super::network::NetworkLevels;
use super::rounds::{RankMessage, RankSource, RoundWatcher};
use super::turns::{Followed, RankTurns, SentMessage, combined, memory};
use crate::error::Error;
use crate::proving::sweep;
use roundel_spec::Direction;
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

/// The bytes that the messages of a window may take.
pub const ROOM: u64 = 5 << 28;

/// The messages of some rounds.
#[derive(Clone, Debug)]
pub struct RoundWindow {
    /// The rounds.
    pub rounds: Range<usize>,
    /// Parts of the ranks, [`PART`] of them each.
    parts: Vec<WindowPart>,
}

/// The messages of some ranks in the rounds of a window: round by round, as the clock needs them.
#[derive(Clone, Debug)]
struct WindowPart {
    ranks: usize,
    turns: RankTurns,
}

impl RoundWindow {
    /// All rounds, whose turns were kept.
    pub fn whole(turns: Vec<RankTurns>, alignment: &Alignment, followed: usize) -> Self {
        let rounds = 0..alignment.rounds();
        let turns: Vec<Mutex<RankTurns>> = turns.into_iter().map(Mutex::new).collect();
        let parts = sweep::parallel(turns.len(), |n| {
            let turns = turns[n].lock().map(|mut turns| std::mem::take(&mut *turns)).unwrap_or_default();
            WindowPart::sorted(&turns, alignment, part(n, followed), &rounds)
        });
        RoundWindow { rounds, parts }
    }

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
            if end > first && memory(messages, turns) > room {
                break;
            }
            end += 1;
        }
        let rounds = first..end;
        let parts = sweep::parallel(ranks.followed.div_ceil(PART), |n| {
            let own = part(n, ranks.followed);
            let turns = WindowWatcher::walk(source, alignment, network, ranks, &rounds, own.clone())?;
            Ok(WindowPart::sorted(&turns, alignment, own, &rounds))
        });
        Ok(RoundWindow { parts: parts.into_iter().collect::<Result<_, Error>>()?, rounds })
    }

    /// What a rank sends in a round, and the bytes it combines afterwards.
    pub fn turn(&self, rank: usize, round: usize) -> (&[SentMessage], f64) {
        let part = &self.parts[rank / PART];
        part.turns.turn((round - self.rounds.start) * part.ranks + rank % PART)
    }
}

impl WindowPart {
    /// Ranks are walked one after the other, so turns come rank by rank: sorts them by round. A rank has no turn in
    /// rounds in which only other groups do something.
    fn sorted(turns: &RankTurns, alignment: &Alignment, ranks: Range<usize>, rounds: &Range<usize>) -> Self {
        let mut next = 0;
        let mut own: Vec<(&[u32], usize)> = ranks
            .map(|rank| {
                let own = within(alignment.of_rank(rank), rounds);
                let first = next;
                next += own.len();
                (own, first)
            })
            .collect();
        let mut sorted = RankTurns::with_capacity(turns.messages(), own.len() * rounds.len());
        for round in rounds.clone() {
            for (own, turn) in &mut own {
                match own.split_first() {
                    Some((&now, rest)) if now as usize == round => {
                        sorted.push(turns.turn(*turn));
                        (*own, *turn) = (rest, *turn + 1);
                    }
                    _ => sorted.end_turn(0.0),
                }
            }
        }
        WindowPart { ranks: own.len(), turns: sorted }
    }
}

/// A rank's own rounds that lie in a range.
fn within<'a>(own: &'a [u32], rounds: &Range<usize>) -> &'a [u32] {
    let before = |limit: usize| own.partition_point(|&round| (round as usize) < limit);
    &own[before(rounds.start)..before(rounds.end)]
}

/// Keeps what ranks send in the rounds of a window.
struct WindowWatcher<'a> {
    turns: RankTurns,
    rounds: &'a Range<usize>,
    network: &'a NetworkLevels<'a>,
    ranks: Followed,
    rank: usize,
    /// The common number of each own round that is still to come.
    own: &'a [u32],
    combined: f64,
}

impl WindowWatcher<'_> {
    fn walk(
        source: &dyn RankSource,
        alignment: &Alignment,
        network: &NetworkLevels<'_>,
        ranks: Followed,
        rounds: &Range<usize>,
        walked: Range<usize>,
    ) -> Result<RankTurns, Error> {
        let turns = RankTurns::default();
        let mut watcher = WindowWatcher { turns, rounds, network, ranks, rank: 0, own: &[], combined: 0.0 };
        for rank in walked {
            (watcher.rank, watcher.own) = (rank, alignment.of_rank(rank));
            if !within(watcher.own, rounds).is_empty() {
                source.walk(rank, &mut watcher)?;
            }
        }
        Ok(watcher.turns)
    }

    fn is_inside(&self) -> bool {
        self.own.first().is_some_and(|&round| self.rounds.contains(&(round as usize)))
    }
}

impl RoundWatcher for WindowWatcher<'_> {
    fn message(&mut self, message: &RankMessage<'_>) {
        if !self.is_inside() {
            return;
        }
        self.combined += combined(message) as f64 * self.ranks.block;
        if message.direction == Direction::Send {
            self.turns.message(self.rank, message, self.ranks, self.network);
        }
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        if self.is_inside() {
            self.turns.end_turn(self.combined);
        }
        self.combined = 0.0;
        self.own = self.own.split_first().map_or(&[], |(_, rest)| rest);
        match self.own.first() {
            Some(&round) if (round as usize) < self.rounds.end => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}
