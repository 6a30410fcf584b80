//! The interface between a schedule and everything that uses one.
//!
//! A collective hands one rank's rounds, one after another, to a `Sink`. Everything that runs, records, checks or times
//! a collective implements this trait, so that the rounds that were checked are the ones that run. A schedule does not
//! look at data; only the sink knows what a block is.

use crate::meaning::stripes::Blocks;
use crate::schedule::message::{Line, Site};
use std::convert::Infallible;

/// Takes the rounds of one rank.
///
/// Messages between [`begin_round`](Sink::begin_round) and [`end_round`](Sink::end_round) belong to one round: they
/// are in flight together, and the round is over when all of them are complete. Messages between the same two ranks
/// keep their order. A message without blocks is never handed over.
pub trait Sink {
    /// The error of the sink; [`Infallible`] if it cannot fail.
    type Error;

    /// Begins a round.
    fn begin_round(&mut self) -> Result<(), Self::Error>;

    /// This rank sends `blocks` to rank `to`.
    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Self::Error>;

    /// This rank receives `blocks` from rank `from`.
    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Self::Error>;

    /// Ends the round; its messages are complete when this returns.
    fn end_round(&mut self) -> Result<(), Self::Error>;

    /// Begins collectives inside groups. Groups may have different numbers of rounds; a sink that counts rounds lets
    /// all ranks wait for the last group at [`leave_groups`](Sink::leave_groups).
    #[inline]
    fn enter_groups(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// After an inner collective: its contract does not say what these blocks of a line have now. Whoever runs the
    /// rounds need not do anything; the checks take the blocks for empty.
    #[inline]
    fn forget<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Self::Error> {
        let _ = (line, blocks);
        Ok(())
    }

    /// After an inner collective: this rank has reduced these blocks of a line, and nothing says that other ranks, in
    /// groups of their own, have reduced the same tree. Only the checks take notice.
    #[inline]
    fn reduced_here<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Self::Error> {
        let _ = (line, blocks);
        Ok(())
    }

    /// Ends collectives inside groups.
    #[inline]
    fn leave_groups(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Unwraps the result of a sink that cannot fail.
pub fn infallible<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
