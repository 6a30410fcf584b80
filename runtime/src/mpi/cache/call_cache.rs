//! Caches the plans of recent calls on their communicator, because programs repeat a few calls.

use super::decider::Decider;
use crate::choice::selection::Algorithm;
use crate::mpi::arguments::image::Images;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists};
use crate::mpi::cache::decider::By;
use crate::mpi::cache::node_plan::NodePlan;
use crate::mpi::execution::RequestLife;
use crate::mpi::execution::shared::ExchangeLimit;
use crate::mpi::lowering::plan::MessagePlan;
use crate::program::shared::CopyPath;
use std::sync::Arc;

/// The number of cached calls.
const KEPT: usize = 16;

/// How a call runs.
#[derive(Debug)]
pub(crate) enum CachedPlan {
    /// By MPI, for this reason.
    Library(Box<str>),
    /// By the plan of an algorithm.
    Plan(Arc<MessagePlan>, Box<Algorithm>),
    /// Along a route, for blocks of any lengths.
    Alltoallv(Box<Algorithm>),
    /// Through the node's shared memory.
    SharedMemory(CopyPath),
    /// An alltoallv through the node's shared memory, up to a limit.
    SharedAlltoallv(ExchangeLimit),
    /// Through the shared memory of each node, and with messages between nodes.
    Nodes(Arc<NodePlan>),
}

/// A call that was planned.
#[derive(Debug)]
pub(crate) struct CachedCall {
    shape: CallShape,
    lists: Lists,
    decider: Decider,
    pub(crate) how: CachedPlan,
}

impl CachedCall {
    pub(crate) fn new(shape: CallShape, lists: &Lists, by: By<'_>, how: CachedPlan) -> Self {
        // The lists of an alltoallv differ from call to call, and its route does not depend on them.
        let lists = if shape.blocks == BlockLayout::Private { Lists::default() } else { lists.clone() };
        CachedCall { shape, lists, decider: by.into(), how }
    }

    fn is(&self, shape: &CallShape, lists: &Lists, by: By<'_>) -> bool {
        let private = shape.blocks == BlockLayout::Private;
        let same = match private {
            // Persistent ones know how long the longest is.
            true => (self.shape.kind, self.shape.blocks, self.shape.bytes) == (shape.kind, shape.blocks, shape.bytes),
            false => self.shape == *shape && self.lists == *lists,
        };
        same && self.decider.is(by)
    }
}

/// The cache of calls with MPI's own arguments.
#[derive(Debug, Default)]
pub(crate) struct CallCache {
    planned: Vec<CachedCall>,
    /// Non-blocking calls that MPI serves.
    left: Vec<(RequestLife, CachedCall)>,
    pub(crate) lists: Lists,
    pub(crate) images: Images,
}

impl CallCache {
    /// The position of a call like this one, after moving it to the front.
    pub(crate) fn find(&mut self, shape: &CallShape, by: By<'_>) -> Option<usize> {
        let found = self.planned.iter().position(|planned| planned.is(shape, &self.lists, by))?;
        self.planned.swap(0, found);
        Some(0)
    }

    /// Adds a call at the front, dropping the last one if the cache is full.
    pub(crate) fn keep(&mut self, planned: CachedCall) {
        self.planned.truncate(KEPT - 1);
        self.planned.insert(0, planned);
    }

    /// Whether MPI serves non-blocking calls like this one.
    pub(crate) fn is_left(&self, shape: &CallShape, by: By<'_>, life: RequestLife) -> bool {
        self.left.iter().any(|(of, left)| *of == life && left.is(shape, &self.lists, by))
    }

    /// Notes that MPI serves non-blocking calls like this one.
    pub(crate) fn leave(&mut self, shape: CallShape, by: By<'_>, life: RequestLife) {
        self.left.truncate(KEPT - 1);
        let left = CachedCall::new(shape, &self.lists, by, CachedPlan::Library("".into()));
        self.left.insert(0, (life, left));
    }

    /// How the most recently found or added call runs.
    pub(crate) fn how(&self) -> Option<&CachedPlan> {
        self.planned.first().map(|planned| &planned.how)
    }
}
