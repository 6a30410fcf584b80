//! Broadcast, reduce, gather and scatter, for every collective of that kind on every transport.
//!
//! The root is a parameter of the collective, `BinomialBroadcast { root: 3 }`, and so it is declared, checked and
//! proved; all ranks must name the same one. Buffers that only the root uses are empty slices on other ranks.

use crate::call::reduction::{Division, ReductionCall};
use crate::call::rooted::{BlockStorage, RootedCall, RootedLayout, expect};
use crate::error::Error;
use crate::operation::Operation;
use crate::transport::Transport;
use crate::unproved::Unproved;
use roundel_spec::Collective;

/// Marks collectives that are declared as `broadcast`. Implemented by the derive.
pub trait IsBroadcast: Collective {}

/// Marks collectives that are declared as `reduce`. Implemented by the derive.
pub trait IsReduce: Collective {}

/// Marks collectives that are declared as `gather`. Implemented by the derive.
pub trait IsGather: Collective {}

/// Marks collectives that are declared as `scatter`. Implemented by the derive.
pub trait IsScatter: Collective {}

/// Calls of a broadcast. Implemented for every collective that is declared as one.
///
/// ```
/// use roundel::{Broadcast, algorithms::BinomialBroadcast, threads};
///
/// let results = threads::run(5, |comm| {
///     let mut data = [comm.rank(); 2];
///     BinomialBroadcast { root: 3 }.broadcast(comm, &mut data).map(|()| data)
/// });
/// assert!(results.into_iter().all(|data| data == Ok([3, 3])));
/// ```
pub trait Broadcast: IsBroadcast + Sized {
    /// Copies the root's `data` to the `data` of every rank.
    #[inline]
    fn broadcast<T>(&self, comm: &impl Transport<T>, data: &mut [T]) -> Result<(), Error> {
        comm.spread(self, RootedCall::in_place(data))
    }
}

/// Calls of a reduce. Implemented for every collective that is declared as one.
pub trait ReduceTo: IsReduce + Sized {
    /// Reduces the `send` of every rank, element by element, into the `recv` of the root. Other ranks ignore `recv`,
    /// and may pass `&mut []`.
    #[inline]
    fn reduce<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        op: &O,
    ) -> Result<(), Error> {
        match is_root(self, comm)? {
            true => {
                comm.reduce(self, ReductionCall { input: Some(send), output: recv, division: Division::Even, op })
            }
            false => contribute(self, comm, send, op),
        }
    }

    /// Reduces the `data` of every rank, element by element, into the `data` of the root; on other ranks `data` is
    /// unchanged.
    #[inline]
    fn reduce_in_place<T, O: Operation<T>>(
        &self,
        comm: &impl Transport<T>,
        data: &mut [T],
        op: &O,
    ) -> Result<(), Error> {
        match is_root(self, comm)? {
            true => comm.reduce(self, ReductionCall { input: None, output: data, division: Division::Even, op }),
            false => contribute(self, comm, data, op),
        }
    }
}

/// Takes part in a reduction without a result on this rank.
#[inline]
fn contribute<T, C: Collective, O: Operation<T>>(
    collective: &C,
    comm: &impl Transport<T>,
    send: &[T],
    op: &O,
) -> Result<(), Error> {
    comm.reduce(collective, ReductionCall { input: Some(send), output: &mut [], division: Division::Elsewhere, op })
}

/// Calls of a gather. Implemented for every collective that is declared as one.
pub trait GatherTo: IsGather + Sized {
    /// Gathers the `send` of every rank, which all have the same length, into the `recv` of the root, in the order of
    /// ranks. Other ranks ignore `recv`, and may pass `&mut []`.
    #[inline]
    fn gather<T>(&self, comm: &impl Transport<T>, send: &[T], recv: &mut [T]) -> Result<(), Error> {
        let at = comm.here()?.flat();
        let (total, input_at) = (send.len().saturating_mul(at.p as usize), send.len() * at.rank as usize);
        if at.rank != self.root() {
            return comm.spread(self, RootedCall::elsewhere(send, total, input_at));
        }
        expect("the receive buffer", total, recv.len(), "the send buffer's length times the number of ranks")?;
        let layout = RootedLayout { total, input_at, storage: BlockStorage::Output };
        comm.spread(self, RootedCall { input: Some(send), output: recv, layout })
    }

    /// Gathers blocks of the same length. The root's `data` has all of them, its own already in place; another rank's
    /// `data` is its block.
    #[inline]
    fn gather_in_place<T>(&self, comm: &impl Transport<T>, data: &mut [T]) -> Result<(), Error> {
        let at = comm.here()?.flat();
        if at.rank != self.root() {
            let (total, input_at) = (data.len().saturating_mul(at.p as usize), data.len() * at.rank as usize);
            return comm.spread(self, RootedCall::elsewhere(data, total, input_at));
        }
        divisible(data.len(), at.p as usize)?;
        comm.spread(self, RootedCall::in_place(data))
    }
}

/// Calls of a scatter. Implemented for every collective that is declared as one.
pub trait ScatterFrom: IsScatter + Sized {
    /// Copies the r-th of p equal blocks of the root's `send` to the `recv` of rank r. Other ranks ignore `send`, and
    /// may pass `&[]`.
    #[inline]
    fn scatter<T>(&self, comm: &impl Transport<T>, send: &[T], recv: &mut [T]) -> Result<(), Error> {
        let at = comm.here()?.flat();
        let (total, own) = (recv.len().saturating_mul(at.p as usize), recv.len() * at.rank as usize);
        let is_root = at.rank == self.root();
        if is_root {
            expect("the send buffer", total, send.len(), "the receive buffer's length times the number of ranks")?;
        }
        let input = is_root.then_some(send);
        let layout = RootedLayout { total, input_at: 0, storage: BlockStorage::Scratch { result_at: own } };
        comm.spread(self, RootedCall { input, output: recv, layout })
    }

    /// Distributes equal blocks. The root's `data` has all of them and is unchanged; another rank's `data` receives
    /// its block.
    #[inline]
    fn scatter_in_place<T>(&self, comm: &impl Transport<T>, data: &mut [T]) -> Result<(), Error> {
        let at = comm.here()?.flat();
        if at.rank != self.root() {
            return self.scatter(comm, &[], data);
        }
        divisible(data.len(), at.p as usize)?;
        comm.spread(self, RootedCall::in_place(data))
    }
}

impl<C: IsBroadcast> Broadcast for C {}
impl<C: IsReduce> ReduceTo for C {}
impl<C: IsGather> GatherTo for C {}
impl<C: IsScatter> ScatterFrom for C {}
impl<C: IsBroadcast> IsBroadcast for Unproved<C> {}
impl<C: IsReduce> IsReduce for Unproved<C> {}
impl<C: IsGather> IsGather for Unproved<C> {}
impl<C: IsScatter> IsScatter for Unproved<C> {}

#[inline]
fn is_root<T, C: Collective>(collective: &C, comm: &impl Transport<T>) -> Result<bool, Error> {
    Ok(comm.here()?.rank as i64 == collective.root())
}

#[inline]
fn divisible(found: usize, p: usize) -> Result<(), Error> {
    let expected = found.next_multiple_of(p);
    expect("the root's buffer", expected, found, "a block of the same length for each rank")
}
