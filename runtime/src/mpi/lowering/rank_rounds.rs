//! Records the rounds of one rank.
//!
//! All planners use this record, so their code is compiled once, not once for each algorithm. The record contains
//! exactly what the generated code produces, stripe by stripe.

use crate::mpi::lowering::build::EndsTheJob;
use crate::mpi::lowering::numbers::numbers;
use crate::transport::RankPlacement;
use roundel_spec::sink::infallible;
use roundel_spec::{Blocks, Collective, Sink, Site, Stripe, rounds_of};
use std::convert::Infallible;
use std::mem::forget;
use std::ops::Range;

/// One rank's messages, in order.
#[derive(Debug, Default)]
pub(crate) struct RankRounds {
    notes: Vec<RankEvent>,
    stripes: Vec<Stripe>,
    /// The number of blocks, and of lines.
    pub(crate) blocks: usize,
    pub(crate) lines: usize,
    /// The numbers in `roundel show` of the rounds in which this rank has messages; `None` unless messages are
    /// recorded.
    pub(crate) numbers: Option<Vec<usize>>,
}

/// An event in the schedule of a rank.
#[derive(Debug)]
enum RankEvent {
    Send(Site, usize, Range<usize>),
    Receive(Site, usize, Range<usize>),
    End,
}

/// Recorded blocks.
#[derive(Clone, Copy)]
struct WrittenBlocks<'a>(&'a [Stripe]);

impl Blocks for WrittenBlocks<'_> {
    #[inline]
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        self.0.iter().copied()
    }
}

impl RankRounds {
    /// Records the schedule of a rank. The rounds are numbered if messages are recorded.
    pub(crate) fn of<K: Collective>(collective: &K, here: RankPlacement<'_>, recorded: bool) -> Self {
        let guard = EndsTheJob { rank: here.rank };
        let mut rounds = RankRounds {
            blocks: collective.blocks(&here.seen::<K>()) as usize,
            lines: K::LINES,
            ..RankRounds::default()
        };
        infallible(rounds_of(collective, here.placement, here.rank, &mut rounds));
        rounds.numbers = recorded.then(|| numbers(collective, here));
        forget(guard);
        rounds
    }

    /// Replays the recorded schedule to a sink.
    pub(crate) fn replay(&self, sink: &mut impl Sink<Error = Infallible>) {
        let blocks = |stripes: &Range<usize>| WrittenBlocks(&self.stripes[stripes.clone()]);
        for note in &self.notes {
            infallible(match note {
                RankEvent::Send(site, to, stripes) => sink.send(*site, *to, blocks(stripes)),
                RankEvent::Receive(site, from, stripes) => sink.recv(*site, *from, blocks(stripes)),
                RankEvent::End => sink.end_round(),
            });
        }
    }

    fn write<B: Blocks>(&mut self, blocks: &B) -> Range<usize> {
        let begin = self.stripes.len();
        self.stripes.extend(blocks.stripes());
        begin..self.stripes.len()
    }
}

impl Sink for RankRounds {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let stripes = self.write(&blocks);
        self.notes.push(RankEvent::Send(site, to, stripes));
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        let stripes = self.write(&blocks);
        self.notes.push(RankEvent::Receive(site, from, stripes));
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        self.notes.push(RankEvent::End);
        Ok(())
    }
}
