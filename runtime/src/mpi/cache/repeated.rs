//! Calls through shared memory that can be repeated by comparing their arguments.

use crate::error::Error;
use crate::mpi::arguments::shape::ParsedCall;
use crate::mpi::comm::code::SUCCESS;
use crate::mpi::execution::Nothing;
use crate::mpi::execution::shared::{SharedBuffers, SharedPlan, SharedMemory};
use crate::mpi::handles::operand::Operands;
use crate::program::shared::SharedCall;
use ::mpi::ffi;
use std::cell::Cell;
use std::ffi::c_void;

/// The most arguments that a call has besides its communicator.
pub(crate) const WORDS: usize = 8;

/// The number of calls that a communicator keeps.
pub(crate) const KEPT: usize = 8;

/// A call that can be repeated with other addresses.
#[derive(Debug)]
pub(crate) struct RepeatedCall {
    function: usize,
    words: [usize; WORDS],
    count: usize,
    plan: SharedPlan<'static>,
    /// The bytes of the buffers that are used; none of the input if it lies in the output.
    input: Option<usize>,
    output: usize,
    op: Option<(ffi::MPI_Op, ffi::MPI_Datatype, bool, usize)>,
}

/// The addresses of a call's input and output.
#[derive(Clone, Copy)]
pub(crate) struct CallBuffers {
    input: *mut u8,
    output: *mut u8,
}

impl RepeatedCall {
    /// A call that was planned; none if it cannot be repeated.
    pub(crate) fn new(function: usize, words: &[usize], call: SharedCall<'static>, job: &ParsedCall) -> Option<Self> {
        let mut all = [0; WORDS];
        all[..words.len()].copy_from_slice(words);
        let (shape, size) = (&job.shape, job.shape.size);
        let op = job.operands.map(|(op, facts)| (op, shape.datatype, shape.commutes, facts.true_lb));
        let op = match op {
            None => None,
            Some((op, datatype, commutes, 0)) => Some((op, datatype, commutes, size)),
            Some(_) => return None,
        };
        let plan = SharedPlan::new(call).ok()?;
        let (input, output) = (shape.send.map(|send| send * size), shape.recv * size);
        Some(RepeatedCall { function, words: all, count: words.len(), plan, input, output, op })
    }

    /// Whether a call has the same arguments.
    #[inline]
    pub(crate) fn is(&self, function: usize, words: &[usize]) -> bool {
        self.function == function && self.count == words.len() && self.words[..self.count] == *words
    }

    /// The buffers at these addresses; none if they cannot be used as they are: MPI forbids that there are none, or
    /// that they overlap.
    #[inline]
    pub(crate) fn buffers(&self, [first, last]: [*mut c_void; 2]) -> Option<CallBuffers> {
        let (from, to) = (first.addr(), last.addr());
        let there = |address: usize, bytes: usize| bytes == 0 || address != 0;
        let Some(input) = self.input else {
            return there(to, self.output).then_some(CallBuffers { input: last.cast(), output: last.cast() });
        };
        let apart = from.wrapping_add(input) <= to || to.wrapping_add(self.output) <= from;
        let fine = there(from, input) && there(to, self.output) && (apart || input == 0 || self.output == 0);
        fine.then_some(CallBuffers { input: first.cast(), output: last.cast() })
    }

    /// Runs the call.
    ///
    /// # Safety
    /// The buffers are live, and all ranks make the same call.
    #[inline]
    pub(crate) unsafe fn run(&self, shared: &mut SharedMemory, buffers: CallBuffers) -> Result<(), Error> {
        let CallBuffers { input, output } = buffers;
        // SAFETY: as the caller guarantees.
        unsafe {
            let Some((op, datatype, commutes, extent)) = self.op else {
                return shared.run(&self.plan, &SharedBuffers { input, output, lead: 0, combine: Nothing });
            };
            let operands = Operands { op, datatype, commutes, extent, true_lb: 0, failed: Cell::new(SUCCESS) };
            shared.run(&self.plan, &SharedBuffers { input, output, lead: 0, combine: &operands })?;
            operands.outcome()
        }
    }
}
