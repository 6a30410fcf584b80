//! What every rank holds, block by block, and since when.
//!
//! In a gather a slot is filled once, so its whole history is one number: the round in which it was filled; but after
//! an inner collective a block may be forgotten, and arrive again. In an all-to-all a message moves its blocks, so a
//! block is at one rank at a time, and its history is its path. The checks, the invariants and the pictures all read
//! this table.

use crate::schedule::contract::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Since when each rank holds each block.
#[derive(Clone, Debug)]
pub struct Provenance {
    p: usize,
    blocks: usize,
    table: ProvenanceTable,
}

#[derive(Clone, Debug)]
enum ProvenanceTable {
    Kept(KeptBlocks),
    /// For each block, the ranks on its path, and the first round before which it is there.
    Moved(Vec<Vec<Stay>>),
}

/// Blocks that stay where they are.
#[derive(Clone, Debug)]
struct KeptBlocks {
    /// For each rank and block, the first round before which the rank holds it.
    since: Vec<u32>,
    /// The rounds before which a rank held a block that it has forgotten, by the number of the slot.
    once: BTreeMap<usize, Vec<Range<u32>>>,
}

impl KeptBlocks {
    fn holds(&self, slot: usize, round: usize) -> bool {
        let since = self.since[slot];
        let before = || self.once.get(&slot).is_some_and(|once| once.iter().any(|r| r.contains(&(round as u32))));
        since != NEVER && since as usize <= round || before()
    }
}

/// The rank of a block, from before a round on.
#[derive(Clone, Copy, Debug)]
struct Stay {
    since: u32,
    rank: u32,
}

const NEVER: u32 = u32::MAX;

impl Provenance {
    /// The state before the first round, according to the contract.
    pub fn new(kind: Kind, p: usize, blocks: usize, root: usize) -> Self {
        let holds = |rank, block| kind.initially_holds(rank, block, root, p);
        let table = if kind.moves() {
            let stays = |block| {
                (0..p).filter(move |&rank| holds(rank, block)).map(|rank| Stay { since: 0, rank: rank as u32 })
            };
            ProvenanceTable::Moved((0..blocks).map(|block| stays(block).collect()).collect())
        } else {
            let since = |i| if holds(i / blocks, i % blocks) { 0 } else { NEVER };
            ProvenanceTable::Kept(KeptBlocks { since: (0..p * blocks).map(since).collect(), once: BTreeMap::new() })
        };
        Provenance { p, blocks, table }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The number of ranks.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Whether `rank` holds `block` before `round`.
    pub fn holds(&self, rank: usize, block: usize, round: usize) -> bool {
        match &self.table {
            ProvenanceTable::Kept(kept) => kept.holds(rank * self.blocks + block, round),
            ProvenanceTable::Moved(ways) => {
                self.stay(ways, block, round).is_some_and(|stay| stay.rank as usize == rank)
            }
        }
    }

    /// The position of a block before `round`.
    fn stay<'a>(&self, ways: &'a [Vec<Stay>], block: usize, round: usize) -> Option<&'a Stay> {
        ways[block].iter().rev().find(|stay| stay.since as usize <= round)
    }

    /// Whether `rank` holds `block` at the end.
    pub fn ends_with(&self, rank: usize, block: usize) -> bool {
        match &self.table {
            ProvenanceTable::Kept(kept) => kept.since[rank * self.blocks + block] != NEVER,
            ProvenanceTable::Moved(ways) => ways[block].last().is_some_and(|stay| stay.rank as usize == rank),
        }
    }

    /// The round in which `rank` last received `block`; `None` if it held it from the start, or never gets it.
    pub fn arrived_in(&self, rank: usize, block: usize) -> Option<usize> {
        let since = match &self.table {
            ProvenanceTable::Kept(kept) => kept.since[rank * self.blocks + block],
            ProvenanceTable::Moved(ways) => {
                ways[block].iter().rev().find(|stay| stay.rank as usize == rank).map_or(NEVER, |stay| stay.since)
            }
        };
        match since {
            0 | NEVER => None,
            since => Some(since as usize - 1),
        }
    }

    /// The way of a block that messages move: the ranks that hold it, each with the round before which it arrives
    /// there. Empty if messages do not move blocks.
    pub fn way(&self, block: usize) -> Vec<(usize, usize)> {
        match &self.table {
            ProvenanceTable::Kept(_) => Vec::new(),
            ProvenanceTable::Moved(ways) => {
                ways[block].iter().map(|stay| (stay.since as usize, stay.rank as usize)).collect()
            }
        }
    }

    /// Where a block that messages move is before `round`, and the round before which it arrived there.
    pub fn seat(&self, block: usize, round: usize) -> Option<(usize, usize)> {
        match &self.table {
            ProvenanceTable::Kept(_) => None,
            ProvenanceTable::Moved(ways) => {
                self.stay(ways, block, round).map(|stay| (stay.rank as usize, stay.since as usize))
            }
        }
    }

    /// Lets `rank` receive `block` in `round`. Returns false, and changes nothing, if it already holds the block or
    /// another rank received it in this round.
    pub fn receive(&mut self, rank: usize, block: usize, round: usize) -> bool {
        match &mut self.table {
            ProvenanceTable::Kept(kept) => {
                let since = &mut kept.since[rank * self.blocks + block];
                let free = *since == NEVER;
                if free {
                    *since = round as u32 + 1;
                }
                free
            }
            ProvenanceTable::Moved(ways) => {
                let next = Stay { since: round as u32 + 1, rank: rank as u32 };
                let taken = |last: &Stay| last.since == next.since || last.rank == next.rank;
                let free = !ways[block].last().is_some_and(taken);
                if free {
                    ways[block].push(next);
                }
                free
            }
        }
    }

    /// Before `round`, it is not known any more that `rank` holds `block`. Blocks that move are not forgotten.
    pub fn forget(&mut self, rank: usize, block: usize, round: usize) {
        let slot = rank * self.blocks + block;
        let ProvenanceTable::Kept(kept) = &mut self.table else { return };
        let since = std::mem::replace(&mut kept.since[slot], NEVER);
        if since != NEVER {
            kept.once.entry(slot).or_default().push(since..round as u32);
        }
    }

    /// The blocks that `rank` holds before `round`.
    pub fn held(&self, rank: usize, round: usize) -> BTreeSet<usize> {
        (0..self.blocks).filter(|&block| self.holds(rank, block, round)).collect()
    }

    /// The number of blocks that `rank` holds before `round`.
    pub fn count(&self, rank: usize, round: usize) -> usize {
        (0..self.blocks).filter(|&block| self.holds(rank, block, round)).count()
    }
}
