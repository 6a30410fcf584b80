//! Makes a plan from a shape and an algorithm.

use crate::any_collective::{AnyCollective, Constants};
use crate::call::geometry::{Uniform, Varying};
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists};
use crate::mpi::lowering::areas::Extents;
use crate::mpi::lowering::numbers::rank_rounds;
use crate::mpi::lowering::plan::{Draft, MessagePlan};
use crate::mpi::lowering::{alltoall, direct, gather, reduction, rooted};
use crate::policy::Policy;
use crate::rank_rounds::RankRounds;
use crate::transport::{Layout, RankPlacement};
use roundel_spec::Kind;

/// Refuses an algorithm of another collective.
pub(super) fn reject_other_kind(collective: &dyn AnyCollective, kind: Kind) -> Result<(), Error> {
    let Constants { name, kind: own, .. } = collective.constants();
    if own == kind { Ok(()) } else { Err(Error::OtherKind { name: name.into(), kind }) }
}

/// Plans a call with an algorithm.
pub(super) struct Planning<'a> {
    pub(super) here: RankPlacement<'a>,
    pub(super) shape: &'a CallShape,
    pub(super) lists: &'a Lists,
    pub(super) plan: &'a mut MessagePlan,
    /// Where blocks of an allgather or an all-to-all lie during the call.
    pub(super) layout: Layout,
    /// Whether messages are recorded.
    pub(super) recorded: bool,
}

impl Planning<'_> {
    /// Makes the plan of a collective, if it serves the call.
    pub(super) fn plan(&mut self, collective: &dyn AnyCollective) -> Result<(), Error> {
        let (rotation, rounds) = self.rounds(collective)?;
        self.draw(collective.constants().name, &rounds, rotation)
    }

    /// The schedule of the algorithm on this rank, if it serves the call, and by how much it rotates blocks.
    fn rounds(&self, collective: &dyn AnyCollective) -> Result<(Option<usize>, RankRounds), Error> {
        let CallShape { kind, commutes, .. } = *self.shape;
        let Constants { name, .. } = collective.constants();
        reject_other_kind(collective, kind)?;
        let at = collective.serves(self.here)?;
        if kind.reduces() && !commutes && !collective.keeps_order(self.here) {
            return Err(Error::NeedsOrder { name: name.into() });
        }
        Ok((collective.rotated(self.layout, &at)?, rank_rounds(collective, self.here, self.recorded)))
    }

    fn draw(&mut self, name: &str, rounds: &RankRounds, rotation: Option<usize>) -> Result<(), Error> {
        let CallShape { kind, blocks, size, send, recv, .. } = *self.shape;
        let (here, extents, lists) = (self.here, Extents { send, recv, size }, self.lists);
        let (mut counts, mut offsets) = (Vec::new(), Vec::new());
        let draft = Draft { plan: &mut *self.plan, counts: &mut counts, offsets: &mut offsets };
        let policy = Policy::default();
        match blocks {
            BlockLayout::Equal(_) if kind == Kind::Alltoall => {
                draft.plan.clear();
                alltoall::draw(draft.plan, rounds, here, extents, policy, rotation);
            }
            BlockLayout::Equal(count) => {
                gather::draw(draft, here, rounds, &Uniform { count }, extents, policy, rotation);
            }
            BlockLayout::Listed => {
                let geometry = Varying::new(&lists.counts, &lists.displs);
                geometry.reject_overlap()?;
                gather::draw(draft, here, rounds, &geometry, extents, policy, rotation);
            }
            BlockLayout::Private => {
                let arriving = Varying::new(&lists.counts, &lists.displs);
                let leaving = send.map(|_| Varying::new(&lists.leaving, &lists.leaves_at));
                direct::draw(draft.plan, here, (name, rounds), 1, leaving, arriving)?;
            }
            BlockLayout::Vector { .. } | BlockLayout::Parts | BlockLayout::ListedParts => {
                let elements = send.unwrap_or(recv);
                reduction::draw(draft, here, rounds, blocks.division(&lists.counts), elements, extents);
            }
            BlockLayout::Rooted(layout) => rooted::draw(draft, here, rounds, layout, extents),
        }
        Ok(())
    }
}
