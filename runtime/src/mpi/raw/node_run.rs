//! Runs a call on several nodes: through the memory of each node, and with messages between one rank of each.

use super::shared_run::unshared;
use super::{CallOutcome, draw, operands, rank};
use crate::choice::selection::Algorithm;
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists, ParsedCall};
use crate::mpi::cache::call_cache::CachedPlan;
use crate::mpi::cache::node_plan::{NodeMemory, NodePlan, ScatteredBlock, address};
use crate::mpi::comm::node_members::NodeMembers;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::shared_window::{Rings, request_rings};
use crate::mpi::execution::shared::{OwnedPlan, SharedBuffers, SharedPlan, StageBuffers, lock};
use crate::mpi::execution::{PlanExecution, TAG};
use crate::mpi::handles::operand::Operands;
use crate::mpi::lowering::areas::Areas;
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::state::CommWork;
use crate::program::shared::{LINE, SharedBlocks, SharedCall};
use crate::transport::RankPlacement;
use roundel_spec::{Kind, Placement};

/// Plans a call, with an algorithm between nodes. The first call is collective.
pub(super) fn plan(
    work: &mut CommWork,
    group: &OwnComm,
    shape: &CallShape,
    algorithm: &Algorithm,
) -> Result<NodePlan, Error> {
    work.shared(group)?;
    NodeCall::new(group, shape, &work.recent.lists).plan(algorithm, None)
}

/// Plans a request that has its own memory, and returns the rings of that memory. Not collective.
pub(super) fn plan_request(
    group: &OwnComm,
    shape: &CallShape,
    lists: &Lists,
    algorithm: &Algorithm,
) -> Result<(NodePlan, Rings), Error> {
    let call = NodeCall::new(group, shape, lists);
    let rings = request_rings(call.most_bytes());
    let plan = call.plan(algorithm, Some(&rings))?;
    Ok((plan, rings))
}

/// Plans a stage in the memory of the communicator, or in that of a request.
fn fit<'a>(stage: SharedCall<'a>, rings: Option<&Rings>) -> Result<SharedPlan<'a>, Error> {
    rings.map_or_else(|| SharedPlan::new(stage), |rings| SharedPlan::in_request(stage, rings))
}

/// A call from the point of view of its nodes.
struct NodeCall<'a> {
    shape: &'a CallShape,
    placement: &'a Placement,
    node: NodeMembers<'a>,
    /// The number of this node.
    number: usize,
    /// The rank that sends for each node.
    senders: Vec<usize>,
    /// The lengths of all ranks' blocks, and where they begin; empty for vectors.
    counts: Vec<usize>,
    displs: Vec<usize>,
}

impl<'a> NodeCall<'a> {
    fn new(group: &'a OwnComm, shape: &'a CallShape, lists: &Lists) -> Self {
        let (placement, node) = (&group.placement, NodeMembers::of(group));
        let regions = placement.regions();
        let first = |number: usize| placement.order()[regions.first(number as i64) as usize];
        let mut senders: Vec<usize> = (0..regions.nodes() as usize).map(first).collect();
        if shape.kind.has_root() {
            let root = shape.root as usize;
            senders[placement.node(root)] = root;
        }
        let (p, elements) = (placement.p(), shape.send.unwrap_or(shape.recv));
        let (counts, displs) = match shape.blocks {
            BlockLayout::Equal(block) => (vec![block; p], (0..p).map(|rank| rank * block).collect()),
            BlockLayout::Listed => (lists.counts.clone(), lists.displs.clone()),
            BlockLayout::Parts => (vec![elements / p; p], (0..p).map(|rank| rank * (elements / p)).collect()),
            BlockLayout::ListedParts => (lists.counts.clone(), offsets(&lists.counts)),
            BlockLayout::Vector { .. } | BlockLayout::Rooted(_) | BlockLayout::Private => Default::default(),
        };
        NodeCall { shape, placement, node, number: placement.node(group.rank), senders, counts, displs }
    }

    /// Plans the call, in the memory of the communicator, or in that of a request with these rings.
    fn plan(&self, algorithm: &Algorithm, rings: Option<&Rings>) -> Result<NodePlan, Error> {
        let CallShape { kind, size, .. } = *self.shape;
        let total = self.elements();
        let sends = self.sender() == self.own();
        let in_place = sends && self.shape.send.is_none();
        let (vector, members) = (SharedBlocks::Vector(total), self.members());
        let own_begins: Vec<usize> = offsets(&members);
        let all_begins = offsets(&self.counts);
        let member_begins: Vec<usize> =
            self.node.ranks.iter().filter_map(|&rank| all_begins.get(rank).copied()).collect();
        let blocks = SharedBlocks::Listed { counts: &members, displs: &member_begins };
        let parts = SharedBlocks::Listed { counts: &members, displs: &own_begins };
        let (before, after) = match kind {
            Kind::Allreduce => (Some((Kind::Reduce, vector, in_place)), Some((Kind::Broadcast, vector))),
            Kind::Reduce => (Some((Kind::Reduce, vector, in_place && self.is_root())), None),
            Kind::Broadcast => (None, Some((Kind::Broadcast, vector))),
            // With MPI_IN_PLACE, the rank's block is in its place only if the blocks are contiguous.
            Kind::Allgather => {
                let in_place = in_place && self.scattered().is_empty();
                (Some((Kind::Gather, blocks, in_place)), Some((Kind::Broadcast, vector)))
            }
            Kind::ReduceScatter => (Some((Kind::Reduce, vector, false)), Some((Kind::Scatter, parts))),
            Kind::Alltoall | Kind::Gather | Kind::Scatter => return Err(unshared("the ranks are on several nodes")),
        };
        let stage = |kind, blocks, in_place| {
            let (p, root) = (self.node.ranks.len(), self.sender_on_node());
            let call = SharedCall { kind, p, root, size, blocks, in_place, slot: 0 };
            // All nodes must agree whether a slot can hold it, and the largest node has the least room for each rank.
            fit(SharedCall { p: self.largest(), blocks: SharedBlocks::Vector(1), ..call }, rings)?;
            fit(call, rings).map(OwnedPlan::from)
        };
        let node_block: usize = members.iter().sum();
        let scattered = self.scattered();
        let held = match kind {
            Kind::Allgather if !scattered.is_empty() => [total, 0],
            Kind::ReduceScatter if sends => [total * size, node_block * size],
            Kind::Reduce if sends && !self.is_root() => [total * size, 0],
            _ => [0, 0],
        };
        if !self.counts.is_empty() && !self.placement.is_sorted() {
            return Err(unshared("ranks are not numbered node by node"));
        }
        // All ranks plan the messages, so that all get the same error.
        let between = self.between(algorithm, node_block)?;
        Ok(NodePlan {
            before: before.map(|(kind, blocks, in_place)| stage(kind, blocks, in_place)).transpose()?,
            between: sends.then_some(between),
            after: after.map(|(kind, blocks)| stage(kind, blocks, false)).transpose()?,
            memory: NodeMemory {
                held,
                own_at: self.displs.get(self.own()).map_or(0, |begin| begin * size),
                scattered,
            },
        })
    }

    /// The messages of this node.
    fn between(&self, algorithm: &Algorithm, node_block: usize) -> Result<MessagePlan, Error> {
        let nodes = self.senders.len();
        let elements = self.elements();
        let root = if self.shape.kind.has_root() { self.placement.node(self.shape.root as usize) as i64 } else { 0 };
        let shape = CallShape { root, ..*self.shape };
        let shape = match shape.kind {
            Kind::Allreduce => CallShape { send: None, recv: elements, ..shape },
            Kind::Reduce if self.is_root() => CallShape { send: None, recv: elements, ..shape },
            Kind::Reduce => {
                CallShape { send: Some(elements), recv: 0, blocks: BlockLayout::Vector { elsewhere: true }, ..shape }
            }
            Kind::Allgather => CallShape { send: None, recv: elements, blocks: BlockLayout::Listed, ..shape },
            Kind::ReduceScatter => {
                CallShape { send: Some(elements), recv: node_block, blocks: BlockLayout::ListedParts, ..shape }
            }
            Kind::Broadcast | Kind::Alltoall | Kind::Gather | Kind::Scatter => shape,
        };
        let counts: Vec<usize> = match self.counts.is_empty() {
            true => Vec::new(),
            false => (0..nodes).map(|node| self.ranks(node).map(|rank| self.counts[rank]).sum()).collect(),
        };
        let lists = Lists { displs: offsets(&counts), counts, ..Lists::default() };
        let flat = Placement::consecutive(nodes, 1);
        let here = RankPlacement { placement: &flat, rank: self.number };
        let mut plan = draw(here, &shape, &lists, algorithm, MessagePlan::default())?;
        address(&mut plan, &self.senders);
        Ok(plan)
    }

    /// The ranks of a node.
    fn ranks(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let regions = self.placement.regions();
        let first = regions.first(node as i64) as usize;
        self.placement.order()[first..first + regions.size(node as i64) as usize].iter().copied()
    }

    /// The lengths of the blocks of this node's ranks.
    fn members(&self) -> Vec<usize> {
        self.node.ranks.iter().filter_map(|&rank| self.counts.get(rank).copied()).collect()
    }

    /// The elements of the vector, or of all blocks.
    fn elements(&self) -> usize {
        match self.shape.kind {
            Kind::Allgather => self.counts.iter().sum(),
            _ => self.shape.send.unwrap_or(self.shape.recv),
        }
    }

    /// The blocks of an allgather, if they are not contiguous. Every rank has its own displacements.
    fn scattered(&self) -> Vec<ScatteredBlock> {
        let begins = offsets(&self.counts);
        let follow =
            self.counts.iter().zip(&begins).zip(&self.displs).all(|((&count, from), to)| count == 0 || from == to);
        if self.shape.kind != Kind::Allgather || follow {
            return Vec::new();
        }
        let blocks = self.counts.iter().zip(&begins).zip(&self.displs);
        blocks.map(|((&bytes, &from), &to)| ScatteredBlock { from, to, bytes }).collect()
    }

    /// At least as many bytes as a stage needs on any node, the same on all ranks: a vector for each rank, and one for
    /// the result.
    fn most_bytes(&self) -> usize {
        let vector = self.elements().saturating_mul(self.shape.size);
        (self.largest() + 1).saturating_mul(vector.saturating_add(LINE))
    }

    /// The ranks of the largest node.
    fn largest(&self) -> usize {
        self.placement.regions().sizes().max().unwrap_or(1)
    }

    fn own(&self) -> usize {
        self.node.ranks[self.node.local]
    }

    fn is_root(&self) -> bool {
        self.own() as i64 == self.shape.root
    }

    /// The rank that sends for this node.
    fn sender(&self) -> usize {
        self.senders[self.number]
    }

    fn sender_on_node(&self) -> usize {
        self.node.ranks.iter().position(|&rank| rank == self.sender()).unwrap_or(0)
    }
}

/// Where blocks of these lengths begin, one after the other.
fn offsets(counts: &[usize]) -> Vec<usize> {
    counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))).collect()
}

/// Runs a call that was planned.
///
/// # Safety
/// The memory and the handles of the call are live.
pub(super) unsafe fn run(work: &mut CommWork, group: &OwnComm, job: &ParsedCall) -> Result<CallOutcome, Error> {
    let CommWork { recent, scratch, held, flight, shared, .. } = work;
    let Some(Ok(shared)) = shared else { return Ok(CallOutcome::Library) };
    let (mut shared, own) = (lock(shared), rank(group));
    // SAFETY: the caller guarantees live memory and handles.
    let sides = unsafe { recent.images.bring(job, &recent.lists, own)? };
    let Some(CachedPlan::Nodes(plan)) = recent.how() else { return Ok(CallOutcome::Library) };
    let CallShape { datatype, root, .. } = job.shape;
    let ops = operands(job);
    let lead = ops.as_ref().map_or(0, |ops| ops.true_lb);
    let held = held.reserve(plan.memory.bytes());
    let [before, between, after] = plan.memory.stages(&job.shape, sides, own.rank as i64 == root, held);
    // After an error the other stages continue, because other ranks would wait for this one.
    let mut stage = |plan: &Option<OwnedPlan>, StageBuffers { input, output }: StageBuffers| {
        let Some(plan) = plan else { return Ok(()) };
        let buffers = SharedBuffers { input, output, lead, combine: ops.clone() };
        // SAFETY: the buffers are as long as the plan says.
        unsafe { shared.run(&plan.get(), &buffers) }?;
        buffers.combine.as_ref().map_or(Ok(()), Operands::outcome)
    };
    let mut outcome = stage(&plan.before, before);
    if let Some(messages) = &plan.between {
        let areas = Areas::of(between.input, between.output, scratch.reserve(messages.scratch));
        let (comm, rank, tag, combine) = (own.comm, own.rank, TAG, &ops);
        let run = PlanExecution { comm, datatype, areas, rank, tag, lead, flight, combine }.run(messages);
        outcome = outcome.and(run).and(ops.as_ref().map_or(Ok(()), Operands::outcome));
    }
    outcome.and(stage(&plan.after, after))?;
    // SAFETY: held memory was reserved for all blocks, and the receive buffer is the caller's.
    unsafe { plan.memory.scatter(held, sides.recv) };
    // SAFETY: as above.
    unsafe { recent.images.take(job, &recent.lists, sides, own)? };
    Ok(CallOutcome::Done)
}
