//! Alltoalls with blocks of any lengths: how many segments they take is known when all ranks have published theirs.

use super::plan::SharedPlan;
use super::{SharedBuffers, SharedMemory};
use crate::error::Error;
use crate::mpi::execution::Nothing;
use crate::program::shared::alltoallv::{RankExchange, TakenBlocks, TruncatedBlock, numbers};
use crate::program::shared::{SharedCall, segment};
use std::mem::take;

/// Whether an alltoallv was served. All ranks get the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServedExchange {
    /// It is complete.
    Done,
    /// A rank sends more than is to be served; nothing has arrived.
    TooLong,
}

/// The most bytes that a rank may send to others in an alltoallv which the memory of a node serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeLimit {
    /// MPI serves longer calls.
    Most(usize),
    /// None: shared memory was asked for.
    Unlimited,
}

impl SharedMemory {
    /// Whether MPI serves the next alltoallv without a question, because the last ones were long. Counts the call.
    #[inline]
    pub(crate) fn leaves_exchange(&mut self, limit: ExchangeLimit) -> bool {
        limit != ExchangeLimit::Unlimited && self.long.passes()
    }

    /// Runs an alltoallv, unless some rank sends more than the limit.
    ///
    /// # Safety
    /// The same as for [`run`](SharedMemory::run).
    ///
    /// # Errors
    /// [`Error::BlockMismatch`] if a rank sends more than this one has room for, and the errors of
    /// [`run`](SharedMemory::run).
    pub(crate) unsafe fn exchange(
        &mut self,
        plan: &SharedPlan<'_>,
        (input, output): (*mut u8, *mut u8),
        limit: ExchangeLimit,
    ) -> Result<ServedExchange, Error> {
        if !self.queue.is_empty() {
            self.drain();
        }
        let (&SharedPlan { ref call, ref segments, ring, .. }, rank) = (plan, self.rank);
        let Some(exchange) = call.exchange(rank) else { return Ok(ServedExchange::TooLong) };
        let buffers = SharedBuffers { input, output, lead: 0, combine: Nothing };
        self.keep_published(&exchange);
        let mut steps = self.slot_steps(plan, &buffers, self.lost);
        segment(call, segments, 0, rank, &mut steps);
        if steps.other.is_some() {
            let other = steps.other;
            self.complete_segment(ring);
            return self.lose(call, other).map(|()| ServedExchange::Done);
        }
        let kept = take(&mut self.numbers);
        let taken = TakenBlocks::new(&kept, self.p);
        let outcome = match self.is_too_long(taken.longest(), limit) {
            false => self.deliver(plan, &exchange, &taken, &buffers).map(|()| ServedExchange::Done),
            true => {
                self.complete_segment(ring);
                Ok(ServedExchange::TooLong)
            }
        };
        self.numbers = kept;
        outcome
    }

    fn is_too_long(&mut self, longest: usize, limit: ExchangeLimit) -> bool {
        let ExchangeLimit::Most(most) = limit else { return false };
        self.long.note(longest > most);
        longest > most
    }

    /// Completes an alltoallv when the lengths of all streams are known.
    fn deliver(
        &mut self,
        plan: &SharedPlan<'_>,
        exchange: &RankExchange<'_>,
        taken: &TakenBlocks<'_>,
        buffers: &SharedBuffers<Nothing>,
    ) -> Result<(), Error> {
        let mut other = None;
        for number in 0..exchange.segments(taken) {
            let mut steps = self.slot_steps(plan, buffers, other);
            exchange.deliver(taken, number, &mut steps);
            other = steps.other;
            self.complete_segment(plan.ring);
        }
        if other.is_some() { self.lose(&plan.call, other) } else { self.truncation(exchange, taken) }
    }

    /// Returns an error if a rank sends more than this one has room for.
    fn truncation(&self, exchange: &RankExchange<'_>, taken: &TakenBlocks<'_>) -> Result<(), Error> {
        match exchange.truncated(taken) {
            None => Ok(()),
            Some(TruncatedBlock { from, sent, room }) => {
                let (rank, from) = (self.ranks[self.rank], self.ranks[from]);
                Err(Error::BlockMismatch { rank, from, expected: room, found: sent })
            }
        }
    }

    /// Returns an error if the call is an alltoallv in which a rank has sent more than this one has room for. Nothing
    /// else has run since.
    pub(super) fn untruncated(&self, call: &SharedCall<'_>) -> Result<(), Error> {
        match call.exchange(self.rank) {
            Some(exchange) => self.truncation(&exchange, &TakenBlocks::new(&self.numbers, self.p)),
            None => Ok(()),
        }
    }

    /// Writes what this rank publishes into its numbers.
    pub(super) fn keep_published(&mut self, exchange: &RankExchange<'_>) {
        self.numbers.resize(numbers(self.p), 0);
        for (kept, published) in self.numbers.iter_mut().zip(exchange.published()) {
            *kept = published;
        }
    }
}
