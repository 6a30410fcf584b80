//! Runs a collective's rounds on real data: for authors of a [`Transport`]. Programs that call collectives do not
//! need it.

pub use crate::alltoall::{AlltoallCall, AlltoallvCall};
use crate::error::Error;
pub use crate::geometry::{Described, Geometry, Uniform, Varying};
use crate::operation::Operation;
use crate::policy::Policy;
pub use crate::reduce::{Division, ReductionCall};
pub use crate::rooted::{BlockSeat, RootedCall, RootedLayout};
use roundel_spec::{Collective, Place, Placement, Refusal, arith};

/// The declared layout that a call uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The layout that the declaration names first.
    #[default]
    Declared,
    /// Every block at its final position.
    InPlace,
    /// Blocks rotated while the collective runs, and moved to their positions at the end.
    Rotated,
}

impl Layout {
    /// By how much blocks are rotated while a collective serves the call at `at`.
    pub(crate) fn rotation<C: Collective>(self, collective: &C, at: &Place) -> Result<Option<usize>, Error> {
        match self {
            Layout::InPlace => Ok(None),
            Layout::Declared if !C::PREFERS_ROTATION => Ok(None),
            Layout::Declared | Layout::Rotated => match collective.rotation(at) {
                Some(by) => Ok(Some(arith::wrap(by, at.p) as usize)),
                None => Err(Error::NoSuchLayout { name: C::NAME.into() }),
            },
        }
    }
}

/// Options of a call that do not change its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where blocks lie during the call.
    pub layout: Layout,
    /// How messages of several pieces travel.
    pub policy: Policy,
}

/// One rank of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct RankPlacement<'a> {
    /// The placement of all ranks.
    pub placement: &'a Placement,
    /// The rank, in the communicator's numbering.
    pub rank: usize,
}

impl<'a> RankPlacement<'a> {
    /// The number of ranks.
    pub fn p(self) -> usize {
        self.placement.p()
    }

    /// The place of the rank among all ranks, without nodes.
    pub fn flat(self) -> Place<'a> {
        Place::flat(self.rank as i64, self.p() as i64)
    }

    /// The place of the rank as a collective sees it.
    pub fn seen<C: Collective>(self) -> Place<'a> {
        self.placement.seen(self.rank, C::LOOKS_AT_NODES)
    }

    /// Returns an error unless a collective serves a call here, by its domain and its proofs.
    ///
    /// # Errors
    /// [`Error::OutsideDomain`] if it does not.
    pub fn serves<C: Collective>(self, collective: &C) -> Result<Place<'a>, Error> {
        let at = self.seen::<C>();
        // The root is a rank of the communicator, and the collective would interpret it in its own numbering.
        let confused = C::KIND.has_root() && C::LOOKS_AT_NODES && !self.placement.is_sorted();
        let served = match confused {
            true => Err(Refusal::Placement { range: "ranks that are numbered node by node" }),
            false => collective.admits(&at).and_then(|()| collective.proved(&at)),
        };
        served.map(|()| at).map_err(|refusal| Error::OutsideDomain { name: C::NAME.into(), refusal })
    }

    /// Whether a collective reduces in the order of the communicator's ranks: one that looks at nodes keeps the order
    /// of its own numbering.
    pub fn keeps_order<C: Collective>(self) -> bool {
        C::ORDER.rank_order && (!C::LOOKS_AT_NODES || self.placement.is_sorted())
    }
}

/// An allgather(v), as the user called it. Built by [`Allgather`](crate::Allgather).
#[derive(Debug)]
pub struct AllgatherCall<'a, T, G> {
    /// This rank's block; none if it already lies in `recv`.
    pub send: Option<&'a [T]>,
    /// All blocks.
    pub recv: &'a mut [T],
    /// Where the blocks lie in `recv`.
    pub geometry: G,
    /// The options of the call.
    pub options: Options,
}

impl<T, G: Described> AllgatherCall<'_, T, G> {
    /// Makes every check that one rank can make. Returns by how much blocks are rotated while the collective runs.
    pub fn validate<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<Option<usize>, Error> {
        self.geometry.validate(&here.flat(), self.send.map(<[T]>::len), self.recv.len())?;
        let at = here.serves(collective)?;
        self.options.layout.rotation(collective, &at)
    }
}

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
