//! Runs a call through the memory that the ranks of a node share.

use super::{CallOutcome, operands, rank};
use crate::call::rooted::RootedLayout;
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists, ParsedCall};
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::Nothing;
use crate::mpi::execution::shared::{ExchangeLimit, ServedExchange, SharedBuffers, SharedPlan, lock};
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::state::CommWork;
use crate::program::shared::{BlockSpans, CopyPath, SharedBlocks, SharedCall};
use roundel_spec::Kind;
use std::ptr::copy_nonoverlapping;
use std::sync::Arc;

/// Returns an error if a call does not fit into the memory, or there is none. The first call is collective.
pub(super) fn fits(work: &mut CommWork, group: &OwnComm, shape: &CallShape, path: CopyPath) -> Result<(), Error> {
    if group.placement.regions().nodes() > 1 {
        return Err(unshared("the ranks are on several nodes"));
    }
    work.shared(group)?;
    let CommWork { recent, offsets, .. } = work;
    let call = call(shape, &recent.lists, offsets, group, path);
    SharedPlan::new(call)?;
    if path == CopyPath::Kernel {
        fetches(&call)?;
        let peers = work.peers(group)?;
        work.shared.iter().flatten().for_each(|memory| lock(memory).fetch_from(Arc::clone(&peers)));
    }
    Ok(())
}

/// Returns an error if ranks must not read each other's memory in a call.
pub(super) fn fetches(call: &SharedCall<'_>) -> Result<(), Error> {
    if call.fetches() { Ok(()) } else { Err(unshared("a call in place overwrites what other ranks would read")) }
}

pub(super) fn unshared(reason: &str) -> Error {
    Error::NoSharedMemory { reason: reason.into() }
}

/// Runs a call for which [`fits`] has made the memory.
///
/// # Safety
/// The memory and the handles of the call are live.
pub(super) unsafe fn run(
    work: &mut CommWork,
    group: &OwnComm,
    job: &ParsedCall,
    path: CopyPath,
) -> Result<CallOutcome, Error> {
    let CommWork { recent, offsets, shared, .. } = work;
    let Some(Ok(shared)) = shared else { return Ok(CallOutcome::Library) };
    let mut shared = lock(shared);
    let rank = rank(group);
    // SAFETY: the caller guarantees live memory and handles.
    let sides = unsafe { recent.images.bring(job, &recent.lists, rank)? };
    let plan = SharedPlan::new(call(&job.shape, &recent.lists, offsets, group, path))?;
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

/// Runs an alltoallv for which [`fits`] has made the memory, unless some rank sends more than the limit.
///
/// # Safety
/// The memory and the handles of the call are live.
pub(super) unsafe fn exchange(
    work: &mut CommWork,
    group: &OwnComm,
    job: &ParsedCall,
    limit: ExchangeLimit,
) -> Result<CallOutcome, Error> {
    let CommWork { recent, offsets, shared, held, .. } = work;
    let Some(Ok(shared)) = shared else { return Ok(CallOutcome::Library) };
    let (mut shared, rank) = (lock(shared), rank(group));
    if shared.leaves_exchange(limit) {
        return Ok(CallOutcome::Library);
    }
    // SAFETY: the caller guarantees live memory and handles.
    let sides = unsafe { recent.images.bring(job, &recent.lists, rank)? };
    let input = match job.shape.send {
        Some(_) => sides.send,
        // What arrives would overwrite what leaves.
        // SAFETY: as above; the receive buffer has the blocks of the lists.
        None => unsafe { aside(&mut recent.lists, sides.recv, held) },
    };
    let plan = SharedPlan::new(call(&job.shape, &recent.lists, offsets, group, CopyPath::Slot))?;
    // SAFETY: the buffers are those of the lists.
    let served = unsafe { shared.exchange(&plan, (input, sides.recv), limit)? };
    if served == ServedExchange::TooLong {
        return Ok(CallOutcome::Library);
    }
    // SAFETY: as above.
    unsafe { recent.images.take(job, &recent.lists, sides, rank)? };
    Ok(CallOutcome::Done)
}

/// Copies the blocks of an alltoallv in place, and lists the copies as what this rank sends. Returns their address.
///
/// # Safety
/// The blocks that arrive are at the address.
unsafe fn aside(lists: &mut Lists, blocks: *const u8, held: &mut Scratch) -> *mut u8 {
    let Lists { counts, displs, leaving, leaves_at } = lists;
    leaving.clone_from(counts);
    leaves_at.clear();
    leaves_at.extend(counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))));
    let copies = held.reserve(counts.iter().sum());
    for ((&count, &from), &to) in counts.iter().zip(&*displs).zip(&*leaves_at).filter(|((count, _), _)| **count > 0) {
        // SAFETY: the caller guarantees the block, and there is room for all.
        unsafe { copy_nonoverlapping(blocks.wrapping_add(from), copies.wrapping_add(to), count) };
    }
    copies
}

/// A call as shared memory sees it.
pub(super) fn call<'a>(
    shape: &CallShape,
    lists: &'a Lists,
    offsets: &'a mut Vec<usize>,
    group: &OwnComm,
    path: CopyPath,
) -> SharedCall<'a> {
    let (p, CallShape { kind, size, .. }) = (group.placement.p(), *shape);
    let elements = shape.send.unwrap_or(shape.recv);
    let blocks = match shape.blocks {
        BlockLayout::Equal(block) => SharedBlocks::Equal(block),
        BlockLayout::Listed => SharedBlocks::Listed { counts: &lists.counts, displs: &lists.displs },
        BlockLayout::Private => SharedBlocks::Private {
            leaving: BlockSpans { counts: &lists.leaving, displs: &lists.leaves_at },
            arriving: BlockSpans { counts: &lists.counts, displs: &lists.displs },
        },
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
            Kind::Allreduce | Kind::ReduceScatter | Kind::Allgather => true,
            Kind::Alltoall => shape.blocks != BlockLayout::Private,
        };
    SharedCall { kind, p, root, size, blocks, in_place, path, slot: 0 }
}
