//! The route of blocks of any lengths: the blocks of each message, and where a rank keeps those in transit.
//!
//! Lengths are not part of it, so it serves every alltoallv with the same collective. A block in transit has a slot,
//! which stores its position. Slots are reused, so there are only as many as blocks in transit at any time.

use crate::any_collective::AnyCollective;
use crate::mpi::lowering::build::EndsTheJob;
use crate::mpi::lowering::numbers::rank_rounds;
use crate::rank_rounds::RankRounds;
use crate::transport::{Layout, RankPlacement};
use roundel_spec::contract::{ends, pair};
use roundel_spec::sink::infallible;
use roundel_spec::{Arguments, Blocks, Sink, Site};
use std::any::TypeId;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::{forget, take};
use std::ops::Range;

/// The location of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockLocation {
    /// This rank's own block for that rank.
    Own(usize),
    /// In transit, in that slot.
    Transit(usize),
    /// From that rank, for this rank.
    Final(usize),
}

/// A message of the route.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    pub(crate) peer: c_int,
    /// Its blocks, as a range of the route's blocks.
    pub(crate) blocks: Range<usize>,
    /// Whether both ends know the length of the message: it consists only of the sender's block for the receiver.
    pub(crate) direct: bool,
}

/// The messages of a round.
#[derive(Clone, Debug)]
pub(crate) struct RouteRound {
    pub(crate) departures: Range<usize>,
    pub(crate) arrivals: Range<usize>,
}

/// One rank's messages in all rounds.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// The collective that the route is for; `None` if there is no route.
    collective: Option<(TypeId, Layout)>,
    arguments: Arguments,
    pub(crate) stages: Vec<RouteRound>,
    pub(crate) departures: Vec<Hop>,
    pub(crate) arrivals: Vec<Hop>,
    pub(crate) blocks: Vec<BlockLocation>,
    /// The number of slots.
    pub(crate) slots: usize,
    /// The most lengths that this rank announces in a round, and the most that are announced to it.
    pub(crate) announces: usize,
    pub(crate) receives_lengths: usize,
    /// The numbers in `roundel show` of the rounds in which this rank has messages; `None` unless messages are
    /// recorded.
    pub(crate) numbers: Option<Vec<usize>>,
}

impl Route {
    /// Whether the route serves a call of this collective with this layout.
    pub(crate) fn fits(&self, collective: &dyn AnyCollective, layout: Layout) -> bool {
        self.collective == Some((collective.type_of(), layout)) && collective.has_arguments(&self.arguments)
    }

    /// Invalidates the route.
    pub(crate) fn clear(&mut self) {
        self.collective = None;
    }

    /// Makes the route number its rounds.
    pub(crate) fn know_numbers(&mut self) {
        if self.numbers.is_none() {
            self.clear();
            self.numbers = Some(Vec::new());
        }
    }

    /// Makes the route of a collective that serves the call.
    pub(crate) fn plan(&mut self, collective: &dyn AnyCollective, here: RankPlacement<'_>, layout: Layout) {
        let rounds = rank_rounds(collective, here, self.numbers.is_some());
        let whom = (Some((collective.type_of(), layout)), collective.arguments());
        self.take_from(rounds, here, whom);
    }

    fn take_from(
        &mut self,
        rounds: RankRounds,
        here: RankPlacement<'_>,
        whom: (Option<(TypeId, Layout)>, Arguments),
    ) {
        let guard = EndsTheJob { rank: here.rank };
        let mut builder = RouteBuilder::new(here.rank, here.p());
        infallible(rounds.replay(&mut builder));
        let (collective, arguments) = whom;
        *self = Route { collective, arguments, numbers: rounds.numbers, ..builder.made };
        forget(guard);
    }
}

struct RouteBuilder {
    made: Route,
    rank: usize,
    p: usize,
    /// The blocks that this rank holds.
    held: HashMap<usize, BlockLocation>,
    free: Vec<usize>,
    /// The arrivals of the round: source and blocks.
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

    /// Handles the arrival of a block: it is at its destination, or gets a slot.
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

/// The number of lengths announced for these messages.
fn lengths(hops: &[Hop]) -> usize {
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
            // The round's arrivals may reuse the slot: departing blocks are looked up before anything arrives.
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
        made.announces = made.announces.max(lengths(&made.departures[departures.clone()]));
        made.receives_lengths = made.receives_lengths.max(lengths(&made.arrivals[arrivals.clone()]));
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
    use roundel_spec::{Collective, Placement};

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
            assert_eq!((made.slots, made.announces, made.receives_lengths), (0, 0, 0));
        }
    }

    #[test]
    fn there_are_as_many_slots_as_blocks_in_transit() {
        for (p, radix) in (1..40).flat_map(|p| [(p, 2), (p, 3), (p, 7)]) {
            // A rank holds p blocks at any time. None of those in transit is its own, so there are fewer slots than p
            // minus the messages that it sends.
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
