//! What a call uses while it runs, besides its plan and the program's buffers.

use crate::error::Error;
use crate::mpi::arguments::image::Sides;
use crate::mpi::execution::shared::SharedMemory;
use crate::mpi::execution::{Combine, MessageScope, MessagesInFlight, PlanExecution, TAG};
use crate::mpi::lowering::areas::{Areas, Scratch};
use crate::mpi::lowering::plan::MessagePlan;
use ::mpi::ffi;
use std::sync::{Arc, Mutex};

/// The memory that calls on one communicator reuse, and Roundel's own communicator.
pub(crate) struct Workspace<'a> {
    pub(crate) comm: ffi::MPI_Comm,
    pub(crate) rank: usize,
    /// Packed messages, and blocks in another order.
    pub(crate) scratch: &'a mut Scratch,
    /// Data that one rank of a node holds for the others.
    pub(crate) held: &'a mut Scratch,
    pub(crate) flight: &'a mut MessagesInFlight,
    /// The memory that the ranks of the node share, if it could be made.
    pub(crate) shared: Option<&'a Arc<Mutex<SharedMemory>>>,
}

impl Workspace<'_> {
    /// Runs a plan with messages.
    #[inline]
    pub(crate) fn exchange<C: Combine>(
        &mut self,
        plan: &MessagePlan,
        datatype: ffi::MPI_Datatype,
        sides: Sides,
        lead: isize,
        combine: C,
    ) -> Result<(), Error> {
        let areas = Areas::of(sides.send, sides.recv, self.scratch.reserve(plan.scratch));
        let Workspace { comm, rank, ref mut flight, .. } = *self;
        let scope = &MessageScope { comm, datatype, rank, tag: TAG };
        PlanExecution { scope, areas, lead, flight, combine }.run(plan)
    }
}
