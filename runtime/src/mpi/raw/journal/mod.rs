//! Writes down every call with its messages while `ROUNDEL_TRACE` is set: each process a file of its own, a line of
//! JSON for each call. `docs/trace.md` describes it, and `roundel trace diff` holds it against the declared schedules.
//!
//! Calls have names that are equal on all of their ranks: that of the communicator, and how many calls came before on
//! it. All that is written is what this process was asked for and what it posted; nobody waits for anybody because of
//! it, but for the first call on a communicator, where the name is agreed upon.

mod file;
mod line;

use self::line::{Head, JournalLengths};
use super::call_cache::CachedPlan;
use super::shape::{CallShape, Lists, ParsedCall, Unread};
use super::{By, CallOutcome, UNREAD, serve};
use crate::error::Error;
use crate::mpi::code::check;
use crate::mpi::execution::MessagesInFlight;
use crate::mpi::nodes::ranks_in;
use crate::mpi::plan::MessagePlan;
use crate::mpi::state::{CommWork, OwnComm};
use crate::mpi::trace;
use crate::selection::{Algorithm, Settings};
use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// What all ranks must do alike.
pub(super) const MISMATCH: &str = "ROUNDEL_TRACE: set it for all ranks or for none";

/// Whether calls on a communicator can be written down, if they are to be: opens this process's file, and tells the
/// ranks of the group in the world.
pub(super) fn possible(settings: &Settings, group: &OwnComm) -> Result<Option<Vec<c_int>>, Error> {
    let Some(path) = &settings.trace else { return Ok(None) };
    file::open(path)?;
    members(group).map(Some)
}

/// The ranks of a group in the world.
fn members(group: &OwnComm) -> Result<Vec<c_int>, Error> {
    // SAFETY: the handle is a constant of the library.
    let world = unsafe { ffi::RSMPI_COMM_WORLD };
    let members = ranks_in(group.comm.raw(), group.placement.p() as c_int, world)?;
    // MPI marks those that are of another world by a negative number.
    let foreign = members.iter().any(|&rank| rank < 0);
    let reason = || "ROUNDEL_TRACE: a communicator has ranks of another MPI_COMM_WORLD; unset it".into();
    if foreign { Err(Error::Settings { reason: reason() }) } else { Ok(members) }
}

/// What calls on a communicator are written down with.
#[derive(Debug)]
pub(in crate::mpi) struct Journal {
    /// The communicator's name: equal on all of its ranks, and no other's in this job.
    name: String,
    /// How many calls have blocked on it so far.
    calls: u64,
}

impl Journal {
    /// Gives a communicator a name: the world rank of its first rank, and how many of those it has named before.
    /// Collective.
    pub(super) fn begin(members: Vec<c_int>, group: &OwnComm) -> Result<Self, Error> {
        static NAMED: AtomicU64 = AtomicU64::new(0);
        let mut serial = if group.rank == 0 { NAMED.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let number: *mut u64 = &mut serial;
        // SAFETY: one number, from the first rank to all.
        let code = unsafe { ffi::PMPI_Bcast(number.cast(), 1, ffi::RSMPI_UINT64_T, 0, group.comm.raw()) };
        check("MPI_Bcast", code)?;
        let name = format!("{}.{serial}", members[0]);
        file::write(&line::communicator(&name, group.rank, &members, &group.placement));
        Ok(Journal { name, calls: 0 })
    }

    /// The next call that blocks.
    fn next(&mut self, kind: Kind) -> Head {
        self.calls += 1;
        Head { communicator: self.name.clone(), request: 0, number: self.calls - 1, kind }
    }

    /// The request with a number, from 1 on.
    pub(super) fn request(&self, serial: u32, kind: Kind) -> JournaledRequest {
        let head = Head { communicator: self.name.clone(), request: serial, number: 0, kind };
        JournaledRequest { head, algorithm: String::new(), size: 0 }
    }
}

/// A plan to draw, which knows the numbers of its rounds if messages are written down.
pub(super) fn blank(written: bool) -> MessagePlan {
    MessagePlan { numbers: written.then(Vec::new), ..MessagePlan::default() }
}

/// Runs a call that blocks, and writes it down.
///
/// # Safety
/// As of [`serve`].
#[cold]
pub(super) unsafe fn run(
    work: &mut CommWork,
    group: &OwnComm,
    kind: Kind,
    job: Result<ParsedCall, Unread>,
    by: By<'_>,
) -> Result<CallOutcome, Error> {
    let Some(head) = work.journal.as_mut().map(|journal| journal.next(kind)) else { return Ok(CallOutcome::Library) };
    // Somebody may record the communicator's messages besides.
    let recorded = work.flight.log.is_some();
    let mark = work.flight.log.get_or_insert_default().mark();
    work.buffers.route.know_numbers();
    let (outcome, job) = match job {
        // SAFETY: the caller promises as much.
        Ok(job) => (unsafe { serve(work, group, &job, by) }, Some(job)),
        Err(unread) => (unread.outcome(by), None),
    };
    let line = match (&outcome, &job, work.recent.how()) {
        (Err(error), ..) => head.failed(error),
        (Ok(_), Some(job), Some(CachedPlan::Plan(_, algorithm) | CachedPlan::Alltoallv(algorithm))) => {
            let lengths = lengths(&job.shape, &work.recent.lists, data_size(&job.shape), group.placement.p());
            let called = line::called(algorithm, job.shape.root);
            head.done(&called, lengths, messages(&work.flight, mark))
        }
        (Ok(_), Some(_), Some(CachedPlan::Library(why))) => head.library(why),
        (Ok(_), ..) => head.library(UNREAD),
    };
    if !recorded {
        work.flight.log = None;
    }
    file::write(&line);
    outcome
}

type Messages<'a> = (&'a [crate::trace::PostedMessage], &'a [crate::trace::PostedMessage]);

fn messages(flight: &MessagesInFlight, mark: (usize, usize)) -> Messages<'_> {
    flight.log.as_deref().map_or((&[], &[]), |log| log.since(mark))
}

/// The bytes of data of an element.
fn data_size(shape: &CallShape) -> usize {
    trace::bytes(1, shape.datatype)
}

/// How long the blocks of a call are.
fn lengths<'a>(shape: &CallShape, lists: &'a Lists, size: usize, p: usize) -> JournalLengths<'a> {
    use super::shape::BlockLayout;
    let elements = shape.send.unwrap_or(shape.recv);
    match shape.blocks {
        BlockLayout::Equal(each) => JournalLengths::Each(each),
        BlockLayout::Parts => JournalLengths::Each(elements / p * size),
        BlockLayout::Listed => JournalLengths::List { counts: &lists.counts, size: 1 },
        BlockLayout::ListedParts => JournalLengths::List { counts: &lists.counts, size },
        BlockLayout::Vector { .. } => JournalLengths::Vector { elements, size },
        BlockLayout::Standing(layout) => JournalLengths::Vector { elements: layout.total, size: 1 },
        // What is in place leaves as it arrives.
        BlockLayout::Private if shape.send.is_none() => JournalLengths::Own(&lists.counts),
        BlockLayout::Private => JournalLengths::Own(&lists.leaving),
    }
}

/// A call that does not block, and may be started many times.
#[derive(Debug)]
pub(super) struct JournaledRequest {
    head: Head,
    /// The algorithm, as it is written down.
    algorithm: String,
    /// The bytes of data of an element.
    size: usize,
}

impl JournaledRequest {
    /// It is done by an algorithm.
    pub(super) fn by(mut self: Box<Self>, algorithm: &Algorithm, shape: &CallShape) -> Box<Self> {
        (self.algorithm, self.size) = (line::called(algorithm, shape.root), data_size(shape));
        self
    }

    /// It begins: messages are recorded.
    pub(super) fn begin(&self, flight: &mut MessagesInFlight) {
        let mut log = Box::<trace::PostLog>::default();
        log.begin();
        flight.log = Some(log);
    }

    /// It is over: writes it down.
    pub(super) fn end(
        &mut self,
        flight: &mut MessagesInFlight,
        job: &ParsedCall,
        lists: &Lists,
        p: usize,
        failed: Option<&Error>,
    ) {
        let line = match failed {
            Some(error) => self.head.failed(error),
            None => {
                let lengths = lengths(&job.shape, lists, self.size, p);
                self.head.done(&self.algorithm, lengths, messages(flight, (0, 0)))
            }
        };
        file::write(&line);
        flight.log = None;
        self.head.number += 1;
    }
}

/// A request that the library makes, or nobody.
pub(super) fn left<R>(
    request: Option<Box<JournaledRequest>>,
    why: &str,
    outcome: Result<R, Error>,
) -> Result<R, Error> {
    if let Some(request) = request {
        file::write(&match &outcome {
            Ok(_) => request.head.library(why),
            Err(error) => request.head.failed(error),
        });
    }
    outcome
}
