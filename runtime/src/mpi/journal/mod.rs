//! Records every call with its messages while `ROUNDEL_TRACE` is set: each process writes its own file, with a line
//! of JSON for each call. `docs/trace.md` describes the format, and `roundel trace diff` compares it with the
//! declared schedules.
//!
//! Calls have names that are equal on all of their ranks: the name of the communicator, and the number of earlier
//! calls on it. A process records only its own calls and messages. That needs no communication, except in the first
//! call on a communicator, which agrees on the name.

mod file;
mod line;

pub(crate) use self::file::write;
pub(crate) use self::line::called;

use self::line::{Head, JournalLengths};
use crate::choice::selection::{Algorithm, Settings};
use crate::error::Error;
use crate::mpi::arguments::shape::{CallShape, Lists, ParsedCall};
use crate::mpi::comm::nodes::ranks_in;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::MessagesInFlight;
use crate::mpi::execution::post_log::{self, PostLog};
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The error if ranks disagree.
pub(crate) const MISMATCH: &str = "ROUNDEL_TRACE: set it for all ranks or for none";

/// If calls on a communicator must be recorded, opens this process's file and returns the group's ranks in the world.
pub(crate) fn possible(settings: &Settings, group: &OwnComm) -> Result<Option<Vec<c_int>>, Error> {
    let Some(path) = &settings.trace else { return Ok(None) };
    file::open(path)?;
    members(group).map(Some)
}

/// The nanoseconds since 1970, by the clock of this node: only such clocks can be compared between processes.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The ranks of a group in the world.
fn members(group: &OwnComm) -> Result<Vec<c_int>, Error> {
    // SAFETY: the handle is a constant of the library.
    let world = unsafe { ffi::RSMPI_COMM_WORLD };
    let members = ranks_in(group.comm.raw(), group.placement.p() as c_int, world)?;
    // MPI gives ranks of another world a negative number.
    let foreign = members.iter().any(|&rank| rank < 0);
    let reason = || "ROUNDEL_TRACE: a communicator has ranks of another MPI_COMM_WORLD; unset it".into();
    if foreign { Err(Error::Settings { reason: reason() }) } else { Ok(members) }
}

/// The journal of a communicator.
#[derive(Debug)]
pub(crate) struct Journal {
    /// The communicator's name: equal on all of its ranks, and unique in this job.
    name: String,
    /// The number of blocking calls so far.
    calls: u64,
}

impl Journal {
    /// Names a communicator: the world rank of its first rank, and the number of communicators that this rank has
    /// named before. Collective.
    pub(crate) fn begin(members: Vec<c_int>, group: &OwnComm) -> Result<Self, Error> {
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

    /// Identifies the next blocking call, which begins now.
    pub(crate) fn next(&mut self, kind: Kind) -> Head {
        self.calls += 1;
        Head { communicator: self.name.clone(), request: 0, number: self.calls - 1, kind, began: now() }
    }

    /// Identifies the request with a number, counted from 1.
    pub(crate) fn request(&self, serial: u32, kind: Kind) -> JournaledRequest {
        let head = Head { communicator: self.name.clone(), request: serial, number: 0, kind, began: 0 };
        JournaledRequest { head, algorithm: String::new(), size: 0 }
    }
}

/// An empty plan, which numbers its rounds if messages are recorded.
pub(crate) fn blank(written: bool) -> MessagePlan {
    MessagePlan { numbers: written.then(Vec::new), ..MessagePlan::default() }
}

pub(crate) type Messages<'a> = (&'a [crate::trace::PostedMessage], &'a [crate::trace::PostedMessage]);

pub(crate) fn messages(flight: &MessagesInFlight, mark: (usize, usize)) -> Messages<'_> {
    flight.log.as_deref().map_or((&[], &[]), |log| log.since(mark))
}

/// The bytes of data of an element.
pub(crate) fn data_size(shape: &CallShape) -> usize {
    post_log::bytes(1, shape.datatype)
}

/// The lengths of a call's blocks.
pub(crate) fn lengths<'a>(shape: &CallShape, lists: &'a Lists, size: usize, p: usize) -> JournalLengths<'a> {
    use crate::mpi::arguments::shape::BlockLayout;
    let elements = shape.send.unwrap_or(shape.recv);
    match shape.blocks {
        BlockLayout::Equal(each) => JournalLengths::Each(each),
        BlockLayout::Parts => JournalLengths::Each(elements / p * size),
        BlockLayout::Listed => JournalLengths::List { counts: &lists.counts, size: 1 },
        BlockLayout::ListedParts => JournalLengths::List { counts: &lists.counts, size },
        BlockLayout::Vector { .. } => JournalLengths::Vector { elements, size },
        BlockLayout::Rooted(layout) => JournalLengths::Vector { elements: layout.total, size: 1 },
        // In place, the send and receive blocks are the same.
        BlockLayout::Private if shape.send.is_none() => JournalLengths::Own(&lists.counts),
        BlockLayout::Private => JournalLengths::Own(&lists.leaving),
    }
}

/// A non-blocking call, which may be started many times.
#[derive(Debug)]
pub(crate) struct JournaledRequest {
    head: Head,
    /// The algorithm, as written to the file.
    algorithm: String,
    /// The bytes of data of an element.
    size: usize,
}

impl JournaledRequest {
    /// Sets the algorithm that serves the call.
    pub(crate) fn by(mut self: Box<Self>, algorithm: &Algorithm, shape: &CallShape) -> Box<Self> {
        (self.algorithm, self.size) = (line::called(algorithm, shape.root), data_size(shape));
        self
    }

    /// Starts to record the messages of the call.
    pub(crate) fn begin(&mut self, flight: &mut MessagesInFlight) {
        self.head.began = now();
        let mut log = Box::<PostLog>::default();
        log.begin();
        flight.log = Some(log);
    }

    /// Writes the completed call to the file.
    pub(crate) fn end(
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
                self.head.done(&self.algorithm, lengths, messages(flight, (0, 0)), now())
            }
        };
        file::write(&line);
        flight.log = None;
        self.head.number += 1;
    }
}

/// Records a request that MPI serves, or that failed.
pub(crate) fn left<R>(
    request: Option<Box<JournaledRequest>>,
    reason: &str,
    outcome: Result<R, Error>,
) -> Result<R, Error> {
    if let Some(request) = request {
        file::write(&match &outcome {
            Ok(_) => request.head.library(reason),
            Err(error) => request.head.failed(error),
        });
    }
    outcome
}
