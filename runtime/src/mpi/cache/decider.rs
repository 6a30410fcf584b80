//! Who decides how a call runs.

use crate::choice::selection::{Algorithm, Settings};
use crate::program::shared::CopyPath;

/// The decider of how a call runs.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// The environment (`ROUNDEL_SELECTION` and others), or the default. MPI serves the calls that Roundel does not.
    Environment,
    /// A selection. MPI serves the calls that Roundel does not.
    Settings(&'a Settings),
    /// This algorithm. A call that it does not serve is an error.
    Algorithm(&'a Algorithm),
    /// The node's shared memory. A call that it does not serve is an error.
    SharedMemory(CopyPath),
    /// MPI serves the call.
    Library,
}

impl By<'_> {
    /// A hash of the decider, which ranks compare: equal hashes mean, for all practical purposes, equal choices.
    pub(crate) fn print(self) -> u64 {
        match self {
            By::Environment => 0,
            By::Library => 1,
            By::SharedMemory(CopyPath::Slot) => 2,
            By::SharedMemory(CopyPath::Kernel) => 3,
            By::Settings(settings) => settings.fingerprint(),
            By::Algorithm(algorithm) => algorithm.fingerprint(),
        }
    }
}

/// A decider, kept for comparison with later ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decider {
    Environment,
    Library,
    SharedMemory(CopyPath),
    Settings(Box<Settings>),
    Algorithm(Box<Algorithm>),
}

impl From<By<'_>> for Decider {
    fn from(by: By<'_>) -> Self {
        match by {
            By::Environment => Decider::Environment,
            By::Library => Decider::Library,
            By::SharedMemory(path) => Decider::SharedMemory(path),
            By::Settings(settings) => Decider::Settings(Box::new(settings.clone())),
            By::Algorithm(algorithm) => Decider::Algorithm(Box::new(algorithm.clone())),
        }
    }
}

impl Decider {
    /// Whether it is this one.
    pub(crate) fn is(&self, by: By<'_>) -> bool {
        match (self, by) {
            (Decider::Environment, By::Environment) | (Decider::Library, By::Library) => true,
            (Decider::SharedMemory(own), By::SharedMemory(other)) => *own == other,
            (Decider::Settings(own), By::Settings(other)) => **own == *other,
            (Decider::Algorithm(own), By::Algorithm(other)) => **own == *other,
            _ => false,
        }
    }
}
