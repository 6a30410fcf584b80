//! Runs a call on several nodes: through the memory of each node, and with messages between one rank of each.

use super::planning::Planning;
use super::shared_run::unshared;
use super::{CallOutcome, operands, rank};
use crate::choice::selection::{Algorithm, BetweenNodes};
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists, ParsedCall};
use crate::mpi::cache::call_cache::CachedPlan;
use crate::mpi::cache::node_plan::{
    NodePlan, NodeStage, ScatteredBlock, StageLocation, StageLocations, StageMemory, address,
};
use crate::mpi::cache::workspace::Workspace;
use crate::mpi::comm::node_members::NodeMembers;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::shared_window::{Rings, request_rings};
use crate::mpi::execution::shared::{LocalStage, NodeBlocks, NodeVectors, OwnedPlan, STAGES, SharedPlan};
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::state::CommWork;
use crate::program::shared::{CopyPath, LINE, SharedBlocks, SharedCall};
use crate::transport::{Layout, RankPlacement};
use roundel_spec::{Kind, Placement};

/// Plans a call. The first one is collective.
pub(super) fn plan(
    work: &mut CommWork,
    group: &OwnComm,
    shape: &CallShape,
    between: &BetweenNodes,
) -> Result<NodePlan, Error> {
    work.shared(group)?;
    NodeCall::new(group, shape, &work.recent.lists).plan(between, None)
}

/// Plans a request that has its own memory, and returns the rings of that memory. Not collective.
pub(super) fn plan_request(
    group: &OwnComm,
    shape: &CallShape,
    lists: &Lists,
    between: &BetweenNodes,
) -> Result<(NodePlan, Rings), Error> {
    let call = NodeCall::new(group, shape, lists);
    let rings = request_rings(call.most_bytes());
    let plan = call.plan(between, Some(&rings))?;
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
    fn plan(&self, between: &BetweenNodes, rings: Option<&Rings>) -> Result<NodePlan, Error> {
        let CallShape { kind, size, .. } = *self.shape;
        if !self.counts.is_empty() && !self.placement.is_sorted() {
            return Err(unshared("ranks are not numbered node by node"));
        }
        let sends = self.sender() == self.own();
        let memory = self.memory(between, sends);
        // Where the input of a stage is where its result will be.
        let in_place = |stage: usize| match memory.locations[stage] {
            (StageLocation::Given, StageLocation::Result) => sends && self.shape.send.is_none(),
            _ => false,
        };
        let members = self.members();
        let (own_begins, all_begins) = (offsets(&members), offsets(&self.counts));
        let member_begins: Vec<usize> =
            self.node.ranks.iter().filter_map(|&rank| all_begins.get(rank).copied()).collect();
        let vector = SharedBlocks::Vector(self.elements());
        let blocks = SharedBlocks::Listed { counts: &members, displs: &member_begins };
        let parts = SharedBlocks::Listed { counts: &members, displs: &own_begins };
        let rows = SharedBlocks::Equal(self.elements());
        let (before, after) = match kind {
            Kind::Allreduce => (Some((Kind::Reduce, vector)), Some((Kind::Broadcast, vector))),
            Kind::Reduce => (Some((Kind::Reduce, vector)), None),
            Kind::Broadcast => (None, Some((Kind::Broadcast, vector))),
            Kind::Allgather => (Some((Kind::Gather, blocks)), Some((Kind::Broadcast, vector))),
            Kind::ReduceScatter => (Some((Kind::Reduce, vector)), Some((Kind::Scatter, parts))),
            Kind::Alltoall => (Some((Kind::Gather, rows)), Some((Kind::Scatter, rows))),
            Kind::Gather | Kind::Scatter => return Err(unshared("the ranks are on several nodes")),
        };
        let stage = |kind, blocks, in_place| {
            let (p, root) = (self.node.ranks.len(), self.sender_on_node());
            let call = SharedCall { kind, p, root, size, blocks, in_place, path: CopyPath::Slot, slot: 0 };
            // All nodes must agree whether a slot can hold it, and the largest node has the least room for each rank.
            fit(SharedCall { p: self.largest(), blocks: SharedBlocks::Vector(1), ..call }, rings)?;
            fit(call, rings).map(|plan| NodeStage::Shared(OwnedPlan::from(plan)))
        };
        // All ranks plan the messages, so that all get the same error.
        let mut between =
            self.between(between, members.iter().sum())?.map(|stage| stage.filter(|_| sends)).into_iter();
        let stages = [
            before.map(|(kind, blocks)| stage(kind, blocks, in_place(0))).transpose()?,
            between.next().flatten(),
            between.next().flatten(),
            between.next().flatten(),
            after.map(|(kind, blocks)| stage(kind, blocks, false)).transpose()?,
        ];
        Ok(NodePlan { stages, memory })
    }

    /// The memory that the stages need, and where each has its input and output.
    fn memory(&self, between: &BetweenNodes, sends: bool) -> StageMemory {
        use StageLocation::{Given, Held, Nothing, Result};
        let (kind, size, scattered) = (self.shape.kind, self.shape.size, self.scattered());
        const NONE: StageLocations = (Nothing, Nothing);
        let aligned = |bytes: usize| bytes.next_multiple_of(size_of::<u128>());
        let vector = self.elements() * size;
        let parts = |counts: &[usize]| counts.get(self.number).map_or(0, |count| count * size);
        let (held, locations) = match (kind, between) {
            (Kind::Allreduce, BetweenNodes::GatherAndReduce(_)) => {
                let own = Held(self.number * vector);
                let all = [(Given, own), (Nothing, Held(0)), (Held(0), Result), NONE, (Result, Result)];
                (self.senders.len() * vector, all)
            }
            (Kind::Allreduce, BetweenNodes::ScatterAndGather { .. }) => {
                let all = [(Given, Result), (Result, Held(0)), (Held(0), Result), NONE, (Result, Result)];
                (parts(&self.node_parts()), all)
            }
            (Kind::Reduce, _) if !self.is_root() => {
                (vector, [(Given, Held(0)), (Held(0), Nothing), NONE, NONE, NONE])
            }
            (Kind::ReduceScatter, _) => {
                let own = Held(aligned(vector));
                let all = [(Given, Held(0)), (Held(0), own), NONE, NONE, (own, Result)];
                (aligned(vector) + parts(&self.node_counts()), all)
            }
            (Kind::Alltoall, _) => {
                let rows = aligned(self.node.ranks.len() * vector);
                let (one, other) = (Held(0), Held(rows));
                (2 * rows, [(Given, one), (one, other), (other, one), (one, other), (other, Result)])
            }
            _ => {
                let all = if scattered.is_empty() { Result } else { Held(0) };
                let locations = [(Given, all), (Nothing, all), NONE, NONE, (all, all)];
                (if scattered.is_empty() { 0 } else { vector }, locations)
            }
        };
        // All ranks receive the blocks of an allgather that are not in their place.
        let held = if sends || !scattered.is_empty() { held } else { 0 };
        let own = self.displs.get(self.own()).filter(|_| kind == Kind::Allgather);
        StageMemory { held, own_at: own.map_or(0, |begin| begin * size), locations, scattered }
    }

    /// What this rank does between nodes if it sends for its node.
    fn between(&self, between: &BetweenNodes, node_block: usize) -> Result<[Option<NodeStage>; STAGES - 2], Error> {
        let elements = self.elements();
        Ok(match between {
            BetweenNodes::Itself(algorithm) if self.shape.kind == Kind::Alltoall => {
                let blocks = self.blocks();
                let local = |stage| Some(NodeStage::Local(stage));
                let messages = self.exchange(algorithm, &blocks)?;
                [local(LocalStage::Pack(blocks.clone())), Some(messages), local(LocalStage::Unpack(blocks))]
            }
            BetweenNodes::Itself(algorithm) => [Some(self.itself(algorithm, node_block)?), None, None],
            BetweenNodes::GatherAndReduce(gather) => {
                let vectors = self.senders.len();
                let (send, recv, blocks) = (None, vectors * elements, BlockLayout::Equal(elements));
                let shape = CallShape { kind: Kind::Allgather, send, recv, blocks, ..*self.shape };
                let reduction = NodeVectors { vectors, elements, size: self.shape.size };
                let messages = self.messages(&shape, Vec::new(), gather)?;
                [Some(messages), Some(NodeStage::Local(LocalStage::Reduce(reduction))), None]
            }
            BetweenNodes::ScatterAndGather { scatter, gather } => {
                let parts = self.node_parts();
                let own = parts[self.number];
                let (send, recv, blocks) = (Some(elements), own, BlockLayout::ListedParts);
                let divided = CallShape { kind: Kind::ReduceScatter, send, recv, blocks, ..*self.shape };
                let (send, recv, blocks) = (Some(own), elements, BlockLayout::Listed);
                let gathered = CallShape { kind: Kind::Allgather, send, recv, blocks, ..*self.shape };
                let first = self.messages(&divided, parts.clone(), scatter)?;
                [Some(first), Some(self.messages(&gathered, parts, gather)?), None]
            }
        })
    }

    /// The messages of the collective itself.
    fn itself(&self, algorithm: &Algorithm, node_block: usize) -> Result<NodeStage, Error> {
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
        self.messages(&shape, self.node_counts(), algorithm)
    }

    /// The messages of an all-to-all: one block for all blocks from one node to another.
    fn exchange(&self, algorithm: &Algorithm, blocks: &NodeBlocks) -> Result<NodeStage, Error> {
        let counts: Vec<usize> = blocks.sizes.iter().map(|size| size * blocks.own * blocks.bytes).collect();
        let (total, displs) = (counts.iter().sum(), offsets(&counts));
        let lists = Lists { leaving: counts.clone(), leaves_at: displs.clone(), counts, displs };
        let shape = CallShape { send: Some(total), recv: total, blocks: BlockLayout::Private, ..*self.shape };
        self.messages_of(&shape, &lists, algorithm)
    }

    /// The blocks of an all-to-all that this node sends.
    fn blocks(&self) -> NodeBlocks {
        let sizes = self.placement.regions().sizes().collect();
        NodeBlocks { sizes, own: self.node.ranks.len(), bytes: self.elements() / self.placement.p() }
    }

    /// The messages of one collective among the ranks that send, with blocks of these lengths.
    fn messages(&self, shape: &CallShape, counts: Vec<usize>, algorithm: &Algorithm) -> Result<NodeStage, Error> {
        let lists = Lists { displs: offsets(&counts), counts, ..Lists::default() };
        self.messages_of(shape, &lists, algorithm)
    }

    fn messages_of(&self, shape: &CallShape, lists: &Lists, algorithm: &Algorithm) -> Result<NodeStage, Error> {
        let flat = Placement::consecutive(self.senders.len(), 1);
        let here = RankPlacement { placement: &flat, rank: self.number };
        let mut plan = MessagePlan::default();
        // If every node sends to every other, each message is one block, which is contiguous where it is.
        let layout = if algorithm.sends_to_all(self.senders.len()) { Layout::InPlace } else { Layout::default() };
        let mut planning = Planning { here, shape, lists, plan: &mut plan, layout, recorded: false };
        planning.plan(&*algorithm.collective_with_root(shape.root))?;
        address(&mut plan, &self.senders);
        Ok(NodeStage::Messages(plan))
    }

    /// The lengths of the blocks of each node's ranks together; empty for vectors.
    fn node_counts(&self) -> Vec<usize> {
        match self.counts.is_empty() {
            true => Vec::new(),
            false => {
                let of_node = |node| self.ranks(node).map(|rank| self.counts[rank]).sum();
                (0..self.senders.len()).map(of_node).collect()
            }
        }
    }

    /// The elements of a vector that each node reduces.
    fn node_parts(&self) -> Vec<usize> {
        let (elements, nodes) = (self.elements(), self.senders.len());
        (0..nodes).map(|node| (node + 1) * elements / nodes - node * elements / nodes).collect()
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
            Kind::Allgather | Kind::Alltoall => self.counts.iter().sum(),
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
    let own = rank(group);
    // SAFETY: the caller guarantees live memory and handles.
    let sides = unsafe { recent.images.bring(job, &recent.lists, own)? };
    let Some(CachedPlan::Nodes(plan)) = recent.how() else { return Ok(CallOutcome::Library) };
    let mut workspace = Workspace { comm: own.comm, rank: own.rank, scratch, held, flight, shared: Some(shared) };
    // SAFETY: as above.
    unsafe {
        plan.run(&job.shape, sides, &operands(job), &mut workspace)?;
        recent.images.take(job, &recent.lists, sides, own)?;
    }
    Ok(CallOutcome::Done)
}
