//! The rounds of one rank, written down once.
//!
//! Whatever makes plans takes them from here, so that its code exists once and not once for each algorithm. What is written is what
//! the generated code says, stripe by stripe.

use super::build::EndsTheJob;
use super::trace;
use crate::transport::Here;
use roundel_spec::sink::infallible;
use roundel_spec::{Blocks, Collective, Sink, Site, Stripe, rounds_of};
use std::convert::Infallible;
use std::mem::forget;
use std::ops::Range;

/// One rank's messages, in order.
#[derive(Debug, Default)]
pub(super) struct Score {
    notes: Vec<Note>,
    stripes: Vec<Stripe>,
    /// How many blocks there are, and how many lines.
    pub(super) blocks: usize,
    pub(super) lines: usize,
    /// How `roundel show` numbers the rounds in which this rank has messages; none unless messages are recorded.
    pub(super) numbers: Option<Vec<usize>>,
}

/// Something that happens.
#[derive(Debug)]
enum Note {
    Send(Site, usize, Range<usize>),
    Receive(Site, usize, Range<usize>),
    End,
}

/// Blocks that were written down.
#[derive(Clone, Copy)]
struct Written<'a>(&'a [Stripe]);

impl Blocks for Written<'_> {
    #[inline]
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        self.0.iter().copied()
    }
}

impl Score {
    /// Writes down what a rank does. The rounds are numbered if messages are recorded.
    pub(super) fn of<K: Collective>(collective: &K, here: Here<'_>, recorded: bool) -> Self {
        let guard = EndsTheJob { rank: here.rank };
        let mut score =
            Score { blocks: collective.blocks(&here.seen::<K>()) as usize, lines: K::LINES, ..Score::default() };
        infallible(rounds_of(collective, here.placement, here.rank, &mut score));
        score.numbers = recorded.then(|| trace::numbers(collective, here));
        forget(guard);
        score
    }

    /// Tells a sink what was written down.
    pub(super) fn play(&self, sink: &mut impl Sink<Error = Infallible>) {
        let blocks = |stripes: &Range<usize>| Written(&self.stripes[stripes.clone()]);
        for note in &self.notes {
            infallible(match note {
                Note::Send(site, to, stripes) => sink.send(*site, *to, blocks(stripes)),
                Note::Receive(site, from, stripes) => sink.recv(*site, *from, blocks(stripes)),
                Note::End => sink.end_round(),
            });
        }
    }

    fn write<B: Blocks>(&mut self, blocks: &B) -> Range<usize> {
        let begin = self.stripes.len();
        self.stripes.extend(blocks.stripes());
        begin..self.stripes.len()
    }
}

impl Sink for Score {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let stripes = self.write(&blocks);
        self.notes.push(Note::Send(site, to, stripes));
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        let stripes = self.write(&blocks);
        self.notes.push(Note::Receive(site, from, stripes));
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        self.notes.push(Note::End);
        Ok(())
    }
}
