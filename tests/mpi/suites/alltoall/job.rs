//! Helpers for the calls of this suite.

use crate::alloc::allocations;
use crate::job::{Job, every_option};
use roundel::{Collective, Error, Options, Place};

impl Job<'_> {
    /// Makes a call that must succeed, and may allocate only if it is the first of its kind.
    pub(crate) fn call(&mut self, first: bool, what: &str, call: &mut dyn FnMut() -> Result<(), Error>) {
        let before = allocations();
        let outcome = call();
        let allocated = allocations() - before;
        self.calls += 1;
        self.expect(outcome == Ok(()), || format!("{what}: {outcome:?}"));
        self.expect(first || allocated == 0, || {
            format!("{what}: {allocated} allocations in a call like the last one")
        });
    }

    /// All options in small jobs, otherwise the next one.
    pub(crate) fn alltoall_options<C: Collective>(&mut self, collective: &C) -> Vec<Options> {
        let all = every_option(collective, &Place::flat(self.rank() as i64, self.p() as i64));
        self.turn += 1;
        match self.p() {
            0..=3 => all,
            4..=8 => vec![all[self.turn % all.len()], all[(self.turn + 5) % all.len()]],
            _ => vec![all[self.turn * 5 % all.len()]],
        }
    }
}
