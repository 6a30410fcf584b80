//! Repeats a call that was made before with the same arguments.
//!
//! Programs repeat a few calls with different data. Such a call finds its plan by comparing arguments, lists included:
//! it takes no lock of MPI, allocates nothing, and queries no datatypes. This works only for handles that stay valid:
//! communicators until one is freed, and predefined datatypes and operations.

use super::last_call::KnownCall;
#[cfg(doc)]
use super::last_call::LastCall;
use super::{By, device, passing, shape, shared_run};
use crate::choice::selection::Device;
use crate::mpi::arguments::call::MpiCall;
use crate::mpi::arguments::key::CallKey;
use crate::mpi::arguments::shape::{ParsedCall, Side};
use crate::mpi::cache::call_cache::CachedPlan;
use crate::mpi::cache::repeated::{Repeated, RepeatedCall, RepeatedMemory, RepeatedPlan, RepeatedSteps};
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::shared::SharedPlan;
use crate::mpi::state::{CommState, CommWork, attribute};
use crate::program::shared::CopyPath;
use roundel_spec::Kind;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The states of communicators that were used recently, for all threads: a lookup in thread-local storage would take
/// longer than the rest.
struct KnownState {
    comm: AtomicUsize,
    epoch: AtomicUsize,
    state: AtomicPtr<CommState>,
}

/// No communicator has this handle.
const NONE: usize = usize::MAX;

static STATES: [KnownState; 4] = [const {
    KnownState { comm: AtomicUsize::new(NONE), epoch: AtomicUsize::new(0), state: AtomicPtr::new(null_mut()) }
}; 4];

impl KnownState {
    #[inline]
    fn of(comm: usize) -> &'static KnownState {
        // Handles are addresses of large objects, or numbers.
        &STATES[(comm ^ comm >> 9) % STATES.len()]
    }

    /// The state of a communicator, if it is the one cached here.
    #[inline]
    fn get(&self, comm: usize) -> Option<&'static CommState> {
        let found = self.comm.load(Ordering::Acquire) == comm;
        let (epoch, state) = (self.epoch.load(Ordering::Acquire), self.state.load(Ordering::Acquire));
        // Epoch and state belong to this communicator unless another one was cached between the loads.
        let same = found && epoch == attribute::epoch() && self.comm.load(Ordering::Relaxed) == comm;
        // SAFETY: no communicator was freed since the state was cached, so it lives as long as the caller's.
        if same { unsafe { state.as_ref() } } else { None }
    }

    fn keep(&self, comm: usize, state: &CommState) {
        self.comm.store(NONE, Ordering::Relaxed);
        self.epoch.store(attribute::epoch(), Ordering::Release);
        self.state.store(std::ptr::from_ref(state).cast_mut(), Ordering::Release);
        self.comm.store(comm, Ordering::Release);
    }
}

/// Repeats a call that was made before.
///
/// # Safety
/// The same as for [`run`](super::run). The addresses are those of the first and of the last buffer.
pub unsafe fn repeat(key: &CallKey, first: *mut c_void, last: *mut c_void) -> Repeated {
    // SAFETY: the caller guarantees it.
    match unsafe { find(key) } {
        None => Repeated::Unknown,
        Some(known) if known.passes() => Repeated::Library,
        // SAFETY: as above; the plan was just found.
        Some(known) => unsafe { repeat_known(known, first, last) },
    }
}

/// How a call was served that was made before.
///
/// # Safety
/// The same as for [`run`](super::run).
unsafe fn find(key: &CallKey) -> Option<KnownCall> {
    let comm = key.comm.0 as usize;
    let state = KnownState::of(comm).get(comm)?;
    let work = state.lease_again()?;
    // SAFETY: the caller guarantees complete lists.
    let known = work.repeated.iter().find(|known| unsafe { known.is(key) })?;
    Some(known_call(state, known))
}

fn known_call(state: &CommState, call: &RepeatedCall) -> KnownCall {
    let Some(plan) = call.plan() else { return KnownCall::PASSES };
    KnownCall { state, plan }
}

/// Repeats a call that was [found](LastCall::find) and does not [pass](KnownCall::passes).
///
/// # Safety
/// The same as for [`repeat`]; and nothing was forgotten since the call was found, except by another
/// thread, whose calls are not on the same communicator.
pub unsafe fn repeat_known(known: KnownCall, first: *mut c_void, last: *mut c_void) -> Repeated {
    let KnownCall { state, plan } = known;
    // SAFETY: plans and states are forgotten before they are freed, and the caller has found both.
    let (state, plan) = unsafe { (&*state, &*plan) };
    let Some(mut work) = state.lease_again() else { return Repeated::Unknown };
    let Some(buffers) = plan.buffers(first, last) else { return Repeated::Unknown };
    if device::is_news() && uses_device(&work) {
        return Repeated::Unknown;
    }
    let CommWork { shared, scratch, held, flight, .. } = &mut *work;
    // SAFETY: the caller guarantees live memory, which is as long as the arguments say.
    unsafe {
        match plan.messages() {
            Some(messages) => plan.exchange(messages, scratch, flight, buffers),
            None => plan.run_in_memory(RepeatedMemory { shared, scratch, held, flight }, buffers),
        }
    }
}

/// Whether buffers may be in device memory.
#[cold]
fn uses_device(work: &CommWork) -> bool {
    let only_host = matches!(&work.settings, Some(Ok(settings)) if settings.device == Device::Host);
    !only_host && device::may_be_used()
}

/// Whether MPI has served a call that does not block with the same arguments, lists included.
///
/// # Safety
/// The same as for [`run`](super::run).
#[inline]
pub unsafe fn is_left(key: &CallKey) -> bool {
    let comm = key.comm.0 as usize;
    let Some(state) = KnownState::of(comm).get(comm) else { return false };
    // SAFETY: the caller guarantees complete lists.
    let is = |known: &RepeatedCall| unsafe { known.plan().is_none() && known.is(key) };
    state.lease_again().is_some_and(|work| work.repeated.iter().any(|known| is(known)))
}

/// Keeps a call with lists that does not block and [passes](super::PreparedCall::Passes).
///
/// # Safety
/// The same as for [`run`](super::run).
#[cold]
pub unsafe fn remember_left(key: &CallKey) {
    // SAFETY: the caller guarantees a live communicator.
    let Ok(state) = (unsafe { attribute::state_of(key.comm) }) else { return };
    let (Some(group), Ok(mut work)) = (state.known_group(), state.lease()) else { return };
    // SAFETY: the caller guarantees complete lists.
    work.repeat(unsafe { RepeatedCall::new(key, group.placement.p(), None) });
    let comm = key.comm.0 as usize;
    KnownState::of(comm).keep(comm, state);
}

/// Caches the call that was made last, and returns it, if it can be repeated.
///
/// # Safety
/// The same as for [`run`](super::run).
#[cold]
pub unsafe fn remember(key: &CallKey, call: &MpiCall) -> Option<KnownCall> {
    // SAFETY: the caller guarantees a live communicator.
    let state = unsafe { attribute::state_of(key.comm) }.ok()?;
    let (group, mut work) = (state.known_group()?, state.lease().ok()?);
    // The call that was just made is the most recent one. The catalogue's alltoallvs find a route each time.
    let may = work.recent.how().is_some_and(|how| !matches!(how, CachedPlan::Alltoallv(_)));
    if !may || work.journal.is_some() || !passing::lasts(call, group.rank) {
        return None;
    }
    // SAFETY: the caller guarantees complete lists.
    let is = |known: &RepeatedCall| unsafe { known.is(key) };
    let known = match work.repeated.iter().find(|known| is(known)) {
        Some(known) => known_call(state, known),
        None => {
            // SAFETY: the caller guarantees it.
            let repeated = unsafe { planned(key, call, group, &mut work)? };
            known_call(state, work.repeat(repeated))
        }
    };
    let comm = key.comm.0 as usize;
    KnownState::of(comm).keep(comm, state);
    Some(known)
}

unsafe fn planned(key: &CallKey, call: &MpiCall, group: &OwnComm, work: &mut CommWork) -> Option<RepeatedCall> {
    // SAFETY: the caller guarantees live handles and complete lists.
    let job: ParsedCall = unsafe { shape::read(call, group.here(), &mut work.recent.lists) }.ok()?;
    work.recent.find(&job.shape, By::Environment)?;
    // SAFETY: as above.
    let repeated = |plan| unsafe { RepeatedCall::new(key, group.placement.p(), plan) };
    // The interposed functions themselves remember calls without lists.
    if let (Some(CachedPlan::Library(_)), Some(_)) = (work.recent.how(), key.lists[0]) {
        return Some(repeated(None));
    }
    let in_place = job.shape.send.is_none();
    // The arguments alone must determine where the data is. They do not for identical buffers or for a scatter in
    // place.
    let scatters = job.shape.kind == Kind::Scatter && group.rank as i64 == job.shape.root;
    if in_place && (has_input(call) || scatters) {
        return None;
    }
    let (Side::Plain(_), Side::Plain(_)) = (job.send, job.recv) else { return None };
    let CommWork { recent, offsets, last_lists, .. } = work;
    let steps = match recent.how()? {
        &CachedPlan::SharedMemory(path) => {
            let call = shared_run::call(&job.shape, &recent.lists, offsets, group, path);
            RepeatedSteps::Shared(SharedPlan::new(call).ok()?.into())
        }
        // Only in this call's own copy do the blocks lie elsewhere.
        CachedPlan::SharedAlltoallv(_) if in_place => return None,
        // The lists of most programs are the same in each call or different in each.
        CachedPlan::SharedAlltoallv(_) if !last_lists.is(&recent.lists) => return None,
        &CachedPlan::SharedAlltoallv(limit) => {
            let call = shared_run::call(&job.shape, &recent.lists, offsets, group, CopyPath::Slot);
            RepeatedSteps::Exchange(SharedPlan::new(call).ok()?.into(), limit)
        }
        CachedPlan::Plan(plan, _) => RepeatedSteps::Messages(Arc::clone(plan)),
        CachedPlan::Nodes(plan) => RepeatedSteps::Nodes(Arc::clone(plan), Box::new(job.shape)),
        CachedPlan::Library(_) | CachedPlan::Alltoallv(_) => return None,
    };
    RepeatedPlan::new(steps, &job, group).map(|plan| repeated(Some(plan)))
}

/// Whether a call passes a send buffer, not MPI_IN_PLACE.
fn has_input(call: &MpiCall) -> bool {
    match call {
        MpiCall::Allreduce { data, .. }
        | MpiCall::Reduce { data, .. }
        | MpiCall::ReduceScatter { data, .. }
        | MpiCall::ReduceScatterBlock { data, .. } => data.send.is_some(),
        MpiCall::Allgather { send, .. } | MpiCall::Alltoall { send, .. } | MpiCall::Gather { send, .. } => {
            send.is_some()
        }
        MpiCall::Allgatherv { send, .. } => send.is_some(),
        MpiCall::Alltoallv { send, .. } => send.is_some(),
        MpiCall::Broadcast { .. } | MpiCall::Scatter { .. } => false,
    }
}
