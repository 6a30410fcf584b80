//! Plans of calls through shared memory: everything that stays the same when a call is repeated.

use crate::error::Error;
use crate::mpi::comm::shared_window::{RINGS, Rings, request_rings};
use crate::program::shared::{BlockSpans, Segments, SharedBlocks, SharedCall};

/// A call, and everything that stays the same when it is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedPlan<'a> {
    pub(super) call: SharedCall<'a>,
    pub(super) segments: Segments,
    /// The ring that it uses.
    pub(super) ring: usize,
    /// The description of the call that other ranks compare.
    pub(super) said: u64,
}

impl<'a> SharedPlan<'a> {
    /// Plans a call in the memory of a communicator: in one small slot if it fits there, and otherwise in as many
    /// large ones as it needs. An alltoallv begins in a large one, because no rank knows whether it fits.
    ///
    /// # Errors
    /// If no slot can hold it. Then all ranks get this error.
    pub(crate) fn new(call: SharedCall<'a>) -> Result<Self, Error> {
        if call.is_private() {
            return SharedPlan::in_ring(call, &RINGS, 1);
        }
        let small = SharedPlan::in_ring(call, &RINGS, 0).ok().filter(|small| small.segments.count <= 1);
        small.map_or_else(|| SharedPlan::in_ring(call, &RINGS, 1), Ok)
    }

    /// Plans the calls of a request, which has its own memory; also returns the rings of that memory.
    ///
    /// # Errors
    /// The same as for [`new`](SharedPlan::new).
    pub(crate) fn for_request(call: SharedCall<'a>) -> Result<(Self, Rings), Error> {
        let rings = request_rings(call.whole());
        SharedPlan::in_ring(call, &rings, 0).map(|plan| (plan, rings))
    }

    /// Plans a stage of a request, in memory with these rings.
    ///
    /// # Errors
    /// The same as for [`new`](SharedPlan::new).
    pub(crate) fn in_request(call: SharedCall<'a>, rings: &Rings) -> Result<Self, Error> {
        SharedPlan::in_ring(call, rings, 0)
    }

    fn in_ring(call: SharedCall<'a>, rings: &Rings, ring: usize) -> Result<Self, Error> {
        let call = SharedCall { slot: rings[ring].bytes, ..call };
        let segments = call.segments().map_err(|error| Error::NoSharedMemory { reason: error.to_string() })?;
        Ok(SharedPlan { call, segments, ring, said: say(&call) })
    }
}

/// A plan with its lists.
#[derive(Debug)]
pub(crate) struct OwnedPlan {
    /// Without its lists.
    plan: SharedPlan<'static>,
    counts: Vec<usize>,
    displs: Vec<usize>,
    /// The lengths and beginnings of what this rank sends in an alltoallv.
    leaving: Option<Box<[Vec<usize>; 2]>>,
}

impl From<SharedPlan<'_>> for OwnedPlan {
    fn from(plan: SharedPlan<'_>) -> Self {
        let SharedPlan { call, segments, ring, said } = plan;
        let mut owned = OwnedPlan {
            plan: SharedPlan { call: SharedCall { blocks: SharedBlocks::Vector(0), ..call }, segments, ring, said },
            counts: Vec::new(),
            displs: Vec::new(),
            leaving: None,
        };
        match call.blocks {
            SharedBlocks::Vector(len) => owned.plan.call.blocks = SharedBlocks::Vector(len),
            SharedBlocks::Equal(len) => owned.plan.call.blocks = SharedBlocks::Equal(len),
            SharedBlocks::Listed { counts, displs } => {
                owned.plan.call.blocks = SharedBlocks::Listed { counts: &[], displs: &[] };
                (owned.counts, owned.displs) = (counts.to_vec(), displs.to_vec());
            }
            SharedBlocks::Private { leaving, arriving } => {
                let none = BlockSpans { counts: &[], displs: &[] };
                owned.plan.call.blocks = SharedBlocks::Private { leaving: none, arriving: none };
                (owned.counts, owned.displs) = (arriving.counts.to_vec(), arriving.displs.to_vec());
                owned.leaving = Some(Box::new([leaving.counts.to_vec(), leaving.displs.to_vec()]));
            }
        }
        owned
    }
}

impl OwnedPlan {
    /// The plan of a call without lists.
    #[inline]
    pub(crate) fn without_lists(&self) -> Option<&SharedPlan<'static>> {
        self.counts.is_empty().then_some(&self.plan)
    }

    /// The plan, with its lists.
    #[inline]
    pub(crate) fn get(&self) -> SharedPlan<'_> {
        if self.counts.is_empty() {
            return self.plan;
        }
        let (counts, displs) = (&*self.counts, &*self.displs);
        let blocks = match &self.leaving {
            Some(leaving) => {
                let leaving = BlockSpans { counts: &leaving[0], displs: &leaving[1] };
                SharedBlocks::Private { leaving, arriving: BlockSpans { counts, displs } }
            }
            None => SharedBlocks::Listed { counts, displs },
        };
        SharedPlan { call: SharedCall { blocks, ..self.plan.call }, ..self.plan }
    }
}

/// A description of a call that ranks compare: its length, kind and root, whether ranks read each other's memory, and
/// whether they know only their own lengths.
pub(super) fn say(call: &SharedCall<'_>) -> u64 {
    let private = if call.is_private() { PRIVATE } else { 0 };
    let fetched = if call.fetches() { FETCHED } else { 0 };
    call.bytes() as u64 & BYTES | (call.kind as u64) << 48 | fetched | private | (call.root as u64) << 56
}

/// The bit of a description that distinguishes an alltoallv from an alltoall.
const PRIVATE: u64 = 1 << 55;

/// The bit of a description that says that ranks read each other's memory.
const FETCHED: u64 = 1 << 54;

/// The bits of a description that hold the number of bytes.
pub(super) const BYTES: u64 = (1 << 48) - 1;
