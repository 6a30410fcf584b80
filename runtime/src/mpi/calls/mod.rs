//! Rust calls: every communicator of the `mpi` crate is a [`Transport`].

pub(in crate::mpi) mod plan;
mod trace;

pub use self::trace::trace;

use crate::call::alltoall::{AlltoallCall, AlltoallvCall};
use crate::call::geometry::{Described, Uniform};
use crate::call::reduction::ReductionCall;
use crate::call::rooted::RootedCall;
use crate::error::Error;
use crate::mpi::execution::alltoallv;
use crate::mpi::execution::elements::Elements;
use crate::mpi::execution::{MessageScope, Nothing, PlanExecution, TAG};
use crate::mpi::lowering::areas::{Areas, Extents};
use crate::mpi::lowering::limit;
use crate::mpi::state::{CommWork, attribute};
use crate::operation::Operation;
use crate::transport::{AllgatherCall, Options, RankPlacement, Transport};
use ::mpi::datatype::Equivalence;
use ::mpi::raw::AsRaw;
use ::mpi::topology::Communicator;
use roundel_spec::Collective;

/// Sets the location of this rank, instead of the detected one: its node, its part of the node (a socket), and so on.
/// Collective: all ranks call it before the first collective on the communicator, with the same number of levels.
///
/// # Errors
/// [`Error::Placed`] if collectives have already run. On all ranks, [`Error::PlaceDepth`] if ranks give different
/// numbers of levels, [`Error::PlaceTooLarge`] if a number does not fit 31 bits, and MPI's own errors.
pub fn place(comm: &impl Communicator, path: &[usize]) -> Result<(), Error> {
    attribute::state(comm)?.place(comm, path)
}

/// Splits the messages of an alltoallv on `comm` into pieces of at most `elements` elements, at least 1. All ranks
/// must agree. For tests: otherwise only messages of 2^31 elements are split.
#[doc(hidden)]
pub fn cut_messages(comm: &impl Communicator, elements: usize) -> Result<(), Error> {
    attribute::state(comm)?.lease()?.buffers.limit = elements.clamp(1, limit::LIMIT);
    Ok(())
}

impl<T: Equivalence, C: Communicator> Transport<T> for C {
    fn here(&self) -> Result<RankPlacement<'_>, Error> {
        Ok(attribute::state(self)?.group(self)?.here())
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn gather<K: Collective, G: Described>(
        &self,
        collective: &K,
        call: AllgatherCall<'_, T, G>,
    ) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        // Taken apart, and reassembled only where a plan is made, so that a repeated call stays in registers.
        let AllgatherCall { send, recv, geometry, options } = call;
        if !work.key.fits(collective, &geometry, Extents::of(send, recv), options) {
            plan::gather(&mut work, group, collective, AllgatherCall { send, recv: &mut *recv, geometry, options })?;
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(send, recv, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        let scope = &MessageScope { comm, datatype: datatype.as_raw(), rank, tag: TAG };
        PlanExecution { scope, areas, lead: 0, flight, combine: Nothing }.run(plan)
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn reduce<K: Collective, O: Operation<T>>(
        &self,
        collective: &K,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error> {
        const {
            assert!(align_of::<T>() <= size_of::<u128>(), "elements of reductions are aligned to at most 16 bytes");
        }
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        let send = call.input.map(<[T]>::len);
        let extents = Extents { send, recv: call.output.len(), size: size_of::<T>() };
        // The key does not say whether the operation commutes, so the order is checked first.
        let in_order = O::COMMUTES || group.here().keeps_order(collective);
        if !in_order || !work.key.fits(collective, &call.division, extents, Options::default()) {
            call.validate(collective, group.here())?;
            plan::reduction(&mut work, group, collective, &call, extents)?;
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(call.input, call.output, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        let combine = Elements::new(call.op, rank);
        let scope = &MessageScope { comm, datatype: datatype.as_raw(), rank, tag: TAG };
        PlanExecution { scope, areas, lead: 0, flight, combine }.run(plan)
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn spread<K: Collective>(&self, collective: &K, call: RootedCall<'_, T>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        let send = call.input.map(<[T]>::len);
        let extents = Extents { send, recv: call.output.len(), size: size_of::<T>() };
        if !work.key.fits(collective, &call.layout, extents, Options::default()) {
            call.validate(collective, group.here())?;
            plan::rooted(&mut work, group, collective, &call, extents)?;
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(call.input, call.output, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        let scope = &MessageScope { comm, datatype: datatype.as_raw(), rank, tag: TAG };
        PlanExecution { scope, areas, lead: 0, flight, combine: Nothing }.run(plan)
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn shuffle<K: Collective>(&self, collective: &K, call: AlltoallCall<'_, T>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        let extents = Extents { send: call.send.map(<[T]>::len), recv: call.recv.len(), size: size_of::<T>() };
        // All lengths follow from the length of the buffer, so it need not be divided here.
        let geometry = Uniform { count: extents.recv };
        if !work.key.fits(collective, &geometry, extents, call.options) {
            let rotation = call.validate(collective, group.here())?;
            plan::alltoall(&mut work, group, collective, extents, call.options, rotation)?;
            work.key.set(collective, &geometry, extents, call.options);
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(call.send, call.recv, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        let scope = &MessageScope { comm, datatype: datatype.as_raw(), rank, tag: TAG };
        PlanExecution { scope, areas, lead: 0, flight, combine: Nothing }.run(plan)
    }

    /// Counts may differ from call to call; the route of blocks is cached.
    fn shuffle_varying<K: Collective>(&self, collective: &K, call: AlltoallvCall<'_, T>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        call.validate(group.here())?;
        let (layout, route) = (call.options.layout, &mut work.buffers.route);
        if !route.fits(collective, layout) {
            call.serve(collective, group.here())?;
            route.plan(collective, group.here(), layout);
        }
        let CommWork { buffers, scratch, offsets, flight, .. } = &mut *work;
        alltoallv::run(buffers, (scratch, offsets), flight.log.as_deref_mut(), group, call)
    }
}
