//! The way of blocks of any lengths: which of them each message takes along, and where a rank keeps those in transit.
//!
//! Lengths are not part of it, so it serves every alltoallv with the same collective. A block in transit has a slot, which
//! says where it lies; slots are used again, so there are as many as there are blocks in transit at any time.

use super::build::EndsTheJob;
use super::score::Score;
use crate::transport::{Here, Layout};
use roundel_spec::contract::{ends, pair};
use roundel_spec::{Arguments, Blocks, Collective, Sink, Site};
use std::any::TypeId;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::{forget, take};
use std::ops::Range;

/// Where a block is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whereabouts {
    /// It is this rank's own, for that rank.
    Own(usize),
    /// It is in transit, in that slot.
    Transit(usize),
    /// It is for this rank, from that rank.
    Final(usize),
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    pub(super) peer: c_int,
    /// Its blocks, among all of the itinerary.
    pub(super) blocks: Range<usize>,
    /// The rank at the other end, if both know how long the message is: it is the sender's block for the receiver, and nothing
    /// else.
    pub(super) direct: bool,
}

/// The messages of a round.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) departures: Range<usize>,
    pub(super) arrivals: Range<usize>,
}

/// One rank's messages in all rounds.
#[derive(Debug, Default)]
pub(super) struct Itinerary {
    /// Whom it serves; none if there is no itinerary.
    collective: Option<(TypeId, Layout)>,
    arguments: Arguments,
    pub(super) stages: Vec<Stage>,
    pub(super) departures: Vec<Leg>,
    pub(super) arrivals: Vec<Leg>,
    pub(super) blocks: Vec<Whereabouts>,
    /// How many slots there are.
    pub(super) slots: usize,
    /// How many lengths this rank announces in a round at most, and how many are announced to it.
    pub(super) announces: usize,
    pub(super) is_told: usize,
    /// How `roundel show` numbers the rounds in which this rank has messages; none unless messages are recorded.
    pub(super) numbers: Option<Vec<usize>>,
}

impl Itinerary {
    /// Whether it serves a call of this collective that asks for this layout.
    pub(super) fn fits<K: Collective>(&self, collective: &K, layout: Layout) -> bool {
        self.collective == Some((TypeId::of::<K>(), layout)) && collective.has_arguments(&self.arguments)
    }

    /// Says that there is none.
    pub(super) fn clear(&mut self) {
        self.collective = None;
    }

    /// Has it know the numbers of its rounds.
    pub(super) fn know_numbers(&mut self) {
        if self.numbers.is_none() {
            self.clear();
            self.numbers = Some(Vec::new());
        }
    }

    /// Makes the one of a collective that serves the call.
    pub(super) fn plan<K: Collective>(&mut self, collective: &K, here: Here<'_>, layout: Layout) {
        let score = Score::of(collective, here, self.numbers.is_some());
        let whom = (Some((TypeId::of::<K>(), layout)), collective.arguments());
        self.take_from(score, here, whom);
    }

    fn take_from(&mut self, score: Score, here: Here<'_>, whom: (Option<(TypeId, Layout)>, Arguments)) {
        let guard = EndsTheJob { rank: here.rank };
        let mut builder = Builder::new(here.rank, here.p());
        score.play(&mut builder);
        let (collective, arguments) = whom;
        *self = Itinerary { collective, arguments, numbers: score.numbers, ..builder.made };
        forget(guard);
    }
}

struct Builder {
    made: Itinerary,
    rank: usize,
    p: usize,
    /// The blocks that this rank has.
    held: HashMap<usize, Whereabouts>,
    free: Vec<usize>,
    /// What arrives in the round: from whom, and which blocks.
    arriving: Vec<(usize, Vec<usize>)>,
    /// Where the messages of the round begin.
    departures: usize,
    arrivals: usize,
}

impl Builder {
    fn new(rank: usize, p: usize) -> Self {
        let mut held: HashMap<_, _> = (0..p).map(|to| (pair(rank, to, p), Whereabouts::Own(to))).collect();
        held.insert(pair(rank, rank, p), Whereabouts::Final(rank));
        let (made, free, arriving) = Default::default();
        Builder { made, rank, p, held, free, arriving, departures: 0, arrivals: 0 }
    }

    /// A block arrives: it is where it belongs, or gets a slot.
    fn arrive(&mut self, block: usize) {
        let (from, to) = ends(block, self.p);
        assert!(from < self.p, "the schedule names a block outside the buffer");
        let whereabouts = if to == self.rank { Whereabouts::Final(from) } else { Whereabouts::Transit(self.slot()) };
        self.made.blocks.push(whereabouts);
        self.held.insert(block, whereabouts);
    }

    fn slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.made.slots += 1;
            self.made.slots - 1
        })
    }

    fn leg(&self, peer: usize, begin: usize, direct: bool) -> Leg {
        assert!(peer < self.p, "the schedule names a rank outside the communicator");
        Leg { peer: peer as c_int, blocks: begin..self.made.blocks.len(), direct }
    }
}

/// How many lengths are told in these messages.
fn told(legs: &[Leg]) -> usize {
    legs.iter().filter(|leg| !leg.direct).map(|leg| leg.blocks.len()).sum()
}

impl Sink for Builder {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let begin = self.made.blocks.len();
        for block in blocks.each() {
            let Some(whereabouts) = self.held.remove(&block) else {
                panic!("the schedule sends a block that this rank does not have")
            };
            // The round's arrivals may have the slot: what leaves is looked up before anything arrives.
            if let Whereabouts::Transit(slot) = whereabouts {
                self.free.push(slot);
            }
            self.made.blocks.push(whereabouts);
        }
        let direct = blocks.each().eq([pair(self.rank, to, self.p)]);
        let leg = self.leg(to, begin, direct);
        self.made.departures.push(leg);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.arriving.push((from, blocks.each().collect()));
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        for (from, blocks) in take(&mut self.arriving) {
            let begin = self.made.blocks.len();
            let direct = blocks == [pair(from, self.rank, self.p)];
            blocks.into_iter().for_each(|block| self.arrive(block));
            let leg = self.leg(from, begin, direct);
            self.made.arrivals.push(leg);
        }
        let (departures, arrivals) =
            (self.departures..self.made.departures.len(), self.arrivals..self.made.arrivals.len());
        (self.departures, self.arrivals) = (departures.end, arrivals.end);
        let made = &mut self.made;
        made.announces = made.announces.max(told(&made.departures[departures.clone()]));
        made.is_told = made.is_told.max(told(&made.arrivals[arrivals.clone()]));
        if !departures.is_empty() || !arrivals.is_empty() {
            made.stages.push(Stage { departures, arrivals });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{KBruckAlltoall, ModifiedBruck, SpreadOut};
    use roundel_spec::Placement;

    fn itinerary<K: Collective>(collective: &K, p: usize) -> Itinerary {
        let (mut made, placement) = (Itinerary::default(), Placement::consecutive(p, p));
        made.plan(collective, Here { placement: &placement, rank: p / 2 }, Layout::Declared);
        assert!(made.fits(collective, Layout::Declared) && !made.fits(collective, Layout::Rotated));
        made
    }

    #[test]
    fn blocks_that_go_straight_need_no_lengths() {
        for p in 1..9 {
            let made = itinerary(&SpreadOut, p);
            assert!(made.arrivals.iter().chain(&made.departures).all(|leg| leg.direct));
            assert_eq!((made.slots, made.announces, made.is_told), (0, 0, 0));
        }
    }

    #[test]
    fn there_are_as_many_slots_as_blocks_in_transit() {
        for (p, radix) in (1..40).flat_map(|p| [(p, 2), (p, 3), (p, 7)]) {
            // A rank has p blocks at any time. Of those in transit none is its own, so the slots are fewer than p less the
            // messages that it sends.
            let made = itinerary(&ModifiedBruck { radix }, p);
            assert!(made.slots + made.departures.len() < p.max(1), "p = {p}, radix {radix}: {}", made.slots);
        }
    }

    #[test]
    fn an_itinerary_serves_no_other_parameters() {
        let made = itinerary(&KBruckAlltoall { radix: 3 }, 5);
        assert!(made.fits(&KBruckAlltoall { radix: 3 }, Layout::Declared));
        assert!(!made.fits(&KBruckAlltoall { radix: 4 }, Layout::Declared));
        assert!(!made.fits(&ModifiedBruck { radix: 3 }, Layout::Declared));
    }
}
