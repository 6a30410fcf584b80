//! The ranks that run the suite.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::Error;
use roundel_tests::ending::end;

/// The world, and how much was done in it.
pub(crate) struct Job<'a> {
    /// All ranks.
    pub(crate) world: &'a SimpleCommunicator,
    /// How many collective calls were made.
    pub(crate) calls: usize,
}

impl<'a> Job<'a> {
    /// A job of all ranks.
    pub(crate) fn new(world: &'a SimpleCommunicator) -> Self {
        Job { world, calls: 0 }
    }

    /// The number of ranks.
    pub(crate) fn p(&self) -> usize {
        self.world.size() as usize
    }

    /// This rank.
    pub(crate) fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    /// Ends the job with a message.
    pub(crate) fn fail(&self, message: &str) -> ! {
        end(self.world, message)
    }

    /// Ends the job unless something holds.
    pub(crate) fn expect(&self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fail(&message());
        }
    }

    /// What a call gave, if it went well.
    pub(crate) fn good<R>(&self, what: &str, outcome: Result<R, Error>) -> R {
        outcome.unwrap_or_else(|error| self.fail(&format!("{what}: {error}")))
    }

    /// Numbers that differ from rank to rank and from turn to turn; whole, so that sums are exact in any order.
    pub(crate) fn samples(&self, n: usize, turn: usize) -> Vec<i64> {
        let seed = 31 * (self.rank() + 1) + 7 * turn;
        (0..n).map(|i| ((seed * (i + 3)) % 1009) as i64 - 500).collect()
    }
}
