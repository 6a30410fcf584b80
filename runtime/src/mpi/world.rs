//! What all ranks of the world know of each other before the program's first call: where they sit, and by which
//! settings they choose.
//!
//! It holds for every communicator whose ranks are all of this world, so such a communicator asks nobody. It is
//! written down while the program is in MPI_Init, where nothing else goes on: afterwards it is there on all ranks, or
//! on none.

use super::code::check;
use super::nodes::ranks_in;
use super::state::Group;
use crate::error::Error;
use crate::selection::Settings;
use crate::transport::Here;
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
}

static WORLD: OnceLock<World> = OnceLock::new();

/// What is known of the world, if something is.
pub(super) fn known() -> Option<&'static World> {
    WORLD.get()
}

/// Writes down what all ranks of the world have agreed upon. All ranks call it, or none.
pub(super) fn remember(group: &Group, settings: &Settings, requests: bool) {
    let nodes = (0..group.placement.p()).map(|rank| group.placement.node(rank)).collect();
    WORLD.get_or_init(|| World { rank: group.rank, nodes, settings: settings.clone(), requests });
}

/// The ranks of a communicator, as far as one rank knows them.
pub(super) struct Members {
    pub(super) rank: usize,
    pub(super) placement: Placement,
}

impl Members {
    pub(super) fn here(&self) -> Here<'_> {
        Here { placement: &self.placement, rank: self.rank }
    }
}

/// The ranks of a communicator, if they are all of this world and that is known; all of its ranks get such an answer,
/// or none.
pub(super) fn members(comm: ffi::MPI_Comm) -> Result<Option<Members>, Error> {
    let Some(World { nodes, .. }) = known() else { return Ok(None) };
    let (mut rank, mut p) = (0, 0);
    // SAFETY: the communicator is live: a call on it led here. The world is a constant of the library.
    let world = unsafe {
        check("MPI_Comm_rank", ffi::MPI_Comm_rank(comm, &mut rank))?;
        check("MPI_Comm_size", ffi::MPI_Comm_size(comm, &mut p))?;
        ffi::RSMPI_COMM_WORLD
    };
    // Ranks of another world have no rank in this one, and MPI says a negative number.
    let node = |&rank: &i32| usize::try_from(rank).ok().and_then(|rank| nodes.get(rank).copied());
    let nodes: Option<Vec<usize>> = ranks_in(comm, p, world)?.iter().map(node).collect();
    Ok(nodes.map(|nodes| Members { rank: rank as usize, placement: Placement::from_nodes(nodes) }))
}
