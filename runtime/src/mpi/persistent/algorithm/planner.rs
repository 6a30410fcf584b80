//! A transport that plans a call instead of running it, with the validation and the plan of a call that blocks.

use crate::call::alltoall::{AlltoallCall, AlltoallvCall};
use crate::call::geometry::Described;
use crate::call::reduction::ReductionCall;
use crate::call::rooted::RootedCall;
use crate::error::Error;
use crate::mpi::calls::plan;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::lowering::areas::Extents;
use crate::mpi::lowering::direct;
use crate::mpi::lowering::numbers::rank_rounds;
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::state::CommWork;
use crate::operation::Operation;
use crate::transport::{AllgatherCall, RankPlacement, Transport};
use ::mpi::datatype::Equivalence;
use roundel_spec::Collective;
use std::cell::RefCell;
use std::mem::take;

/// Plans calls on a communicator, in its working memory.
pub(super) struct Planner<'a> {
    group: &'a OwnComm,
    work: RefCell<&'a mut CommWork>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(group: &'a OwnComm, work: &'a mut CommWork) -> Self {
        Planner { group, work: RefCell::new(work) }
    }

    pub(super) fn rank(&self) -> usize {
        self.group.rank
    }

    /// The plan of the last call, which no call that blocks may use.
    pub(super) fn taken(self) -> MessagePlan {
        let work = self.work.into_inner();
        work.key.clear();
        let plan = take(&mut work.plan);
        // Recorded calls still need a list of their rounds.
        work.plan.numbers = plan.numbers.as_ref().map(|_| Vec::new());
        plan
    }
}

impl<T: Equivalence> Transport<T> for Planner<'_> {
    fn here(&self) -> Result<RankPlacement<'_>, Error> {
        Ok(self.group.here())
    }

    fn gather<K: Collective, G: Described>(
        &self,
        collective: &K,
        call: AllgatherCall<'_, T, G>,
    ) -> Result<(), Error> {
        plan::gather(&mut self.work.borrow_mut(), self.group, collective, call)
    }

    fn reduce<K: Collective, O: Operation<T>>(
        &self,
        collective: &K,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error> {
        const {
            assert!(align_of::<T>() <= size_of::<u128>(), "elements of reductions are aligned to at most 16 bytes");
        }
        call.validate(collective, self.group.here())?;
        let extents = Extents::of(call.input, call.output);
        plan::reduction(&mut self.work.borrow_mut(), self.group, collective, &call, extents)
    }

    fn spread<K: Collective>(&self, collective: &K, call: RootedCall<'_, T>) -> Result<(), Error> {
        call.validate(collective, self.group.here())?;
        let extents = Extents::of(call.input, call.output);
        plan::rooted(&mut self.work.borrow_mut(), self.group, collective, &call, extents)
    }

    fn shuffle<K: Collective>(&self, collective: &K, call: AlltoallCall<'_, T>) -> Result<(), Error> {
        let rotation = call.validate(collective, self.group.here())?;
        let extents = Extents::of(call.send, call.recv);
        plan::alltoall(&mut self.work.borrow_mut(), self.group, collective, extents, call.options, rotation)
    }

    /// Blocks that travel through other ranks would need their lengths sent ahead, so there is no plan for them.
    fn shuffle_varying<K: Collective>(&self, collective: &K, call: AlltoallvCall<'_, T>) -> Result<(), Error> {
        let here = self.group.here();
        call.validate(here)?;
        call.serve(collective, here)?;
        let work = &mut **self.work.borrow_mut();
        work.key.clear();
        let rounds = rank_rounds(collective, here, work.flight.log.is_some());
        let leaving = call.send.map(|_| call.leaving);
        direct::draw(&mut work.plan, here, (K::NAME, &rounds), size_of::<T>(), leaving, call.arriving)
    }
}
