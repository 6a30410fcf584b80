//! Facts that all ranks of the world share before the program's first call: their placement, and the settings for
//! choosing algorithms.
//!
//! They hold for every communicator whose ranks all belong to this world, so such a communicator needs no
//! communication. They are stored during MPI_Init, when nothing else runs: afterwards either all ranks have them, or
//! none does.

use crate::choice::selection::Settings;
use crate::error::Error;
use crate::mpi::comm::nodes::ranks_in;
use crate::mpi::comm::own::{CommMembers, OwnComm};
use crate::mpi::process::code::check;
use ::mpi::ffi;
use roundel_spec::Placement;
use std::sync::OnceLock;

/// What the ranks of the world agreed on.
pub(crate) struct World {
    pub(crate) rank: usize,
    /// The node of each rank.
    nodes: Vec<usize>,
    pub(crate) settings: Settings,
    /// Whether all ranks can serve non-blocking calls.
    pub(crate) requests: bool,
    /// Whether the world has only one rank and MPI serves all of its calls.
    pub(crate) passes: bool,
}

impl World {
    /// The number of ranks on this rank's node.
    pub(crate) fn ranks_of_node(&self) -> usize {
        self.nodes.iter().filter(|&&node| node == self.nodes[self.rank]).count()
    }
}

static WORLD: OnceLock<World> = OnceLock::new();

/// The world, if it was set up.
pub(crate) fn known() -> Option<&'static World> {
    WORLD.get()
}

/// Stores what all ranks of the world agreed on. All ranks call it, or none.
pub(crate) fn remember(group: &OwnComm, settings: &Settings, requests: bool) {
    let nodes = (0..group.placement.p()).map(|rank| group.placement.node(rank)).collect();
    let passes = group.placement.p() == 1 && settings.leaves_all(1);
    WORLD.get_or_init(|| World { rank: group.rank, nodes, settings: settings.clone(), requests, passes });
}

/// The ranks of a communicator, if the world was set up and they all belong to it. Either all of its ranks get them, or
/// none does.
pub(crate) fn members(comm: ffi::MPI_Comm) -> Result<Option<CommMembers>, Error> {
    let Some(World { nodes, .. }) = known() else { return Ok(None) };
    let mut rank = 0;
    // SAFETY: the communicator is live: a call on it led here.
    check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm, &mut rank) })?;
    let node = |&rank: &i32| usize::try_from(rank).ok().and_then(|rank| nodes.get(rank).copied());
    let nodes: Option<Vec<usize>> = ranks_of(comm)?.iter().map(node).collect();
    Ok(nodes.map(|nodes| CommMembers { rank: rank as usize, placement: Placement::from_nodes(nodes) }))
}

/// Whether all ranks of a communicator belong to this world.
pub(crate) fn has_all(comm: ffi::MPI_Comm) -> Result<bool, Error> {
    Ok(ranks_of(comm)?.iter().all(|&rank| rank >= 0))
}

/// The ranks of a communicator in this world; MPI gives ranks of another world a negative number.
fn ranks_of(comm: ffi::MPI_Comm) -> Result<Vec<i32>, Error> {
    let mut p = 0;
    // SAFETY: the communicator is live: a call on it led here. The world is a constant of the library.
    let world = unsafe {
        check("MPI_Comm_size", ffi::MPI_Comm_size(comm, &mut p))?;
        ffi::RSMPI_COMM_WORLD
    };
    ranks_in(comm, p, world)
}
