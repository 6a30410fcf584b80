//! Calls that can be repeated by comparing their arguments.

use crate::error::Error;
use crate::mpi::arguments::call::IntList;
use crate::mpi::arguments::image::Sides;
use crate::mpi::arguments::key::{CallKey, LISTS, WORDS};
use crate::mpi::arguments::shape::{CallShape, ParsedCall};
use crate::mpi::cache::node_plan::NodePlan;
use crate::mpi::cache::workspace::Workspace;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::shared::{
    ExchangeLimit, OwnedPlan, ServedExchange, SharedBuffers, SharedMemory, SharedPlan, lock,
};
use crate::mpi::execution::{MessageScope, MessagesInFlight, Nothing, PlanExecution, TAG};
use crate::mpi::handles::operand::{Operands, native_combine};
use crate::mpi::lowering::areas::{Areas, Scratch};
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::process::code::SUCCESS;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Counts what was forgotten.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// No plan and no communicator's state that was found since this changed is forgotten.
#[inline(always)]
pub(crate) fn generation() -> usize {
    GENERATION.load(Ordering::Acquire)
}

/// Makes everything that was found before be looked up again.
pub(crate) fn forget() {
    GENERATION.fetch_add(1, Ordering::Release);
}

/// The outcome of a call that may have been made before.
#[derive(Debug)]
pub enum Repeated {
    /// It was served.
    Done,
    /// MPI must serve it.
    Library,
    /// It was not made before, or cannot be repeated. Nothing was done.
    Unknown,
    /// It failed.
    Failed(Box<Error>),
}

impl Repeated {
    #[inline(always)]
    fn of(outcome: Result<(), Error>) -> Self {
        match outcome {
            Ok(()) => Repeated::Done,
            Err(error) => Repeated::failed(error),
        }
    }

    #[cold]
    fn failed(error: Error) -> Self {
        Repeated::Failed(Box::new(error))
    }
}

/// The memory that repeated calls on one communicator use.
pub(crate) struct RepeatedMemory<'a> {
    pub(crate) shared: &'a Option<Result<Arc<Mutex<SharedMemory>>, Error>>,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) held: &'a mut Scratch,
    pub(crate) flight: &'a mut MessagesInFlight,
}

impl<'a> RepeatedMemory<'a> {
    /// The memory of the node, if there is any.
    #[inline]
    fn of_node(&self) -> Option<&'a Arc<Mutex<SharedMemory>>> {
        self.shared.as_ref().and_then(|shared| shared.as_ref().ok())
    }
}

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
    op: Option<Operands>,
    /// Where its messages go.
    scope: MessageScope,
}

/// What a rank does in a call.
#[derive(Debug)]
pub(crate) enum RepeatedSteps {
    /// All of it in the memory of one node.
    Shared(OwnedPlan),
    /// An alltoallv in the memory of one node, up to a limit.
    Exchange(OwnedPlan, ExchangeLimit),
    /// Messages.
    Messages(Arc<MessagePlan>),
    /// In the memory of each node, with messages between nodes.
    Nodes(Arc<NodePlan>, Box<CallShape>),
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
                let (commutes, failed) = (shape.commutes, Cell::new(SUCCESS));
                Some(Operands { op, datatype, commutes, extent: size, true_lb: 0, native, failed })
            }
            Some(_) => return None,
        };
        let (in_place, input) = (shape.send.is_none(), shape.send.unwrap_or(0) * size);
        let (comm, rank, datatype) = (group.comm.raw(), group.rank, shape.datatype);
        let (output, scope) = (shape.recv * size, MessageScope { comm, datatype, rank, tag: TAG });
        Some(RepeatedPlan { steps, in_place, input, output, op, scope })
    }

    /// The buffers at these addresses; `None` if they may be missing or overlap, which MPI forbids.
    #[inline]
    pub(crate) fn buffers(&self, first: *mut c_void, last: *mut c_void) -> Option<CallBuffers> {
        let (from, to) = (first.addr(), last.addr());
        if self.in_place {
            return (to != 0).then_some(CallBuffers { input: last.cast(), output: last.cast() });
        }
        let apart = from.wrapping_add(self.input) <= to || to.wrapping_add(self.output) <= from;
        (apart && from != 0 && to != 0).then_some(CallBuffers { input: first.cast(), output: last.cast() })
    }

    /// The messages of a call that runs with messages alone.
    #[inline(always)]
    pub(crate) fn messages(&self) -> Option<&MessagePlan> {
        match &self.steps {
            RepeatedSteps::Messages(plan) => Some(plan),
            _ => None,
        }
    }

    /// Runs a call with messages.
    #[inline(always)]
    pub(crate) fn exchange(
        &self,
        plan: &MessagePlan,
        scratch: &mut Scratch,
        flight: &mut MessagesInFlight,
        CallBuffers { input, output }: CallBuffers,
    ) -> Repeated {
        let areas = Areas::of(input, output, scratch.reserve(plan.scratch));
        let (scope, lead) = (&self.scope, 0);
        match &self.op {
            Some(combine) => {
                let execution = PlanExecution { scope, areas, lead, flight, combine };
                Repeated::of(execution.run(plan).and_then(|()| combine.outcome()))
            }
            None => {
                let execution = PlanExecution { scope, areas, lead, flight, combine: Nothing };
                Repeated::of(execution.run(plan))
            }
        }
    }

    /// Runs a call that uses the memory of the node.
    ///
    /// # Safety
    /// The buffers are live, and all ranks make the same call.
    #[inline(never)]
    pub(crate) unsafe fn run_in_memory(
        &self,
        memory: RepeatedMemory<'_>,
        CallBuffers { input, output }: CallBuffers,
    ) -> Repeated {
        let (Some(shared), sides) = (memory.of_node(), Sides { send: input, recv: output }) else {
            return Repeated::Unknown;
        };
        // SAFETY: as the caller guarantees.
        unsafe {
            match &self.steps {
                RepeatedSteps::Shared(plan) => {
                    let shared = &mut lock(shared);
                    Repeated::of(match plan.without_lists() {
                        Some(plan) => share(plan, &self.op, shared, sides),
                        None => share(&plan.get(), &self.op, shared, sides),
                    })
                }
                RepeatedSteps::Exchange(plan, limit) => {
                    let shared = &mut lock(shared);
                    if shared.leaves_exchange(*limit) {
                        return Repeated::Library;
                    }
                    match shared.exchange(&plan.get(), (input, output), *limit) {
                        Ok(ServedExchange::TooLong) => Repeated::Library,
                        outcome => Repeated::of(outcome.map(|_| ())),
                    }
                }
                RepeatedSteps::Nodes(plan, shape) => {
                    let RepeatedMemory { scratch, held, flight, .. } = memory;
                    let MessageScope { comm, rank, .. } = self.scope;
                    let mut workspace = Workspace { comm, rank, scratch, held, flight, shared: Some(shared) };
                    Repeated::of(plan.run(shape, sides, &self.op, &mut workspace))
                }
                RepeatedSteps::Messages(..) => Repeated::Unknown,
            }
        }
    }
}

/// A plan that is gone must not be found any more.
impl Drop for RepeatedPlan {
    fn drop(&mut self) {
        forget();
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
/// The same as for [`RepeatedPlan::run_in_memory`].
#[inline]
unsafe fn share(
    plan: &SharedPlan<'_>,
    op: &Option<Operands>,
    shared: &mut SharedMemory,
    Sides { send: input, recv: output }: Sides,
) -> Result<(), Error> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let Some(op) = op else {
            return shared.run(plan, &SharedBuffers { input, output, lead: 0, combine: Nothing });
        };
        shared.run(plan, &SharedBuffers { input, output, lead: 0, combine: op })?;
        op.outcome()
    }
}
