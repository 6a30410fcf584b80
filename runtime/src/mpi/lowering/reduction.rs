//! Plans of reductions, which may have several lines.

use crate::call::geometry::{Geometry, Varying};
use crate::call::reduction::Division;
use crate::mpi::lowering::areas::{Area, AreaOffset, Extents};
use crate::mpi::lowering::build::{self, Home};
use crate::mpi::lowering::plan::{Draft, MovedPiece, PlanStep};
use crate::policy::Policy;
use crate::rank_rounds::RankRounds;
use crate::transport::RankPlacement;

/// Fills a plan for a number of elements. The call must be valid.
pub(crate) fn draw(
    draft: Draft<'_>,
    here: RankPlacement<'_>,
    rounds: &RankRounds,
    division: Division<'_>,
    elements: usize,
    extents: Extents,
) {
    let Draft { plan, counts, offsets } = draft;
    plan.clear();
    let blocks = rounds.blocks;
    division.divide(elements, blocks, counts, offsets);
    let (geometry, size) = (Varying::new(counts, offsets), extents.size);
    let bytes = elements * size;
    let mut scratch = |area| {
        let offset = if area == Area::Scratch { plan.scratch } else { 0 };
        plan.scratch += if area == Area::Scratch { bytes.next_multiple_of(size_of::<u128>()) } else { 0 };
        Home { begin: AreaOffset { area, offset }, bytes, size }
    };
    // If the result belongs to another rank, no part of the line is copied out.
    let first = if division == Division::Even { Area::Recv } else { Area::Scratch };
    let homes: Vec<Home> =
        (0..rounds.lines).map(|line| scratch(if line == 0 { first } else { Area::Scratch })).collect();
    let given = if extents.send.is_some() { Area::Send } else { Area::Recv };
    if given != first && bytes > 0 {
        let from = AreaOffset { area: given, offset: 0 };
        plan.steps.push(PlanStep::Move(MovedPiece { from, to: homes[0].begin, bytes }));
    }
    build::rounds(plan, rounds, here, &homes, geometry, Policy::default());
    let result = geometry.len(here.rank.min(blocks - 1)) * size;
    if first == Area::Scratch && extents.recv > 0 && result > 0 {
        let own = geometry.offset(here.rank) * size;
        let from = AreaOffset { area: Area::Scratch, offset: homes[0].begin.offset + own };
        let to = AreaOffset { area: Area::Recv, offset: 0 };
        plan.unpacks.push(MovedPiece { from, to, bytes: result });
        plan.flush_unpacks();
    }
}
