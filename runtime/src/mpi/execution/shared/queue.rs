//! Non-blocking calls that were started.
//!
//! All ranks start the calls of a communicator in the same order, so they also run in that order: a call begins when
//! those before it are complete. MPI promises no concurrency that this prevents: a collective may wait for all ranks
//! to start it, and a rank that has started it has started all calls before it. A blocking call first completes
//! those in the queue.

use super::plan::OwnedPlan;
use super::slot::SlotSteps;
use super::{SharedBuffers, SharedMemory, lock};
use crate::error::Error;
use crate::mpi::execution::Combine;
use crate::mpi::handles::operand::Operands;
use crate::program::shared::{SharedOp, segment};
use std::collections::VecDeque;
use std::mem::take;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The incomplete calls in a shared memory, in the order in which they were started.
pub(super) type Queue = VecDeque<Box<QueuedCall>>;

/// A call in the queue, or one that can be put there.
pub(crate) struct QueuedCall {
    plan: OwnedPlan,
    buffers: SharedBuffers<Option<Operands>>,
    /// The number of its current segment, the steps of that segment, and how many of them are done.
    segment: usize,
    steps: Vec<SharedOp>,
    done: usize,
    signals: u64,
    other: Option<(usize, u64)>,
    /// Where the call goes when it is complete.
    completion: Option<Arc<Completion>>,
}

// SAFETY: the addresses and handles are the program's, which guarantees that only this call uses them; MPI's handles
// are not bound to threads.
unsafe impl Send for QueuedCall {}

impl Combine for Option<Operands> {
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        if let Some(operands) = self {
            // SAFETY: the caller guarantees what the operation asks for.
            unsafe { operands.combine(left, right, into, elements) }
        }
    }
}

/// A call that is complete, and its outcome.
pub(crate) type CompletedCall = (Box<QueuedCall>, Result<(), Error>);

/// Where a completed call goes.
#[derive(Default)]
pub(crate) struct Completion {
    complete: AtomicBool,
    call: Mutex<Option<CompletedCall>>,
}

impl Completion {
    /// The call, if it is complete.
    pub(crate) fn take(&self) -> Option<CompletedCall> {
        if !self.complete.load(Ordering::Acquire) {
            return None;
        }
        self.complete.store(false, Ordering::Relaxed);
        lock(&self.call).take()
    }

    fn give(&self, call: Box<QueuedCall>, outcome: Result<(), Error>) {
        *lock(&self.call) = Some((call, outcome));
        self.complete.store(true, Ordering::Release);
    }
}

impl QueuedCall {
    /// A call that was not started.
    pub(crate) fn new(plan: impl Into<OwnedPlan>) -> Box<Self> {
        let buffers = SharedBuffers { input: null_mut(), output: null_mut(), lead: 0, combine: None };
        let (steps, plan) = (Vec::new(), plan.into());
        let call =
            QueuedCall { plan, buffers, segment: 0, steps, done: 0, signals: 0, other: None, completion: None };
        Box::new(call)
    }

    /// Prepares it to be started with these buffers.
    ///
    /// # Safety
    /// The buffers are as long as the plan says, until the call is complete.
    pub(crate) unsafe fn on(
        mut self: Box<Self>,
        buffers: SharedBuffers<Option<Operands>>,
        completion: &Arc<Completion>,
    ) -> Box<Self> {
        (self.segment, self.done, self.signals, self.other) = (0, 0, 0, None);
        self.steps.clear();
        (self.buffers, self.completion) = (buffers, Some(completion.clone()));
        self
    }

    /// Advances as far as possible without waiting. Returns whether the call is complete.
    fn advance(&mut self, node: &mut SharedMemory) -> bool {
        let plan = self.plan.get();
        let (call, ring) = (&plan.call, plan.ring);
        self.other = self.other.or(node.lost);
        while self.segment < plan.segments.count {
            if self.steps.is_empty() {
                segment(call, &plan.segments, self.segment, node.rank, &mut self.steps);
                (self.done, self.signals) = (0, 0);
            }
            let mut slot = SlotSteps { signals: self.signals, ..node.slot_steps(&plan, &self.buffers, self.other) };
            while let Some(&step) = self.steps.get(self.done)
                && slot.attempt(step)
            {
                self.done += 1;
            }
            (self.signals, self.other) = (slot.signals, slot.other);
            if self.done < self.steps.len() {
                return false;
            }
            self.steps.clear();
            self.segment += 1;
            node.complete_segment(ring);
        }
        true
    }

    /// The outcome of a completed call.
    fn outcome(&self, node: &mut SharedMemory) -> Result<(), Error> {
        if self.other.is_some() {
            return node.lose(&self.plan.get().call, self.other);
        }
        self.buffers.combine.as_ref().map_or(Ok(()), Operands::outcome)
    }
}

impl SharedMemory {
    /// Adds a call to the queue.
    pub(crate) fn start(&mut self, call: Box<QueuedCall>) {
        self.queue.push_back(call);
    }

    /// Advances the calls in the queue as far as possible without waiting.
    pub(crate) fn advance(&mut self) {
        let mut queue = take(&mut self.queue);
        while let Some(call) = queue.front_mut()
            && call.advance(self)
        {
            let outcome = call.outcome(self);
            let Some(mut call) = queue.pop_front() else { break };
            if let Some(completion) = call.completion.take() {
                completion.give(call, outcome);
            }
        }
        self.queue = queue;
    }

    /// Completes the calls in the queue.
    #[cold]
    pub(super) fn drain(&mut self) {
        while !self.queue.is_empty() {
            for _ in 0..self.patience() {
                self.advance();
                if self.queue.is_empty() {
                    return;
                }
            }
            self.give_way();
        }
    }
}
