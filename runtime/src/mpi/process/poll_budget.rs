//! How long a rank polls before it yields its processor.
//!
//! Polling is the fastest way to notice what another rank has done, if that rank runs meanwhile. If it waits for this
//! very processor, because other ranks or other jobs have the rest, polling only delays it. A rank cannot tell which it
//! is, so it learns: where polling has failed, it polls less, and now and then it tries again.

use super::processors::processors;
use std::cell::Cell;
use std::hint::spin_loop;

/// How often a rank polls at most, if every rank of the node can have a processor.
const MOST: u32 = 1000;
/// How much less it polls after a failure.
const LESS: u32 = 4;
/// After this many failures it tries again to poll for long.
const AGAIN: u32 = 128;

/// How often a rank polls.
#[derive(Debug)]
pub(crate) struct PollBudget {
    most: u32,
    now: Cell<u32>,
    failures: Cell<u32>,
}

impl PollBudget {
    /// That of a rank on a node with this many ranks.
    pub(crate) fn new(ranks: usize) -> Self {
        PollBudget::up_to(if ranks <= processors() { MOST } else { 1 })
    }

    const fn up_to(most: u32) -> Self {
        PollBudget { most, now: Cell::new(most), failures: Cell::new(0) }
    }

    /// How often it polls now.
    pub(crate) fn now(&self) -> u32 {
        self.now.get()
    }

    /// Polls until something is done; false if that takes too long.
    #[inline]
    pub(crate) fn poll(&self, mut done: impl FnMut() -> bool) -> bool {
        let now = self.now.get();
        for _ in 0..now {
            if done() {
                return true;
            }
            spin_loop();
        }
        self.fail();
        false
    }

    #[cold]
    fn fail(&self) {
        let failures = self.failures.get() + 1;
        let again = failures == AGAIN;
        self.failures.set(if again { 0 } else { failures });
        self.now.set(if again { self.most } else { (self.now.get() / LESS).max(1) });
    }
}

#[cfg(test)]
mod tests {
    use super::{AGAIN, MOST, PollBudget};

    /// Polls of a rank that waits `times` times for something that is done after `polls` polls.
    fn polled(budget: &PollBudget, times: u32, polls: u32) -> u32 {
        let mut all = 0;
        for _ in 0..times {
            let mut own = 0;
            let done = || {
                own += 1;
                own > polls
            };
            budget.poll(done);
            all += own;
        }
        all
    }

    #[test]
    fn a_rank_that_polls_in_vain_polls_less() {
        let budget = PollBudget::up_to(MOST);
        let all = polled(&budget, 10 * AGAIN, u32::MAX - 1);
        assert!(all < 10 * (2 * MOST + 2 * AGAIN), "{all}");
    }

    #[test]
    fn a_rank_for_which_polling_helps_polls_again() {
        let budget = PollBudget::up_to(MOST);
        polled(&budget, AGAIN / 2, u32::MAX - 1);
        assert_eq!(budget.now(), 1);
        polled(&budget, AGAIN, 20);
        assert_eq!(budget.now(), MOST);
        assert_eq!(polled(&budget, 1000, 20), 21_000);
    }

    #[test]
    fn with_too_few_processors_a_rank_polls_once() {
        let budget = PollBudget::new(usize::MAX);
        assert_eq!(polled(&budget, 2 * AGAIN, 5), 2 * AGAIN);
    }
}
