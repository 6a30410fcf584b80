//! Records the rounds of one rank.
//!
//! Everything that executes or plans a collective replays this record, so its code is compiled once, not once for each
//! algorithm. The record contains exactly what the generated code produces, stripe by stripe.

use crate::transport::RankPlacement;
use roundel_spec::sink::infallible;
use roundel_spec::{Blocks, Collective, Sink, Site, Stripe, StripeList, rounds_of};
use std::convert::Infallible;
use std::ops::Range;

/// One rank's messages, in order.
#[derive(Debug, Default)]
pub(crate) struct RankRounds {
    notes: Vec<RankEvent>,
    stripes: Vec<Stripe>,
    /// The name of the collective.
    pub(crate) name: &'static str,
    /// The number of blocks, and of lines.
    pub(crate) blocks: usize,
    pub(crate) lines: usize,
    /// The numbers in `roundel show` of the rounds in which this rank has messages; `None` unless messages are
    /// recorded.
    #[cfg(feature = "mpi")]
    pub(crate) numbers: Option<Vec<usize>>,
}

/// An event in the schedule of a rank.
#[derive(Debug)]
enum RankEvent {
    Send(Site, usize, Range<usize>),
    Receive(Site, usize, Range<usize>),
    End,
}

impl RankRounds {
    /// Records the schedule of a rank.
    pub(crate) fn of<K: Collective>(collective: &K, here: RankPlacement<'_>) -> Self {
        let blocks = collective.blocks(&here.seen::<K>()) as usize;
        let mut rounds = RankRounds { name: K::NAME, blocks, lines: K::LINES, ..RankRounds::default() };
        infallible(rounds_of(collective, here.placement, here.rank, &mut rounds));
        rounds
    }

    /// Replays the recorded schedule to a sink.
    pub(crate) fn replay<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        let blocks = |stripes: &Range<usize>| StripeList(&self.stripes[stripes.clone()]);
        self.notes.iter().try_for_each(|note| match note {
            RankEvent::Send(site, to, stripes) => sink.send(*site, *to, blocks(stripes)),
            RankEvent::Receive(site, from, stripes) => sink.recv(*site, *from, blocks(stripes)),
            RankEvent::End => sink.end_round(),
        })
    }

    fn write<B: Blocks>(&mut self, blocks: &B) -> Range<usize> {
        let begin = self.stripes.len();
        blocks.append_to(&mut self.stripes);
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
