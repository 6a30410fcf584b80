//! Calls that can be repeated by comparing their arguments.

use crate::error::Error;
use crate::mpi::arguments::call::IntList;
use crate::mpi::arguments::image::Sides;
use crate::mpi::arguments::key::{CallKey, LISTS, WORDS};
use crate::mpi::arguments::shape::{CallShape, ParsedCall};
use crate::mpi::cache::node_plan::NodePlan;
use crate::mpi::cache::workspace::Workspace;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::Nothing;
use crate::mpi::execution::shared::{
    ExchangeLimit, OwnedPlan, ServedExchange, SharedBuffers, SharedMemory, SharedPlan, lock,
};
use crate::mpi::handles::native::NativeCombine;
use crate::mpi::handles::operand::{Operands, native_combine};
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::process::code::SUCCESS;
use ::mpi::ffi;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

/// The number of calls that a communicator keeps.
pub(crate) const KEPT: usize = 16;

/// A call that can be repeated with other addresses.
#[derive(Debug)]
pub(crate) struct RepeatedCall {
    function: usize,
    words: [usize; WORDS],
    /// None if it has none.
    lists: Option<RepeatedLists>,
    /// None if MPI serves it.
    plan: Option<RepeatedPlan>,
}

/// The lists of a call.
#[derive(Debug)]
struct RepeatedLists([Vec<i64>; LISTS]);

impl RepeatedLists {
    /// Reads lists of `p` entries.
    ///
    /// # Safety
    /// The lists have that many.
    unsafe fn read(lists: [Option<IntList>; LISTS], p: usize) -> Self {
        // SAFETY: as the caller guarantees.
        let entries = |list: IntList| (0..p).map(|rank| unsafe { list.get(rank) }).collect();
        RepeatedLists(lists.map(|list| list.map_or_else(Vec::new, entries)))
    }

    /// Whether lists have the same entries.
    ///
    /// # Safety
    /// They have an entry for each rank.
    #[inline]
    unsafe fn are(&self, lists: [Option<IntList>; LISTS]) -> bool {
        let same = |known: &Vec<i64>, list: IntList| {
            // SAFETY: as the caller guarantees.
            known.iter().enumerate().all(|(rank, &entry)| unsafe { list.get(rank) } == entry)
        };
        self.0.iter().zip(lists).all(|(known, list)| list.is_none_or(|list| same(known, list)))
    }
}

/// The plan of a call that Roundel serves.
#[derive(Debug)]
pub(crate) struct RepeatedPlan {
    steps: RepeatedSteps,
    /// Whether the input lies in the output.
    in_place: bool,
    /// The bytes of each buffer that are used.
    input: usize,
    output: usize,
    op: Option<RepeatedOp>,
    /// Roundel's own communicator, and this rank in it.
    comm: ffi::MPI_Comm,
    rank: usize,
}

/// What a rank does in a call.
#[derive(Debug)]
pub(crate) enum RepeatedSteps {
    /// All of it in the memory of one node.
    Shared(OwnedPlan),
    /// An alltoallv in the memory of one node, up to a limit.
    Exchange(OwnedPlan, ExchangeLimit),
    /// Messages of elements of this datatype.
    Messages(Arc<MessagePlan>, ffi::MPI_Datatype),
    /// In the memory of each node, with messages between nodes.
    Nodes(Arc<NodePlan>, Box<CallShape>),
}

/// The operation of a reduction.
#[derive(Clone, Copy, Debug)]
struct RepeatedOp {
    op: ffi::MPI_Op,
    datatype: ffi::MPI_Datatype,
    commutes: bool,
    extent: usize,
    native: Option<NativeCombine>,
}

impl From<RepeatedOp> for Operands {
    #[inline]
    fn from(RepeatedOp { op, datatype, commutes, extent, native }: RepeatedOp) -> Self {
        Operands { op, datatype, commutes, extent, true_lb: 0, native, failed: Cell::new(SUCCESS) }
    }
}

/// The addresses of a call's input and output.
#[derive(Clone, Copy)]
pub(crate) struct CallBuffers {
    input: *mut u8,
    output: *mut u8,
}

impl RepeatedPlan {
    /// The plan of a call; `None` if it cannot be repeated.
    pub(crate) fn new(steps: RepeatedSteps, job: &ParsedCall, group: &OwnComm) -> Option<Self> {
        let (shape, size) = (&job.shape, job.shape.size);
        let op = match job.operands {
            None => None,
            Some((op, facts)) if facts.true_lb == 0 => {
                let (datatype, native) = (shape.datatype, native_combine(op, shape.datatype));
                Some(RepeatedOp { op, datatype, commutes: shape.commutes, extent: size, native })
            }
            Some(_) => return None,
        };
        let (in_place, input) = (shape.send.is_none(), shape.send.unwrap_or(0) * size);
        let (output, comm, rank) = (shape.recv * size, group.comm.raw(), group.rank);
        Some(RepeatedPlan { steps, in_place, input, output, op, comm, rank })
    }

    /// Roundel's own communicator.
    #[inline]
    pub(crate) fn comm(&self) -> ffi::MPI_Comm {
        self.comm
    }

    /// This rank.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// The buffers at these addresses; `None` if they may be missing or overlap, which MPI forbids.
    #[inline]
    pub(crate) fn buffers(&self, first: *mut c_void, last: *mut c_void) -> Option<CallBuffers> {
        let (from, to) = (first.addr(), last.addr());
        if self.in_place {
            return (to != 0).then_some(CallBuffers { input: last.cast(), output: last.cast() });
        }
        let apart = from.wrapping_add(self.input) <= to || to.wrapping_add(self.output) <= from;
        let there = (from != 0 || self.input == 0) && (to != 0 || self.output == 0);
        (apart && there).then_some(CallBuffers { input: first.cast(), output: last.cast() })
    }

    /// Runs the call; `None` if it needs memory of the node that is not there. Only an alltoallv can be too long.
    ///
    /// # Safety
    /// The buffers are live, and all ranks make the same call.
    #[inline]
    pub(crate) unsafe fn run(
        &self,
        workspace: &mut Workspace<'_>,
        CallBuffers { input, output }: CallBuffers,
    ) -> Option<Result<ServedExchange, Error>> {
        let RepeatedPlan { steps, op, .. } = self;
        let sides = Sides { send: input, recv: output };
        // SAFETY: as the caller guarantees.
        let outcome = unsafe {
            match steps {
                RepeatedSteps::Shared(plan) => {
                    let shared = &mut lock(workspace.shared?);
                    match plan.without_lists() {
                        Some(plan) => share(plan, *op, shared, sides),
                        None => share(&plan.get(), *op, shared, sides),
                    }
                }
                RepeatedSteps::Exchange(plan, limit) => {
                    let shared = &mut lock(workspace.shared?);
                    return Some(match shared.leaves_exchange(*limit) {
                        true => Ok(ServedExchange::TooLong),
                        false => shared.exchange(&plan.get(), (input, output), *limit),
                    });
                }
                RepeatedSteps::Messages(plan, datatype) => exchange(plan, *datatype, *op, workspace, sides),
                RepeatedSteps::Nodes(plan, shape) => {
                    workspace.shared?;
                    plan.run(shape, sides, &op.map(Operands::from), workspace)
                }
            }
        };
        Some(outcome.map(|()| ServedExchange::Done))
    }
}

impl RepeatedCall {
    /// A call that was planned, or left to MPI.
    ///
    /// # Safety
    /// The lists have `p` entries.
    pub(crate) unsafe fn new(key: &CallKey, p: usize, plan: Option<RepeatedPlan>) -> Self {
        let &CallKey { function, words, lists, .. } = key;
        // SAFETY: as the caller guarantees.
        let lists = lists[0].map(|_| unsafe { RepeatedLists::read(lists, p) });
        RepeatedCall { function, words, lists, plan }
    }

    /// Whether a call has the same arguments.
    ///
    /// # Safety
    /// The lists are complete.
    #[inline]
    pub(crate) unsafe fn is(&self, key: &CallKey) -> bool {
        let same = self.function == key.function && self.words == key.words;
        // SAFETY: as the caller guarantees.
        same && self.lists.as_ref().is_none_or(|lists| unsafe { lists.are(key.lists) })
    }

    /// How Roundel serves it; `None` if MPI does.
    #[inline]
    pub(crate) fn plan(&self) -> Option<&RepeatedPlan> {
        self.plan.as_ref()
    }
}

/// Runs a call in the memory of a node.
///
/// # Safety
/// The same as for [`RepeatedPlan::run`].
#[inline]
unsafe fn share(
    plan: &SharedPlan<'_>,
    op: Option<RepeatedOp>,
    shared: &mut SharedMemory,
    Sides { send: input, recv: output }: Sides,
) -> Result<(), Error> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let Some(op) = op else {
            return shared.run(plan, &SharedBuffers { input, output, lead: 0, combine: Nothing });
        };
        let operands = Operands::from(op);
        shared.run(plan, &SharedBuffers { input, output, lead: 0, combine: &operands })?;
        operands.outcome()
    }
}

/// Runs a call with messages.
#[inline]
fn exchange(
    plan: &MessagePlan,
    datatype: ffi::MPI_Datatype,
    op: Option<RepeatedOp>,
    workspace: &mut Workspace<'_>,
    sides: Sides,
) -> Result<(), Error> {
    let Some(op) = op else { return workspace.exchange(plan, datatype, sides, 0, Nothing) };
    let operands = Operands::from(op);
    workspace.exchange(plan, datatype, sides, 0, &operands)?;
    operands.outcome()
}
