//! Aligns the rounds of all ranks.
//!
//! Groups that run an inner collective side by side may have different numbers of rounds; those with fewer wait. Ranks
//! have few different sequences of rounds and groups, so the alignment of recorded runs ([`Trace::lockstep`]) is made
//! once for each sequence.
//!
//! The walk that finds the sequences also compares what is sent with what is received. It keeps what ranks send, if
//! there is room, so that a second walk is needed for large calls only.

use super::network::NetworkLevels;
use super::rounds::{RankMessage, RankSource, RoundWatcher};
use super::turns::{Followed, RankTurns, combined, memory};
use crate::error::Error;
use crate::proving::sweep;
use crate::simulation::SimulationError;
use roundel_spec::sink::infallible;
use roundel_spec::{Direction, Recorder, Sink, Site, Stripe, Trace};
use std::collections::HashMap;
use std::ops::{AddAssign, ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// The messages of each common round.
    counts: Vec<MessageCount>,
}

/// The messages of a round.
#[derive(Clone, Copy, Debug, Default)]
struct MessageCount {
    /// How many are sent.
    sent: u64,
    /// The sum of a hash of all that are sent, less that of all that are received.
    unmatched: u64,
}

impl AddAssign for MessageCount {
    fn add_assign(&mut self, other: MessageCount) {
        self.sent += other.sent;
        self.unmatched = self.unmatched.wrapping_add(other.unmatched);
    }
}

/// Where the turns of ranks are kept.
#[derive(Clone, Copy)]
pub struct Keep<'a> {
    /// The levels that messages cross.
    pub network: &'a NetworkLevels<'a>,
    /// The bytes that they may take.
    pub room: u64,
}

impl Alignment {
    /// Walks all ranks that are followed, and aligns their rounds. More than `limit` messages and stripes of blocks are
    /// refused.
    pub fn of(source: &dyn RankSource, ranks: Followed, limit: u64) -> Result<Self, Error> {
        Alignment::walk(source, ranks, limit, None).map(|(alignment, _)| alignment)
    }

    /// The same, with the turns of each part of the ranks, if there is room for all.
    pub fn with_turns(
        source: &dyn RankSource,
        ranks: Followed,
        limit: u64,
        keep: Keep<'_>,
    ) -> Result<(Self, Option<Vec<RankTurns>>), Error> {
        Alignment::walk(source, ranks, limit, Some(keep))
    }

    fn walk(
        source: &dyn RankSource,
        ranks: Followed,
        limit: u64,
        keep: Option<Keep<'_>>,
    ) -> Result<(Self, Option<Vec<RankTurns>>), Error> {
        let followed = ranks.followed;
        // The first rank tells early what all of them will take.
        let first = SequenceCount::of(source, ranks, 0..followed.min(1), None)?.0;
        let expected = first.work.saturating_mul(followed as u64);
        if expected > limit.saturating_mul(4) {
            return Err(SimulationError::TooMany { ranks: followed, work: expected, limit }.into());
        }
        let taken = AtomicU64::new(0);
        let parts = sweep::parallel(followed.div_ceil(PART), |n| {
            SequenceCount::of(source, ranks, part(n, followed), keep.map(|keep| KeptTurns::new(keep, &taken)))
        });
        let (mut all, mut turns) = (SequenceCount::default(), Some(Vec::with_capacity(parts.len())));
        for part in parts {
            let (part, kept) = part?;
            all.add(part);
            turns = turns.zip(kept).map(|(mut turns, kept)| {
                turns.push(kept);
                turns
            });
        }
        if all.work > limit {
            return Err(SimulationError::TooMany { ranks: followed, work: all.work, limit }.into());
        }
        let alignment = all.aligned();
        let fits = keep.is_some_and(|keep| alignment.memory() <= keep.room);
        Ok((alignment, turns.filter(|_| fits)))
    }

    /// The memory of all turns, sorted by round: a rank has one in every round, also while it waits for other groups.
    fn memory(&self) -> u64 {
        let messages = self.counts.iter().map(|count| count.sent).sum();
        memory(messages, self.counts.len() as u64 * self.sequence_of.len() as u64)
    }

    /// The number of rounds, also of silent ones.
    pub fn rounds(&self) -> usize {
        self.counts.len()
    }

    /// The number of messages that all ranks send in a round.
    pub fn sent(&self, round: usize) -> u64 {
        self.counts[round].sent
    }

    /// The first round in which a message is sent that is not received, or received and not sent.
    pub fn unmatched(&self) -> Option<usize> {
        self.counts.iter().position(|count| count.unmatched != 0)
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
    /// For each sequence: the messages of each of its rounds.
    counts: Vec<Vec<MessageCount>>,
    /// The number of messages and stripes of blocks.
    work: u64,
}

impl SequenceCount {
    fn of(
        source: &dyn RankSource,
        ranks: Followed,
        walked: Range<usize>,
        turns: Option<KeptTurns<'_>>,
    ) -> Result<(Self, Option<RankTurns>), Error> {
        let mut all = SequenceCount::default();
        let mut watcher = EventWatcher::new(ranks, turns);
        for rank in walked {
            watcher.begin(rank);
            source.walk(rank, &mut watcher)?;
            let sequence = all.sequence(&watcher.events, &watcher.counts);
            all.sequence_of.push(sequence);
        }
        all.work = watcher.work;
        Ok((all, watcher.turns.and_then(KeptTurns::finish)))
    }

    /// The number of a sequence, whose ranks have so many more messages.
    fn sequence(&mut self, events: &[Event], counts: &[MessageCount]) -> u32 {
        let number = match &self.last {
            Some((last, number)) if last == events => *number,
            _ => self.look_up(events),
        };
        self.counts[number as usize].iter_mut().zip(counts).for_each(|(sum, &count)| *sum += count);
        number
    }

    fn look_up(&mut self, events: &[Event]) -> u32 {
        let number = match self.sequences.get(events) {
            Some(&known) => known,
            None => {
                let next = self.counts.len() as u32;
                self.sequences.insert(events.to_vec(), next);
                let rounds = events.iter().filter(|event| **event == Event::Round).count();
                self.counts.push(vec![MessageCount::default(); rounds]);
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

    /// The common numbers.
    fn aligned(self) -> Alignment {
        let mut ordered: Vec<(Vec<Event>, u32)> = self.sequences.into_iter().collect();
        ordered.sort_unstable_by_key(|(_, number)| *number);
        let (common, rounds) = aligned(ordered.iter().map(|(events, _)| events.as_slice()));
        let mut counts = vec![MessageCount::default(); rounds];
        for (own, of_sequence) in common.iter().zip(&self.counts) {
            own.iter().zip(of_sequence).for_each(|(&round, &count)| counts[round as usize] += count);
        }
        Alignment { sequence_of: self.sequence_of, common, counts }
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

/// The turns of a part of the ranks, until there is no room.
struct KeptTurns<'a> {
    turns: RankTurns,
    keep: Keep<'a>,
    /// The bytes that all parts take.
    taken: &'a AtomicU64,
    /// The bytes that this part takes.
    own: u64,
    /// Whether all parts together took too much when this was last looked at.
    full: bool,
}

impl<'a> KeptTurns<'a> {
    fn new(keep: Keep<'a>, taken: &'a AtomicU64) -> Self {
        KeptTurns { turns: RankTurns::default(), keep, taken, own: 0, full: false }
    }

    /// Tells the other parts what this one takes; drops it if that is too much.
    fn account(&mut self) {
        let own = memory(self.turns.messages() as u64, self.turns.number() as u64);
        let more = own - self.own;
        self.own = own;
        self.full |= self.taken.fetch_add(more, Ordering::Relaxed) + more > self.keep.room;
        if self.full {
            (self.turns, self.own) = (RankTurns::default(), 0);
        }
    }

    /// What was kept, if it is all.
    fn finish(mut self) -> Option<RankTurns> {
        self.account();
        (!self.full).then(|| self.turns.shrunk())
    }
}

/// Notes rounds and groups, and counts.
struct EventWatcher<'a> {
    ranks: Followed,
    rank: usize,
    events: Vec<Event>,
    /// The messages of each own round.
    counts: Vec<MessageCount>,
    now: MessageCount,
    combined: f64,
    work: u64,
    turns: Option<KeptTurns<'a>>,
}

impl<'a> EventWatcher<'a> {
    fn new(ranks: Followed, turns: Option<KeptTurns<'a>>) -> Self {
        let (events, counts, now) = (Vec::new(), Vec::new(), MessageCount::default());
        EventWatcher { ranks, rank: 0, events, counts, now, combined: 0.0, work: 0, turns }
    }

    fn begin(&mut self, rank: usize) {
        self.events.clear();
        self.counts.clear();
        (self.rank, self.now, self.combined) = (rank, MessageCount::default(), 0.0);
        self.turns.iter_mut().for_each(KeptTurns::account);
    }

    /// The turns, while there is room.
    fn kept(&mut self) -> Option<&mut KeptTurns<'a>> {
        self.turns.as_mut().filter(|turns| !turns.full)
    }
}

impl RoundWatcher for EventWatcher<'_> {
    fn message(&mut self, message: &RankMessage<'_>) {
        let (rank, ranks) = (self.rank, self.ranks);
        let Followed { p, followed, block } = ranks;
        let (peer, ahead) = (message.peer % followed, (message.peer + p - rank) % p);
        self.work += 1 + message.blocks.len() as u64;
        self.combined += combined(message) as f64 * block;
        let unmatched = match message.direction {
            Direction::Send => hash([rank, peer, ahead, message.count]),
            Direction::Recv => hash([peer, rank, (p - ahead) % p, message.count]).wrapping_neg(),
        };
        let is_sent = message.direction == Direction::Send;
        self.now += MessageCount { sent: u64::from(is_sent), unmatched };
        if let (true, Some(kept)) = (is_sent, self.kept()) {
            kept.turns.message(rank, message, ranks, kept.keep.network);
        }
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        self.events.push(Event::Round);
        self.counts.push(std::mem::take(&mut self.now));
        let combined = std::mem::take(&mut self.combined);
        if let Some(kept) = self.kept() {
            kept.turns.end_turn(combined);
        }
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

/// A hash whose sum over messages tells sets of messages apart, however they are ordered.
fn hash(values: [usize; 4]) -> u64 {
    values.iter().fold(0x9e37_79b9_7f4a_7c15, |state: u64, &value| {
        let mixed = (state ^ value as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) ^ (mixed >> 32)
    })
}
