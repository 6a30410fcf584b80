//! The plan of a call on several nodes: through the memory of each node, and with messages between one rank of each.
//!
//! Up to three stages: shared memory, an algorithm of the catalogue among one rank of each node, and shared memory
//! again. Each does what its collective promises:
//!
//! | collective | within nodes | between nodes | within nodes |
//! |---|---|---|---|
//! | allreduce | reduce | allreduce | broadcast |
//! | reduce | reduce | reduce | |
//! | broadcast | | broadcast | broadcast |
//! | allgather | gather | allgather | broadcast |
//! | reduce_scatter | reduce | reduce_scatter | scatter |
//!
//! So the catalogue's proofs for ranks without nodes are enough, and node sizes do not matter.

use crate::mpi::execution::shared::OwnedPlan;
use crate::mpi::lowering::plan::{ExtraMessage, MessagePlan, PlanStep};
use std::ffi::c_int;

/// A plan for this rank.
#[derive(Debug)]
pub(crate) struct NodePlan {
    pub(crate) before: Option<OwnedPlan>,
    /// The messages, if this rank sends for its node.
    pub(crate) between: Option<MessagePlan>,
    pub(crate) after: Option<OwnedPlan>,
    /// The bytes of memory for the input of the messages, and for their output.
    pub(crate) held: [usize; 2],
    /// Where this rank's block begins in the receive buffer, if it lies there.
    pub(crate) own_at: usize,
    /// The blocks of an allgather, if they are not contiguous in this rank's receive buffer: they arrive in held
    /// memory, and are copied from there.
    pub(crate) scattered: Vec<ScatteredBlock>,
}

/// A block in held memory, and where it goes in the receive buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScatteredBlock {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) bytes: usize,
}

/// Replaces the numbers of nodes with those of the ranks that send for them.
pub(crate) fn address(plan: &mut MessagePlan, senders: &[usize]) {
    let to = |peer: &mut c_int| *peer = senders[*peer as usize] as c_int;
    for step in &mut plan.steps {
        if let PlanStep::Exchange(exchange) = step {
            to(&mut exchange.out.peer);
            to(&mut exchange.into.peer);
        }
    }
    let extra = plan.departures.iter_mut().chain(&mut plan.arrivals);
    extra.for_each(|ExtraMessage { message, .. }| to(&mut message.peer));
}
