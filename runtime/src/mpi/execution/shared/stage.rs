//! The stages of a call that does not block: each goes as far as it can without waiting.

use super::local::LocalStage;
use super::plan::{OwnedPlan, SharedPlan};
use super::slot::SlotSteps;
use super::{SharedBuffers, SharedMemory};
use crate::error::Error;
use crate::mpi::execution::{Combine, MessageScope, MessagesInFlight, PlanExecution};
use crate::mpi::handles::operand::Operands;
use crate::mpi::lowering::areas::{Areas, Scratch};
use crate::mpi::lowering::plan::MessagePlan;
use crate::program::shared::alltoallv::TakenBlocks;
use crate::program::shared::{SharedOp, segment};
use std::ptr::null_mut;

/// The most stages of a call.
pub(crate) const STAGES: usize = 5;

/// A stage of a call.
pub(crate) enum CallStage {
    /// In the memory of the node.
    Shared(OwnedPlan),
    /// Messages between one rank of each node.
    Messages(Box<StageMessages>),
    /// By this rank alone.
    Local(LocalStage),
}

/// The stages of a call: within the node, up to three between nodes, within the node.
pub(crate) type CallStages = [Option<CallStage>; STAGES];

impl CallStage {
    /// Prepares it to be started.
    pub(super) fn rewind(&mut self) {
        if let CallStage::Messages(messages) = self {
            messages.next = 0;
        }
    }
}

/// The addresses of a stage's input and output.
#[derive(Clone, Copy)]
pub(crate) struct StageBuffers {
    pub(crate) input: *mut u8,
    pub(crate) output: *mut u8,
}

impl StageBuffers {
    /// A stage without memory.
    pub(crate) const NONE: Self = StageBuffers { input: null_mut(), output: null_mut() };
}

/// What the stages of a started call work on.
pub(crate) struct StageOperands {
    /// The memory of each stage.
    pub(crate) buffers: [StageBuffers; STAGES],
    /// The distance in bytes from the address of an element that MPI takes to its first byte.
    pub(crate) lead: isize,
    pub(crate) combine: Option<Operands>,
    /// `None` for a call on one node.
    pub(crate) messages: Option<MessageScope>,
}

impl StageOperands {
    pub(super) const NONE: Self =
        StageOperands { buffers: [StageBuffers::NONE; STAGES], lead: 0, combine: None, messages: None };

    pub(super) fn shared(&self, stage: usize) -> SharedBuffers<&Option<Operands>> {
        let StageBuffers { input, output } = self.buffers[stage];
        SharedBuffers { input, output, lead: self.lead, combine: &self.combine }
    }
}

impl Combine for Option<Operands> {
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        if let Some(operands) = self {
            // SAFETY: the caller guarantees what the operation asks for.
            unsafe { operands.combine(left, right, into, elements) }
        }
    }
}

/// The messages of a stage, and how far they are.
#[derive(Default)]
pub(crate) struct StageMessages {
    plan: MessagePlan,
    /// The next step of the plan.
    next: usize,
    scratch: Scratch,
    flight: MessagesInFlight,
}

impl StageMessages {
    pub(crate) fn new(plan: MessagePlan) -> Box<Self> {
        Box::new(StageMessages { plan, ..StageMessages::default() })
    }

    /// Sends and receives as far as possible without waiting. Returns whether all messages are complete, which they
    /// also are after an error.
    pub(super) fn advance(&mut self, operands: &StageOperands, stage: usize) -> Result<bool, Error> {
        let Some(scope) = &operands.messages else { return Ok(true) };
        let StageMessages { plan, next, scratch, flight } = self;
        let StageBuffers { input, output } = operands.buffers[stage];
        let areas = Areas::of(input, output, scratch.reserve(plan.scratch));
        let (lead, combine) = (operands.lead, &operands.combine);
        PlanExecution { scope, areas, lead, flight, combine }.advance(plan, next)
    }
}

/// How far a call is in the segments of a stage.
#[derive(Default)]
pub(super) struct SegmentProgress {
    /// The number of the current segment, its steps, and how many of them are done.
    segment: usize,
    steps: Vec<SharedOp>,
    done: usize,
    signals: u64,
    /// The number of segments, once it is known; of an alltoallv, when all ranks have published their lengths.
    count: Option<usize>,
    /// A rank that makes a different call, and its description of that call.
    pub(super) other: Option<(usize, u64)>,
}

impl SegmentProgress {
    /// Begins a stage.
    pub(super) fn rewind(&mut self) {
        (self.segment, self.done, self.signals, self.count) = (0, 0, 0, None);
        self.steps.clear();
    }

    /// Advances as far as possible without waiting. Returns whether the stage is complete.
    pub(super) fn advance<C: Combine>(
        &mut self,
        plan: &SharedPlan<'_>,
        buffers: &SharedBuffers<C>,
        node: &mut SharedMemory,
    ) -> bool {
        self.other = self.other.or(node.lost);
        if self.count.is_none() && !plan.call.is_private() {
            self.count = Some(plan.segments.count);
        }
        while self.count.is_none_or(|count| self.segment < count) {
            if self.steps.is_empty() {
                self.begin(plan, node);
            }
            let mut slot = SlotSteps { signals: self.signals, ..node.slot_steps(plan, buffers, self.other) };
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
            if self.count.is_none() {
                self.learn(plan, node);
                continue;
            }
            self.segment += 1;
            node.complete_segment(plan.ring);
        }
        true
    }

    /// Lists the steps of the current segment, as far as they are known.
    fn begin(&mut self, plan: &SharedPlan<'_>, node: &mut SharedMemory) {
        (self.done, self.signals) = (0, 0);
        match (plan.call.exchange(node.rank), self.count) {
            (Some(exchange), Some(_)) => {
                let taken = TakenBlocks::new(&node.numbers, node.p);
                exchange.deliver(&taken, self.segment, &mut self.steps);
            }
            (exchange, _) => {
                exchange.iter().for_each(|exchange| node.keep_published(exchange));
                segment(&plan.call, &plan.segments, self.segment, node.rank, &mut self.steps);
            }
        }
    }

    /// Finds how many segments an alltoallv takes: none after the first if a rank makes a different call.
    fn learn(&mut self, plan: &SharedPlan<'_>, node: &mut SharedMemory) {
        let taken = TakenBlocks::new(&node.numbers, node.p);
        self.count = match (plan.call.exchange(node.rank), self.other) {
            (Some(exchange), None) => Some(exchange.segments(&taken)),
            _ => {
                node.complete_segment(plan.ring);
                Some(0)
            }
        };
    }
}
