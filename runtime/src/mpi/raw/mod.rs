//! Collectives with MPI's own arguments: addresses, counts, datatypes, operations. The C interface and the interposed
//! functions are built on it.
//!
//! A call is either served or left to MPI. All ranks decide alike, because they decide by values that MPI requires to
//! be equal on all ranks.

mod alltoallv_run;
mod before;
mod choice;
mod device;
mod last_call;
mod node_run;
mod operation;
mod passing;
mod planning;
mod prepare;
mod raise;
mod recorded;
mod repeat;
#[cfg(test)]
mod replayed_plans;
mod shared_request;
mod shared_run;

pub use self::choice::{begin_requests, begin_shared_requests, own_settings};
pub use self::device::{library_unloads, watch_libraries};
pub use self::last_call::{KnownCall, LastCall};
pub use self::operation::PendingCall;
pub use self::passing::epoch;
pub use self::prepare::prepare;
pub use self::raise::{class, raise, tell};
pub use self::repeat::{is_left, remember, remember_left, repeat, repeat_known};
pub use crate::mpi::arguments::call::{IntList, MpiCall, Reduced, Scattered, Typed, in_place};
pub use crate::mpi::arguments::key::{ArgumentWord, CallKey, ends, lists};
pub use crate::mpi::cache::repeated::Repeated;
pub use crate::mpi::execution::RequestLife;
pub use crate::mpi::handles::quiet::is_live;
pub use crate::mpi::process::say::say;

pub(super) use self::choice::{agree, explain};

use self::choice::Choice;
use self::planning::Planning;
use crate::choice::CallForm;
use crate::choice::selection::{Algorithm, Device, Implementation};
use crate::error::Error;
use crate::mpi::arguments::image::Rank;
use crate::mpi::arguments::shape;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists, ParsedCall, Unread, same_own_block};
use crate::mpi::cache::call_cache::{CachedCall, CachedPlan};
pub use crate::mpi::cache::decider::By;
use crate::mpi::cache::workspace::Workspace;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::world;
use crate::mpi::execution::Nothing;
use crate::mpi::handles::datatype::Facts;
use crate::mpi::handles::operand::{self, Operands};
use crate::mpi::journal;
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::process::code::SUCCESS;
use crate::mpi::state::CommWork;
use crate::mpi::state::attribute;
use crate::program::shared::CopyPath;
use crate::transport::{Layout, RankPlacement};
use ::mpi::ffi;
use std::cell::Cell;
use std::sync::Arc;

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The call is complete.
    Done,
    /// Nothing was done or sent; MPI must serve the call. All ranks get this answer.
    Library,
    /// Like `Library`, and the same holds for all calls with equal arguments, as long as [`epoch`] does not change.
    Passes,
}

/// A non-blocking call after [`prepare`].
#[derive(Debug)]
pub enum PreparedCall {
    /// It can be started.
    Ready(Box<PendingCall>),
    /// MPI must serve it. All ranks get this answer.
    Library,
    /// As `Library`, and for all calls with equal arguments, as long as [`epoch`] does not change.
    Passes {
        /// Whether the contents of lists must be equal, too.
        by_lists: bool,
    },
}

impl From<PendingCall> for PreparedCall {
    fn from(call: PendingCall) -> Self {
        PreparedCall::Ready(Box::new(call))
    }
}

impl PreparedCall {
    /// The call, if it can be started.
    pub fn ready(self) -> Option<PendingCall> {
        match self {
            PreparedCall::Ready(call) => Some(*call),
            PreparedCall::Library | PreparedCall::Passes { .. } => None,
        }
    }
}

/// Runs a call.
///
/// # Safety
/// MPI is initialised and not finalised. `comm` and the arguments are valid for this call of MPI: live handles, and
/// memory behind addresses and lists. Blocking and collective over `comm`.
///
/// # Errors
/// Returns what went wrong; with [`By::Environment`] and [`By::Settings`], calls that MPI could serve are not errors.
pub unsafe fn run(comm: ffi::MPI_Comm, call: &MpiCall, by: By<'_>) -> Result<CallOutcome, Error> {
    // SAFETY: the caller guarantees a live communicator.
    let state = unsafe { attribute::state_of(comm)? };
    if state.known_group().is_none()
        && matches!(by, By::Environment)
        // SAFETY: the same as for this function.
        && let Some(outcome) = unsafe { before::run(state, comm, call)? }
    {
        return Ok(outcome);
    }
    let group = match state.group_of(comm) {
        Err(error @ Error::Intercommunicator) => return leave(by, error).map(|()| CallOutcome::Library),
        group => group?,
    };
    let mut work = state.lease()?;
    choice::agree(&mut work, group, by)?;
    // SAFETY: the caller guarantees live memory and handles.
    let outcome = match unsafe { staged(&work, group, call, by) } {
        // SAFETY: as above.
        None => unsafe { with_host_memory(&mut work, group, call, by)? },
        // SAFETY: as above.
        Some(mut staged) => unsafe {
            staged.bring()?;
            let outcome = with_host_memory(&mut work, group, &staged.call, by)?;
            if outcome == CallOutcome::Done {
                staged.take()?;
            }
            outcome
        },
    };
    // Only calls for which MPI was chosen: an invalid one may have the arguments of a valid one but for its addresses.
    let stays = matches!(by, By::Environment) && passing::stays(call, group.rank);
    Ok(if outcome == CallOutcome::Passes && !stays { CallOutcome::Library } else { outcome })
}

/// The call with host memory in place of device memory, if it uses any and it is not left to MPI for that reason. An
/// invalid call is left unchanged, for MPI to reject.
///
/// # Safety
/// The memory and the handles of the call are live.
#[inline]
unsafe fn staged(work: &CommWork, group: &OwnComm, call: &MpiCall, by: By<'_>) -> Option<device::Staged> {
    let wanted = match work.settings().ok()?.device {
        Device::Auto => true,
        Device::Loaded => matches!(by, By::Algorithm(_)),
        Device::Host | Device::Library => false,
    };
    // SAFETY: the caller guarantees it.
    if wanted { unsafe { device::staged(call, group.here()) }.unwrap_or(None) } else { None }
}

/// Runs a call whose memory the host can access.
#[inline]
unsafe fn with_host_memory(
    work: &mut CommWork,
    group: &OwnComm,
    call: &MpiCall,
    by: By<'_>,
) -> Result<CallOutcome, Error> {
    // SAFETY: the caller guarantees live handles and complete lists.
    let job = unsafe { shape::read(call, group.here(), &mut work.recent.lists) };
    if work.journal.is_some() {
        // SAFETY: the caller guarantees live memory and handles.
        return unsafe { recorded::run(work, group, call.kind(), job, by) };
    }
    match job {
        // SAFETY: as above.
        Ok(job) => unsafe { serve(work, group, &job, by) },
        Err(unread) => unread.outcome(by),
    }
}

/// Runs a parsed call, with a cached plan if there is one for it. [`CallOutcome::Passes`] if MPI was chosen for it.
#[inline]
unsafe fn serve(work: &mut CommWork, group: &OwnComm, job: &ParsedCall, by: By<'_>) -> Result<CallOutcome, Error> {
    if work.recent.find(&job.shape, by).is_none() {
        let how = plan(work, group, &job.shape, by)?;
        let planned = CachedCall::new(job.shape, &work.recent.lists, by, how);
        work.recent.keep(planned);
    }
    match work.recent.how() {
        // SAFETY: the caller guarantees live memory and handles.
        Some(CachedPlan::Plan(..)) => unsafe { replay(work, group, job) },
        Some(CachedPlan::Alltoallv(_)) => match same_own_block(&job.shape, &work.recent.lists, group.rank) {
            // SAFETY: as above.
            Ok(()) => unsafe { alltoallv_run::run(work, group, job) },
            Err(error) => leave(by, error).map(|()| CallOutcome::Library),
        },
        // SAFETY: as above.
        Some(&CachedPlan::SharedMemory(path)) => unsafe { shared_run::run(work, group, job, path) },
        // SAFETY: as above.
        Some(&CachedPlan::SharedAlltoallv(limit)) => unsafe { shared_run::exchange(work, group, job, limit) },
        // SAFETY: as above.
        Some(CachedPlan::Nodes(_)) => unsafe { node_run::run(work, group, job) },
        Some(CachedPlan::Library(_)) => Ok(CallOutcome::Passes),
        None => Ok(CallOutcome::Library),
    }
}

/// Sets up the world, and the information shared by all communicators whose ranks belong to it. From then on, calls
/// by [`By::Environment`] on those communicators need no communication for their setup, and MPI serves the first few
/// calls on each.
///
/// # Safety
/// MPI is initialised and not finalised. Collective over the world; no process may call anything else in this module
/// before.
///
/// # Errors
/// Returns what went wrong.
pub unsafe fn adopt() -> Result<(), Error> {
    // SAFETY: the handle is a constant of the library.
    let comm = unsafe { ffi::RSMPI_COMM_WORLD };
    // SAFETY: MPI is initialised, so the world is live.
    let state = unsafe { attribute::state_of(comm)? };
    let group = state.group_of(comm)?;
    let mut work = state.lease()?;
    choice::agree(&mut work, group, By::Environment)?;
    // The journal needs a name for each communicator, which its ranks must agree on.
    if work.journal.is_none() {
        world::remember(group, work.settings()?, work.requests);
        state.leaves_all(work.settings()?, &group.placement);
    }
    Ok(())
}

/// Whether MPI serves all calls on a communicator.
///
/// # Safety
/// The same as for [`is_known`].
#[inline]
pub unsafe fn passes(comm: ffi::MPI_Comm) -> bool {
    // SAFETY: the caller guarantees a live communicator.
    unsafe { attribute::state_of(comm) }.is_ok_and(|state| state.passes())
}

/// Counts a call that MPI has served without asking Roundel as one of the first calls.
///
/// # Safety
/// The same as for [`is_known`].
pub unsafe fn passed(comm: ffi::MPI_Comm) {
    // SAFETY: the caller guarantees a live communicator.
    let state = unsafe { attribute::state_of(comm) };
    if let Ok(state) = state
        && state.known_group().is_none()
    {
        state.count();
    }
}

/// Whether calls on a communicator can be [prepared](prepare) without waiting for other ranks: it was set up by
/// [`adopt`], or by an earlier call.
///
/// # Safety
/// MPI is initialised and not finalised, and `comm` is live.
///
/// # Errors
/// Returns MPI's errors.
pub unsafe fn is_known(comm: ffi::MPI_Comm) -> Result<bool, Error> {
    // SAFETY: the caller guarantees a live communicator.
    let state = unsafe { attribute::state_of(comm)? };
    Ok(state.known_group().is_some())
}

/// Why the journal has no messages of a call.
const IN_SHARED_MEMORY: &str = "it runs in shared memory, which has no messages to record";

/// Why MPI serves an alltoallv for which shared memory was chosen.
const TOO_LONG: &str = "a rank sends more than shared memory serves faster";

/// The reason why MPI serves a call that cannot be parsed.
const UNREAD: &str = "its datatype, operation, counts or root are not served";

/// This rank and its communicator.
fn rank(group: &OwnComm) -> Rank {
    Rank { comm: group.comm.raw(), rank: group.rank, p: group.placement.p() }
}

/// The operation of a reduction.
fn operands(job: &ParsedCall) -> Option<Operands> {
    let (datatype, commutes, extent) = (job.shape.datatype, job.shape.commutes, job.shape.size);
    let new = |(op, facts): (_, Facts)| {
        let (true_lb, failed) = (facts.true_lb, Cell::new(SUCCESS));
        let native = operand::native_combine(op, datatype);
        Operands { op, datatype, commutes, extent, true_lb, native, failed }
    };
    job.operands.map(new)
}

/// Leaves a call that is not served to MPI, unless an algorithm was requested.
fn leave(by: By<'_>, error: Error) -> Result<(), Error> {
    if let By::Algorithm(_) | By::SharedMemory(_) = by { Err(error) } else { Ok(()) }
}

impl Unread {
    /// The outcome of a call that cannot be planned.
    fn outcome(self, by: By<'_>) -> Result<CallOutcome, Error> {
        match self {
            Unread::Library => Ok(CallOutcome::Library),
            Unread::Failed(error) => leave(by, error).map(|()| CallOutcome::Library),
        }
    }
}

/// Chooses how a call runs, and plans it.
#[cold]
fn plan(work: &mut CommWork, group: &OwnComm, shape: &CallShape, by: By<'_>) -> Result<CachedPlan, Error> {
    let choice = choice::choose(by, work, shape, group.here(), CallForm::Blocking)?;
    let algorithm = match choice.implementation.clone() {
        Implementation::Catalogue(algorithm) => algorithm,
        Implementation::SharedMemory(path) => {
            let planned = in_shared_memory(work, group, shape, path, &choice);
            choice.tell(planned.as_ref().map(|_| ()));
            return match planned {
                Ok(planned) => Ok(planned),
                Err(error) => leave(by, error.clone()).map(|()| CachedPlan::Library(error.to_string().into())),
            };
        }
        Implementation::Library | Implementation::Ports(_) => {
            let reason = choice.reason.clone();
            choice.tell(Ok(()));
            return Ok(CachedPlan::Library(reason.into()));
        }
    };
    if shape.blocks == BlockLayout::Private {
        choice.tell(Ok(()));
        return Ok(CachedPlan::Alltoallv(Box::new(algorithm)));
    }
    let drawn = draw(group.here(), shape, &work.recent.lists, &algorithm, journal::blank(work.journal.is_some()));
    choice.tell(drawn.as_ref().map(|_| ()));
    match drawn {
        Ok(plan) => Ok(CachedPlan::Plan(Arc::new(plan), Box::new(algorithm))),
        Err(error) => leave(by, error.clone()).map(|()| CachedPlan::Library(error.to_string().into())),
    }
}

/// Plans a call in shared memory, with what runs between nodes if there are several.
fn in_shared_memory(
    work: &mut CommWork,
    group: &OwnComm,
    shape: &CallShape,
    path: CopyPath,
    choice: &Choice,
) -> Result<CachedPlan, Error> {
    if let Some(between) = &choice.between {
        return node_run::plan(work, group, shape, between).map(|plan| CachedPlan::Nodes(Arc::new(plan)));
    }
    shared_run::fits(work, group, shape, path)?;
    Ok(match shape.blocks {
        BlockLayout::Private => CachedPlan::SharedAlltoallv(choice.exchange_limit(group.placement.p())),
        _ => CachedPlan::SharedMemory(path),
    })
}

fn draw(
    here: RankPlacement<'_>,
    shape: &CallShape,
    lists: &Lists,
    algorithm: &Algorithm,
    mut plan: MessagePlan,
) -> Result<MessagePlan, Error> {
    same_own_block(shape, lists, here.rank)?;
    let recorded = plan.numbers.is_some();
    let layout = Layout::default();
    let mut planning = Planning { here, shape, lists, plan: &mut plan, layout, recorded };
    planning.plan(&*algorithm.collective_with_root(shape.root))?;
    Ok(plan)
}

/// Runs the most recently used plan.
unsafe fn replay(work: &mut CommWork, group: &OwnComm, job: &ParsedCall) -> Result<CallOutcome, Error> {
    let CommWork { recent, scratch, held, flight, .. } = work;
    let own = rank(group);
    // SAFETY: the caller guarantees live memory and handles.
    let sides = unsafe { recent.images.bring(job, &recent.lists, own)? };
    let Some(CachedPlan::Plan(plan, _)) = recent.how() else { return Ok(CallOutcome::Library) };
    let mut workspace = Workspace { comm: own.comm, rank: own.rank, scratch, held, flight, shared: None };
    match operands(job) {
        Some(operands) => {
            workspace.exchange(plan, job.shape.datatype, sides, operands.true_lb, &operands)?;
            operands.outcome()?;
        }
        None => workspace.exchange(plan, job.shape.datatype, sides, 0, Nothing)?,
    }
    // SAFETY: as above.
    unsafe { recent.images.take(job, &recent.lists, sides, own)? };
    Ok(CallOutcome::Done)
}
