//! The ranks that run the suite.

use crate::alloc::allocations;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::{Collective, Error, Layout, Options, Policy};
use roundel_tests::ending::end;

/// The world, and how much was done in it.
pub(crate) struct Job<'a> {
    /// All ranks.
    pub(crate) world: &'a SimpleCommunicator,
    /// How many collective calls were made.
    pub(crate) calls: usize,
    turn: usize,
}

impl<'a> Job<'a> {
    /// A job of all ranks.
    pub(crate) fn new(world: &'a SimpleCommunicator) -> Self {
        Job { world, calls: 0, turn: 0 }
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

    /// Makes a call that must go well, and that may allocate only if it is the first of its kind.
    pub(crate) fn call(&mut self, first: bool, what: &str, call: impl FnOnce() -> Result<(), Error>) {
        let before = allocations();
        let outcome = call();
        let allocated = allocations() - before;
        self.calls += 1;
        self.expect(outcome == Ok(()), || format!("{what}: {outcome:?}"));
        self.expect(first || allocated == 0, || {
            format!("{what}: {allocated} allocations in a call like the last one")
        });
    }

    /// All options in small jobs, otherwise the one that it is the turn of.
    pub(crate) fn options<C: Collective>(&mut self) -> Vec<Options> {
        let layouts = [Layout::Declared, Layout::InPlace, Layout::Rotated];
        let policies = [Policy::default(), Policy::PACKED, Policy::DATATYPE];
        let layouts = layouts.into_iter().filter(|&layout| layout != Layout::Rotated || C::PREFERS_ROTATION);
        let all: Vec<Options> =
            layouts.flat_map(|layout| policies.map(|policy| Options { layout, policy })).collect();
        self.turn += 1;
        match self.p() {
            0..=3 => all,
            4..=8 => vec![all[self.turn % all.len()], all[(self.turn + 5) % all.len()]],
            _ => vec![all[self.turn * 5 % all.len()]],
        }
    }

    /// Whether something holds on at least one rank.
    pub(crate) fn anywhere(&self, holds: bool) -> bool {
        let mut flags = vec![0u8; self.p()];
        self.world.all_gather_into(&u8::from(holds), &mut flags[..]);
        flags.contains(&1)
    }
}
