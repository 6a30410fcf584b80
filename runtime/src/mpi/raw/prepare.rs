//! Prepares calls that do not block: persistent ones and those that are started at once.

use super::operation::{CallProgress, PendingCall};
use super::shared_request::SharedRequest;
use super::{
    IN_SHARED_MEMORY, PreparedCall, UNREAD, before, choice, device, draw, leave, operands, passing, rank, staged,
};
use crate::choice::CallForm;
use crate::choice::selection::Implementation;
use crate::error::Error;
use crate::mpi::arguments::call::MpiCall;
use crate::mpi::arguments::shape::{self, BlockLayout, CallShape, Lists, ParsedCall};
use crate::mpi::cache::decider::By;
use crate::mpi::cache::spare::SpareBuffers;
use crate::mpi::comm::agree::agree_and_hear;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::RequestLife;
use crate::mpi::journal::{self, JournaledRequest};
use crate::mpi::state::{CommWork, attribute};
use ::mpi::ffi;

/// Prepares a call that may be started many times. Unless it is persistent, does not wait for other ranks if the
/// communicator is [known](super::is_known), and the decider is the environment or has decided there before.
///
/// # Safety
/// The same as for [`run`](super::run); and the memory stays valid, as MPI requires for a persistent collective. Lists
/// are read now.
///
/// # Errors
/// The same as for [`run`](super::run).
pub unsafe fn prepare(
    comm: ffi::MPI_Comm,
    call: &MpiCall,
    by: By<'_>,
    life: RequestLife,
) -> Result<PreparedCall, Error> {
    // SAFETY: the caller guarantees a live communicator.
    let state = unsafe { attribute::state_of(comm)? };
    if matches!(by, By::Environment) && before::foreign(state, comm)? {
        return Ok(PreparedCall::Library);
    }
    let group = match state.group_of(comm) {
        Err(error @ Error::Intercommunicator) => return leave(by, error).map(|()| PreparedCall::Library),
        group => group?,
    };
    let mut work = state.lease()?;
    choice::agree(&mut work, group, by)?;
    if !work.requests {
        return Ok(PreparedCall::Library);
    }
    // SAFETY: the caller guarantees live memory and handles.
    let staged = unsafe { staged(&work, group, call, by) };
    Preparation { work: &mut work, group, by, life }.prepare(call, staged)
}

/// A call that is being prepared.
struct Preparation<'a> {
    work: &'a mut CommWork,
    group: &'a OwnComm,
    by: By<'a>,
    life: RequestLife,
}

/// A request that can be started.
struct PlannedRequest {
    /// Its buffers, with its plan.
    buffers: SpareBuffers,
    /// The call, if it runs in shared memory.
    shared: Option<SharedRequest>,
    journal: Option<Box<JournaledRequest>>,
}

impl Preparation<'_> {
    fn prepare(mut self, call: &MpiCall, staged: Option<device::Staged>) -> Result<PreparedCall, Error> {
        let journal = self.journal(call);
        let recorded = journal.is_some();
        let passes = match matches!(self.by, By::Environment) && staged.is_none() {
            true => passing::passes(call, self.group.rank),
            false => PreparedCall::Library,
        };
        let call = staged.as_ref().map_or(call, |staged| &staged.call);
        // SAFETY: the caller guarantees live handles and complete lists.
        let mut job = match unsafe { shape::read(call, self.group.here(), &mut self.work.recent.lists) } {
            Ok(job) => job,
            Err(unread) => {
                return journal::left(journal, UNREAD, unread.outcome(self.by).map(|_| PreparedCall::Library));
            }
        };
        self.ask_for_longest(&mut job.shape)?;
        if !recorded && self.is_left(&job.shape) {
            return Ok(passes);
        }
        match self.planned(&job.shape, journal)? {
            Some(planned) => Ok(self.pending(job, planned, staged, recorded).into()),
            None => Ok(PreparedCall::Library),
        }
    }

    /// Finds how long the blocks are of a persistent alltoallv on one node. All ranks create it together, so they can
    /// ask each other. What counts is the rank that sends most, as if its blocks for the others had equal lengths.
    fn ask_for_longest(&self, shape: &mut CallShape) -> Result<(), Error> {
        let (p, nodes) = (self.group.placement.p(), self.group.placement.regions().nodes());
        let asks = self.life == RequestLife::Persistent && matches!(self.by, By::Environment | By::Settings(_));
        if !asks || shape.blocks != BlockLayout::Private || nodes > 1 || p < 2 {
            return Ok(());
        }
        let Lists { leaving, counts, .. } = &self.work.recent.lists;
        let sent = if shape.send.is_some() { leaving } else { counts };
        let stream = sent.iter().sum::<usize>() - sent[self.group.rank];
        let (_, heard) = agree_and_hear(self.group.comm.raw(), &[], &[stream as u64], Ok(()))?;
        shape.bytes = heard[0].end().div_ceil(p as u64 - 1);
        Ok(())
    }

    /// The entry of the call in the journal, if calls are recorded.
    fn journal(&mut self, call: &MpiCall) -> Option<Box<JournaledRequest>> {
        self.work.recorded_request(call.kind()).map(Box::new)
    }

    /// Whether MPI served the last call of this shape.
    fn is_left(&self, shape: &CallShape) -> bool {
        self.work.recent.is_left(shape, self.by, self.life)
    }

    /// The plan and the buffers of an earlier call of the shape, or new ones; none if MPI must serve it.
    fn planned(
        &mut self,
        shape: &CallShape,
        journal: Option<Box<JournaledRequest>>,
    ) -> Result<Option<PlannedRequest>, Error> {
        // The plan of a recorded call also has its round numbers, so it cannot use a spare one.
        let spare = match &journal {
            None => self.work.spare.take(shape, &self.work.recent.lists, self.by, self.life),
            Some(_) => None,
        };
        let Some(mut buffers) = spare else { return self.plan(shape, journal) };
        let queued = buffers.queued.take();
        let shared = queued.map(|queued| SharedRequest::again(self.work, queued)).transpose()?;
        Ok(Some(PlannedRequest { buffers, shared, journal: None }))
    }

    /// Plans a request; none if MPI must serve it.
    fn plan(
        &mut self,
        shape: &CallShape,
        journal: Option<Box<JournaledRequest>>,
    ) -> Result<Option<PlannedRequest>, Error> {
        let Self { work, group, by, life } = self;
        let (group, by, life) = (*group, *by, *life);
        let form = match life {
            RequestLife::Once => CallForm::Nonblocking,
            RequestLife::Persistent => CallForm::Persistent,
        };
        let choice = choice::choose(by, work, shape, group.here(), form)?;
        let lists = work.recent.lists.clone();
        let algorithm = match choice.implementation.clone() {
            Implementation::Catalogue(algorithm) => algorithm,
            Implementation::SharedMemory(path) => {
                let shared = SharedRequest::new(work, group, shape, choice.between.as_ref(), path, life);
                choice.tell(shared.as_ref().map(|_| ()));
                let buffers = SpareBuffers { lists, ..SpareBuffers::default() };
                let planned = shared
                    .map(|shared| Some(PlannedRequest { buffers, shared: Some(shared), journal: None }))
                    .or_else(|error| leave(by, error).map(|()| None));
                return journal::left(journal, IN_SHARED_MEMORY, planned);
            }
            Implementation::Library | Implementation::Ports(_) => {
                let reason = choice.reason.clone();
                choice.tell(Ok(()));
                work.recent.leave(*shape, by, life);
                return journal::left(journal, &reason, Ok(None));
            }
        };
        let drawn = draw(group.here(), shape, &lists, &algorithm, journal::blank(journal.is_some()));
        choice.tell(drawn.as_ref().map(|_| ()));
        match drawn {
            Ok(plan) => {
                let journal = journal.map(|request| request.by(&algorithm, shape));
                let buffers = SpareBuffers { lists, plan, ..SpareBuffers::default() };
                Ok(Some(PlannedRequest { buffers, shared: None, journal }))
            }
            Err(error) => journal::left(journal, &error.to_string(), leave(by, error.clone()).map(|()| None)),
        }
    }

    /// The request, with everything that it needs until it is complete.
    fn pending(
        &mut self,
        job: ParsedCall,
        planned: PlannedRequest,
        staged: Option<device::Staged>,
        recorded: bool,
    ) -> PendingCall {
        let PlannedRequest { buffers, shared, journal } = planned;
        // The buffers of a persistent call in shared memory serve no other one.
        let reusable = !recorded && (shared.is_none() || self.life == RequestLife::Once);
        // A tag is taken only for a request of ours: a rank may have remembered that MPI serves a call, and takes none.
        let tag = self.work.tags.next(self.life, self.group.largest_tag);
        PendingCall {
            operands: operands(&job),
            home: reusable.then(|| self.work.spare.home(self.by, self.life)),
            rank: rank(self.group),
            tag,
            state: CallProgress::Inactive,
            journal,
            job,
            buffers,
            shared,
            staged,
            _holder: self.group.comm.hold(),
        }
    }
}
