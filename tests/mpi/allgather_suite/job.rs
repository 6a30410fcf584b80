//! The ranks that run the suite.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::{Error, Layout, Options, Place, Policy, Transport};

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
        eprintln!("allgather_suite: rank {} of {}: {message}", self.rank(), self.p());
        self.world.abort(1)
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

/// This rank's place in a communicator.
pub(crate) fn place(comm: &SimpleCommunicator) -> Result<Place, Error> {
    Transport::<u8>::place(comm)
}

/// Every combination of layout and policy.
pub(crate) fn every_option() -> impl Iterator<Item = Options> {
    let layouts = [Layout::Declared, Layout::InPlace, Layout::Rotated];
    let policies = [Policy::default(), Policy::PACKED, Policy::DATATYPE];
    layouts.into_iter().flat_map(move |layout| policies.map(|policy| Options { layout, policy }))
}
