//! Non-blocking calls, executed step by step: each has its own plan, or runs in shared memory.

use super::device::Staged;
use super::shared_request::SharedRequest;
use crate::error::Error;
use crate::mpi::arguments::image::{Rank, Sides};
use crate::mpi::arguments::shape::{ParsedCall, Side};
use crate::mpi::cache::spare::{Home, SpareBuffers};
use crate::mpi::comm::own::Holder;
use crate::mpi::execution::{MessageScope, Nothing, PlanExecution};
use crate::mpi::handles::operand::Operands;
use crate::mpi::journal::JournaledRequest;
use crate::mpi::lowering::areas::Areas;
use ::mpi::ffi;
use std::ffi::c_int;

/// A call that may be started many times, and is inactive until it is started.
///
/// One thread at a time may use it. It must be [complete](PendingCall::progress) before it is dropped.
pub struct PendingCall {
    pub(super) job: ParsedCall,
    pub(super) buffers: SpareBuffers,
    /// Where the buffers go in the end; `None` if they are not reused.
    pub(super) home: Option<Home>,
    pub(super) rank: Rank,
    pub(super) tag: c_int,
    pub(super) operands: Option<Operands>,
    /// The call, if it runs in shared memory.
    pub(super) shared: Option<SharedRequest>,
    pub(super) state: CallProgress,
    /// Host memory in place of device memory.
    pub(super) staged: Option<Staged>,
    /// The journal entry, if the call is recorded.
    pub(super) journal: Option<Box<JournaledRequest>>,
    /// Keeps the communicator of its messages alive.
    pub(super) _holder: Holder,
}

/// The progress of a call.
#[derive(Clone, Copy)]
pub(super) enum CallProgress {
    Inactive,
    Under { next: usize, sides: Sides },
}

// SAFETY: the addresses and handles are the program's, which guarantees that only this operation uses them; MPI's
// handles are not bound to threads.
unsafe impl Send for PendingCall {}

impl PendingCall {
    /// Starts the call without waiting for other ranks.
    ///
    /// # Safety
    /// The memory and the handles of the call are live, and nothing else uses the memory until the call is complete.
    ///
    /// # Errors
    /// [`Error::Busy`] if it is already active, and MPI's errors.
    pub unsafe fn start(&mut self) -> Result<(), Error> {
        if self.is_active() {
            return Err(Error::Busy);
        }
        if let Some(staged) = &mut self.staged {
            // SAFETY: the caller guarantees live memory.
            unsafe { staged.bring()? };
        }
        // SAFETY: the caller guarantees live memory and handles.
        let sides = unsafe { self.buffers.images.bring(&self.job, &self.buffers.lists, self.rank)? };
        self.state = CallProgress::Under { next: 0, sides };
        if let Some(shared) = &mut self.shared {
            // SAFETY: as above.
            unsafe { shared.start(&self.job.shape, sides, self.operands.clone(), self.rank, self.tag) };
        }
        if let Some(journal) = &mut self.journal {
            journal.begin(&mut self.buffers.flight);
        }
        Ok(())
    }

    /// Progresses the call as far as possible without waiting; true if it is complete, or was not started.
    ///
    /// # Errors
    /// Returns what went wrong; the call is then complete, too.
    pub fn progress(&mut self) -> Result<bool, Error> {
        let CallProgress::Under { mut next, sides } = self.state else { return Ok(true) };
        let advanced = self.advance(&mut next, sides);
        if let Ok(false) = advanced {
            self.state = CallProgress::Under { next, sides };
            return Ok(false);
        }
        self.state = CallProgress::Inactive;
        let outcome = advanced.and_then(|_| self.land(sides));
        if let Some(journal) = &mut self.journal {
            journal.end(
                &mut self.buffers.flight,
                &self.job,
                &self.buffers.lists,
                self.rank.p,
                outcome.as_ref().err(),
            );
        }
        if outcome.is_err() {
            self.home = None;
        }
        outcome.map(|()| true)
    }

    /// Moves the result to its destination when all messages are complete.
    fn land(&mut self, sides: Sides) -> Result<(), Error> {
        if let (Some(operands), None) = (&self.operands, &self.shared) {
            operands.outcome()?;
        }
        // SAFETY: the caller of `start` has guaranteed live memory until the call is complete.
        unsafe {
            if let Some(shared) = &mut self.shared {
                shared.land(sides.recv);
            }
            self.buffers.images.take(&self.job, &self.buffers.lists, sides, self.rank)?;
            self.staged.as_mut().map_or(Ok(()), |staged| staged.take())
        }
    }

    fn advance(&mut self, next: &mut usize, sides: Sides) -> Result<bool, Error> {
        if let Some(shared) = &mut self.shared {
            return shared.progress();
        }
        let SpareBuffers { plan, scratch, flight, .. } = &mut self.buffers;
        let areas = Areas::of(sides.send, sides.recv, scratch.reserve(plan.scratch));
        let Rank { comm, rank, .. } = self.rank;
        let scope = &MessageScope { comm, datatype: self.job.shape.datatype, rank, tag: self.tag };
        match &self.operands {
            Some(operands) => {
                let lead = operands.true_lb;
                PlanExecution { scope, areas, lead, flight, combine: operands }.advance(plan, next)
            }
            None => PlanExecution { scope, areas, lead: 0, flight, combine: Nothing }.advance(plan, next),
        }
    }

    /// The operation of a reduction. MPI lets programs free it as soon as the call has returned; the caller must keep
    /// it alive until the call is complete.
    pub fn op(&self) -> Option<ffi::MPI_Op> {
        self.operands.as_ref().map(|operands| operands.op)
    }

    /// The datatypes that it uses, except predefined ones; the caller must keep them alive, too.
    pub fn datatypes(&self) -> [Option<ffi::MPI_Datatype>; 3] {
        let packed = |side: &Side| match side {
            Side::Packed(typed) => Some(typed.datatype),
            Side::PackedBlocks(blocks) => Some(blocks.datatype),
            Side::Plain(_) | Side::Elements { .. } => None,
        };
        let reduced = self.job.operands.filter(|(_, facts)| !facts.named).map(|_| self.job.shape.datatype);
        [packed(&self.job.send), packed(&self.job.recv), reduced]
    }

    /// Whether it was started and is not complete.
    pub fn is_active(&self) -> bool {
        matches!(self.state, CallProgress::Under { .. })
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if let (Some(home), false) = (self.home.take(), self.is_active()) {
            self.buffers.queued = self.shared.take().and_then(SharedRequest::into_spare);
            home.leave(self.job.shape, std::mem::take(&mut self.buffers));
        }
    }
}

impl std::fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = &self.job.shape;
        f.debug_struct("Operation").field("shape", shape).field("active", &self.is_active()).finish_non_exhaustive()
    }
}
