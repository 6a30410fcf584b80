//! What every rank holds, block by block, and since when.
//!
//! For a gather a slot is filled once, so its whole history is one number: the round in which it was filled. The
//! checks, the invariants and the pictures all read this table.

use crate::contract::Kind;
use std::collections::BTreeSet;

/// Since when each rank holds each block.
#[derive(Clone, Debug)]
pub struct Provenance {
    blocks: usize,
    since: Vec<u32>,
}

const NEVER: u32 = u32::MAX;

impl Provenance {
    /// The state before the first round, as the contract says.
    pub fn new(kind: Kind, p: usize, blocks: usize, root: usize) -> Self {
        let holds = |i| kind.initially_holds(i / blocks, i % blocks, root);
        Provenance { blocks, since: (0..p * blocks).map(|i| if holds(i) { 0 } else { NEVER }).collect() }
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether `rank` holds `block` before `round`.
    pub fn holds(&self, rank: usize, block: usize, round: usize) -> bool {
        let since = self.since[rank * self.blocks + block];
        since != NEVER && since as usize <= round
    }

    /// Whether `rank` holds `block` from any round on.
    pub fn ever_holds(&self, rank: usize, block: usize) -> bool {
        self.since[rank * self.blocks + block] != NEVER
    }

    /// The round in which `rank` received `block`; `None` where it held it from the start, or never gets it.
    pub fn arrived_in(&self, rank: usize, block: usize) -> Option<usize> {
        match self.since[rank * self.blocks + block] {
            0 | NEVER => None,
            since => Some(since as usize - 1),
        }
    }

    /// `rank` receives `block` in `round`; false when it has it already, and then nothing changes.
    pub fn receive(&mut self, rank: usize, block: usize, round: usize) -> bool {
        let since = &mut self.since[rank * self.blocks + block];
        if *since != NEVER {
            return false;
        }
        *since = round as u32 + 1;
        true
    }

    /// The blocks that `rank` holds before `round`.
    pub fn held(&self, rank: usize, round: usize) -> BTreeSet<usize> {
        (0..self.blocks).filter(|&block| self.holds(rank, block, round)).collect()
    }

    /// How many blocks `rank` holds before `round`.
    pub fn count(&self, rank: usize, round: usize) -> usize {
        let row = &self.since[rank * self.blocks..(rank + 1) * self.blocks];
        row.iter().filter(|&&since| since != NEVER && since as usize <= round).count()
    }
}
