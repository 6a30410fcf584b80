//! Non-blocking calls: each has a plan of its own, executed step by step.

use super::device::Staged;
use super::image::{Rank, Sides};
use super::journal::JournaledRequest;
use super::operand::Operands;
use super::shape::{ParsedCall, Side};
use super::spare::{Home, SpareBuffers};
use crate::error::Error;
use crate::mpi::areas::Areas;
use crate::mpi::execution::{Nothing, PlanExecution};
use crate::mpi::state::Holder;
use ::mpi::ffi;
use std::ffi::c_int;

/// A call that may be started many times, and is not under way unless it was started.
///
/// It belongs to whoever drives it, one thread at a time. It must be [complete](Operation::progress) before it is
/// dropped.
pub struct PendingCall {
    pub(super) job: ParsedCall,
    pub(super) kit: SpareBuffers,
    /// Where the kit goes in the end; nowhere after an error.
    pub(super) home: Option<Home>,
    pub(super) rank: Rank,
    pub(super) tag: c_int,
    pub(super) operands: Option<Operands>,
    pub(super) state: CallProgress,
    /// Host memory in place of device memory.
    pub(super) staged: Option<Staged>,
    /// What it is written down with, if it is.
    pub(super) journal: Option<Box<JournaledRequest>>,
    /// The communicator of its messages stays.
    pub(super) _holder: Holder,
}

/// How far it is.
#[derive(Clone, Copy)]
pub(super) enum CallProgress {
    Inactive,
    Under { next: usize, sides: Sides },
}

// SAFETY: the addresses and handles are the program's, which promises that they are used by this operation alone; MPI's
// handles are not bound to threads.
unsafe impl Send for PendingCall {}

impl PendingCall {
    /// Starts it. Nothing waits for other ranks here.
    ///
    /// # Safety
    /// The memory and the handles of the call are live, and nobody else uses the memory until it is complete.
    ///
    /// # Errors
    /// [`Error::Busy`] if it is under way already, and whatever MPI says.
    pub unsafe fn start(&mut self) -> Result<(), Error> {
        if self.is_active() {
            return Err(Error::Busy);
        }
        if let Some(staged) = &mut self.staged {
            // SAFETY: the caller promises live memory.
            unsafe { staged.bring()? };
        }
        // SAFETY: the caller promises live memory and handles.
        let sides = unsafe { self.kit.images.bring(&self.job, &self.kit.lists, self.rank)? };
        self.state = CallProgress::Under { next: 0, sides };
        if let Some(journal) = &self.journal {
            journal.begin(&mut self.kit.flight);
        }
        Ok(())
    }

    /// Goes on as far as it can without waiting; true if it is complete, or was not started.
    ///
    /// # Errors
    /// What went wrong; then it is complete, too.
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
            journal.end(&mut self.kit.flight, &self.job, &self.kit.lists, self.rank.p, outcome.as_ref().err());
        }
        if outcome.is_err() {
            self.home = None;
        }
        outcome.map(|()| true)
    }

    /// All messages are complete: the result goes where it belongs.
    fn land(&mut self, sides: Sides) -> Result<(), Error> {
        if let Some(operands) = &self.operands {
            operands.outcome()?;
        }
        // SAFETY: whoever started it has promised live memory until it is complete.
        unsafe {
            self.kit.images.take(&self.job, &self.kit.lists, sides, self.rank)?;
            self.staged.as_mut().map_or(Ok(()), |staged| staged.take())
        }
    }

    fn advance(&mut self, next: &mut usize, sides: Sides) -> Result<bool, Error> {
        let SpareBuffers { plan, scratch, flight, .. } = &mut self.kit;
        let areas = Areas::of(sides.send, sides.recv, scratch.reserve(plan.scratch));
        let (comm, datatype, rank, tag) = (self.rank.comm, self.job.shape.datatype, self.rank.rank, self.tag);
        match &self.operands {
            Some(operands) => {
                let lead = operands.true_lb;
                PlanExecution { comm, datatype, areas, rank, tag, lead, flight, combine: operands }
                    .advance(plan, next)
            }
            None => PlanExecution { comm, datatype, areas, rank, tag, lead: 0, flight, combine: Nothing }
                .advance(plan, next),
        }
    }

    /// The operation of a reduction. MPI lets programs free it as soon as the call has returned; whoever drives this
    /// sees to it that it stays nevertheless.
    pub fn op(&self) -> Option<ffi::MPI_Op> {
        self.operands.as_ref().map(|operands| operands.op)
    }

    /// The datatypes that it uses, except those that MPI names; they must stay, too.
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
            home.leave(self.job.shape, std::mem::take(&mut self.kit));
        }
    }
}

impl std::fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = &self.job.shape;
        f.debug_struct("Operation").field("shape", shape).field("active", &self.is_active()).finish_non_exhaustive()
    }
}
