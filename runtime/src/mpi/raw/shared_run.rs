//! Runs a call through the memory that the ranks of a node share.

use super::{CallOutcome, operands, rank};
use crate::call::rooted::RootedLayout;
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists, ParsedCall};
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::Nothing;
use crate::mpi::execution::shared::{SharedBuffers, SharedPlan, lock};
use crate::mpi::state::CommWork;
use crate::program::shared::{SharedBlocks, SharedCall};
use roundel_spec::Kind;

/// Returns an error if a call does not fit into the memory, or there is none. The first call is collective.
pub(super) fn fits(work: &mut CommWork, group: &OwnComm, shape: &CallShape) -> Result<(), Error> {
    if group.placement.regions().nodes() > 1 {
        return Err(unshared("the ranks are on several nodes"));
    }
    work.shared(group)?;
    let CommWork { recent, offsets, .. } = work;
    let call = call(shape, &recent.lists, offsets, group);
    SharedPlan::new(call.ok_or_else(|| unshared("ranks know only their own lengths"))?).map(|_| ())
}

pub(super) fn unshared(reason: &str) -> Error {
    Error::NoSharedMemory { reason: reason.into() }
}

/// Runs a call for which [`fits`] has made the memory.
///
/// # Safety
/// The memory and the handles of the call are live.
pub(super) unsafe fn run(work: &mut CommWork, group: &OwnComm, job: &ParsedCall) -> Result<CallOutcome, Error> {
    let CommWork { recent, offsets, shared, .. } = work;
    let Some(Ok(shared)) = shared else { return Ok(CallOutcome::Library) };
    let mut shared = lock(shared);
    let rank = rank(group);
    // SAFETY: the caller guarantees live memory and handles.
    let sides = unsafe { recent.images.bring(job, &recent.lists, rank)? };
    let Some(call) = call(&job.shape, &recent.lists, offsets, group) else { return Ok(CallOutcome::Library) };
    let plan = SharedPlan::new(call)?;
    let (input, output) = (if job.shape.send.is_some() { sides.send } else { sides.recv }, sides.recv);
    match operands(job) {
        Some(operands) => {
            let buffers = SharedBuffers { input, output, lead: operands.true_lb, combine: &operands };
            // SAFETY: the buffers are those of the shape, which all ranks have.
            unsafe { shared.run(&plan, &buffers)? };
            operands.outcome()?;
        }
        // SAFETY: as above.
        None => unsafe { shared.run(&plan, &SharedBuffers { input, output, lead: 0, combine: Nothing })? },
    }
    // SAFETY: as above.
    unsafe { recent.images.take(job, &recent.lists, sides, rank)? };
    Ok(CallOutcome::Done)
}

/// A call as shared memory sees it; `None` if only this rank knows its blocks.
pub(super) fn call<'a>(
    shape: &CallShape,
    lists: &'a Lists,
    offsets: &'a mut Vec<usize>,
    group: &OwnComm,
) -> Option<SharedCall<'a>> {
    let (p, CallShape { kind, size, .. }) = (group.placement.p(), *shape);
    let elements = shape.send.unwrap_or(shape.recv);
    let blocks = match shape.blocks {
        BlockLayout::Equal(block) => SharedBlocks::Equal(block),
        BlockLayout::Listed => SharedBlocks::Listed { counts: &lists.counts, displs: &lists.displs },
        BlockLayout::Private => return None,
        BlockLayout::Vector { .. } => SharedBlocks::Vector(elements),
        BlockLayout::Parts => SharedBlocks::Equal(elements / p),
        BlockLayout::ListedParts => {
            offsets.clear();
            offsets.extend(lists.counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))));
            SharedBlocks::Listed { counts: &lists.counts, displs: offsets }
        }
        BlockLayout::Rooted(RootedLayout { total, .. }) if kind == Kind::Broadcast => SharedBlocks::Vector(total),
        BlockLayout::Rooted(RootedLayout { total, .. }) => SharedBlocks::Equal(total / p),
    };
    let root = shape.root as usize;
    let in_place = shape.send.is_none()
        && match kind {
            Kind::Broadcast => false,
            Kind::Reduce | Kind::Gather | Kind::Scatter => group.rank == root,
            Kind::Allreduce | Kind::ReduceScatter | Kind::Allgather | Kind::Alltoall => true,
        };
    Some(SharedCall { kind, p, root, size, blocks, in_place, slot: 0 })
}
