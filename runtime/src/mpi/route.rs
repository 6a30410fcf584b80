//! The way of blocks of any lengths: which of them each message takes along, and where a rank keeps those in transit.
//!
//! Lengths are not part of it, so it serves every alltoallv with the same collective. A block in transit has a slot,
//! which says where it lies; slots are used again, so there are as many as there are blocks in transit at any time.

use super::build::EndsTheJob;
use super::rank_rounds::RankRounds;
use crate::transport::{Layout, RankPlacement};
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
pub(super) enum BlockLocation {
    /// It is this rank's own, for that rank.
    Own(usize),
    /// It is in transit, in that slot.
    Transit(usize),
    /// It is for this rank, from that rank.
    Final(usize),
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub(super) peer: c_int,
    /// Its blocks, among all of the route.
    pub(super) blocks: Range<usize>,
    /// The rank at the other end, if both know how long the message is: it is the sender's block for the receiver, and
    /// nothing else.
    pub(super) direct: bool,
}

/// The messages of a round.
#[derive(Clone, Debug)]
pub(super) struct RouteRound {
    pub(super) departures: Range<usize>,
    pub(super) arrivals: Range<usize>,
}

/// One rank's messages in all rounds.
#[derive(Debug, Default)]
pub(super) struct Route {
    /// Whom it serves; none if there is no route.
    collective: Option<(TypeId, Layout)>,
    arguments: Arguments,
    pub(super) stages: Vec<RouteRound>,
    pub(super) departures: Vec<Hop>,
    pub(super) arrivals: Vec<Hop>,
    pub(super) blocks: Vec<BlockLocation>,
    /// How many slots there are.
    pub(super) slots: usize,
    /// How many lengths this rank announces in a round at most, and how many are announced to it.
    pub(super) announces: usize,
    pub(super) is_told: usize,
    /// How `roundel show` numbers the rounds in which this rank has messages; none unless messages are recorded.
    pub(super) numbers: Option<Vec<usize>>,
}

impl Route {
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
    pub(super) fn plan<K: Collective>(&mut self, collective: &K, here: RankPlacement<'_>, layout: Layout) {
        let score = RankRounds::of(collective, here, self.numbers.is_some());
        let whom = (Some((TypeId::of::<K>(), layout)), collective.arguments());
        self.take_from(score, here, whom);
    }

    fn take_from(&mut self, score: RankRounds, here: RankPlacement<'_>, whom: (Option<(TypeId, Layout)>, Arguments)) {
        let guard = EndsTheJob { rank: here.rank };
        let mut builder = RouteBuilder::new(here.rank, here.p());
        score.replay(&mut builder);
        let (collective, arguments) = whom;
        *self = Route { collective, arguments, numbers: score.numbers, ..builder.made };
        forget(guard);
    }
}

struct RouteBuilder {
    made: Route,
    rank: usize,
    p: usize,
    /// The blocks that this rank has.
    held: HashMap<usize, BlockLocation>,
    free: Vec<usize>,
    /// What arrives in the round: from whom, and which blocks.
    arriving: Vec<(usize, Vec<usize>)>,
    /// Where the messages of the round begin.
    departures: usize,
    arrivals: usize,
}

impl RouteBuilder {
    fn new(rank: usize, p: usize) -> Self {
        let mut held: HashMap<_, _> = (0..p).map(|to| (pair(rank, to, p), BlockLocation::Own(to))).collect();
        held.insert(pair(rank, rank, p), BlockLocation::Final(rank));
        let (made, free, arriving) = Default::default();
        RouteBuilder { made, rank, p, held, free, arriving, departures: 0, arrivals: 0 }
    }

    /// A block arrives: it is where it belongs, or gets a slot.
    fn arrive(&mut self, block: usize) {
        let (from, to) = ends(block, self.p);
        assert!(from < self.p, "the schedule names a block outside the buffer");
        let location = if to == self.rank { BlockLocation::Final(from) } else { BlockLocation::Transit(self.slot()) };
        self.made.blocks.push(location);
        self.held.insert(block, location);
    }

    fn slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.made.slots += 1;
            self.made.slots - 1
        })
    }

    fn hop(&self, peer: usize, begin: usize, direct: bool) -> Hop {
        assert!(peer < self.p, "the schedule names a rank outside the communicator");
        Hop { peer: peer as c_int, blocks: begin..self.made.blocks.len(), direct }
    }
}

/// How many lengths are told in these messages.
fn told(hops: &[Hop]) -> usize {
    hops.iter().filter(|hop| !hop.direct).map(|hop| hop.blocks.len()).sum()
}

impl Sink for RouteBuilder {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let begin = self.made.blocks.len();
        for block in blocks.each() {
            let Some(location) = self.held.remove(&block) else {
                panic!("the schedule sends a block that this rank does not have")
            };
            // The round's arrivals may have the slot: what leaves is looked up before anything arrives.
            if let BlockLocation::Transit(slot) = location {
                self.free.push(slot);
            }
            self.made.blocks.push(location);
        }
        let direct = blocks.each().eq([pair(self.rank, to, self.p)]);
        let hop = self.hop(to, begin, direct);
        self.made.departures.push(hop);
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
            let hop = self.hop(from, begin, direct);
            self.made.arrivals.push(hop);
        }
        let (departures, arrivals) =
            (self.departures..self.made.departures.len(), self.arrivals..self.made.arrivals.len());
        (self.departures, self.arrivals) = (departures.end, arrivals.end);
        let made = &mut self.made;
        made.announces = made.announces.max(told(&made.departures[departures.clone()]));
        made.is_told = made.is_told.max(told(&made.arrivals[arrivals.clone()]));
        if !departures.is_empty() || !arrivals.is_empty() {
            made.stages.push(RouteRound { departures, arrivals });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{KBruckAlltoall, ModifiedBruck, SpreadOut};
    use roundel_spec::Placement;

    fn route<K: Collective>(collective: &K, p: usize) -> Route {
        let (mut made, placement) = (Route::default(), Placement::consecutive(p, p));
        made.plan(collective, RankPlacement { placement: &placement, rank: p / 2 }, Layout::Declared);
        assert!(made.fits(collective, Layout::Declared) && !made.fits(collective, Layout::Rotated));
        made
    }

    #[test]
    fn blocks_that_go_straight_need_no_lengths() {
        for p in 1..9 {
            let made = route(&SpreadOut, p);
            assert!(made.arrivals.iter().chain(&made.departures).all(|hop| hop.direct));
            assert_eq!((made.slots, made.announces, made.is_told), (0, 0, 0));
        }
    }

    #[test]
    fn there_are_as_many_slots_as_blocks_in_transit() {
        for (p, radix) in (1..40).flat_map(|p| [(p, 2), (p, 3), (p, 7)]) {
            // A rank has p blocks at any time. Of those in transit none is its own, so the slots are fewer than p less
            // the messages that it sends.
            let made = route(&ModifiedBruck { radix }, p);
            assert!(made.slots + made.departures.len() < p.max(1), "p = {p}, radix {radix}: {}", made.slots);
        }
    }

    #[test]
    fn an_itinerary_serves_no_other_parameters() {
        let made = route(&KBruckAlltoall { radix: 3 }, 5);
        assert!(made.fits(&KBruckAlltoall { radix: 3 }, Layout::Declared));
        assert!(!made.fits(&KBruckAlltoall { radix: 4 }, Layout::Declared));
        assert!(!made.fits(&ModifiedBruck { radix: 3 }, Layout::Declared));
    }
}
