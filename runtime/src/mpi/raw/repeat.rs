//! Repeats a call through shared memory that was made before with the same arguments.
//!
//! Programs repeat a few calls with different data. Such a call finds its plan by comparing arguments: it takes no
//! lock of MPI, allocates nothing, and asks nothing about datatypes. This is possible only for what never changes:
//! communicators until one is freed, and predefined datatypes and operations; not for calls with lists, which would
//! have to be compared.

use super::{device, shared_run};
use crate::error::Error;
use crate::mpi::arguments::call::{MpiCall, Reduced, Typed};
use crate::mpi::arguments::shape::{ParsedCall, Side};
use crate::mpi::cache::call_cache::CachedPlan;
use crate::mpi::cache::repeated::{KEPT, RepeatedCall, WORDS};
use crate::mpi::comm::own::OwnComm;
use crate::mpi::handles::datatype;
use crate::mpi::handles::operand;
use crate::mpi::state::{CommState, CommWork, attribute};
use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The arguments of a call, for comparison: everything but addresses, of which only counts whether they are
/// `MPI_IN_PLACE`.
#[derive(Clone, Copy, Debug)]
pub struct CallWords<'a> {
    /// The address of MPI's function.
    pub function: usize,
    /// The communicator.
    pub comm: ffi::MPI_Comm,
    /// The other arguments.
    pub words: &'a [usize],
}

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

    /// The state of a communicator, if it is the one that is kept here.
    #[inline]
    fn get(&self, comm: usize) -> Option<&'static CommState> {
        let found = self.comm.load(Ordering::Acquire) == comm;
        let (epoch, state) = (self.epoch.load(Ordering::Acquire), self.state.load(Ordering::Acquire));
        // Epoch and state belong to this communicator unless another one was kept between the loads.
        let same = found && epoch == attribute::epoch() && self.comm.load(Ordering::Relaxed) == comm;
        // SAFETY: no communicator was freed since the state was kept, so it lives as long as the caller's.
        if same { unsafe { state.as_ref() } } else { None }
    }

    fn keep(&self, comm: usize, state: &CommState) {
        self.comm.store(NONE, Ordering::Relaxed);
        self.epoch.store(attribute::epoch(), Ordering::Release);
        self.state.store(std::ptr::from_ref(state).cast_mut(), Ordering::Release);
        self.comm.store(comm, Ordering::Release);
    }
}

/// Repeats a call, if it was made before; otherwise nothing was done.
///
/// # Safety
/// The same as for [`run`](super::run). The addresses are those of the first and of the last buffer.
#[inline]
pub unsafe fn repeat(call: CallWords<'_>, addresses: [*mut c_void; 2]) -> Option<Result<(), Error>> {
    let comm = call.comm.0 as usize;
    let state = KnownState::of(comm).get(comm)?;
    let mut work = state.lease().ok()?;
    let CommWork { repeated, shared: Some(Ok(shared)), .. } = &mut *work else { return None };
    let known = repeated.iter().find(|known| known.is(call.function, call.words))?;
    let buffers = known.buffers(addresses)?;
    if device::may_be_used() {
        return None;
    }
    // SAFETY: the caller guarantees live memory, which is as long as the arguments say.
    Some(unsafe { known.run(shared, buffers) })
}

/// Keeps the call that was made last, if it can be repeated.
///
/// # Safety
/// The same as for [`run`](super::run).
#[cold]
pub unsafe fn remember(words: CallWords<'_>, call: &MpiCall) {
    // SAFETY: the caller guarantees a live communicator.
    let Ok(state) = (unsafe { attribute::state_of(words.comm) }) else { return };
    let (Some(group), Ok(mut work)) = (state.known_group(), state.lease()) else { return };
    let shared = matches!(work.recent.how(), Some(CachedPlan::SharedMemory));
    if work.journal.is_some() || !shared || !lasts(call, group.rank as c_int) {
        return;
    }
    // SAFETY: the caller guarantees it.
    if let Some(repeated) = unsafe { planned(words, call, group, &mut work) } {
        work.repeated.truncate(KEPT - 1);
        work.repeated.insert(0, repeated);
        let comm = words.comm.0 as usize;
        KnownState::of(comm).keep(comm, state);
    }
}

unsafe fn planned(
    words: CallWords<'_>,
    call: &MpiCall,
    group: &OwnComm,
    work: &mut CommWork,
) -> Option<RepeatedCall> {
    if words.words.len() > WORDS || work.repeated.iter().any(|known| known.is(words.function, words.words)) {
        return None;
    }
    // SAFETY: the caller guarantees live handles.
    let job: ParsedCall = unsafe { super::shape::read(call, group.here(), &mut work.recent.lists) }.ok()?;
    let (Side::Plain(_), Side::Plain(_)) = (job.send, job.recv) else { return None };
    let plan = shared_run::call(&job.shape, &work.recent.lists, &mut work.offsets, group)?.unlisted()?;
    // The arguments must tell where the data is: not in a buffer that happens to be both, nor before MPI_IN_PLACE.
    let elsewhere = job.shape.send.is_none() && has_input(call) || plan.kind == Kind::Scatter && plan.in_place;
    if elsewhere { None } else { RepeatedCall::new(words.function, words.words, plan, &job) }
}

/// Whether a call has a send buffer that is not its receive buffer.
fn has_input(call: &MpiCall) -> bool {
    match call {
        MpiCall::Allreduce { data, .. }
        | MpiCall::Reduce { data, .. }
        | MpiCall::ReduceScatter { data, .. }
        | MpiCall::ReduceScatterBlock { data, .. } => data.send.is_some(),
        MpiCall::Allgather { send, .. } | MpiCall::Alltoall { send, .. } | MpiCall::Gather { send, .. } => send.is_some(),
        MpiCall::Allgatherv { send, .. } => send.is_some(),
        MpiCall::Alltoallv { send, .. } => send.is_some(),
        MpiCall::Broadcast { .. } | MpiCall::Scatter { .. } => false,
    }
}

/// Whether all datatypes and operations of a call that are used on this rank are predefined, so that they are never
/// freed.
fn lasts(call: &MpiCall, rank: c_int) -> bool {
    let typed = |typed: &Typed| datatype::is_known(typed.datatype);
    let both = |send: &Option<Typed>, recv: &Typed| send.iter().all(typed) && typed(recv);
    let reduced = |data: &Reduced| datatype::is_known(data.datatype) && operand::is_named(data.op);
    match call {
        MpiCall::Allgather { send, recv } | MpiCall::Alltoall { send, recv } => both(send, recv),
        MpiCall::Broadcast { data, .. } => typed(data),
        MpiCall::Allreduce { data, .. } | MpiCall::Reduce { data, .. } | MpiCall::ReduceScatterBlock { data, .. } => {
            reduced(data)
        }
        MpiCall::Gather { send, recv, root } => send.iter().all(typed) && (*root != rank || typed(recv)),
        MpiCall::Scatter { send, recv, root } => recv.iter().all(typed) && (*root != rank || typed(send)),
        MpiCall::Allgatherv { .. } | MpiCall::Alltoallv { .. } | MpiCall::ReduceScatter { .. } => false,
    }
}
