//! Calls on a communicator before it has been set up.
//!
//! Serving a call requires our own communicator, which costs about as much as a few calls: a program that creates a
//! communicator, uses it once and frees it should not pay for that. So MPI serves the first few calls, and all
//! calls for which MPI is the choice anyway. All ranks count the same calls and choose alike, so they set the
//! communicator up in the same call.
//!
//! A reduction that MPI has served stays with MPI: the same operation on the same data must give bitwise equal
//! results in every call.

use super::choice;
use super::{CallOutcome, passing};
use crate::choice::CallForm;
use crate::choice::selection::Implementation;
use crate::error::Error;
use crate::mpi::arguments::call::MpiCall;
use crate::mpi::arguments::shape::{self};
use crate::mpi::cache::call_cache::{CachedCall, CachedPlan};
use crate::mpi::cache::decider::By;
use crate::mpi::comm::world::{self, World};
use crate::mpi::handles::{datatype, operand};
use crate::mpi::process::say::say;
use crate::mpi::state::CommState;
use ::mpi::ffi;
use roundel_spec::Kind;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of calls on a communicator that MPI serves before Roundel sets it up, unless the user has chosen
/// algorithms.
const FIRST: u32 = 4;

/// Returns the outcome if MPI must serve the call, or `None` if the communicator must be set up now.
///
/// # Safety
/// The same as for [`super::run`], with [`By::Environment`].
#[cold]
pub(super) unsafe fn run(
    state: &CommState,
    comm: ffi::MPI_Comm,
    call: &MpiCall,
) -> Result<Option<CallOutcome>, Error> {
    let Some(world) = world::known() else { return Ok(foreign(state, comm)?.then_some(CallOutcome::Library)) };
    if world.passes && world::has_all(comm)? {
        state.pass();
        return Ok(Some(CallOutcome::Library));
    }
    let first = state.count() <= FIRST && !world.settings.is_said();
    // A communicator that is used once should not even pay for finding the placement of its ranks.
    if first && let Some(settled) = reduction(call) {
        if let Some((kind, bytes)) = settled {
            state.settle(kind, bytes)?;
        }
        explain(world);
        return Ok(Some(CallOutcome::Library));
    }
    let Some(members) = state.members(comm)? else {
        foreign(state, comm)?;
        return Ok(Some(CallOutcome::Library));
    };
    if state.leaves_all(&world.settings, &members.placement) {
        return Ok(Some(CallOutcome::Library));
    }
    let mut work = state.lease()?;
    work.inherit(&world.settings, world.requests);
    // SAFETY: the caller guarantees live handles and complete lists.
    let job = match unsafe { shape::read(call, members.here(), &mut work.recent.lists) } {
        Ok(job) => job,
        Err(unread) => return unread.outcome(By::Environment).map(Some),
    };
    if first {
        work.settled.keep(&job.shape);
        explain(world);
        return Ok(Some(CallOutcome::Library));
    }
    if work.recent.find(&job.shape, By::Environment).is_none() {
        let form = CallForm::Blocking;
        let choice = choice::choose(By::Environment, &work, &job.shape, members.here(), form)?;
        if choice.implementation != Implementation::Library {
            return Ok(None);
        }
        let how = CachedPlan::Library(choice.reason.clone().into());
        choice.tell(Ok(()));
        let planned = CachedCall::new(job.shape, &work.recent.lists, By::Environment, how);
        work.recent.keep(planned);
    }
    Ok(Some(if passing::stays(call, members.rank) { CallOutcome::Passes } else { CallOutcome::Library }))
}

/// The kind and bytes of a reduction that must stay with MPI. `Some(None)` if the call is not such a reduction, and
/// `None` if its arguments alone do not tell.
fn reduction(call: &MpiCall) -> Option<Option<(Kind, u64)>> {
    let (data, count) = match call {
        MpiCall::Allreduce { data, count } | MpiCall::ReduceScatterBlock { data, count } => (data, *count),
        MpiCall::Reduce { data, count, .. } => (data, *count),
        MpiCall::ReduceScatter { .. } => return None,
        _ => return Some(None),
    };
    if !datatype::is_known(data.datatype) || operand::vouch(data.op, data.datatype).is_err() {
        return None;
    }
    // SAFETY: a predefined datatype is live.
    let size = unsafe { datatype::facts(data.datatype) }.ok()?.size;
    let exact = operand::is_exact(data.op, data.datatype);
    Some((!exact).then_some((call.kind(), count.checked_mul(size)? as u64)))
}

/// Whether a communicator has ranks of another world. MPI serves all calls on it: those ranks may not have loaded
/// Roundel, and then would never answer it.
pub(super) fn foreign(state: &CommState, comm: ffi::MPI_Comm) -> Result<bool, Error> {
    if state.known_group().is_some() || world::has_all(comm)? {
        return Ok(false);
    }
    if !state.passes()
        && let Some(world) = world::known()
        && world.settings.explain
        && world.rank == 0
    {
        say("calls on a communicator with ranks of another world are the library's");
    }
    state.pass();
    Ok(true)
}

/// Explains once why MPI serves the first calls.
fn explain(world: &World) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if world.settings.explain && world.rank == 0 && !SAID.swap(true, Ordering::Relaxed) {
        say(format_args!("the first {FIRST} calls on a communicator that the program makes are the library's"));
    }
}
