//! Alltoall and alltoallv, for every collective of that kind on every transport.

use crate::call::alltoall::{AlltoallCall, AlltoallvCall};
use crate::call::geometry::Varying;
use crate::call::layout::Options;
use crate::error::Error;
use crate::transport::Transport;
use crate::unproved::Unproved;
use roundel_spec::Collective;

/// Marks collectives that are declared as `alltoall`. Implemented by the derive.
pub trait IsAlltoall: Collective {}

/// Calls of an alltoall. Implemented for every collective that is declared as one.
///
/// ```
/// use roundel::{Alltoall, algorithms::ModifiedBruck, threads};
///
/// let results = threads::run(3, |comm| {
///     let send = [0, 1, 2].map(|to| (comm.rank(), to));
///     let mut recv = [(0, 0); 3];
///     ModifiedBruck { radix: 2 }.alltoall(comm, &send, &mut recv).map(|()| recv)
/// });
/// assert_eq!(results[1], Ok([(0, 1), (1, 1), (2, 1)]));
/// ```
pub trait Alltoall: IsAlltoall + Sized {
    /// Sends the d-th of p equal blocks of `send` to rank d, and puts what rank s sends into the s-th block of `recv`.
    #[inline]
    fn alltoall<T>(&self, comm: &impl Transport<T>, send: &[T], recv: &mut [T]) -> Result<(), Error> {
        self.alltoall_with(comm, send, recv, Options::default())
    }

    /// [`alltoall`](Alltoall::alltoall) with [`Options`].
    #[inline]
    fn alltoall_with<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        options: Options,
    ) -> Result<(), Error> {
        comm.shuffle(self, AlltoallCall { send: Some(send), recv, options })
    }

    /// [`alltoall`](Alltoall::alltoall) in place: received blocks replace those sent in `data`.
    ///
    /// ```
    /// use roundel::{Alltoall, algorithms::PairwiseAlltoall, threads};
    ///
    /// let results = threads::run(2, |comm| {
    ///     let mut data = [["a", "b"], ["c", "d"]][comm.rank()];
    ///     PairwiseAlltoall.alltoall_in_place(comm, &mut data).map(|()| data)
    /// });
    /// assert_eq!(results, [Ok(["a", "c"]), Ok(["b", "d"])]);
    /// ```
    #[inline]
    fn alltoall_in_place<T>(&self, comm: &impl Transport<T>, data: &mut [T]) -> Result<(), Error> {
        comm.shuffle(self, AlltoallCall { send: None, recv: data, options: Options::default() })
    }

    /// Exchanges blocks of any lengths: rank d receives the `send_counts[d]` elements from `send_displs[d]` of `send`
    /// on; the `recv_counts[s]` elements from rank s go to `recv_displs[s]` of `recv`.
    ///
    /// ```
    /// use roundel::{Alltoall, algorithms::ModifiedBruck, threads};
    ///
    /// // Rank r sends r elements to each rank.
    /// let results = threads::run(3, |comm| {
    ///     let n = comm.rank();
    ///     let (send, mut recv) = ([n; 2], [9; 3]);
    ///     let bruck = ModifiedBruck { radix: 2 };
    ///     bruck.alltoallv(comm, &send, &[n; 3], &[0; 3], &mut recv, &[0, 1, 2], &[0, 0, 1]).map(|()| recv)
    /// });
    /// assert!(results.into_iter().all(|recv| recv == Ok([1, 2, 2])));
    /// ```
    ///
    /// # Errors
    /// [`Error::BlockMismatch`] if a rank sends a block of another length than this rank's receive count. All ranks
    /// still complete the call.
    #[allow(clippy::too_many_arguments, reason = "those of MPI_Alltoallv")]
    #[inline]
    fn alltoallv<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        send_counts: &[usize],
        send_displs: &[usize],
        recv: &mut [T],
        recv_counts: &[usize],
        recv_displs: &[usize],
    ) -> Result<(), Error> {
        let options = Options::default();
        self.alltoallv_with(comm, send, send_counts, send_displs, recv, recv_counts, recv_displs, options)
    }

    /// [`alltoallv`](Alltoall::alltoallv) with [`Options`]. Blocks of any lengths have only one layout, so a rotated
    /// one is validated but not used. Blocks always travel through packed copies, unless they are contiguous.
    #[allow(clippy::too_many_arguments, reason = "those of MPI_Alltoallv, and options")]
    fn alltoallv_with<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        send_counts: &[usize],
        send_displs: &[usize],
        recv: &mut [T],
        recv_counts: &[usize],
        recv_displs: &[usize],
        options: Options,
    ) -> Result<(), Error> {
        let leaving = Varying::new(send_counts, send_displs);
        let arriving = Varying::new(recv_counts, recv_displs);
        comm.shuffle_varying(self, AlltoallvCall { send: Some(send), leaving, recv, arriving, options })
    }

    /// [`alltoallv`](Alltoall::alltoallv) in place: each rank sends as many elements to a rank as it receives from
    /// it, and they occupy the same place in `data`.
    ///
    /// ```
    /// use roundel::{Alltoall, algorithms::SpreadOut, threads};
    ///
    /// let results = threads::run(2, |comm| {
    ///     let mut data = [comm.rank(); 4];
    ///     SpreadOut.alltoallv_in_place(comm, &mut data, &[1, 1], &[1, 3]).map(|()| data)
    /// });
    /// assert_eq!(results, [Ok([0, 0, 0, 1]), Ok([1, 0, 1, 1])]);
    /// ```
    fn alltoallv_in_place<T>(
        &self,
        comm: &impl Transport<T>,
        data: &mut [T],
        counts: &[usize],
        displs: &[usize],
    ) -> Result<(), Error> {
        let blocks = Varying::new(counts, displs);
        let options = Options::default();
        comm.shuffle_varying(
            self,
            AlltoallvCall { send: None, leaving: blocks, recv: data, arriving: blocks, options },
        )
    }
}

impl<C: IsAlltoall> Alltoall for C {}

impl<C: IsAlltoall> IsAlltoall for Unproved<C> {}
