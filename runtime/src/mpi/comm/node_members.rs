//! The ranks of a communicator that are on this rank's node.

use crate::mpi::comm::own::OwnComm;

/// The ranks of a communicator that are on this rank's node.
#[derive(Clone, Copy)]
pub(crate) struct NodeMembers<'a> {
    pub(crate) group: &'a OwnComm,
    /// Their numbers in the communicator.
    pub(crate) ranks: &'a [usize],
    /// This rank's number on the node.
    pub(crate) local: usize,
}

impl<'a> NodeMembers<'a> {
    /// The ranks on this rank's node.
    pub(crate) fn of(group: &'a OwnComm) -> Self {
        let (placement, place) = (&group.placement, group.placement.place(group.rank));
        let first = placement.regions().first(place.node) as usize;
        let ranks = &placement.order()[first..first + place.ppn as usize];
        NodeMembers { group, ranks, local: place.local as usize }
    }
}
