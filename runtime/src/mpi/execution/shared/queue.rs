//! Non-blocking calls that were started.
//!
//! All ranks start the calls of a communicator in the same order, so they also run in that order: a call begins when
//! those before it are complete. MPI promises no concurrency that this prevents: a collective may wait for all ranks
//! to start it, and a rank that has started it has started all calls before it. A blocking call first completes
//! those in the queue.

use super::stage::{CallStage, CallStages, SegmentProgress, StageOperands};
use super::{SharedMemory, lock};
use crate::error::Error;
use crate::mpi::handles::operand::Operands;
use std::collections::VecDeque;
use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The incomplete calls in a shared memory, in the order in which they were started.
pub(super) type Queue = VecDeque<Box<QueuedCall>>;

/// A call in the queue, or one that can be put there.
pub(crate) struct QueuedCall {
    stages: CallStages,
    operands: StageOperands,
    /// The number of the current stage.
    stage: usize,
    segments: SegmentProgress,
    /// The first error of its messages.
    failure: Option<Error>,
    /// Where the call goes when it is complete.
    completion: Option<Arc<Completion>>,
}

// SAFETY: the addresses and handles are the program's, which guarantees that only this call uses them; MPI's handles
// are not bound to threads.
unsafe impl Send for QueuedCall {}

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
    pub(crate) fn new(stages: CallStages) -> Box<Self> {
        let (operands, segments) = (StageOperands::NONE, SegmentProgress::default());
        Box::new(QueuedCall { stages, operands, stage: 0, segments, failure: None, completion: None })
    }

    /// Prepares it to be started with the buffers of its stages.
    ///
    /// # Safety
    /// The buffers are as long as the plans of the stages say, until the call is complete.
    pub(crate) unsafe fn on(mut self: Box<Self>, operands: StageOperands, completion: &Arc<Completion>) -> Box<Self> {
        self.segments.rewind();
        (self.stage, self.segments.other, self.failure) = (0, None, None);
        for stage in self.stages.iter_mut().flatten() {
            stage.rewind();
        }
        (self.operands, self.completion) = (operands, Some(completion.clone()));
        self
    }

    /// Advances as far as possible without waiting. Returns whether the call is complete. After an error, the other
    /// stages continue, because other ranks would wait for this one.
    fn advance(&mut self, node: &mut SharedMemory) -> bool {
        while let Some(stage) = self.stages.get_mut(self.stage) {
            let complete = match stage {
                None => true,
                Some(CallStage::Shared(plan)) => {
                    self.segments.advance(&plan.get(), &self.operands.shared(self.stage), node)
                }
                Some(CallStage::Messages(messages)) => {
                    messages.advance(&self.operands, self.stage).unwrap_or_else(|error| {
                        self.failure.get_or_insert(error);
                        true
                    })
                }
                Some(CallStage::Local(local)) => {
                    let StageOperands { buffers, lead, combine, .. } = &self.operands;
                    // SAFETY: the stage before it has filled the input, and the plan has reserved it.
                    unsafe { local.run(buffers[self.stage], *lead, combine) };
                    true
                }
            };
            if !complete {
                return false;
            }
            self.stage += 1;
            self.segments.rewind();
        }
        true
    }

    /// The outcome of a completed call.
    fn outcome(&mut self, node: &mut SharedMemory) -> Result<(), Error> {
        let shared = self.stages.iter().flatten().find_map(|stage| match stage {
            CallStage::Shared(plan) => Some(plan),
            CallStage::Messages(_) | CallStage::Local(_) => None,
        });
        if let (Some(plan), Some(_)) = (shared, self.segments.other) {
            return node.lose(&plan.get().call, self.segments.other);
        }
        shared.map_or(Ok(()), |plan| node.untruncated(&plan.get().call))?;
        node.fetched()?;
        self.failure.take().map_or(Ok(()), Err)?;
        self.operands.combine.as_ref().map_or(Ok(()), Operands::outcome)
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
