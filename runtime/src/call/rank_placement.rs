//! Where a call is made: one rank of a communicator.

use crate::error::Error;
use roundel_spec::{Collective, Place, Placement, Refusal};

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

    /// Whether a collective is proved to reduce in the order of the communicator's ranks: one that looks at nodes keeps
    /// the order of its own numbering.
    pub fn keeps_order<C: Collective>(self, collective: &C) -> bool {
        let sorted = !C::LOOKS_AT_NODES || self.placement.is_sorted();
        C::ORDER.rank_order && sorted && collective.proved_in_order(&self.seen::<C>()).is_ok()
    }
}
