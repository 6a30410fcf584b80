//! Plans of calls through shared memory: everything that stays the same when a call is repeated.

use crate::error::Error;
use crate::mpi::comm::shared_window::{RINGS, Rings, request_rings};
use crate::program::shared::{Segments, SharedBlocks, SharedCall};

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
    /// large ones as it needs.
    ///
    /// # Errors
    /// If no slot can hold it. Then all ranks get this error.
    pub(crate) fn new(call: SharedCall<'a>) -> Result<Self, Error> {
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
}

impl From<SharedPlan<'_>> for OwnedPlan {
    fn from(plan: SharedPlan<'_>) -> Self {
        let SharedPlan { call: SharedCall { kind, p, root, size, blocks, in_place, slot }, segments, ring, said } =
            plan;
        let (blocks, counts, displs) = match blocks {
            SharedBlocks::Vector(len) => (SharedBlocks::Vector(len), Vec::new(), Vec::new()),
            SharedBlocks::Equal(len) => (SharedBlocks::Equal(len), Vec::new(), Vec::new()),
            SharedBlocks::Listed { counts, displs } => {
                (SharedBlocks::Listed { counts: &[], displs: &[] }, counts.to_vec(), displs.to_vec())
            }
        };
        let call = SharedCall { kind, p, root, size, blocks, in_place, slot };
        OwnedPlan { plan: SharedPlan { call, segments, ring, said }, counts, displs }
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
        let blocks = SharedBlocks::Listed { counts: &self.counts, displs: &self.displs };
        SharedPlan { call: SharedCall { blocks, ..self.plan.call }, ..self.plan }
    }
}

/// A description of a call that ranks compare: its length, kind and root.
pub(super) fn say(call: &SharedCall<'_>) -> u64 {
    call.bytes() as u64 & BYTES | (call.kind as u64) << 48 | (call.root as u64) << 56
}

/// The bits of a description that hold the number of bytes.
pub(super) const BYTES: u64 = (1 << 48) - 1;
