//! A sink that records the rounds.

mod lockstep;

use crate::meaning::sink::Sink;
use crate::meaning::stripes::{Blocks, Stripe, StripeList};
use crate::schedule::message::{Direction, Line, Site};
use lockstep::lockstep;
use std::convert::Infallible;
use std::ops::Range;

/// One message, as seen by one of its two ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whether it leaves or arrives.
    pub direction: Direction,
    /// The other rank.
    pub peer: usize,
    /// The clause it comes from.
    pub site: Site,
    blocks: Range<usize>,
}

/// What is known of blocks of a line after an inner collective.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Afterwards {
    /// The first round before which it is so.
    before: usize,
    line: Line,
    blocks: Range<usize>,
    known: Known,
}

/// What is known of a block after an inner collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    ReducedHere,
}

/// All rounds of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankLog {
    blocks: Vec<u32>,
    messages: Vec<Message>,
    afterwards: Vec<Afterwards>,
    ends: Vec<usize>,
    /// Rounds and groups, in order.
    events: Vec<Event>,
}

/// An event on one rank, for [`Trace::lockstep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Round,
    Enter,
    Leave,
}

impl RankLog {
    /// The number of rounds, including silent ones.
    pub fn rounds(&self) -> usize {
        self.ends.len()
    }

    /// The messages of one round, in the order of the declaration; empty if this rank has no such round.
    pub fn round(&self, round: usize) -> &[Message] {
        let start = if round == 0 { 0 } else { self.ends.get(round - 1).copied().unwrap_or(self.messages.len()) };
        let end = self.ends.get(round).copied().unwrap_or(start);
        &self.messages[start..end]
    }

    /// The messages of one round in one direction.
    pub fn directed(&self, round: usize, direction: Direction) -> impl Iterator<Item = &Message> {
        self.round(round).iter().filter(move |m| m.direction == direction)
    }

    /// The blocks of a message, in the order in which they are sent.
    pub fn blocks(&self, message: &Message) -> &[u32] {
        &self.blocks[message.blocks.clone()]
    }

    /// The lines and blocks of which nothing is known any more before `round`, and was before the round before it.
    pub fn forgotten(&self, round: usize) -> impl Iterator<Item = (Line, &[u32])> {
        self.known(round, Known::Nothing)
    }

    /// The lines and blocks of which it is known, before `round` and not before the round before it, that this rank has
    /// reduced them by itself.
    pub fn reduced_here(&self, round: usize) -> impl Iterator<Item = (Line, &[u32])> {
        self.known(round, Known::ReducedHere)
    }

    fn known(&self, round: usize, known: Known) -> impl Iterator<Item = (Line, &[u32])> {
        let now = self.afterwards.iter().filter(move |one| one.before == round && one.known == known);
        now.map(|one| (one.line, &self.blocks[one.blocks.clone()]))
    }
}

/// Recorded blocks, for a [`Sink`].
#[derive(Clone, Copy)]
struct RecordedBlocks<'a>(&'a [u32]);

impl Blocks for RecordedBlocks<'_> {
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        self.0.iter().map(|&block| Stripe::one(block as i64, block as i64 + 1))
    }
}

impl RankLog {
    /// Hands the recorded rounds to a sink.
    ///
    /// # Errors
    /// Returns the errors of the sink.
    pub fn replay<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        let mut round = 0;
        self.replay_known(round, sink)?;
        for event in &self.events {
            match event {
                Event::Enter => sink.enter_groups()?,
                Event::Leave => sink.leave_groups()?,
                Event::Round => {
                    sink.begin_round()?;
                    for message in self.round(round) {
                        let blocks = RecordedBlocks(self.blocks(message));
                        match message.direction {
                            Direction::Send => sink.send(message.site, message.peer, blocks)?,
                            Direction::Recv => sink.recv(message.site, message.peer, blocks)?,
                        }
                    }
                    sink.end_round()?;
                    round += 1;
                    self.replay_known(round, sink)?;
                }
            }
        }
        Ok(())
    }

    fn replay_known<S: Sink>(&self, round: usize, sink: &mut S) -> Result<(), S::Error> {
        self.forgotten(round).try_for_each(|(line, blocks)| sink.forget(line, RecordedBlocks(blocks)))?;
        self.reduced_here(round).try_for_each(|(line, blocks)| sink.reduced_here(line, RecordedBlocks(blocks)))
    }
}

/// Records one rank's rounds.
#[derive(Debug, Default)]
pub struct Recorder {
    log: RankLog,
    /// The blocks of the current message.
    stripes: Vec<Stripe>,
}

impl Recorder {
    /// The recorded rounds.
    pub fn finish(self) -> RankLog {
        self.log
    }

    fn push<B: Blocks>(&mut self, direction: Direction, peer: usize, site: Site, blocks: B) {
        self.stripes.clear();
        blocks.append_to(&mut self.stripes);
        self.push_stripes(direction, peer, site);
    }

    /// Records a message of the current blocks.
    fn push_stripes(&mut self, direction: Direction, peer: usize, site: Site) {
        let blocks = self.push_blocks();
        self.log.messages.push(Message { direction, peer, site, blocks });
    }

    /// Records what is known of blocks from now on.
    fn push_known<B: Blocks>(&mut self, line: Line, blocks: B, known: Known) {
        self.stripes.clear();
        blocks.append_to(&mut self.stripes);
        let (before, blocks) = (self.log.ends.len(), self.push_blocks());
        self.log.afterwards.push(Afterwards { before, line, blocks, known });
    }

    /// Records the current blocks.
    fn push_blocks(&mut self) -> Range<usize> {
        let start = self.log.blocks.len();
        self.log.blocks.extend(StripeList(&self.stripes).each().map(|block| block as u32));
        start..self.log.blocks.len()
    }
}

impl Sink for Recorder {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        self.push(Direction::Send, to, site, blocks);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.push(Direction::Recv, from, site, blocks);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        self.log.ends.push(self.log.messages.len());
        self.log.events.push(Event::Round);
        Ok(())
    }

    fn enter_groups(&mut self) -> Result<(), Infallible> {
        self.log.events.push(Event::Enter);
        Ok(())
    }

    fn forget<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Infallible> {
        self.push_known(line, blocks, Known::Nothing);
        Ok(())
    }

    fn reduced_here<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Infallible> {
        self.push_known(line, blocks, Known::ReducedHere);
        Ok(())
    }

    fn leave_groups(&mut self) -> Result<(), Infallible> {
        self.log.events.push(Event::Leave);
        Ok(())
    }
}

/// The rounds of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The rounds of each rank.
    pub ranks: Vec<RankLog>,
    /// The rounds of the collective's own clauses, without those of inner collectives.
    own: Vec<usize>,
}

impl Trace {
    /// Aligns the rounds of all ranks. Groups that run the same clause run it in lockstep, and those with fewer rounds
    /// wait: silent rounds are added for them.
    pub fn lockstep(ranks: Vec<RankLog>) -> Self {
        lockstep(ranks)
    }

    /// The index, among all rounds, of the `n`-th round of the collective's own clauses; one past the last round if
    /// there is none.
    pub fn own_round(&self, n: usize) -> usize {
        self.own.get(n).copied().unwrap_or_else(|| self.rounds())
    }

    /// The number of ranks.
    pub fn p(&self) -> usize {
        self.ranks.len()
    }

    /// The number of rounds, including silent ones.
    pub fn rounds(&self) -> usize {
        self.ranks.iter().map(RankLog::rounds).max().unwrap_or(0)
    }

    /// Whether any rank sends or receives in `round`. Rounds without messages are not counted.
    pub fn has_messages(&self, round: usize) -> bool {
        self.ranks.iter().any(|rank| !rank.round(round).is_empty())
    }
}
