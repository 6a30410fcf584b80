//! Plans of allgathers.

use crate::call::geometry::{Geometry, Moved, Rotated};
use crate::mpi::lowering::areas::{Area, AreaOffset, Extents};
use crate::mpi::lowering::build::{self, Home};
use crate::mpi::lowering::plan::{Draft, MessagePlan, MovedPiece, PlanStep};
use crate::policy::Policy;
use crate::rank_rounds::RankRounds;
use crate::runs::Run;
use crate::transport::RankPlacement;

/// Fills the plan of a valid allgather.
pub(crate) fn draw<G: Geometry>(
    draft: Draft<'_>,
    here: RankPlacement<'_>,
    rounds: &RankRounds,
    geometry: &G,
    extents: Extents,
    policy: Policy,
    rotation: Option<usize>,
) {
    draft.plan.clear();
    let mut planner = Planner { plan: draft.plan, rounds, here, geometry, extents, policy };
    match (rotation.unwrap_or(0), geometry.uniform()) {
        (0, _) => planner.in_place(),
        (by, Some(count)) if geometry.first() == 0 => planner.rotated(by, count),
        (by, _) => planner.moved(by, draft.offsets),
    }
}

/// Decides where blocks lie while the collective runs.
struct Planner<'a, G> {
    plan: &'a mut MessagePlan,
    rounds: &'a RankRounds,
    here: RankPlacement<'a>,
    geometry: &'a G,
    extents: Extents,
    policy: Policy,
}

impl<G: Geometry> Planner<'_, G> {
    /// Keeps every block at its final position.
    fn in_place(&mut self) {
        self.rounds(self.recv(), self.geometry);
    }

    /// Runs with blocks of equal length in the rotated layout, then moves them to their positions with two copies.
    fn rotated(&mut self, by: usize, count: usize) {
        let p = self.here.p();
        let home = self.scratch(p * count);
        self.rounds(home, Rotated { count, by, p });
        let front = (p - by) * count;
        self.put_in_place(&home, Run { start: 0, len: front }, by * count);
        self.put_in_place(&home, Run { start: front, len: by * count }, 0);
        self.plan.flush_unpacks();
    }

    /// Runs with blocks of any length in the rotated layout without gaps, then moves them to their positions.
    fn moved(&mut self, by: usize, offsets: &mut Vec<usize>) {
        let total = rotated_offsets(offsets, self.geometry, by, self.here.p());
        let home = self.scratch(total);
        self.rounds(home, Moved { lengths: self.geometry, offsets });
        for (b, &offset) in offsets.iter().enumerate() {
            self.put_in_place(&home, Run { start: offset, len: self.geometry.len(b) }, self.geometry.offset(b));
        }
        self.plan.flush_unpacks();
    }

    /// Scratch for `elements` elements.
    fn scratch(&mut self, elements: usize) -> Home {
        let size = self.extents.size;
        self.plan.scratch = (elements * size).next_multiple_of(size_of::<u128>());
        Home { begin: AreaOffset { area: Area::Scratch, offset: 0 }, bytes: elements * size, size }
    }

    /// Copies the own block, then runs the rounds, with blocks in `home`.
    fn rounds(&mut self, home: Home, geometry: impl Geometry) {
        let rank = self.here.rank;
        let own = Run { start: geometry.offset(rank), len: self.geometry.len(rank) };
        let given = Run { start: self.geometry.offset(rank), len: own.len };
        if own.len > 0 {
            let (to, bytes) = home.locate(own);
            match self.extents.send {
                Some(_) => {
                    let from = AreaOffset { area: Area::Send, offset: 0 };
                    self.plan.steps.push(PlanStep::Move(MovedPiece { from, to, bytes }));
                }
                None if to.area == Area::Recv => {}
                None => {
                    let (from, _) = self.recv().locate(given);
                    self.plan.steps.push(PlanStep::Move(MovedPiece { from, to, bytes }));
                }
            }
        }
        build::rounds(self.plan, self.rounds, self.here, &[home], geometry, self.policy);
    }

    /// Copies elements from scratch to their final position, at the end.
    fn put_in_place(&mut self, scratch: &Home, elements: Run, to: usize) {
        if elements.len > 0 {
            let (from, bytes) = scratch.locate(elements);
            let (to, _) = self.recv().locate(Run { start: to, len: elements.len });
            self.plan.unpacks.push(MovedPiece { from, to, bytes });
        }
    }

    /// The receive buffer.
    fn recv(&self) -> Home {
        let begin = AreaOffset { area: Area::Recv, offset: 0 };
        Home { begin, bytes: self.extents.recv * self.extents.size, size: self.extents.size }
    }
}

/// Sets where blocks begin if they lie without gaps and block `by` comes first; returns where the last one ends.
fn rotated_offsets<G: Geometry>(offsets: &mut Vec<usize>, geometry: &G, by: usize, p: usize) -> usize {
    offsets.clear();
    offsets.resize(p, 0);
    let mut end = 0;
    for b in (by..p).chain(0..by) {
        offsets[b] = end;
        end += geometry.len(b);
    }
    end
}
