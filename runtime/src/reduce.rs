//! Allreduce and reduce_scatter, for every collective of that kind on every transport.

use crate::call::reduction::{Division, ReductionCall};
use crate::error::Error;
use crate::operation::Operation;
use crate::transport::Transport;
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
