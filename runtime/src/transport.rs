//! Runs a collective's rounds on real data: for authors of a [`Transport`]. Programs that call collectives do not
//! need it.

pub use crate::call::allgather::AllgatherCall;
pub use crate::call::alltoall::{AlltoallCall, AlltoallvCall};
pub use crate::call::geometry::{Described, Geometry, Uniform, Varying};
pub use crate::call::layout::{Layout, Options};
pub use crate::call::rank_placement::RankPlacement;
pub use crate::call::reduction::{Division, ReductionCall};
pub use crate::call::rooted::{BlockStorage, RootedCall, RootedLayout};
use crate::error::Error;
use crate::operation::Operation;
use roundel_spec::{Collective, Place};

/// A communicator: a group of ranks that can run collectives on elements of type `T`.
pub trait Transport<T> {
    /// This rank and the placement of all ranks.
    fn here(&self) -> Result<RankPlacement<'_>, Error>;

    /// The place of this rank, with ranks numbered node by node.
    fn place(&self) -> Result<Place<'_>, Error> {
        self.here().map(|here| here.placement.place(here.rank))
    }

    /// Validates the call and runs the rounds of `collective`.
    fn gather<C: Collective, G: Described>(&self, collective: &C, call: AllgatherCall<'_, T, G>)
    -> Result<(), Error>;

    /// Validates the call and runs the rounds of `collective`.
    fn reduce<C: Collective, O: Operation<T>>(
        &self,
        collective: &C,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error>;

    /// Validates the call and runs the rounds of `collective`.
    fn spread<C: Collective>(&self, collective: &C, call: RootedCall<'_, T>) -> Result<(), Error>;

    /// Validates the call and runs the rounds of `collective`, with blocks of the same length.
    fn shuffle<C: Collective>(&self, collective: &C, call: AlltoallCall<'_, T>) -> Result<(), Error>;

    /// Validates the call and runs the rounds of `collective`, with blocks of any lengths.
    fn shuffle_varying<C: Collective>(&self, collective: &C, call: AlltoallvCall<'_, T>) -> Result<(), Error>;
}
