//! Plans of broadcasts, gathers and scatters: blocks that lie in the receive buffer, or in scratch.

use crate::call::geometry::Varying;
use crate::call::reduction::divide_evenly;
use crate::call::rooted::{BlockStorage, RootedLayout};
use crate::mpi::lowering::areas::{Area, AreaOffset, Extents};
use crate::mpi::lowering::build::{self, Home};
use crate::mpi::lowering::plan::{Draft, MovedPiece, PlanStep};
use crate::policy::Policy;
use crate::rank_rounds::RankRounds;
use crate::transport::RankPlacement;

/// Fills a plan. The call must be valid.
pub(crate) fn draw(
    draft: Draft<'_>,
    here: RankPlacement<'_>,
    rounds: &RankRounds,
    layout: RootedLayout,
    extents: Extents,
) {
    let Draft { plan, counts, offsets } = draft;
    plan.clear();
    let size = extents.size;
    divide_evenly(layout.total, rounds.blocks, counts, offsets);
    let geometry = Varying::new(counts, offsets);
    let RootedLayout { total, input_at, storage } = layout;
    let bytes = total.saturating_mul(size);
    let (area, result_at) = match storage {
        BlockStorage::Output => (Area::Recv, None),
        BlockStorage::Scratch { result_at } => (Area::Scratch, Some(result_at)),
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
    build::rounds(plan, rounds, here, &[home], geometry, Policy::default());
    if let Some(result_at) = result_at.filter(|_| extents.recv > 0) {
        let from = AreaOffset { area: Area::Scratch, offset: result_at * size };
        let to = AreaOffset { area: Area::Recv, offset: 0 };
        plan.unpacks.push(MovedPiece { from, to, bytes: extents.recv * size });
        plan.flush_unpacks();
    }
}
