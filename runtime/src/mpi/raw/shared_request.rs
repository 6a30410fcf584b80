//! Non-blocking calls through shared memory.
//!
//! A call that is started once runs in the memory of its communicator, after all calls that were started before it. A
//! persistent one has its own memory, because ranks may start such calls in any order.

use super::shared_run::{call, unshared};
use crate::error::Error;
use crate::mpi::arguments::image::Sides;
use crate::mpi::arguments::shape::CallShape;
use crate::mpi::cache::spare::QueuedSpare;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::RequestLife;
use crate::mpi::execution::shared::{Completion, QueuedCall, SharedBuffers, SharedMemory, SharedPlan, lock};
use crate::mpi::handles::operand::Operands;
use crate::mpi::state::CommWork;
use std::sync::{Arc, Mutex, TryLockError};

/// A non-blocking call through shared memory.
pub(super) struct SharedRequest {
    memory: Arc<Mutex<SharedMemory>>,
    completion: Arc<Completion>,
    /// The call, while it is not in the queue.
    call: Option<Box<QueuedCall>>,
}

impl SharedRequest {
    /// Plans a call. Collective if it is persistent; otherwise a blocking call has already created the memory.
    pub(super) fn new(
        work: &mut CommWork,
        group: &OwnComm,
        shape: &CallShape,
        life: RequestLife,
    ) -> Result<Self, Error> {
        if group.placement.regions().nodes() > 1 {
            return Err(unshared("the ranks are on several nodes"));
        }
        let CommWork { recent, offsets, shared, .. } = work;
        let call = call(shape, &recent.lists, offsets, group);
        let call = call.ok_or_else(|| unshared("ranks know only their own lengths"))?;
        let (memory, call) = match life {
            RequestLife::Once => (common(shared)?, QueuedCall::new(SharedPlan::new(call)?)),
            RequestLife::Persistent => {
                let (plan, rings) = SharedPlan::for_request(call)?;
                (Arc::new(Mutex::new(SharedMemory::new(group, rings)?)), QueuedCall::new(plan))
            }
        };
        Ok(SharedRequest { memory, completion: Arc::default(), call: Some(call) })
    }

    /// Reuses an earlier call of the same shape.
    pub(super) fn again(work: &CommWork, (call, completion): QueuedSpare) -> Result<Self, Error> {
        Ok(SharedRequest { memory: common(&work.shared)?, completion, call: Some(call) })
    }

    /// Puts the call into the queue.
    ///
    /// # Safety
    /// The buffers are live until the call is complete, and are as long as its shape says.
    pub(super) unsafe fn start(&mut self, shape: &CallShape, sides: Sides, operands: Option<Operands>) {
        let Some(call) = self.call.take() else { return };
        let (input, output) = (if shape.send.is_some() { sides.send } else { sides.recv }, sides.recv);
        let lead = operands.as_ref().map_or(0, |operands| operands.true_lb);
        let buffers = SharedBuffers { input, output, lead, combine: operands };
        // SAFETY: as the caller guarantees.
        let call = unsafe { call.on(buffers, &self.completion) };
        lock(&self.memory).start(call);
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
        self.call.map(|call| (call, self.completion))
    }
}

/// The memory that calls of a communicator share.
fn common(shared: &Option<Result<Arc<Mutex<SharedMemory>>, Error>>) -> Result<Arc<Mutex<SharedMemory>>, Error> {
    match shared {
        Some(memory) => memory.clone(),
        None => Err(unshared("only a call that blocks can make it, and there was none yet")),
    }
}
