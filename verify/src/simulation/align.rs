//! Aligns the rounds of all ranks without recording their messages.
//!
//! Groups that run an inner collective side by side may have different numbers of rounds; those with fewer wait. Ranks
//! have few different sequences of rounds and groups, so the alignment of recorded runs ([`Trace::lockstep`]) is made
//! once for each sequence.

use super::rounds::{RankMessage, RankSource, RoundWatcher};
use crate::error::Error;
use crate::proving::sweep;
use crate::simulation::SimulationError;
use roundel_spec::sink::infallible;
use roundel_spec::{Direction, Recorder, Sink, Site, Stripe, Trace};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

/// What happens on a rank, without messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Round,
    Enter,
    Leave,
}

/// The common numbering of rounds.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// The sequence of each rank, by number.
    sequence_of: Vec<u32>,
    /// For each sequence: the common number of each of its own rounds.
    common: Vec<Vec<u32>>,
    /// The number of messages sent in each common round.
    sent: Vec<u64>,
}

impl Alignment {
    /// Walks ranks `0..ranks`, and aligns their rounds. More than `limit` messages and stripes of blocks are refused.
    pub fn of(source: &dyn RankSource, ranks: usize, limit: u64) -> Result<Self, Error> {
        // The first rank tells early what all of them will take.
        let expected = SequenceCount::of(source, 0..ranks.min(1))?.work.saturating_mul(ranks as u64);
        if expected > limit.saturating_mul(4) {
            return Err(SimulationError::TooMany { ranks, work: expected, limit }.into());
        }
        let parts = sweep::parallel(ranks.div_ceil(PART), |n| SequenceCount::of(source, part(n, ranks)));
        let mut all = SequenceCount::default();
        for part in parts {
            all.add(part?);
        }
        if all.work > limit {
            return Err(SimulationError::TooMany { ranks, work: all.work, limit }.into());
        }
        let mut ordered: Vec<(Vec<Event>, u32)> = all.sequences.into_iter().collect();
        ordered.sort_unstable_by_key(|(_, number)| *number);
        let (common, rounds) = aligned(ordered.iter().map(|(events, _)| events.as_slice()));
        let mut sent = vec![0; rounds];
        for (own, counts) in common.iter().zip(&all.counts) {
            own.iter().zip(counts).for_each(|(&round, count)| sent[round as usize] += count);
        }
        Ok(Alignment { sequence_of: all.sequence_of, common, sent })
    }

    /// The number of rounds, also of silent ones.
    pub fn rounds(&self) -> usize {
        self.sent.len()
    }

    /// The number of messages that all ranks send in a round.
    pub fn sent(&self, round: usize) -> u64 {
        self.sent[round]
    }

    /// The common number of each round of a rank.
    pub fn of_rank(&self, rank: usize) -> &[u32] {
        &self.common[self.sequence_of[rank] as usize]
    }
}

/// The number of ranks that a thread walks at a time.
pub(super) const PART: usize = 1 << 12;

/// The ranks of a part.
pub(super) fn part(n: usize, ranks: usize) -> Range<usize> {
    n * PART..((n + 1) * PART).min(ranks)
}

/// The sequences of some ranks, and how much they send.
#[derive(Default)]
struct SequenceCount {
    sequences: HashMap<Vec<Event>, u32>,
    /// The sequence that was looked up last: neighbours are mostly alike.
    last: Option<(Vec<Event>, u32)>,
    /// The sequence of each rank.
    sequence_of: Vec<u32>,
    /// For each sequence: the messages sent in each of its rounds.
    counts: Vec<Vec<u64>>,
    /// The number of messages and stripes of blocks.
    work: u64,
}

impl SequenceCount {
    fn of(source: &dyn RankSource, ranks: Range<usize>) -> Result<Self, Error> {
        let (mut all, mut watcher) = (SequenceCount::default(), EventWatcher::default());
        for rank in ranks {
            watcher.events.clear();
            watcher.sent.clear();
            watcher.now = 0;
            source.walk(rank, &mut watcher)?;
            let sequence = all.sequence(&watcher.events, &watcher.sent);
            all.sequence_of.push(sequence);
        }
        all.work = watcher.work;
        Ok(all)
    }

    /// The number of a sequence, whose ranks send so much more.
    fn sequence(&mut self, events: &[Event], sent: &[u64]) -> u32 {
        let number = match &self.last {
            Some((last, number)) if last == events => *number,
            _ => self.look_up(events),
        };
        self.counts[number as usize].iter_mut().zip(sent).for_each(|(sum, sent)| *sum += sent);
        number
    }

    fn look_up(&mut self, events: &[Event]) -> u32 {
        let number = match self.sequences.get(events) {
            Some(&known) => known,
            None => {
                let next = self.counts.len() as u32;
                self.sequences.insert(events.to_vec(), next);
                let rounds = events.iter().filter(|event| **event == Event::Round).count();
                self.counts.push(vec![0; rounds]);
                next
            }
        };
        self.last = Some((events.to_vec(), number));
        number
    }

    /// Adds the ranks that follow.
    fn add(&mut self, next: SequenceCount) {
        let mut ordered: Vec<(Vec<Event>, u32)> = next.sequences.into_iter().collect();
        ordered.sort_unstable_by_key(|(_, number)| *number);
        let numbers: Vec<u32> =
            ordered.iter().zip(&next.counts).map(|((events, _), counts)| self.sequence(events, counts)).collect();
        self.sequence_of.extend(next.sequence_of.iter().map(|&own| numbers[own as usize]));
        self.work += next.work;
    }
}

/// The common number of each round of each sequence, and how many there are.
fn aligned<'a>(sequences: impl Iterator<Item = &'a [Event]>) -> (Vec<Vec<u32>>, usize) {
    let log = |events: &[Event]| {
        let mut recorder = Recorder::default();
        for event in events {
            infallible(match event {
                Event::Enter => recorder.enter_groups(),
                Event::Leave => recorder.leave_groups(),
                Event::Round => {
                    // A message, so that own rounds are not silent.
                    infallible(recorder.begin_round());
                    infallible(recorder.send(Site::plain(0), 0, Stripe::one(0, 1)));
                    recorder.end_round()
                }
            });
        }
        recorder.finish()
    };
    let trace = Trace::lockstep(sequences.map(log).collect());
    let own = |log: &roundel_spec::record::RankLog| {
        (0..trace.rounds()).filter(|&round| !log.round(round).is_empty()).map(|round| round as u32).collect()
    };
    (trace.ranks.iter().map(own).collect(), trace.rounds())
}

/// Notes rounds and groups, and counts.
#[derive(Default)]
struct EventWatcher {
    events: Vec<Event>,
    /// The messages sent in each own round.
    sent: Vec<u64>,
    now: u64,
    work: u64,
}

impl RoundWatcher for EventWatcher {
    fn message(&mut self, message: &RankMessage<'_>) {
        self.now += u64::from(message.direction == Direction::Send);
        self.work += 1 + message.blocks.len() as u64;
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        self.events.push(Event::Round);
        self.sent.push(std::mem::take(&mut self.now));
        self.work += 1;
        ControlFlow::Continue(())
    }

    fn enter_groups(&mut self) {
        self.events.push(Event::Enter);
    }

    fn leave_groups(&mut self) {
        self.events.push(Event::Leave);
    }
}
