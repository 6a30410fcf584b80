//! Broadcasts, gathers and scatters.

use crate::call::geometry::{BlockForm, Blocking, Recognised};
use crate::call::rank_placement::RankPlacement;
use crate::call::reduction::divide_evenly;
pub use crate::call::rooted_layout::{BlockStorage, RootedLayout};
use crate::error::Error;
use roundel_spec::Collective;

/// A broadcast, gather or scatter, from the point of view of one rank.
#[derive(Debug)]
pub struct RootedCall<'a, T> {
    /// This rank's contribution, unless it lies in `output`.
    pub input: Option<&'a [T]>,
    /// The buffer for the result.
    pub output: &'a mut [T],
    /// The layout of the blocks.
    pub layout: RootedLayout,
}

impl<'a, T> RootedCall<'a, T> {
    /// The call of a rank without a result.
    pub(crate) fn elsewhere(send: &'a [T], total: usize, input_at: usize) -> Self {
        let layout = RootedLayout { total, input_at, storage: BlockStorage::Scratch { result_at: 0 } };
        RootedCall { input: Some(send), output: &mut [], layout }
    }

    /// The call of a rank that has all blocks in its output.
    pub(crate) fn in_place(output: &'a mut [T]) -> Self {
        let layout = RootedLayout { total: output.len(), input_at: 0, storage: BlockStorage::Output };
        RootedCall { input: None, output, layout }
    }

    /// Makes every check that one rank can make.
    pub fn validate<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<(), Error> {
        here.serves(collective)?;
        let (input, output) = (self.input.map_or(0, <[T]>::len), self.output.len());
        let (RootedLayout { total, input_at, storage }, reason) = (self.layout, "what all blocks have");
        let within = |begin: usize, len: usize| begin.checked_add(len).is_some_and(|end| end <= total);
        if !within(input_at, input) {
            return expect("the send buffer", total.saturating_sub(input_at), input, reason);
        }
        match storage {
            BlockStorage::Output => expect("the receive buffer", total, output, reason),
            BlockStorage::Scratch { result_at } if within(result_at, output) => Ok(()),
            BlockStorage::Scratch { result_at } => {
                expect("the receive buffer", total.saturating_sub(result_at), output, reason)
            }
        }
    }

    /// Writes the lengths and offsets of the blocks.
    pub fn divide(&self, blocks: usize, counts: &mut Vec<usize>, displs: &mut Vec<usize>) {
        divide_evenly(self.layout.total, blocks, counts, displs);
    }
}

impl Recognised for RootedLayout {
    #[inline(always)]
    fn is(&self, blocking: &Blocking) -> bool {
        blocking.form == Some(BlockForm::Rooted(*self))
    }

    fn remember(&self, blocking: &mut Blocking) {
        blocking.set(BlockForm::Rooted(*self), &[], &[]);
    }
}

#[inline]
pub(crate) fn expect(what: &'static str, expected: usize, found: usize, reason: &'static str) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found, reason }) }
}
