//! Plans of broadcasts, gathers and scatters: blocks that lie in the receive buffer, or in scratch.

use super::areas::{Area, AreaOffset, Extents};
use super::build::{self, Home};
use super::limit;
use super::plan::{Draft, MovedPiece, PlanStep};
use super::rank_rounds::RankRounds;
use super::state::{CommWork, OwnComm};
use crate::error::Error;
use crate::geometry::Varying;
use crate::policy::Policy;
use crate::reduce::divide_evenly;
use crate::rooted::{BlockSeat, RootedCall, RootedLayout};
use crate::transport::RankPlacement;
use roundel_spec::Collective;

/// Makes the plan for a call that differs from the last one.
#[inline(never)]
pub(super) fn plan_anew<K: Collective, T>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    call: &RootedCall<'_, T>,
    extents: Extents,
) -> Result<(), Error> {
    let CommWork { key, plan, counts, offsets, flight, .. } = work;
    key.clear();
    let score = RankRounds::of(collective, group.here(), flight.log.is_some());
    call.divide(score.blocks, counts, offsets);
    limit::check(collective, &group.placement, &Varying::new(counts, offsets), call.layout.total)?;
    draw(Draft { plan, counts, offsets }, group.here(), &score, call.layout, extents);
    key.set(collective, &call.layout, extents, Default::default());
    Ok(())
}

/// Fills a plan. The call must be valid.
pub(super) fn draw(
    draft: Draft<'_>,
    here: RankPlacement<'_>,
    score: &RankRounds,
    layout: RootedLayout,
    extents: Extents,
) {
    let Draft { plan, counts, offsets } = draft;
    plan.clear();
    let size = extents.size;
    divide_evenly(layout.total, score.blocks, counts, offsets);
    let geometry = Varying::new(counts, offsets);
    let RootedLayout { total, input_at, seat } = layout;
    let bytes = total.saturating_mul(size);
    let (area, result_at) = match seat {
        BlockSeat::Output => (Area::Recv, None),
        BlockSeat::Scratch { result_at } => (Area::Scratch, Some(result_at)),
    };
    if area == Area::Scratch {
        plan.scratch = bytes.next_multiple_of(size_of::<u128>());
    }
    let home = Home { begin: AreaOffset { area, offset: 0 }, bytes, size };
    let input = extents.send.unwrap_or(0) * size;
    if input > 0 {
        let from = AreaOffset { area: Area::Send, offset: 0 };
        plan.steps.push(PlanStep::Move(MovedPiece {
            from,
            to: AreaOffset { area, offset: input_at * size },
            bytes: input,
        }));
    }
    build::rounds(plan, score, here, &[home], geometry, Policy::default());
    if let Some(result_at) = result_at.filter(|_| extents.recv > 0) {
        let from = AreaOffset { area: Area::Scratch, offset: result_at * size };
        let to = AreaOffset { area: Area::Recv, offset: 0 };
        plan.unpacks.push(MovedPiece { from, to, bytes: extents.recv * size });
        plan.flush_unpacks();
    }
}
