//! What only reductions need: plans with several lines, and operations on elements.

use super::areas::{Area, AreaOffset, Extents};
use super::build::{self, Home};
use super::ending::end_the_job;
use super::execution::Combine;
use super::limit;
use super::plan::{Draft, MovedPiece, PlanStep};
use super::rank_rounds::RankRounds;
use super::state::{CommWork, OwnComm};
use crate::error::Error;
use crate::geometry::{Geometry, Varying};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::reduce::{Division, ReductionCall};
use crate::transport::RankPlacement;
use roundel_spec::Collective;
use std::marker::PhantomData;
use std::mem::forget;

/// Makes the plan for a call that differs from the last one. The first line lies in the receive buffer or, if only a
/// block of it is the output, in scratch. All other lines lie in scratch.
#[inline(never)]
pub(super) fn plan_anew<K: Collective, T, O: Operation<T>>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    call: &ReductionCall<'_, T, O>,
    extents: Extents,
) -> Result<(), Error> {
    let CommWork { key, plan, counts, offsets, flight, .. } = work;
    key.clear();
    let score = RankRounds::of(collective, group.here(), flight.log.is_some());
    call.divide(score.blocks, counts, offsets);
    limit::check(collective, &group.placement, &Varying::new(counts, offsets), call.elements())?;
    draw(Draft { plan, counts, offsets }, group.here(), &score, call.division, call.elements(), extents);
    key.set(collective, &call.division, extents, Default::default());
    Ok(())
}

/// Fills a plan for a number of elements. The call must be valid.
pub(super) fn draw(
    draft: Draft<'_>,
    here: RankPlacement<'_>,
    score: &RankRounds,
    division: Division<'_>,
    elements: usize,
    extents: Extents,
) {
    let Draft { plan, counts, offsets } = draft;
    plan.clear();
    let blocks = score.blocks;
    division.divide(elements, blocks, counts, offsets);
    let (geometry, size) = (Varying::new(counts, offsets), extents.size);
    let bytes = elements * size;
    let mut scratch = |area| {
        let offset = if area == Area::Scratch { plan.scratch } else { 0 };
        plan.scratch += if area == Area::Scratch { bytes.next_multiple_of(size_of::<u128>()) } else { 0 };
        Home { begin: AreaOffset { area, offset }, bytes, size }
    };
    // If the result belongs to another rank, nothing of the line is copied out.
    let first = if division == Division::Even { Area::Recv } else { Area::Scratch };
    let homes: Vec<Home> =
        (0..score.lines).map(|line| scratch(if line == 0 { first } else { Area::Scratch })).collect();
    let given = if extents.send.is_some() { Area::Send } else { Area::Recv };
    if given != first && bytes > 0 {
        let from = AreaOffset { area: given, offset: 0 };
        plan.steps.push(PlanStep::Move(MovedPiece { from, to: homes[0].begin, bytes }));
    }
    build::rounds(plan, score, here, &homes, geometry, Policy::default());
    let result = geometry.len(here.rank.min(blocks - 1)) * size;
    if first == Area::Scratch && extents.recv > 0 && result > 0 {
        let own = geometry.offset(here.rank) * size;
        let from = AreaOffset { area: Area::Scratch, offset: homes[0].begin.offset + own };
        let to = AreaOffset { area: Area::Recv, offset: 0 };
        plan.unpacks.push(MovedPiece { from, to, bytes: result });
        plan.flush_unpacks();
    }
}

/// An operation on elements of type `T`.
pub(super) struct Elements<'a, T, O> {
    op: &'a O,
    rank: usize,
    elements: PhantomData<fn(T)>,
}

impl<'a, T, O: Operation<T>> Elements<'a, T, O> {
    #[inline]
    pub(super) fn new(op: &'a O, rank: usize) -> Self {
        Elements { op, rank, elements: PhantomData }
    }
}

impl<T, O: Operation<T>> Combine for Elements<'_, T, O> {
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        let (left, right, into): (*const T, *const T, *mut T) = (left.cast(), right.cast(), into.cast());
        let guard = EndsTheJob { rank: self.rank };
        for i in 0..elements {
            // SAFETY: the caller guarantees elements at all three addresses; scratch and the user's buffers are
            // aligned for them. No reference lives when the result is written.
            unsafe {
                let value = self.op.combine(&*left.add(i), &*right.add(i));
                *into.add(i) = value;
            }
        }
        forget(guard);
    }
}

/// Dropped only when an operation panics: the other ranks would wait for this rank for ever.
struct EndsTheJob {
    rank: usize,
}

impl Drop for EndsTheJob {
    fn drop(&mut self) {
        end_the_job(format_args!("the operation of a reduction panicked on rank {}", self.rank))
    }
}
