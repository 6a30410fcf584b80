//! What each collective promises: the plain definition from the MPI standard, and the only oracle.

use std::fmt;
use std::str::FromStr;

/// The collectives the language knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Every rank ends with every rank's block.
    Allgather,
    /// Every rank ends with the reduction over all ranks.
    Allreduce,
    /// Every rank ends with its own block of the reduction over all ranks.
    ReduceScatter,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Allgather, Kind::Allreduce, Kind::ReduceScatter];

    /// Its name in declarations.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Allgather => "allgather",
            Kind::Allreduce => "allreduce",
            Kind::ReduceScatter => "reduce_scatter",
        }
    }

    /// Its name with an article.
    pub fn with_article(self) -> String {
        match self {
            Kind::Allgather | Kind::Allreduce => format!("an {self}"),
            Kind::ReduceScatter => format!("a {self}"),
        }
    }

    /// Whether ranks contribute to the same blocks, and contributions are reduced.
    pub const fn reduces(self) -> bool {
        match self {
            Kind::Allgather => false,
            Kind::Allreduce | Kind::ReduceScatter => true,
        }
    }

    /// Whether `rank` has something of `block` before the first round: the block, or its own contribution to it.
    pub const fn initially_holds(self, rank: usize, block: usize) -> bool {
        match self {
            Kind::Allgather => rank == block,
            Kind::Allreduce | Kind::ReduceScatter => true,
        }
    }

    /// Whether `rank` must have all of `block` after the last round.
    pub const fn must_hold(self, rank: usize, block: usize) -> bool {
        match self {
            Kind::Allgather | Kind::Allreduce => true,
            Kind::ReduceScatter => rank == block,
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
