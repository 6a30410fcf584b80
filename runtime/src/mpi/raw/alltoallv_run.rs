//! Alltoalls with blocks of any lengths.

use super::CallOutcome;
use super::planning::reject_other_kind;
use crate::call::alltoall::AlltoallvCall;
use crate::call::geometry::Varying;
use crate::error::Error;
use crate::mpi::arguments::image::Rank;
use crate::mpi::arguments::shape::{Lists, ParsedCall};
use crate::mpi::cache::call_cache::CachedPlan;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::alltoallv;
use crate::mpi::state::CommWork;
use crate::transport::{Layout, Options};
use roundel_spec::Kind;
use std::ptr::NonNull;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Runs the call with an algorithm.
///
/// # Safety
/// The job's memory and handles are live.
pub(super) unsafe fn run(work: &mut CommWork, group: &OwnComm, job: &ParsedCall) -> Result<CallOutcome, Error> {
    let Some(CachedPlan::Alltoallv(algorithm)) = work.recent.how() else { return Ok(CallOutcome::Library) };
    let (collective, layout, route) = (algorithm.collective(), Layout::default(), &mut work.buffers.route);
    if !route.fits(collective, layout) {
        reject_other_kind(collective, Kind::Alltoall)?;
        collective.serves(group.here())?;
        route.plan(collective, group.here(), layout);
    }
    let mut recent = std::mem::take(&mut work.recent);
    let rank = Rank { comm: group.comm.raw(), rank: group.rank, p: group.placement.p() };
    // SAFETY: the caller guarantees live memory and handles; the sides are those of this job.
    let outcome = unsafe {
        recent.images.bring(job, &recent.lists, rank).and_then(|sides| {
            let (recv, send) = (sides.recv, job.shape.send.map(|len| (sides.send, len)));
            travel(work, group, job, &recent.lists, send, recv)?;
            recent.images.take(job, &recent.lists, sides, rank)
        })
    };
    work.recent = recent;
    outcome.map(|()| CallOutcome::Done)
}

/// # Safety
/// The memory has as many bytes as the job requires.
unsafe fn travel(
    work: &mut CommWork,
    group: &OwnComm,
    job: &ParsedCall,
    lists: &Lists,
    send: Option<(*mut u8, usize)>,
    recv: *mut u8,
) -> Result<(), Error> {
    let address = |at: *mut u8| if at.is_null() { NonNull::dangling().as_ptr() } else { at };
    let arriving = Varying::new(&lists.counts, &lists.displs);
    let leaving = match send {
        Some(_) => Varying::new(&lists.leaving, &lists.leaves_at),
        None => arriving,
    };
    let options = Options::default();
    // SAFETY: the caller guarantees the bytes; the MPI standard forbids overlapping buffers.
    let call = unsafe {
        let send = send.map(|(at, len)| from_raw_parts(address(at).cast_const(), len));
        let recv = from_raw_parts_mut(address(recv), job.shape.recv);
        AlltoallvCall { send, leaving, recv, arriving, options }
    };
    call.validate(group.here())?;
    let CommWork { buffers, scratch, offsets, flight, .. } = work;
    alltoallv::run(buffers, (scratch, offsets), flight.log.as_deref_mut(), group, call)
}
