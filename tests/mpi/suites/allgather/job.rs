//! Helpers for the calls of this suite.

use crate::job::{Job, every_option};
use mpi::topology::SimpleCommunicator;
use roundel::{Collective, Error, Options, Place, Transport};

impl Job<'_> {
    /// The options for the next call; none if the collective does not serve the communicator.
    pub(crate) fn options<C: Collective>(
        &mut self,
        comm: &SimpleCommunicator,
        collective: &C,
        effort: Effort,
    ) -> Vec<Options> {
        let Ok(at) = place(comm) else { self.fail("no place") };
        if !serves(collective, &at) {
            return Vec::new();
        }
        let all = every_option(collective, &at);
        self.turn += 1;
        match effort {
            Effort::Full => all,
            Effort::Light => vec![all[self.turn * 5 % all.len()]],
        }
    }
}

/// This rank's place in a communicator.
pub(crate) fn place(comm: &SimpleCommunicator) -> Result<Place<'_>, Error> {
    Transport::<u8>::place(comm)
}

/// Whether a collective serves a call at a place.
pub(crate) fn serves<C: Collective>(collective: &C, at: &Place) -> bool {
    collective.admits(at).and_then(|()| collective.proved(at)).is_ok()
}

/// How many of the options a call uses.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Effort {
    /// All of them.
    Full,
    /// One; the next call uses the next one.
    Light,
}
