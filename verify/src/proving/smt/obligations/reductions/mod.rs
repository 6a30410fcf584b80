//! Reductions: whose contributions every line holds, block by block.
//!
//! A gather is about blocks that are present or not; a reduction is about sets of ranks, one for each rank, line and
//! block. `holds` claims these sets, and every obligation is about one arbitrary block and one arbitrary contributor.

mod claims;
mod idle;
mod inner;
mod meetings;
mod memory;
mod order;
mod several;

pub(super) use claims::{ContributorClaim, first};

use super::{ProofContext, Prover, Step};
use crate::proving::smt::context::Context;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, and, ge, int, le, mul, or};
use roundel_spec::Kind;
use roundel_spec::eval::{BLOCKS_PER_RANK, FEW_BLOCKS};
use roundel_spec::schedule::Loop;

/// A round of a reduction: what every line holds before and after it.
#[derive(Clone, Copy)]
pub(super) struct ReductionRound<'f, 'a> {
    pub(super) n: usize,
    pub(super) l: &'a Loop,
    pub(super) frame: &'f ProofContext<'a>,
    pub(super) before: &'f [ContributorClaim],
    pub(super) after: &'f [ContributorClaim],
}

impl Prover<'_> {
    /// Whether there are as many blocks as ranks, so that blocks wrap around p. With any other number, blocks must not
    /// wrap: it is an obligation that they lie in range.
    pub(super) fn blocks_are_ranks(&self) -> bool {
        Context::new(self.schedule).blocks_wrap()
    }

    /// The number of blocks.
    pub(super) fn blocks(&self, frame: &mut ProofContext<'_>) -> Step<Term> {
        frame.cx.lower(&self.schedule.blocks, &frame.values)
    }

    /// The number of blocks has a value, and there is at least one.
    pub(super) fn split(&mut self) {
        if !self.schedule.kind.reduces() && self.schedule.kind != Kind::Broadcast {
            return;
        }
        self.attempt(Property::Defined, |prover| {
            let mut frame = prover.base()?;
            let blocks = prover.blocks(&mut frame)?;
            prover.fits(&mut frame, "blocks", "the number of blocks");
            let goal = and(frame.cx.take_defined().into_iter().chain([ge(&blocks, "1")]));
            prover.prove(&frame, Property::Defined, "blocks", "there are blocks", goal);
            // The same limit as in the exact check.
            let few = le(&blocks, &int(FEW_BLOCKS));
            let goal = or([few, le(&blocks, &mul(&int(BLOCKS_PER_RANK), "p"))]);
            let claim = format!("there are at most {FEW_BLOCKS} blocks, or {BLOCKS_PER_RANK} for each rank");
            prover.prove(&frame, Property::Defined, "not-too-many-blocks", &claim, goal);
            Ok(())
        });
    }
}
