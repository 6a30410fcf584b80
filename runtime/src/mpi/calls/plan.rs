//! Makes plans for calls that differ from the last one.

use crate::call::geometry::{Described, Varying};
use crate::call::reduction::ReductionCall;
use crate::call::rooted::RootedCall;
use crate::error::Error;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::lowering::areas::Extents;
use crate::mpi::lowering::numbers::rank_rounds;
use crate::mpi::lowering::plan::Draft;
use crate::mpi::lowering::{alltoall, gather, limit, reduction, rooted};
use crate::mpi::state::CommWork;
use crate::operation::Operation;
use crate::transport::{AllgatherCall, Options};
use roundel_spec::Collective;

/// Makes the plan for a call that differs from the last one.
#[inline(never)]
pub(crate) fn gather<T, K: Collective, G: Described>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    call: AllgatherCall<'_, T, G>,
) -> Result<(), Error> {
    let rotation = call.validate(collective, group.here())?;
    let AllgatherCall { send, recv, geometry, options } = call;
    let (extents, geometry) = (Extents::of(send, recv), &geometry);
    limit::check(collective, &group.placement, geometry, extents.recv)?;
    let CommWork { key, plan, counts, offsets, flight, .. } = work;
    key.clear();
    let (draft, rounds) =
        (Draft { plan, counts, offsets }, rank_rounds(collective, group.here(), flight.log.is_some()));
    gather::draw(draft, group.here(), &rounds, geometry, extents, options.policy, rotation);
    key.set(collective, geometry, extents, options);
    Ok(())
}

/// Makes the plan for a valid call that differs from the last one. The caller sets the key.
#[inline(never)]
pub(crate) fn alltoall<K: Collective>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    extents: Extents,
    options: Options,
    rotation: Option<usize>,
) -> Result<(), Error> {
    let CommWork { key, plan, flight, .. } = work;
    limit::check_blocks(collective, &group.placement, extents.recv / group.here().p())?;
    key.clear();
    plan.clear();
    let rounds = rank_rounds(collective, group.here(), flight.log.is_some());
    alltoall::draw(plan, &rounds, group.here(), extents, options.policy, rotation);
    Ok(())
}

/// Makes the plan for a call that differs from the last one. The first line lies in the receive buffer or, if only a
/// block of it is the output, in scratch. All other lines lie in scratch.
#[inline(never)]
pub(crate) fn reduction<K: Collective, T, O: Operation<T>>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    call: &ReductionCall<'_, T, O>,
    extents: Extents,
) -> Result<(), Error> {
    let CommWork { key, plan, counts, offsets, flight, .. } = work;
    key.clear();
    let rounds = rank_rounds(collective, group.here(), flight.log.is_some());
    call.divide(rounds.blocks, counts, offsets);
    limit::check(collective, &group.placement, &Varying::new(counts, offsets), call.elements())?;
    reduction::draw(Draft { plan, counts, offsets }, group.here(), &rounds, call.division, call.elements(), extents);
    key.set(collective, &call.division, extents, Default::default());
    Ok(())
}

/// Makes the plan for a call that differs from the last one.
#[inline(never)]
pub(crate) fn rooted<K: Collective, T>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    call: &RootedCall<'_, T>,
    extents: Extents,
) -> Result<(), Error> {
    let CommWork { key, plan, counts, offsets, flight, .. } = work;
    key.clear();
    let rounds = rank_rounds(collective, group.here(), flight.log.is_some());
    call.divide(rounds.blocks, counts, offsets);
    limit::check(collective, &group.placement, &Varying::new(counts, offsets), call.layout.total)?;
    rooted::draw(Draft { plan, counts, offsets }, group.here(), &rounds, call.layout, extents);
    key.set(collective, &call.layout, extents, Default::default());
    Ok(())
}
