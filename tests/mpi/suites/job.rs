//! The ranks that run a suite.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::{Collective, Layout, Options, Place, Policy};
use roundel_tests::ending::end;

/// The world, and counts of what was done in it.
pub(crate) struct Job<'a> {
    /// All ranks.
    pub(crate) world: &'a SimpleCommunicator,
    /// The number of collective calls so far.
    pub(crate) calls: usize,
    /// The number of turns so far, for calls that alternate between options.
    pub(crate) turn: usize,
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

    /// Whether something holds on at least one rank.
    pub(crate) fn anywhere(&self, holds: bool) -> bool {
        let mut flags = vec![0u8; self.p()];
        self.world.all_gather_into(&u8::from(holds), &mut flags[..]);
        flags.contains(&1)
    }
}

/// Every combination of layout and policy that a collective has.
pub(crate) fn every_option<C: Collective>(collective: &C, at: &Place) -> Vec<Options> {
    options(collective.rotation(at).is_some())
}

/// The same. Not part of the generic function, which is compiled for every collective.
fn options(rotated: bool) -> Vec<Options> {
    let layouts = [Layout::Declared, Layout::InPlace, Layout::Rotated];
    let policies = [Policy::default(), Policy::PACKED, Policy::DATATYPE];
    let layouts = layouts.into_iter().filter(|&layout| layout != Layout::Rotated || rotated);
    layouts.flat_map(|layout| policies.map(|policy| Options { layout, policy })).collect()
}

/// Whether `tests/run.sh --all` runs this.
pub(crate) fn everything_is_requested() -> bool {
    std::env::var_os("ROUNDEL_ALL").is_some_and(|value| value == "1")
}
