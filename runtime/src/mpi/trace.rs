//! Records the messages of a communicator on request.
//!
//! It records the arguments of the MPI calls where they are made (`execution`). Otherwise the cost is a test of one
//! pointer for each call. A single rank does not know how its rounds are numbered among those of the others, because
//! groups of an inner collective may have fewer rounds than others; so a plan made while messages are recorded
//! examines the rounds of all ranks.

use super::attribute;
use super::state::CommState;
use crate::error::Error;
use crate::trace::{PostedMessage, RankTrace};
use crate::transport::RankPlacement;
use ::mpi::ffi;
use ::mpi::topology::Communicator;
use roundel_spec::Collective;
use roundel_spec::check::record_code;
use std::ffi::c_int;

/// Runs `body` and records the messages that this rank posts in all collectives on `comm`. The ranks need not agree
/// about it: each may record its own.
///
/// ```no_run
/// use roundel::{Allgather, Error, algorithms::Bruck};
///
/// fn main() -> Result<(), Error> {
///     let Some(universe) = mpi::initialize() else { return Ok(()) };
///     let world = universe.world();
///     let mut all = vec![0; mpi::traits::Communicator::size(&world) as usize];
///     let (outcome, record) = roundel::mpi::trace(&world, || Bruck.allgather(&world, &[1], &mut all))?;
///     let leave = record.sent.iter().filter(|message| message.nonlocal).count();
///     println!("{} messages sent, {leave} of them to other nodes", record.sent.len());
///     outcome
/// }
/// ```
///
/// # Errors
/// [`Error::Traced`] if the communicator's messages are already being recorded, [`Error::Busy`] if another thread
/// runs a collective on it when the recording begins or ends.
pub fn trace<R>(comm: &impl Communicator, body: impl FnOnce() -> R) -> Result<(R, RankTrace), Error> {
    let tracing = Tracing::begin(attribute::state(comm)?)?;
    let result = body();
    Ok((result, tracing.end()?))
}

/// An active recording. It ends on drop, even if the body panics.
struct Tracing<'a> {
    state: &'a CommState,
}

impl<'a> Tracing<'a> {
    fn begin(state: &'a CommState) -> Result<Self, Error> {
        let mut work = state.lease()?;
        if work.flight.log.is_some() {
            return Err(Error::Traced);
        }
        // Plans made earlier do not number their rounds.
        work.key.clear();
        work.plan.numbers = Some(Vec::new());
        work.buffers.route.know_numbers();
        work.flight.log = Some(Box::default());
        Ok(Tracing { state })
    }

    fn end(self) -> Result<RankTrace, Error> {
        let mut work = self.state.lease()?;
        let mut record = work.flight.log.take().map_or_else(RankTrace::default, |log| log.record);
        let placement = self.state.known_group().map(|group| &group.placement);
        for message in record.sent.iter_mut().chain(&mut record.received) {
            message.nonlocal = placement.is_some_and(|placement| placement.nonlocal(message.from, message.to));
        }
        Ok(record)
    }
}

impl Drop for Tracing<'_> {
    fn drop(&mut self) {
        if let Ok(mut work) = self.state.lease() {
            work.plan.numbers = None;
            work.buffers.route.numbers = None;
            work.flight.log = None;
        }
    }
}

/// The number of each round in which this rank has messages, among all rounds in which any rank has messages.
pub(super) fn numbers<K: Collective>(collective: &K, here: RankPlacement<'_>) -> Vec<usize> {
    let trace = record_code(collective, here.placement);
    let real = (0..trace.rounds()).filter(|&round| trace.has_messages(round));
    let own = real.enumerate().filter(|&(_, round)| !trace.ranks[here.rank].round(round).is_empty());
    own.map(|(number, _)| number).collect()
}

/// The messages posted since the recording began.
#[derive(Default)]
pub(super) struct PostLog {
    record: RankTrace,
    /// The number of calls so far, and the number of rounds that this rank has completed in the last one.
    calls: usize,
    passed: usize,
}

impl PostLog {
    /// Notes the beginning of a call.
    pub(super) fn begin(&mut self) {
        self.calls += 1;
        self.passed = 0;
    }

    /// The number of messages sent and received so far.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.record.sent.len(), self.record.received.len())
    }

    /// The messages sent and received since a mark.
    pub(super) fn since(&self, (sent, received): (usize, usize)) -> (&[PostedMessage], &[PostedMessage]) {
        (&self.record.sent[sent..], &self.record.received[received..])
    }

    /// Records a message from `rank` to `peer`; `numbers` are those of the rank's rounds.
    pub(super) fn sends(&mut self, numbers: &[usize], rank: usize, peer: c_int, bytes: usize) {
        let message = self.message(numbers, rank, peer as usize, bytes);
        self.record.sent.push(message);
    }

    /// Records a receive of `rank` from `peer`.
    pub(super) fn receives(&mut self, numbers: &[usize], rank: usize, peer: c_int, bytes: usize) {
        let message = self.message(numbers, peer as usize, rank, bytes);
        self.record.received.push(message);
    }

    fn message(&self, numbers: &[usize], from: usize, to: usize, bytes: usize) -> PostedMessage {
        let round = numbers.get(self.passed).copied().unwrap_or(usize::MAX);
        // The placement is looked up when the recording ends.
        PostedMessage { call: self.calls - 1, round, from, to, bytes, nonlocal: false }
    }

    /// Notes that the messages of a round are complete.
    pub(super) fn end_round(&mut self) {
        self.passed += 1;
    }
}

/// The number of bytes that `count` elements of a datatype have according to MPI.
pub(super) fn bytes(count: usize, datatype: ffi::MPI_Datatype) -> usize {
    let mut size: c_int = 0;
    // SAFETY: the datatype is live: a message of it was just posted.
    unsafe { ffi::MPI_Type_size(datatype, &mut size) };
    count * size as usize
}
