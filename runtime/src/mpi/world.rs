//! What all ranks of the world know of each other before the program's first call: where they sit, and by which
//! settings they choose.
//!
//! It holds for every communicator whose ranks are all of this world, so such a communicator asks nobody. It is
//! written down while the program is in MPI_Init, where nothing else goes on: afterwards it is there on all ranks, or
//! on none.

use super::code::check;
use super::nodes::ranks_in;
use super::state::OwnComm;
use crate::error::Error;
use crate::selection::Settings;
use crate::transport::RankPlacement;
use ::mpi::ffi;
use roundel_spec::Placement;
use std::sync::OnceLock;

/// What the ranks of the world have agreed upon.
pub(super) struct World {
    pub(super) rank: usize,
    /// The node of each rank.
    nodes: Vec<usize>,
    pub(super) settings: Settings,
    /// Whether calls that go on while the program does something else are served on all ranks.
    pub(super) requests: bool,
    /// Whether all calls are the library's, whichever ranks of this world make them: all of them sit on one node.
    pub(super) passes: bool,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// What is known of the world, if something is.
pub(super) fn known() -> Option<&'static World> {
    WORLD.get()
}

/// Writes down what all ranks of the world have agreed upon. All ranks call it, or none.
pub(super) fn remember(group: &OwnComm, settings: &Settings, requests: bool) {
    let nodes = (0..group.placement.p()).map(|rank| group.placement.node(rank)).collect();
    let passes = settings.leaves_all(group.placement.regions().nodes() as usize);
    WORLD.get_or_init(|| World { rank: group.rank, nodes, settings: settings.clone(), requests, passes });
}

/// The ranks of a communicator, as far as one rank knows them.
pub(super) struct CommMembers {
    pub(super) rank: usize,
    pub(super) placement: Placement,
}

impl CommMembers {
    pub(super) fn here(&self) -> RankPlacement<'_> {
        RankPlacement { placement: &self.placement, rank: self.rank }
    }
}

/// The ranks of a communicator, if they are all of this world and that is known; all of its ranks get such an answer,
/// or none.
pub(super) fn members(comm: ffi::MPI_Comm) -> Result<Option<CommMembers>, Error> {
    let Some(World { nodes, .. }) = known() else { return Ok(None) };
    let mut rank = 0;
    // SAFETY: the communicator is live: a call on it led here.
    check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm, &mut rank) })?;
    let node = |&rank: &i32| usize::try_from(rank).ok().and_then(|rank| nodes.get(rank).copied());
    let nodes: Option<Vec<usize>> = ranks_of(comm)?.iter().map(node).collect();
    Ok(nodes.map(|nodes| CommMembers { rank: rank as usize, placement: Placement::from_nodes(nodes) }))
}

/// Whether the ranks of a communicator are all of this world.
pub(super) fn has_all(comm: ffi::MPI_Comm) -> Result<bool, Error> {
    Ok(ranks_of(comm)?.iter().all(|&rank| rank >= 0))
}

/// The ranks of a communicator in this world; ranks of another world have none, and MPI says a negative number.
fn ranks_of(comm: ffi::MPI_Comm) -> Result<Vec<i32>, Error> {
    let mut p = 0;
    // SAFETY: the communicator is live: a call on it led here. The world is a constant of the library.
    let world = unsafe {
        check("MPI_Comm_size", ffi::MPI_Comm_size(comm, &mut p))?;
        ffi::RSMPI_COMM_WORLD
    };
    ranks_in(comm, p, world)
}
