//! What runs a collective's rounds on real data: for those who write a [`Transport`] of their own. Programs that call
//! collectives need nothing of it.

pub use crate::alltoall::{AlltoallCall, AlltoallvCall};
use crate::error::Error;
pub use crate::geometry::{Described, Geometry, Uniform, Varying};
use crate::operation::Operation;
use crate::policy::Policy;
pub use crate::reduce::{Division, ReductionCall};
pub use crate::rooted::{BlockSeat, RootedCall, RootedLayout};
use roundel_spec::{Collective, Place, Placement, Refusal, arith};

/// Which of the declared layouts a call uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// The one that the declaration names first.
    #[default]
    Declared,
    /// Every block where it belongs.
    InPlace,
    /// Blocks rotated while the collective runs, and put in place at the end.
    Rotated,
}

impl Layout {
    /// By how much blocks are rotated while a collective runs that serves the call at `at`.
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

/// Choices of a call that do not change its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where blocks lie meanwhile.
    pub layout: Layout,
    /// How messages of several pieces travel.
    pub policy: Policy,
}

/// One rank among those of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct RankPlacement<'a> {
    /// Where all ranks sit.
    pub placement: &'a Placement,
    /// The rank, in the communicator's numbering.
    pub rank: usize,
}

impl<'a> RankPlacement<'a> {
    /// The number of ranks.
    pub fn p(self) -> usize {
        self.placement.p()
    }

    /// The rank among all of them, wherever they sit.
    pub fn flat(self) -> Place<'a> {
        Place::flat(self.rank as i64, self.p() as i64)
    }

    /// What the rank knows for a collective.
    pub fn seen<C: Collective>(self) -> Place<'a> {
        self.placement.seen(self.rank, C::LOOKS_AT_NODES)
    }

    /// Whether a collective serves a call here: its domain, and what is proved.
    ///
    /// # Errors
    /// [`Error::OutsideDomain`] if it does not.
    pub fn serves<C: Collective>(self, collective: &C) -> Result<Place<'a>, Error> {
        let at = self.seen::<C>();
        // The root is a rank of the communicator, and the collective would take it for one of its own numbering.
        let confused = C::KIND.has_root() && C::LOOKS_AT_NODES && !self.placement.is_sorted();
        let served = match confused {
            true => Err(Refusal::Placement { range: "ranks that are numbered node by node" }),
            false => collective.admits(&at).and_then(|()| collective.proved(&at)),
        };
        served.map(|()| at).map_err(|refusal| Error::OutsideDomain { name: C::NAME.into(), refusal })
    }

    /// Whether a collective reduces in the order of the communicator's ranks: one that looks at nodes keeps the order
    /// in which it sees them.
    pub fn keeps_order<C: Collective>(self) -> bool {
        C::ORDER.rank_order && (!C::LOOKS_AT_NODES || self.placement.is_sorted())
    }
}

/// An allgather(v), as the user called it. Built by [`Allgather`](crate::Allgather).
#[derive(Debug)]
pub struct AllgatherCall<'a, T, G> {
    /// This rank's block; none if it lies in `recv`, where it belongs.
    pub send: Option<&'a [T]>,
    /// All blocks.
    pub recv: &'a mut [T],
    /// Where the blocks lie in `recv`.
    pub geometry: G,
    /// How the call is to run.
    pub options: Options,
}

impl<T, G: Described> AllgatherCall<'_, T, G> {
    /// Every check that one rank can make; then, by how much blocks are rotated while the collective runs.
    pub fn validate<C: Collective>(&self, collective: &C, here: RankPlacement<'_>) -> Result<Option<usize>, Error> {
        self.geometry.validate(&here.flat(), self.send.map(<[T]>::len), self.recv.len())?;
        let at = here.serves(collective)?;
        self.options.layout.rotation(collective, &at)
    }
}

/// A communicator: a group of ranks that can run collectives on elements of type `T`.
pub trait Transport<T> {
    /// This rank among all of them.
    fn here(&self) -> Result<RankPlacement<'_>, Error>;

    /// Where this rank sits, with ranks numbered node by node.
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
