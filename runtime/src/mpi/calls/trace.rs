//! Records the messages of a communicator on request.
//!
//! It records the arguments of the MPI calls where they are made (`execution`). Without a recording, each call only
//! tests one pointer. A single rank does not know how its rounds are numbered among those of the others, because
//! groups of an inner collective may have fewer rounds than others; so a plan made while messages are recorded
//! examines the rounds of all ranks.

use crate::error::Error;
use crate::mpi::state::CommState;
use crate::mpi::state::attribute;
use crate::trace::RankTrace;
use ::mpi::topology::Communicator;

/// Runs `body` and records the messages that this rank posts in all collectives on `comm`. Each rank may decide for
/// itself whether to record.
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
