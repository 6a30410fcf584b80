//! Helpers for the calls of this suite.

use crate::job::Job;
use roundel::Error;

impl Job<'_> {
    /// The result of a call, which must succeed.
    pub(crate) fn good<R>(&self, what: &str, outcome: Result<R, Error>) -> R {
        outcome.unwrap_or_else(|error| self.fail(&format!("{what}: {error}")))
    }

    /// Numbers that differ from rank to rank and from turn to turn; whole, so that sums are exact in any order.
    pub(crate) fn samples(&self, n: usize, turn: usize) -> Vec<i64> {
        let seed = 31 * (self.rank() + 1) + 7 * turn;
        (0..n).map(|i| ((seed * (i + 3)) % 1009) as i64 - 500).collect()
    }
}
