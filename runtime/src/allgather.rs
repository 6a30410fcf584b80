//! Allgather and allgatherv, for every collective of that kind on every transport.

use crate::error::Error;
use crate::geometry::{Geometry, Uniform, Varying};
use crate::transport::{Gather, Layout, Options, Transport};
use crate::unproved::Unproved;
use roundel_spec::{Collective, Place};

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
    fn allgather<T>(&self, comm: &impl Transport<T>, send: &[T], recv: &mut [T]) -> Result<(), Error> {
        self.allgather_with(comm, send, recv, Options::default())
    }

    /// [`allgather`](Allgather::allgather) with [`Options`].
    fn allgather_with<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        recv: &mut [T],
        options: Options,
    ) -> Result<(), Error> {
        let at = comm.place()?;
        let expected = send.len().checked_mul(at.p as usize).filter(|&n| n <= isize::MAX as usize);
        let Some(expected) = expected else {
            let limit = isize::MAX as usize / at.p as usize;
            return Err(Error::TooLarge { what: "the send buffer", elements: send.len(), limit });
        };
        if recv.len() != expected {
            let why = "the send buffer's length times the number of ranks";
            return Err(Error::Length { what: "the receive buffer", expected, found: recv.len(), why });
        }
        let geometry = Uniform { count: send.len() };
        dispatch(self, comm, &at, send, recv, geometry, options)
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
        let at = comm.place()?;
        let geometry = Varying::new(counts, displs, at.p as usize, recv.len())?;
        let expected = counts[at.rank as usize];
        if send.len() != expected {
            let why = "this rank's entry in the counts";
            return Err(Error::Length { what: "the send buffer", expected, found: send.len(), why });
        }
        dispatch(self, comm, &at, send, recv, geometry, options)
    }
}

impl<C: IsAllgather> Allgather for C {}

impl<C: IsAllgather> IsAllgather for Unproved<C> {}

/// The part that both forms share: domain, layout, run.
fn dispatch<C: Collective, T, G: Geometry>(
    collective: &C,
    comm: &impl Transport<T>,
    at: &Place,
    send: &[T],
    recv: &mut [T],
    geometry: G,
    options: Options,
) -> Result<(), Error> {
    let served = collective.admits(at).and_then(|()| collective.proved(at));
    served.map_err(|refusal| Error::OutsideDomain { name: C::NAME.into(), refusal })?;
    let rotation = match options.layout {
        Layout::InPlace => None,
        Layout::Declared if !C::PREFERS_ROTATION => None,
        Layout::Declared | Layout::Rotated => match collective.rotation(at) {
            Some(by) => Some(roundel_spec::arith::wrap(by, at.p) as usize),
            None => return Err(Error::NoSuchLayout { name: C::NAME.into() }),
        },
    };
    comm.gather(collective, Gather { send, recv, geometry, rotation, policy: options.policy })
}
