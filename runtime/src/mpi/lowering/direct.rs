//! Plans of alltoalls with blocks of any lengths that go directly from source to destination: all lengths are known
//! where they are needed, so the call can be planned ahead.

use crate::call::geometry::Varying;
use crate::error::Error;
use crate::mpi::lowering::areas::{Area, AreaOffset};
use crate::mpi::lowering::build::EndsTheJob;
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::lowering::plan::{ExtraMessage, MessagePlan, MovedPiece, PlanStep, PlannedMessage, RoundStart};
use crate::rank_rounds::RankRounds;
use crate::transport::RankPlacement;
use roundel_spec::contract::pair;
use roundel_spec::sink::infallible;
use roundel_spec::{Blocks, Sink, Site};
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::forget;

/// Fills a plan for blocks of elements of `size` bytes. `leaving` is `None` if they lie in the receive buffer.
///
/// # Errors
/// [`Error::NotStraight`] if blocks travel through other ranks.
pub(crate) fn draw(
    plan: &mut MessagePlan,
    here: RankPlacement<'_>,
    (name, rounds): (&str, &RankRounds),
    size: usize,
    leaving: Option<Varying<'_>>,
    arriving: Varying<'_>,
) -> Result<(), Error> {
    let guard = EndsTheJob { rank: here.rank };
    plan.clear();
    let begin = plan.begin_round();
    let mut builder = DirectBuilder { begin, plan, here, size, leaving, arriving, aside: Vec::new(), straight: true };
    builder.bring();
    infallible(rounds.replay(&mut builder));
    let straight = builder.straight;
    plan.numbers.clone_from(&rounds.numbers);
    forget(guard);
    if straight { Ok(()) } else { Err(Error::NotStraight { name: name.into() }) }
}

struct DirectBuilder<'a> {
    plan: &'a mut MessagePlan,
    here: RankPlacement<'a>,
    size: usize,
    leaving: Option<Varying<'a>>,
    arriving: Varying<'a>,
    /// The positions in bytes of blocks copied aside, because arriving blocks would overwrite them.
    aside: Vec<usize>,
    begin: RoundStart,
    straight: bool,
}

impl DirectBuilder<'_> {
    /// Copies the own block, or all blocks if they must be copied aside.
    fn bring(&mut self) {
        let (own, size, counts) = (self.here.rank, self.size, self.arriving.counts);
        let piece = |from, to, bytes| PlanStep::Move(MovedPiece { from, to, bytes });
        match &self.leaving {
            Some(leaving) => {
                let from = AreaOffset { area: Area::Send, offset: leaving.displs[own] * size };
                let to = AreaOffset { area: Area::Recv, offset: self.arriving.displs[own] * size };
                let bytes = counts[own].min(leaving.counts[own]) * size;
                self.plan.steps.extend((bytes > 0).then(|| piece(from, to, bytes)));
            }
            None => {
                let mut end = 0;
                for (&displ, &count) in self.arriving.displs.iter().zip(counts) {
                    let bytes = count * size;
                    let from = AreaOffset { area: Area::Recv, offset: displ * size };
                    let to = AreaOffset { area: Area::Scratch, offset: end };
                    self.plan.steps.extend((bytes > 0).then(|| piece(from, to, bytes)));
                    self.aside.push(end);
                    end += bytes;
                }
                self.plan.scratch = end.next_multiple_of(size_of::<u128>());
            }
        }
    }

    fn parcel(&mut self, peer: usize, spot: AreaOffset, elements: usize) -> ExtraMessage {
        let form = self.plan.cut(elements, self.size, LIMIT);
        ExtraMessage { message: PlannedMessage { spot, elements, peer: peer as c_int }, form }
    }
}

impl Sink for DirectBuilder<'_> {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        self.straight &= blocks.each().eq([pair(self.here.rank, to, self.here.p())]);
        let (spot, elements) = match &self.leaving {
            Some(leaving) => {
                (AreaOffset { area: Area::Send, offset: leaving.displs[to] * self.size }, leaving.counts[to])
            }
            None => (AreaOffset { area: Area::Scratch, offset: self.aside[to] }, self.arriving.counts[to]),
        };
        let parcel = self.parcel(to, spot, elements);
        self.plan.departures.push(parcel);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.straight &= blocks.each().eq([pair(from, self.here.rank, self.here.p())]);
        let spot = AreaOffset { area: Area::Recv, offset: self.arriving.displs[from] * self.size };
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
