//! Calls that choose their algorithm, and calls of a chosen algorithm.

use super::{AlltoallAlgorithm, Cluster, ModelledAlltoall};
use crate::algorithms::{HierarchicalAlltoall, KBruckAlltoall, Leaders, ModifiedBruck, PairwiseAlltoall, SpreadOut};
use crate::alltoall::Alltoall;
use crate::error::Error;
use crate::transport::{RankPlacement, Transport};

/// An alltoall that needs no radix: runs the fastest algorithm by the model, of those proved for the call. All ranks
/// must pass the same cluster.
///
/// ```
/// use roundel::choice::alltoalls::{Cluster, Network, alltoall};
/// use roundel::threads;
///
/// let cluster = Cluster::flat(4, Network::default());
/// let results = threads::run(4, |comm| {
///     let send: Vec<usize> = (0..4).map(|to| 10 * comm.rank() + to).collect();
///     let mut recv = [0; 4];
///     alltoall(comm, &send, &mut recv, &cluster).map(|()| recv)
/// });
/// assert_eq!(results[1], Ok([1, 11, 21, 31]));
/// ```
///
/// # Errors
/// The same as for [`Alltoall::alltoall`].
pub fn alltoall<T>(comm: &impl Transport<T>, send: &[T], recv: &mut [T], cluster: &Cluster) -> Result<(), Error> {
    let here = comm.here()?;
    let bytes = (recv.len() / here.p()).saturating_mul(size_of::<T>());
    let candidates = cluster.candidates(i64::try_from(bytes).unwrap_or(i64::MAX));
    // A call too large for the model falls back to the call's own checks.
    let candidates = candidates.unwrap_or_default();
    match candidates.iter().find(|choice| choice.serves(here)) {
        Some(choice) => choice.alltoall(comm, send, recv),
        None => SpreadOut.alltoall(comm, send, recv),
    }
}

impl ModelledAlltoall {
    /// The radix, for algorithms that have one.
    fn base(&self) -> i64 {
        self.radix.unwrap_or(2)
    }

    /// Whether the chosen algorithm is proved for a call here.
    pub fn serves(&self, here: RankPlacement<'_>) -> bool {
        let radix = self.base();
        match (self.algorithm, self.radix) {
            (AlltoallAlgorithm::SpreadOut, _) => here.serves(&SpreadOut).is_ok(),
            (AlltoallAlgorithm::Pairwise, _) => here.serves(&PairwiseAlltoall).is_ok(),
            (AlltoallAlgorithm::KBruck, _) => here.serves(&KBruckAlltoall { radix }).is_ok(),
            (AlltoallAlgorithm::ModifiedBruck, _) => here.serves(&ModifiedBruck { radix }).is_ok(),
            (AlltoallAlgorithm::Leaders, _) => here.serves(&Leaders).is_ok(),
            (AlltoallAlgorithm::Hierarchical, None) => here.serves(&<HierarchicalAlltoall>::default()).is_ok(),
            (AlltoallAlgorithm::Hierarchical, Some(radix)) => {
                here.serves(&HierarchicalAlltoall::with_radix(radix)).is_ok()
            }
        }
    }

    /// Runs the chosen algorithm: [`Alltoall::alltoall`].
    ///
    /// # Errors
    /// The same as for the call.
    pub fn alltoall<T>(&self, comm: &impl Transport<T>, send: &[T], recv: &mut [T]) -> Result<(), Error> {
        match self.algorithm {
            AlltoallAlgorithm::SpreadOut => SpreadOut.alltoall(comm, send, recv),
            AlltoallAlgorithm::Pairwise => PairwiseAlltoall.alltoall(comm, send, recv),
            AlltoallAlgorithm::KBruck => KBruckAlltoall { radix: self.base() }.alltoall(comm, send, recv),
            AlltoallAlgorithm::ModifiedBruck => ModifiedBruck { radix: self.base() }.alltoall(comm, send, recv),
            AlltoallAlgorithm::Leaders => Leaders.alltoall(comm, send, recv),
            AlltoallAlgorithm::Hierarchical => match self.radix {
                None => <HierarchicalAlltoall>::default().alltoall(comm, send, recv),
                Some(radix) => HierarchicalAlltoall::with_radix(radix).alltoall(comm, send, recv),
            },
        }
    }

    /// Runs the chosen algorithm with blocks of any lengths: [`Alltoall::alltoallv`]. All ranks must make the same
    /// choice, so choose for a length that they agree about, such as an average.
    ///
    /// # Errors
    /// The same as for the call.
    #[allow(clippy::too_many_arguments, reason = "those of MPI_Alltoallv")]
    pub fn alltoallv<T>(
        &self,
        comm: &impl Transport<T>,
        send: &[T],
        send_counts: &[usize],
        send_displs: &[usize],
        recv: &mut [T],
        recv_counts: &[usize],
        recv_displs: &[usize],
    ) -> Result<(), Error> {
        let (leaving, arriving) = ((send_counts, send_displs), (recv_counts, recv_displs));
        match self.algorithm {
            AlltoallAlgorithm::SpreadOut => varying(&SpreadOut, comm, send, leaving, recv, arriving),
            AlltoallAlgorithm::Pairwise => varying(&PairwiseAlltoall, comm, send, leaving, recv, arriving),
            AlltoallAlgorithm::KBruck => {
                varying(&KBruckAlltoall { radix: self.base() }, comm, send, leaving, recv, arriving)
            }
            AlltoallAlgorithm::ModifiedBruck => {
                varying(&ModifiedBruck { radix: self.base() }, comm, send, leaving, recv, arriving)
            }
            AlltoallAlgorithm::Leaders => varying(&Leaders, comm, send, leaving, recv, arriving),
            AlltoallAlgorithm::Hierarchical => match self.radix {
                None => varying(&<HierarchicalAlltoall>::default(), comm, send, leaving, recv, arriving),
                Some(radix) => varying(&HierarchicalAlltoall::with_radix(radix), comm, send, leaving, recv, arriving),
            },
        }
    }
}

/// Counts and displacements.
type Lists<'a> = (&'a [usize], &'a [usize]);

fn varying<T, C: Alltoall>(
    collective: &C,
    comm: &impl Transport<T>,
    send: &[T],
    leaving: Lists<'_>,
    recv: &mut [T],
    arriving: Lists<'_>,
) -> Result<(), Error> {
    collective.alltoallv(comm, send, leaving.0, leaving.1, recv, arriving.0, arriving.1)
}
