//! Plans of broadcasts, gathers and scatters: blocks that lie in the receive buffer, or in scratch.

use super::areas::{Area, Extents, Spot};
use super::build::{self, Home};
use super::limit;
use super::plan::{Draft, Piece, Step};
use super::state::{Group, Work};
use crate::error::Error;
use crate::geometry::Varying;
use crate::policy::Policy;
use crate::reduce::divide_evenly;
use crate::rooted::{Seat, Spread, Standing};
use crate::transport::Here;
use roundel_spec::Collective;

/// Makes the plan for a call that is not like the last one.
#[inline(never)]
pub(super) fn plan_anew<K: Collective, T>(
    work: &mut Work,
    group: &Group,
    collective: &K,
    call: &Spread<'_, T>,
    extents: Extents,
) -> Result<(), Error> {
    let Work { key, plan, counts, offsets, .. } = work;
    key.clear();
    let blocks = collective.blocks(&group.here().seen::<K>()) as usize;
    call.divide(blocks, counts, offsets);
    limit::check(collective, &group.placement, &Varying::new(counts, offsets), call.standing.total)?;
    draw(Draft { plan, counts, offsets }, group.here(), collective, call.standing, extents);
    key.set(collective, &call.standing, extents, Default::default());
    Ok(())
}

/// Draws up a plan. The call is valid.
pub(super) fn draw<K: Collective>(
    draft: Draft<'_>,
    here: Here<'_>,
    collective: &K,
    standing: Standing,
    extents: Extents,
) {
    let Draft { plan, counts, offsets } = draft;
    plan.clear();
    let (blocks, size) = (collective.blocks(&here.seen::<K>()) as usize, extents.size);
    divide_evenly(standing.total, blocks, counts, offsets);
    let geometry = Varying::new(counts, offsets);
    let Standing { total, input_at, seat } = standing;
    let bytes = total.saturating_mul(size);
    let (area, result_at) = match seat {
        Seat::Output => (Area::Recv, None),
        Seat::Scratch { result_at } => (Area::Scratch, Some(result_at)),
    };
    if area == Area::Scratch {
        plan.scratch = bytes.next_multiple_of(size_of::<u128>());
    }
    let home = Home { begin: Spot { area, offset: 0 }, bytes, size };
    let input = extents.send.unwrap_or(0) * size;
    if input > 0 {
        let from = Spot { area: Area::Send, offset: 0 };
        plan.steps.push(Step::Move(Piece { from, to: Spot { area, offset: input_at * size }, bytes: input }));
    }
    build::rounds(plan, collective, here, &[home], (geometry, blocks), Policy::default());
    if let Some(result_at) = result_at.filter(|_| extents.recv > 0) {
        let from = Spot { area: Area::Scratch, offset: result_at * size };
        let to = Spot { area: Area::Recv, offset: 0 };
        plan.unpacks.push(Piece { from, to, bytes: extents.recv * size });
        plan.flush_unpacks();
    }
}
