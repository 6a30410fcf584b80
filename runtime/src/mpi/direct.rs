//! Plans of alltoalls with blocks of any lengths that go straight from their source to their destination: all lengths are known
//! where they are needed, so everything can be planned ahead.

use super::areas::{Area, Spot};
use super::build::EndsTheJob;
use super::limit::LIMIT;
use super::plan::{Begin, Message, Parcel, Piece, Plan, Step};
use super::trace;
use crate::error::Error;
use crate::geometry::Varying;
use crate::transport::Here;
use roundel_spec::contract::pair;
use roundel_spec::{Blocks, Collective, Sink, Site, rounds_of};
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::forget;

/// Draws up a plan for blocks of bytes. `leaving` is none if they lie in the receive buffer.
///
/// # Errors
/// [`Error::NotStraight`] if blocks make a detour.
pub(super) fn draw<K: Collective>(
    plan: &mut Plan,
    here: Here<'_>,
    collective: &K,
    leaving: Option<Varying<'_>>,
    arriving: Varying<'_>,
) -> Result<(), Error> {
    let guard = EndsTheJob { rank: here.rank };
    plan.clear();
    let mut builder =
        Builder { begin: plan.begin_round(), plan, here, leaving, arriving, aside: Vec::new(), straight: true };
    builder.bring();
    match rounds_of(collective, here.placement, here.rank, &mut builder) {
        Ok(()) => {}
        Err(never) => match never {},
    }
    let straight = builder.straight;
    if let Some(numbers) = &mut plan.numbers {
        *numbers = trace::numbers(collective, here);
    }
    forget(guard);
    if straight { Ok(()) } else { Err(Error::NotStraight { name: K::NAME.into() }) }
}

struct Builder<'a> {
    plan: &'a mut Plan,
    here: Here<'a>,
    leaving: Option<Varying<'a>>,
    arriving: Varying<'a>,
    /// Where blocks lie that were set aside, because those that arrive would overwrite them.
    aside: Vec<usize>,
    begin: Begin,
    straight: bool,
}

impl Builder<'_> {
    /// The own block, or all of them.
    fn bring(&mut self) {
        let (own, counts) = (self.here.rank, self.arriving.counts);
        let piece = |from, to, bytes| Step::Move(Piece { from, to, bytes });
        match &self.leaving {
            Some(leaving) => {
                let from = Spot { area: Area::Send, offset: leaving.displs[own] };
                let to = Spot { area: Area::Recv, offset: self.arriving.displs[own] };
                let bytes = counts[own].min(leaving.counts[own]);
                self.plan.steps.extend((bytes > 0).then(|| piece(from, to, bytes)));
            }
            None => {
                let mut end = 0;
                for (&displ, &bytes) in self.arriving.displs.iter().zip(counts) {
                    let from = Spot { area: Area::Recv, offset: displ };
                    let to = Spot { area: Area::Scratch, offset: end };
                    self.plan.steps.extend((bytes > 0).then(|| piece(from, to, bytes)));
                    self.aside.push(end);
                    end += bytes;
                }
                self.plan.scratch = end.next_multiple_of(size_of::<u128>());
            }
        }
    }

    fn parcel(&mut self, peer: usize, spot: Spot, elements: usize) -> Parcel {
        let form = self.plan.cut(elements, 1, LIMIT);
        Parcel { message: Message { spot, elements, peer: peer as c_int }, form }
    }
}

impl Sink for Builder<'_> {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        self.straight &= blocks.each().eq([pair(self.here.rank, to, self.here.p())]);
        let (spot, bytes) = match &self.leaving {
            Some(leaving) => (Spot { area: Area::Send, offset: leaving.displs[to] }, leaving.counts[to]),
            None => (Spot { area: Area::Scratch, offset: self.aside[to] }, self.arriving.counts[to]),
        };
        let parcel = self.parcel(to, spot, bytes);
        self.plan.departures.push(parcel);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.straight &= blocks.each().eq([pair(from, self.here.rank, self.here.p())]);
        let spot = Spot { area: Area::Recv, offset: self.arriving.displs[from] };
        let parcel = self.parcel(from, spot, self.arriving.counts[from]);
        self.plan.arrivals.push(parcel);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        self.plan.end_round(self.begin);
        self.begin = self.plan.begin_round();
        Ok(())
    }
}
