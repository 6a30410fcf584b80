//! From a shape and an algorithm of the catalogue to a plan.

use super::shape::{Blocks, Lists, Shape};
use crate::algorithms::Visitor;
use crate::error::Error;
use crate::geometry::{Uniform, Varying};
use crate::mpi::areas::Extents;
use crate::mpi::plan::{Draft, Plan};
use crate::mpi::{direct, draw_gather, reduction, shuffle, spread};
use crate::policy::Policy;
use crate::transport::{Here, Layout};
use crate::{IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter};
use roundel_spec::Collective;

/// Draws up the plan of a call with the algorithm that it is shown.
pub(super) struct Planning<'a> {
    pub(super) here: Here<'a>,
    pub(super) shape: &'a Shape,
    pub(super) lists: &'a Lists,
    pub(super) plan: &'a mut Plan,
    /// What came of it; none if it saw no algorithm.
    pub(super) outcome: Option<Result<(), Error>>,
}

impl Planning<'_> {
    fn see<K: Collective>(&mut self, collective: &K) {
        self.outcome = Some(self.draw(collective));
    }

    fn draw<K: Collective>(&mut self, collective: &K) -> Result<(), Error> {
        let Shape { kind, blocks, size, send, recv, commutes, .. } = *self.shape;
        if K::KIND != kind {
            return Err(Error::OtherKind { name: K::NAME.into(), kind });
        }
        let at = self.here.serves(collective)?;
        if kind.reduces() && !commutes && !self.here.keeps_order::<K>() {
            return Err(Error::NeedsOrder { name: K::NAME.into() });
        }
        let (here, extents, lists) = (self.here, Extents { send, recv, size }, self.lists);
        let (mut counts, mut offsets) = (Vec::new(), Vec::new());
        let draft = Draft { plan: &mut *self.plan, counts: &mut counts, offsets: &mut offsets };
        let layout = Layout::default();
        match blocks {
            Blocks::Equal(_) if K::KIND == roundel_spec::Kind::Alltoall => {
                let rotation = layout.rotation(collective, &at)?;
                draft.plan.clear();
                shuffle::draw(draft.plan, collective, here, extents, Policy::default(), rotation);
            }
            Blocks::Equal(count) => {
                let rotation = layout.rotation(collective, &at)?;
                draw_gather(draft, here, collective, &Uniform { count }, extents, Policy::default(), rotation);
            }
            Blocks::Listed => {
                let rotation = layout.rotation(collective, &at)?;
                let geometry = Varying::new(&lists.counts, &lists.displs);
                geometry.reject_overlap()?;
                draw_gather(draft, here, collective, &geometry, extents, Policy::default(), rotation);
            }
            Blocks::Private => {
                let arriving = Varying::new(&lists.counts, &lists.displs);
                let leaving = send.map(|_| Varying::new(&lists.leaving, &lists.leaves_at));
                direct::draw(draft.plan, here, collective, leaving, arriving)?;
            }
            Blocks::Vector { .. } | Blocks::Parts | Blocks::ListedParts => {
                let elements = send.unwrap_or(recv);
                reduction::draw(draft, here, collective, blocks.division(&lists.counts), elements, extents);
            }
            Blocks::Standing(standing) => spread::draw(draft, here, collective, standing, extents),
        }
        Ok(())
    }
}

impl Visitor for Planning<'_> {
    fn allgather<C: IsAllgather + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn broadcast<C: IsBroadcast + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn reduce<C: IsReduce + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn gather<C: IsGather + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn scatter<C: IsScatter + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }

    fn alltoall<C: IsAlltoall + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.see(collective);
    }
}
