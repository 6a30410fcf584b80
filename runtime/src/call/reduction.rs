//! Reductions, and how their vector is divided.

use crate::call::geometry::{BlockForm, Blocking, Recognised};
use crate::call::rank_placement::RankPlacement;
use crate::error::Error;
use crate::operation::Operation;
use roundel_spec::Collective;

/// How a vector is divided into blocks, and which part of it is the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division<'a> {
    /// As evenly as possible, into as many blocks as the collective needs; the output is the whole vector.
    Even,
    /// As evenly as possible; there is no output, because the result belongs to another rank.
    Elsewhere,
    /// Into a block of the same length for each rank; the output is the rank's own block.
    Equal,
    /// Into a block for each rank, of these lengths; the output is the rank's own block.
    Counts(&'a [usize]),
}

/// A reduction, as the user called it.
#[derive(Debug)]
pub struct ReductionCall<'a, T, O> {
    /// This rank's contribution; `None` if it lies in `output`.
    pub input: Option<&'a [T]>,
    /// The buffer for the result.
    pub output: &'a mut [T],
    /// The division into blocks.
    pub division: Division<'a>,
    /// The operation.
    pub op: &'a O,
}

impl<T, O: Operation<T>> ReductionCall<'_, T, O> {
    /// The length of the reduced vector.
    pub fn elements(&self) -> usize {
        self.input.map_or(self.output.len(), <[T]>::len)
    }

    /// Makes every check that one rank can make.
    pub fn validate<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<(), Error> {
        self.validate_lengths(here)?;
        here.serves(collective)?;
        if O::COMMUTES || here.keeps_order(collective) {
            Ok(())
        } else {
            Err(Error::NeedsOrder { name: C::NAME.into() })
        }
    }

    fn validate_lengths(&self, here: RankPlacement<'_>) -> Result<(), Error> {
        let (p, rank) = (here.p(), here.rank);
        let (input, output) = (self.elements(), self.output.len());
        let length = |what, expected, found, reason| match expected == found {
            true => Ok(()),
            false => Err(Error::Length { what, expected, found, reason }),
        };
        match self.division {
            Division::Elsewhere => Ok(()),
            Division::Even => length("the receive buffer", input, output, "as many as the send buffer"),
            Division::Equal if self.input.is_none() => {
                length("the buffer", input / p * p, input, "a block of the same length for each rank")
            }
            Division::Equal => {
                let reason = "the receive buffer's length times the number of ranks";
                length("the send buffer", output.saturating_mul(p), input, reason)
            }
            Division::Counts(counts) => {
                length("counts", p, counts.len(), "one entry for each rank")?;
                let total = counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count));
                length("the send buffer", total, input, "the sum of the counts")?;
                match self.input {
                    Some(_) => length("the receive buffer", counts[rank], output, "this rank's entry in the counts"),
                    None => Ok(()),
                }
            }
        }
    }

    /// Writes the lengths and offsets of the blocks.
    pub fn divide(&self, blocks: usize, counts: &mut Vec<usize>, displs: &mut Vec<usize>) {
        self.division.divide(self.elements(), blocks, counts, displs);
    }
}

impl Division<'_> {
    /// Writes the lengths and offsets of the blocks of `elements` elements.
    pub(crate) fn divide(self, elements: usize, blocks: usize, counts: &mut Vec<usize>, displs: &mut Vec<usize>) {
        match self {
            Division::Even | Division::Elsewhere => divide_evenly(elements, blocks, counts, displs),
            Division::Equal => divide((0..blocks).map(|_| elements / blocks), counts, displs),
            Division::Counts(given) => divide((0..blocks).map(|b| given[b]), counts, displs),
        }
    }
}

/// Divides elements as evenly as possible; the first blocks may have one more than the others.
pub(crate) fn divide_evenly(elements: usize, blocks: usize, counts: &mut Vec<usize>, displs: &mut Vec<usize>) {
    divide((0..blocks).map(|b| elements / blocks + usize::from(b < elements % blocks)), counts, displs);
}

/// Writes the offsets of contiguous blocks with these lengths.
fn divide(lengths: impl Iterator<Item = usize>, counts: &mut Vec<usize>, displs: &mut Vec<usize>) {
    counts.clear();
    displs.clear();
    let mut begin = 0;
    for count in lengths {
        counts.push(count);
        displs.push(begin);
        begin += count;
    }
}

impl Recognised for Division<'_> {
    #[inline(always)]
    fn is(&self, blocking: &Blocking) -> bool {
        match self {
            Division::Even => matches!(blocking.form, Some(BlockForm::Even)),
            Division::Elsewhere => matches!(blocking.form, Some(BlockForm::Elsewhere)),
            Division::Equal => matches!(blocking.form, Some(BlockForm::Equal)),
            Division::Counts(counts) => blocking.form == Some(BlockForm::Counts) && blocking.counts == *counts,
        }
    }

    fn remember(&self, blocking: &mut Blocking) {
        match self {
            Division::Even => blocking.set(BlockForm::Even, &[], &[]),
            Division::Elsewhere => blocking.set(BlockForm::Elsewhere, &[], &[]),
            Division::Equal => blocking.set(BlockForm::Equal, &[], &[]),
            Division::Counts(counts) => blocking.set(BlockForm::Counts, counts, &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Sum;

    #[test]
    fn vectors_are_divided_without_gaps() {
        let (mut counts, mut displs) = (Vec::new(), Vec::new());
        for (n, blocks) in [(0, 1), (1, 3), (7, 3), (9, 3), (10, 4)] {
            let mut data = vec![0; n];
            let call = ReductionCall { input: None, output: &mut data, division: Division::Even, op: &Sum };
            call.divide(blocks, &mut counts, &mut displs);
            assert_eq!((counts.len(), counts.iter().sum::<usize>()), (blocks, n));
            assert!(counts.iter().max() <= counts.iter().min().map(|least| least + 1).as_ref());
            assert!((1..blocks).all(|b| displs[b] == displs[b - 1] + counts[b - 1]));
        }
    }
}
