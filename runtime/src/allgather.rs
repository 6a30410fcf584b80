//! Allgather and allgatherv, for every collective of that kind on every transport.

use crate::call::geometry::{Uniform, Varying};
use crate::error::Error;
use crate::transport::{AllgatherCall, Options, Transport};
use crate::unproved::Unproved;
use roundel_spec::Collective;

/// Marks collectives that are declared as `allgather`. Implemented by the derive.
pub trait IsAllgather: Collective {}

/// Calls of an allgather. Implemented for every collective that is declared as one.
///
/// ```
/// use roundel::{Allgather, algorithms::Sparbit, threads};
///
/// let results = threads::run(5, |comm| {
///     let mut all = [0; 5];
///     Sparbit.allgather(comm, &[comm.rank() * 10], &mut all).map(|()| all)
/// });
/// assert!(results.into_iter().all(|all| all == Ok([0, 10, 20, 30, 40])));
/// ```
pub trait Allgather: IsAllgather + Sized {
    /// Gathers the `send` of every rank, which all have the same length, into `recv`, in the order of ranks.
    #[inline]
    fn allgather<T>(&self, comm: &impl Transport<T>, send: &[T], recv: &mut [T]) -> Result<(), Error> {
        self.allgather_with(comm, send, recv, Options::default())
    }

    /// [`allgather`](Allgather::allgather) with [`Options`].
    #[inline]
    fn allgather_with<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        options: Options,
    ) -> Result<(), Error> {
        let geometry = Uniform { count: send.len() };
        comm.gather(self, AllgatherCall { send: Some(send), recv, geometry, options })
    }

    /// Gathers blocks of different lengths: block `b` has `counts[b]` elements and goes to `displs[b]` of `recv`.
    /// Counts are the same on all ranks; `send` has `counts[rank]` elements.
    fn allgatherv<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        counts: &[usize],
        displs: &[usize],
    ) -> Result<(), Error> {
        self.allgatherv_with(comm, send, recv, counts, displs, Options::default())
    }

    /// [`allgatherv`](Allgather::allgatherv) with [`Options`].
    fn allgatherv_with<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        counts: &[usize],
        displs: &[usize],
        options: Options,
    ) -> Result<(), Error> {
        comm.gather(self, AllgatherCall { send: Some(send), recv, geometry: Varying::new(counts, displs), options })
    }

    /// Gathers in place: `data` has p blocks of the same length, of which each rank provides its own.
    ///
    /// ```
    /// use roundel::{Allgather, algorithms::Bruck, threads};
    ///
    /// let results = threads::run(3, |comm| {
    ///     let mut all = [0; 3];
    ///     all[comm.rank()] = comm.rank() + 5;
    ///     Bruck.allgather_in_place(comm, &mut all).map(|()| all)
    /// });
    /// assert!(results.into_iter().all(|all| all == Ok([5, 6, 7])));
    /// ```
    fn allgather_in_place<T>(&self, comm: &impl Transport<T>, data: &mut [T]) -> Result<(), Error> {
        let geometry = Uniform { count: data.len() / comm.here()?.p() };
        comm.gather(self, AllgatherCall { send: None, recv: data, geometry, options: Options::default() })
    }

    /// [`allgatherv`](Allgather::allgatherv) in place: block `b` has `counts[b]` elements from `displs[b]` of `data`
    /// on, and each rank provides its own.
    fn allgatherv_in_place<T>(
        &self,
        comm: &impl Transport<T>,
        data: &mut [T],
        counts: &[usize],
        displs: &[usize],
    ) -> Result<(), Error> {
        let geometry = Varying::new(counts, displs);
        comm.gather(self, AllgatherCall { send: None, recv: data, geometry, options: Options::default() })
    }
}

impl<C: IsAllgather> Allgather for C {}

impl<C: IsAllgather> IsAllgather for Unproved<C> {}
