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

use crate::mpi::arguments::image::Sides;
use crate::mpi::arguments::shape::CallShape;
use crate::mpi::execution::shared::{CallStage, CallStages, OwnedPlan, STAGES, StageBuffers, StageMessages};
use crate::mpi::lowering::plan::{ExtraMessage, MessagePlan, PlanStep};
use roundel_spec::Kind;
use std::ffi::c_int;
use std::ptr::{copy_nonoverlapping, null_mut};

/// A plan for this rank.
#[derive(Debug)]
pub(crate) struct NodePlan {
    pub(crate) before: Option<OwnedPlan>,
    /// The messages, if this rank sends for its node.
    pub(crate) between: Option<MessagePlan>,
    pub(crate) after: Option<OwnedPlan>,
    pub(crate) memory: NodeMemory,
}

impl NodePlan {
    /// The stages of a call that does not block, and its memory.
    pub(crate) fn into_stages(self) -> (CallStages, NodeMemory) {
        let between = self.between.map(|plan| CallStage::Messages(StageMessages::new(plan)));
        ([self.before.map(CallStage::Shared), between, self.after.map(CallStage::Shared)], self.memory)
    }
}

/// The memory of a call on several nodes: the program's, and what the stages need besides.
#[derive(Debug)]
pub(crate) struct NodeMemory {
    /// The bytes for the input of the messages, and for their output.
    pub(crate) held: [usize; 2],
    /// Where this rank's block begins in the receive buffer, if it lies there.
    pub(crate) own_at: usize,
    /// The blocks of an allgather, if they are not contiguous in this rank's receive buffer: they arrive in held
    /// memory, and are copied from there.
    pub(crate) scattered: Vec<ScatteredBlock>,
}

impl NodeMemory {
    /// The bytes of held memory.
    pub(crate) fn bytes(&self) -> usize {
        self.input_bytes() + self.held[1]
    }

    fn input_bytes(&self) -> usize {
        self.held[0].next_multiple_of(16)
    }

    /// The memory of the three stages.
    pub(crate) fn stages(
        &self,
        shape: &CallShape,
        sides: Sides,
        is_root: bool,
        held: *mut u8,
    ) -> [StageBuffers; STAGES] {
        let buffers = |input, output| StageBuffers { input, output };
        let output = held.wrapping_add(self.input_bytes());
        let given = match shape.send {
            Some(_) => sides.send,
            None if shape.kind == Kind::Allgather => sides.recv.wrapping_add(self.own_at),
            None => sides.recv,
        };
        let all = if self.scattered.is_empty() { sides.recv } else { held };
        match shape.kind {
            Kind::Reduce if !is_root => [buffers(given, held), buffers(held, null_mut()), StageBuffers::NONE],
            Kind::ReduceScatter => [buffers(given, held), buffers(held, output), buffers(output, sides.recv)],
            _ => [buffers(given, all), buffers(null_mut(), all), buffers(all, all)],
        }
    }

    /// Copies blocks that have arrived in held memory to where they go.
    ///
    /// # Safety
    /// Held memory has all blocks, and the receive buffer has room for them.
    pub(crate) unsafe fn scatter(&self, held: *const u8, recv: *mut u8) {
        for &ScatteredBlock { from, to, bytes } in &self.scattered {
            // SAFETY: the caller guarantees it.
            unsafe { copy_nonoverlapping(held.wrapping_add(from), recv.wrapping_add(to), bytes) };
        }
    }
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
