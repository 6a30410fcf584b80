//! Non-blocking calls through shared memory.
//!
//! A call that is started once runs in the memory of its communicator, after all calls that were started before it. A
//! persistent one has its own memory, because ranks may start such calls in any order.

use super::node_run;
use super::shared_run::{call, fetches, unshared};
use crate::choice::selection::BetweenNodes;
use crate::error::Error;
use crate::mpi::arguments::image::{Rank, Sides};
use crate::mpi::arguments::shape::{BlockLayout, CallShape};
use crate::mpi::cache::spare::{HeldMemory, QueuedSpare};
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::shared_window::Rings;
use crate::mpi::execution::shared::{
    CallStage, CallStages, Completion, OwnedPlan, QueuedCall, STAGES, SharedMemory, SharedPlan, StageBuffers,
    StageOperands, lock,
};
use crate::mpi::execution::{MessageScope, RequestLife};
use crate::mpi::handles::operand::Operands;
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::state::CommWork;
use crate::program::shared::CopyPath;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, TryLockError};

/// A non-blocking call through shared memory.
pub(super) struct SharedRequest {
    memory: Arc<Mutex<SharedMemory>>,
    completion: Arc<Completion>,
    /// The call, while it is not in the queue.
    call: Option<Box<QueuedCall>>,
    /// Its memory, if it is on several nodes.
    nodes: Option<HeldMemory>,
}

impl SharedRequest {
    /// Plans a call, with what runs between nodes if there are several. Collective if it is persistent; otherwise
    /// a blocking call has already created the memory.
    pub(super) fn new(
        work: &mut CommWork,
        group: &OwnComm,
        shape: &CallShape,
        between: Option<&BetweenNodes>,
        path: CopyPath,
        life: RequestLife,
    ) -> Result<Self, Error> {
        let (memory, stages, nodes) = match between {
            Some(between) => Self::on_nodes(work, group, shape, between, life)?,
            None => Self::on_one_node(work, group, shape, path, life)?,
        };
        Ok(SharedRequest { memory, completion: Arc::default(), call: Some(QueuedCall::new(stages)), nodes })
    }

    fn on_one_node(
        work: &mut CommWork,
        group: &OwnComm,
        shape: &CallShape,
        path: CopyPath,
        life: RequestLife,
    ) -> Result<PlannedStages, Error> {
        if group.placement.regions().nodes() > 1 {
            return Err(unshared("nothing between nodes is proved for it"));
        }
        let CommWork { recent, offsets, .. } = work;
        if shape.blocks == BlockLayout::Private && shape.send.is_none() {
            return Err(unshared("a request for an alltoallv in place has no room to copy what it sends"));
        }
        let call = call(shape, &recent.lists, offsets, group, path);
        if path == CopyPath::Kernel {
            fetches(&call)?;
        }
        let (plan, rings): (OwnedPlan, _) = match life {
            RequestLife::Once => (SharedPlan::new(call)?.into(), None),
            RequestLife::Persistent => {
                SharedPlan::for_request(call).map(|(plan, rings)| (plan.into(), Some(rings)))?
            }
        };
        let peers = match (path, life) {
            (CopyPath::Slot, _) => None,
            (CopyPath::Kernel, RequestLife::Once) => Some(work.known_peers()?),
            (CopyPath::Kernel, RequestLife::Persistent) => Some(work.peers(group)?),
        };
        let memory = match rings {
            None => common(&work.shared)?,
            Some(rings) => own_memory(group, rings)?,
        };
        peers.into_iter().for_each(|peers| lock(&memory).fetch_from(peers));
        Ok((memory, [Some(CallStage::Shared(plan)), None, None, None, None], None))
    }

    fn on_nodes(
        work: &mut CommWork,
        group: &OwnComm,
        shape: &CallShape,
        between: &BetweenNodes,
        life: RequestLife,
    ) -> Result<PlannedStages, Error> {
        let (memory, plan) = match life {
            RequestLife::Once => {
                let memory = common(&work.shared)?;
                (memory, node_run::plan(work, group, shape, between)?)
            }
            RequestLife::Persistent => {
                let (plan, rings) = node_run::plan_request(group, shape, &work.recent.lists, between)?;
                (own_memory(group, rings)?, plan)
            }
        };
        let (stages, nodes) = plan.into_stages();
        Ok((memory, stages, Some(HeldMemory { memory: nodes, held: Scratch::default() })))
    }

    /// Reuses an earlier call of the same shape.
    pub(super) fn again(work: &CommWork, spare: QueuedSpare) -> Result<Self, Error> {
        let QueuedSpare { call, completion, nodes } = spare;
        Ok(SharedRequest { memory: common(&work.shared)?, completion, call: Some(call), nodes })
    }

    /// Puts the call into the queue.
    ///
    /// # Safety
    /// The buffers are live until the call is complete, and are as long as its shape says.
    pub(super) unsafe fn start(
        &mut self,
        shape: &CallShape,
        sides: Sides,
        operands: Option<Operands>,
        rank: Rank,
        tag: c_int,
    ) {
        let Some(call) = self.call.take() else { return };
        let (buffers, messages) = match &mut self.nodes {
            None => (one_stage(shape, sides), None),
            Some(HeldMemory { memory, held }) => {
                let held = held.reserve(memory.held);
                let buffers = memory.stages(shape, sides, held);
                (buffers, Some(MessageScope { comm: rank.comm, datatype: shape.datatype, rank: rank.rank, tag }))
            }
        };
        let lead = operands.as_ref().map_or(0, |operands| operands.true_lb);
        let operands = StageOperands { buffers, lead, combine: operands, messages };
        // SAFETY: as the caller guarantees.
        let call = unsafe { call.on(operands, &self.completion) };
        lock(&self.memory).start(call);
    }

    /// Moves the result of a completed call to the receive buffer, as far as it is elsewhere.
    ///
    /// # Safety
    /// The receive buffer is that of [`start`](SharedRequest::start).
    pub(super) unsafe fn land(&mut self, recv: *mut u8) {
        if let Some(HeldMemory { memory, held }) = &mut self.nodes {
            // SAFETY: the call has filled the held memory, and the receive buffer has room for all blocks.
            unsafe { memory.scatter(held.reserve(memory.held), recv) };
        }
    }

    /// Advances the queue. Returns whether the call is complete.
    pub(super) fn progress(&mut self) -> Result<bool, Error> {
        if !self.ended()? {
            // The holder of the lock advances the queue: a blocking call of this thread, which waits, or another
            // thread.
            match self.memory.try_lock() {
                Ok(mut memory) => memory.advance(),
                Err(TryLockError::Poisoned(memory)) => memory.into_inner().advance(),
                Err(TryLockError::WouldBlock) => return Ok(false),
            }
            return self.ended();
        }
        Ok(true)
    }

    fn ended(&mut self) -> Result<bool, Error> {
        let Some((call, outcome)) = self.completion.take() else { return Ok(false) };
        self.call = Some(call);
        outcome.map(|()| true)
    }

    /// The parts that a later call like this one can reuse.
    pub(super) fn into_spare(self) -> Option<QueuedSpare> {
        let SharedRequest { completion, nodes, .. } = self;
        self.call.map(|call| QueuedSpare { call, completion, nodes })
    }
}

/// The memory, the stages, and what a call on several nodes needs besides.
type PlannedStages = (Arc<Mutex<SharedMemory>>, CallStages, Option<HeldMemory>);

/// The buffers of a call in one stage.
fn one_stage(shape: &CallShape, sides: Sides) -> [StageBuffers; STAGES] {
    let input = if shape.send.is_some() { sides.send } else { sides.recv };
    let mut stages = [StageBuffers::NONE; STAGES];
    stages[0] = StageBuffers { input, output: sides.recv };
    stages
}

/// Memory for a single request. Collective.
fn own_memory(group: &OwnComm, rings: Rings) -> Result<Arc<Mutex<SharedMemory>>, Error> {
    Ok(Arc::new(Mutex::new(SharedMemory::new(group, rings)?)))
}

/// The memory that calls of a communicator share.
fn common(shared: &Option<Result<Arc<Mutex<SharedMemory>>, Error>>) -> Result<Arc<Mutex<SharedMemory>>, Error> {
    match shared {
        Some(memory) => memory.clone(),
        None => Err(unshared("only a call that blocks can make it, and there was none yet")),
    }
}
