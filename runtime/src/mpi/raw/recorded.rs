//! Runs a blocking call and writes it into the journal.

use super::{CallOutcome, IN_SHARED_MEMORY, TOO_LONG, UNREAD, serve};
use crate::error::Error;
use crate::mpi::arguments::shape::{ParsedCall, Unread};
use crate::mpi::cache::call_cache::CachedPlan;
use crate::mpi::cache::decider::By;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::journal::{called, data_size, lengths, messages, now, write};
use crate::mpi::state::CommWork;
use roundel_spec::Kind;

/// Runs a blocking call, and records it.
///
/// # Safety
/// The same as for [`serve`].
#[cold]
pub(super) unsafe fn run(
    work: &mut CommWork,
    group: &OwnComm,
    kind: Kind,
    job: Result<ParsedCall, Unread>,
    by: By<'_>,
) -> Result<CallOutcome, Error> {
    let Some(head) = work.journal.as_mut().map(|journal| journal.next(kind)) else { return Ok(CallOutcome::Library) };
    // The communicator's messages may also be recorded by `trace`.
    let recorded = work.flight.log.is_some();
    let mark = work.flight.log.get_or_insert_default().mark();
    work.buffers.route.know_numbers();
    let (outcome, job) = match job {
        // SAFETY: as the caller guarantees.
        Ok(job) => (unsafe { serve(work, group, &job, by) }, Some(job)),
        Err(unread) => (unread.outcome(by), None),
    };
    let line = match (&outcome, &job, work.recent.how()) {
        (Err(error), ..) => head.failed(error),
        (Ok(_), Some(job), Some(CachedPlan::Plan(_, algorithm) | CachedPlan::Alltoallv(algorithm))) => {
            let lengths = lengths(&job.shape, &work.recent.lists, data_size(&job.shape), group.placement.p());
            let called = called(algorithm, job.shape.root);
            head.done(&called, lengths, messages(&work.flight, mark), now())
        }
        (Ok(_), Some(_), Some(CachedPlan::Library(reason))) => head.library(reason),
        (Ok(CallOutcome::Library), Some(_), Some(CachedPlan::SharedAlltoallv(_))) => head.library(TOO_LONG),
        (
            Ok(_),
            Some(_),
            Some(CachedPlan::SharedMemory(_) | CachedPlan::SharedAlltoallv(_) | CachedPlan::Nodes(_)),
        ) => head.library(IN_SHARED_MEMORY),
        (Ok(_), ..) => head.library(UNREAD),
    };
    if !recorded {
        work.flight.log = None;
    }
    write(&line);
    outcome
}
