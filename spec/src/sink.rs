//! The seam between a schedule and everything that uses one.
//!
//! A collective hands one rank's rounds, one after the other, to a `Sink`. Whoever runs, records, checks or times a
//! collective implements this trait, so that what was checked is what runs. A schedule does not look at data, so
//! the sink alone knows what a block is.

use crate::blocks::Blocks;
use std::convert::Infallible;

/// A line of a rank's memory, by its number: gathers have one, in which every block has its slot; reductions may name
/// more.
pub type Line = u8;

/// What a message does to the line it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// A send reads the line; a receive fills slots that are empty.
    #[default]
    Copy,
    /// A receive fills slots whatever they held.
    Replace,
    /// A receive fills slots whatever they held, and what they held is given up, after the round's sends have read it.
    Overwrite,
    /// A receive fills slots with what arrives on the left of the operation, and line `with` on its right.
    CombineLeft {
        /// The other operand.
        with: Line,
    },
    /// A receive fills slots with line `with` on the left of the operation, and what arrives on its right.
    CombineRight {
        /// The other operand.
        with: Line,
    },
}

/// The clause of the declaration that a message comes from, and what it does to this rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// Its number among the `send` and `recv` clauses, as written.
    pub number: u16,
    /// The line it reads or writes.
    pub line: Line,
    /// What it does there.
    pub action: Action,
}

impl Site {
    /// The clause with this number, on the only line.
    pub const fn plain(number: u16) -> Self {
        Site { number, line: 0, action: Action::Copy }
    }
}

/// Takes the rounds of one rank.
///
/// Messages between [`begin_round`](Sink::begin_round) and [`end_round`](Sink::end_round) belong to one round: they
/// are in flight together, and the round is over when all of them are complete. Messages between the same two ranks
/// keep their order. A message without blocks is never handed over.
pub trait Sink {
    /// What can go wrong; [`Infallible`] where nothing can.
    type Error;

    /// A round begins.
    fn begin_round(&mut self) -> Result<(), Self::Error>;

    /// This rank sends `blocks` to rank `to`.
    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Self::Error>;

    /// This rank receives `blocks` from rank `from`.
    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Self::Error>;

    /// The round ends; its messages are complete when this returns.
    fn end_round(&mut self) -> Result<(), Self::Error>;

    /// Collectives inside of groups begin. Groups need not have equally many rounds; who counts rounds has all ranks
    /// wait for the last group at [`leave_groups`](Sink::leave_groups).
    #[inline]
    fn enter_groups(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Collectives inside of groups end.
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
