//! A collective whose type is known only at run time: of the catalogue, or a user's own.
//!
//! [`Collective`] has constants and a generic method, so there is no `dyn Collective`. This is the part of it that
//! selections and calls with MPI's own arguments need.

#[cfg(feature = "mpi")]
use crate::{error::Error, rank_rounds::RankRounds, transport::Layout, transport::RankPlacement};
use roundel_spec::schedule::Order;
use roundel_spec::{Arguments, Collective, Kind, Place, Refusal};
#[cfg(feature = "mpi")]
use roundel_spec::{Placement, Trace, check::record_code};
#[cfg(feature = "mpi")]
use std::any::TypeId;

/// The constants of a collective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for errors of calls on MPI"))]
    pub(crate) name: &'static str,
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for calls on MPI"))]
    pub(crate) kind: Kind,
    pub(crate) looks_at_nodes: bool,
    pub(crate) order: Order,
    pub(crate) record: Option<&'static str>,
}

/// A collective of any type.
pub(crate) trait AnyCollective {
    fn constants(&self) -> Constants;

    fn admits(&self, at: &Place<'_>) -> Result<(), Refusal>;

    fn proved(&self, at: &Place<'_>) -> Result<(), Refusal>;

    fn proved_alone(&self, at: &Place<'_>) -> Result<(), Refusal>;

    /// Returns an error unless it serves a call here.
    #[cfg(feature = "mpi")]
    fn serves<'a>(&self, here: RankPlacement<'a>) -> Result<Place<'a>, Error>;

    /// Whether it is proved to reduce in the order of ranks here.
    #[cfg(feature = "mpi")]
    fn keeps_order(&self, here: RankPlacement<'_>) -> bool;

    /// By how much blocks are rotated in a layout.
    #[cfg(feature = "mpi")]
    fn rotated(&self, layout: Layout, at: &Place<'_>) -> Result<Option<usize>, Error>;

    /// The rounds of a rank.
    #[cfg(feature = "mpi")]
    fn rank_rounds(&self, here: RankPlacement<'_>) -> RankRounds;

    /// The rounds of all ranks.
    #[cfg(feature = "mpi")]
    fn trace(&self, placement: &Placement) -> Trace;

    /// Its type. Collectives of one type with equal arguments have equal rounds.
    #[cfg(feature = "mpi")]
    fn type_of(&self) -> TypeId;

    #[cfg(feature = "mpi")]
    fn arguments(&self) -> Arguments;

    #[cfg(feature = "mpi")]
    fn has_arguments(&self, args: &Arguments) -> bool;
}

impl<C: Collective> AnyCollective for C {
    fn constants(&self) -> Constants {
        Constants {
            name: C::NAME,
            kind: C::KIND,
            looks_at_nodes: C::LOOKS_AT_NODES,
            order: C::ORDER,
            record: C::RECORD,
        }
    }

    fn admits(&self, at: &Place<'_>) -> Result<(), Refusal> {
        Collective::admits(self, at)
    }

    fn proved(&self, at: &Place<'_>) -> Result<(), Refusal> {
        Collective::proved(self, at)
    }

    fn proved_alone(&self, at: &Place<'_>) -> Result<(), Refusal> {
        Collective::proved_alone(self, at)
    }

    #[cfg(feature = "mpi")]
    fn serves<'a>(&self, here: RankPlacement<'a>) -> Result<Place<'a>, Error> {
        here.serves(self)
    }

    #[cfg(feature = "mpi")]
    fn keeps_order(&self, here: RankPlacement<'_>) -> bool {
        here.keeps_order(self)
    }

    #[cfg(feature = "mpi")]
    fn rotated(&self, layout: Layout, at: &Place<'_>) -> Result<Option<usize>, Error> {
        layout.rotation(self, at)
    }

    #[cfg(feature = "mpi")]
    fn rank_rounds(&self, here: RankPlacement<'_>) -> RankRounds {
        RankRounds::of(self, here)
    }

    #[cfg(feature = "mpi")]
    fn trace(&self, placement: &Placement) -> Trace {
        record_code(self, placement)
    }

    #[cfg(feature = "mpi")]
    fn type_of(&self) -> TypeId {
        TypeId::of::<C>()
    }

    #[cfg(feature = "mpi")]
    fn arguments(&self) -> Arguments {
        Collective::arguments(self)
    }

    #[cfg(feature = "mpi")]
    fn has_arguments(&self, args: &Arguments) -> bool {
        Collective::has_arguments(self, args)
    }
}

/// A collective that threads may share.
pub(crate) type SharedCollective = dyn AnyCollective + Send + Sync;

/// The collective of a type with these parameters; `None` if their number is wrong.
pub(crate) fn make<C: Collective + Send + Sync>(args: &Arguments) -> Option<Box<SharedCollective>> {
    C::from_arguments(args).map(|collective| Box::new(collective) as Box<SharedCollective>)
}
