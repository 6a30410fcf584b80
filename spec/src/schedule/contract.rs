//! The contracts of the collectives: plain definitions from the MPI standard, and the only oracle.

use std::fmt;
use std::str::FromStr;

/// The collectives that the language supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Every rank ends with every rank's block.
    Allgather,
    /// Every rank ends with the reduction over all ranks.
    Allreduce,
    /// Every rank ends with its own block of the reduction over all ranks.
    ReduceScatter,
    /// Every rank ends with what the root has.
    Broadcast,
    /// The root ends with the reduction over all ranks.
    Reduce,
    /// The root ends with every rank's block.
    Gather,
    /// Every rank ends with its block of the root's data.
    Scatter,
    /// Every rank ends with the block that every rank has for it. Blocks are pairs of source and destination
    /// ([`pair`]), and a message moves them: its sender no longer holds them.
    Alltoall,
}

/// The number of the block that `source` has for `destination`, among `p` ranks.
pub const fn pair(source: usize, destination: usize, p: usize) -> usize {
    source * p + destination
}

/// The source and the destination of a block, among `p` ranks.
pub const fn ends(block: usize, p: usize) -> (usize, usize) {
    (block / p, block % p)
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 8] = [
        Kind::Allgather,
        Kind::Allreduce,
        Kind::ReduceScatter,
        Kind::Broadcast,
        Kind::Reduce,
        Kind::Gather,
        Kind::Scatter,
        Kind::Alltoall,
    ];

    /// Its name in declarations.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Allgather => "allgather",
            Kind::Allreduce => "allreduce",
            Kind::ReduceScatter => "reduce_scatter",
            Kind::Broadcast => "broadcast",
            Kind::Reduce => "reduce",
            Kind::Gather => "gather",
            Kind::Scatter => "scatter",
            Kind::Alltoall => "alltoall",
        }
    }

    /// Its name with an article.
    pub fn with_article(self) -> String {
        match self {
            Kind::Allgather | Kind::Allreduce | Kind::Alltoall => format!("an {self}"),
            _ => format!("a {self}"),
        }
    }

    /// Whether ranks contribute to the same blocks, so that contributions are reduced.
    pub const fn reduces(self) -> bool {
        matches!(self, Kind::Allreduce | Kind::ReduceScatter | Kind::Reduce)
    }

    /// Whether it has a root: the parameter `root`.
    pub const fn has_root(self) -> bool {
        matches!(self, Kind::Broadcast | Kind::Reduce | Kind::Gather | Kind::Scatter)
    }

    /// Whether there is one block per rank. Otherwise the data is a single block, unless the declaration splits it.
    pub const fn has_a_block_each(self) -> bool {
        matches!(self, Kind::Allgather | Kind::ReduceScatter | Kind::Gather | Kind::Scatter)
    }

    /// Whether a message moves its blocks, so that its sender no longer holds them.
    pub const fn moves(self) -> bool {
        matches!(self, Kind::Alltoall)
    }

    /// Whether its contract knows the data as one block alone.
    pub const fn takes_whole(self) -> bool {
        !self.has_a_block_each() && !self.moves()
    }

    /// Whether a collective of this kind may be a part of one of `outer`: one that only moves data reduces nothing.
    pub const fn runs_inside(self, outer: Kind) -> bool {
        match (self.moves(), outer.moves()) {
            (true, true) => true,
            (false, false) => outer.reduces() || !self.reduces(),
            _ => false,
        }
    }

    /// Whether a declaration may define how the data is divided into blocks.
    pub const fn is_divided(self) -> bool {
        (self.reduces() || !self.has_a_block_each()) && !self.moves()
    }

    /// Whether `rank`, of `p`, holds `block`, or its own contribution to it, before the first round. `root` is the
    /// root, if there is one.
    pub const fn initially_holds(self, rank: usize, block: usize, root: usize, p: usize) -> bool {
        match self {
            Kind::Alltoall => ends(block, p).0 == rank,
            Kind::Allgather | Kind::Gather => rank == block,
            Kind::Allreduce | Kind::ReduceScatter | Kind::Reduce => true,
            Kind::Broadcast | Kind::Scatter => rank == root,
        }
    }

    /// Whether `rank`, of `p`, must hold the complete `block` after the last round.
    pub const fn must_hold(self, rank: usize, block: usize, root: usize, p: usize) -> bool {
        match self {
            Kind::Alltoall => ends(block, p).1 == rank,
            Kind::Allgather | Kind::Allreduce | Kind::Broadcast => true,
            Kind::ReduceScatter | Kind::Scatter => rank == block,
            Kind::Reduce | Kind::Gather => rank == root,
        }
    }

    /// Whether the contract says what `rank`, of `p`, has of `block` after the last round: the complete block, or what
    /// it had, because a collective that moves data keeps it. What is not promised may be anything.
    pub const fn promises(self, rank: usize, block: usize, root: usize, p: usize) -> bool {
        let kept = !self.reduces() && self.initially_holds(rank, block, root, p);
        self.must_hold(rank, block, root, p) || kept
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
