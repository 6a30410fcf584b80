//! Allreduce and reduce_scatter, for every collective of that kind on every transport.

use crate::error::Error;
use crate::operation::Operation;
use crate::transport::{RankPlacement, Transport};
use crate::unproved::Unproved;
use roundel_spec::Collective;

/// Marks collectives that are declared as `allreduce`. Implemented by the derive.
pub trait IsAllreduce: Collective {}

/// Marks collectives that are declared as `reduce_scatter`. Implemented by the derive.
pub trait IsReduceScatter: Collective {}

/// Calls of an allreduce. Implemented for every collective that is declared as one.
///
/// ```
/// use roundel::{Allreduce, algorithms::RecursiveDoublingAllreduce, operation::Sum, threads};
///
/// let results = threads::run(5, |comm| {
///     let mut total = [0; 2];
///     RecursiveDoublingAllreduce.allreduce(comm, &[comm.rank(), 1], &mut total, &Sum).map(|()| total)
/// });
/// assert!(results.into_iter().all(|total| total == Ok([10, 5])));
/// ```
pub trait Allreduce: IsAllreduce + Sized {
    /// Reduces the `send` of every rank, element by element, into the `recv` of every rank.
    #[inline]
    fn allreduce<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        op: &O,
    ) -> Result<(), Error> {
        comm.reduce(self, ReductionCall { input: Some(send), output: recv, division: Division::Even, op })
    }

    /// Reduces the `data` of every rank, element by element, into the `data` of every rank.
    #[inline]
    fn allreduce_in_place<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        data: &mut [T],
        op: &O,
    ) -> Result<(), Error> {
        comm.reduce(self, ReductionCall { input: None, output: data, division: Division::Even, op })
    }
}

/// Calls of a reduce_scatter. Implemented for every collective that is declared as one.
pub trait ReduceScatter: IsReduceScatter + Sized {
    /// Reduces the `send` of every rank, element by element; rank r gets the r-th of p equal blocks in `recv`.
    #[inline]
    fn reduce_scatter_block<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        op: &O,
    ) -> Result<(), Error> {
        comm.reduce(self, ReductionCall { input: Some(send), output: recv, division: Division::Equal, op })
    }

    /// Reduces the `send` of every rank, element by element; rank r gets block r, of `counts[r]` elements, in `recv`.
    #[inline]
    fn reduce_scatter<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        counts: &[usize],
        op: &O,
    ) -> Result<(), Error> {
        comm.reduce(self, ReductionCall { input: Some(send), output: recv, division: Division::Counts(counts), op })
    }

    /// [`reduce_scatter_block`](ReduceScatter::reduce_scatter_block) in place: the result replaces the beginning of
    /// `data`, and the rest is unchanged.
    ///
    /// ```
    /// use roundel::{ReduceScatter, algorithms::PairwiseReduceScatter, operation::Sum, threads};
    ///
    /// let results = threads::run(3, |comm| {
    ///     let mut data = [1, 10, 100];
    ///     PairwiseReduceScatter.reduce_scatter_block_in_place(comm, &mut data, &Sum).map(|()| data[0])
    /// });
    /// assert_eq!(results, [Ok(3), Ok(30), Ok(300)]);
    /// ```
    #[inline]
    fn reduce_scatter_block_in_place<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        data: &mut [T],
        op: &O,
    ) -> Result<(), Error> {
        comm.reduce(self, ReductionCall { input: None, output: data, division: Division::Equal, op })
    }

    /// [`reduce_scatter`](ReduceScatter::reduce_scatter) in place: the result replaces the beginning of `data`, and
    /// the rest is unchanged.
    #[inline]
    fn reduce_scatter_in_place<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        data: &mut [T],
        counts: &[usize],
        op: &O,
    ) -> Result<(), Error> {
        comm.reduce(self, ReductionCall { input: None, output: data, division: Division::Counts(counts), op })
    }
}

impl<C: IsAllreduce> Allreduce for C {}
impl<C: IsReduceScatter> ReduceScatter for C {}
impl<C: IsAllreduce> IsAllreduce for Unproved<C> {}
impl<C: IsReduceScatter> IsReduceScatter for Unproved<C> {}

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
    /// This rank's contribution; none if it lies in `output`.
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
        if O::COMMUTES || here.keeps_order::<C>() { Ok(()) } else { Err(Error::NeedsOrder { name: C::NAME.into() }) }
    }

    fn validate_lengths(&self, here: RankPlacement<'_>) -> Result<(), Error> {
        let (p, rank) = (here.p(), here.rank);
        let (input, output) = (self.elements(), self.output.len());
        let length = |what, expected, found, why| match expected == found {
            true => Ok(()),
            false => Err(Error::Length { what, expected, found, why }),
        };
        match self.division {
            Division::Elsewhere => Ok(()),
            Division::Even => length("the receive buffer", input, output, "as many as the send buffer"),
            Division::Equal if self.input.is_none() => {
                length("the buffer", input / p * p, input, "a block of the same length for each rank")
            }
            Division::Equal => {
                let why = "the receive buffer's length times the number of ranks";
                length("the send buffer", output.saturating_mul(p), input, why)
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
