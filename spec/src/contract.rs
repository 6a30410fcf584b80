//! What each collective promises: the plain definition from the MPI standard, and the only oracle.

use std::fmt;
use std::str::FromStr;

/// The collectives the language knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Every rank ends with every rank's block.
    Allgather,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 1] = [Kind::Allgather];

    /// Its name in declarations.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Allgather => "allgather",
        }
    }

    /// How many blocks there are with `p` ranks; block sets wrap around it.
    pub const fn blocks(self, p: usize) -> usize {
        match self {
            Kind::Allgather => p,
        }
    }

    /// Whether `rank` holds `block` before the first round.
    pub const fn initially_holds(self, rank: usize, block: usize) -> bool {
        match self {
            Kind::Allgather => rank == block,
        }
    }

    /// Whether `rank` must hold `block` after the last round.
    pub const fn must_hold(self, _rank: usize, _block: usize) -> bool {
        match self {
            Kind::Allgather => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Kind::ALL.into_iter().find(|kind| kind.name() == text).ok_or(())
    }
}
