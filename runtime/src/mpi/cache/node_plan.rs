//! The plan of a call on several nodes: through the memory of each node, and with messages between one rank of each.
//!
//! Shared memory, one or two algorithms of the catalogue among one rank of each node, and shared memory again. Each
//! stage does what its collective promises:
//!
//! | collective | within nodes | between nodes | within nodes |
//! |---|---|---|---|
//! | allreduce | reduce | allreduce; or allgather, then every node reduces; or reduce_scatter, allgather | broadcast |
//! | reduce | reduce | reduce | |
//! | broadcast | | broadcast | broadcast |
//! | allgather | gather | allgather | broadcast |
//! | reduce_scatter | reduce | reduce_scatter | scatter |
//! | alltoall | gather | alltoall, of all blocks of two nodes together | scatter |
//!
//! So the catalogue's proofs for ranks without nodes are enough, and node sizes do not matter.

use super::workspace::Workspace;
use crate::error::Error;
use crate::mpi::arguments::image::Sides;
use crate::mpi::arguments::shape::CallShape;
use crate::mpi::execution::shared::{
    CallStage, CallStages, LocalStage, OwnedPlan, STAGES, SharedBuffers, StageBuffers, StageMessages, lock,
};
use crate::mpi::handles::operand::Operands;
use crate::mpi::lowering::plan::{ExtraMessage, MessagePlan, PlanStep};
use std::ffi::c_int;
use std::ptr::{copy_nonoverlapping, null_mut};

/// A plan for this rank.
#[derive(Debug)]
pub(crate) struct NodePlan {
    pub(crate) stages: [Option<NodeStage>; STAGES],
    pub(crate) memory: StageMemory,
}

/// A stage of a plan. Ranks that do not send for their node have none between nodes.
#[derive(Debug)]
pub(crate) enum NodeStage {
    /// In the memory of the node.
    Shared(OwnedPlan),
    /// Messages between one rank of each node.
    Messages(MessagePlan),
    /// By the rank that sends for its node, alone.
    Local(LocalStage),
}

impl NodePlan {
    /// Runs the stages, one after the other.
    ///
    /// # Safety
    /// The shape is that of the planned call, whose memory and handles are live, and all ranks make the same call.
    pub(crate) unsafe fn run(
        &self,
        shape: &CallShape,
        sides: Sides,
        ops: &Option<Operands>,
        workspace: &mut Workspace<'_>,
    ) -> Result<(), Error> {
        let Some(shared) = workspace.shared else { return Ok(()) };
        let (mut shared, held) = (lock(shared), workspace.held.reserve(self.memory.held));
        let lead = ops.as_ref().map_or(0, |ops| ops.true_lb);
        let mut outcome = Ok(());
        // After an error the other stages continue, because other ranks would wait for this one.
        for (stage, buffers) in self.stages.iter().zip(self.memory.stages(shape, sides, held)) {
            let Some(stage) = stage else { continue };
            let StageBuffers { input, output } = buffers;
            let done = match stage {
                NodeStage::Shared(plan) => {
                    let buffers = SharedBuffers { input, output, lead, combine: ops };
                    // SAFETY: the buffers are as long as the plan says.
                    unsafe { shared.run(&plan.get(), &buffers) }
                }
                NodeStage::Messages(messages) => {
                    workspace.exchange(messages, shape.datatype, Sides { send: input, recv: output }, lead, ops)
                }
                NodeStage::Local(local) => {
                    // SAFETY: the stage before it has filled the input, and both were reserved for the plan.
                    unsafe { local.run(buffers, lead, ops) };
                    Ok(())
                }
            };
            outcome = outcome.and(done);
        }
        outcome.and(ops.as_ref().map_or(Ok(()), Operands::outcome))?;
        // SAFETY: held memory was reserved for all blocks, and the receive buffer is the caller's.
        unsafe { self.memory.scatter(held, sides.recv) };
        Ok(())
    }

    /// The stages of a call that does not block, and its memory.
    pub(crate) fn into_stages(self) -> (CallStages, StageMemory) {
        let stage = |stage| match stage {
            NodeStage::Shared(plan) => CallStage::Shared(plan),
            NodeStage::Messages(plan) => CallStage::Messages(StageMessages::new(plan)),
            NodeStage::Local(local) => CallStage::Local(local),
        };
        (self.stages.map(|planned| planned.map(stage)), self.memory)
    }
}

/// Where a stage has its input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageLocation {
    /// Nowhere.
    Nothing,
    /// Where the program's input lies.
    Given,
    /// The program's receive buffer.
    Result,
    /// Held memory, from this byte on.
    Held(usize),
}

/// The input and the output of a stage.
pub(crate) type StageLocations = (StageLocation, StageLocation);

/// The memory of a call on several nodes: the program's, and what the stages need besides.
#[derive(Debug)]
pub(crate) struct StageMemory {
    /// The bytes of held memory.
    pub(crate) held: usize,
    /// Where this rank's block begins in the receive buffer, if it lies there.
    pub(crate) own_at: usize,
    /// The memory of each stage.
    pub(crate) locations: [StageLocations; STAGES],
    /// The blocks of an allgather, if they are not contiguous in this rank's receive buffer: they arrive in held
    /// memory, and are copied from there.
    pub(crate) scattered: Vec<ScatteredBlock>,
}

impl StageMemory {
    /// The buffers of the stages. An input that lies in the receive buffer is this rank's block there.
    pub(crate) fn stages(&self, shape: &CallShape, sides: Sides, held: *mut u8) -> [StageBuffers; STAGES] {
        let given = match shape.send {
            Some(_) => sides.send,
            None => sides.recv.wrapping_add(self.own_at),
        };
        let at = |location| match location {
            StageLocation::Nothing => null_mut(),
            StageLocation::Given => given,
            StageLocation::Result => sides.recv,
            StageLocation::Held(offset) => held.wrapping_add(offset),
        };
        self.locations.map(|(input, output)| StageBuffers { input: at(input), output: at(output) })
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
        match step {
            PlanStep::Exchange(exchange) => {
                to(&mut exchange.out.peer);
                to(&mut exchange.into.peer);
            }
            PlanStep::Send(message) | PlanStep::Receive(message) => to(&mut message.peer),
            _ => {}
        }
    }
    let extra = plan.departures.iter_mut().chain(&mut plan.arrivals);
    extra.for_each(|ExtraMessage { message, .. }| to(&mut message.peer));
}
