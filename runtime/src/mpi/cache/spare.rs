//! A pool of the buffers of completed operations, cached on their communicator, because programs start the same few
//! operations again and again.

use super::decider::Decider;
use crate::mpi::arguments::image::Images;
use crate::mpi::arguments::shape::{CallShape, Lists};
use crate::mpi::cache::decider::By;
use crate::mpi::cache::node_plan::StageMemory;
use crate::mpi::execution::shared::{Completion, QueuedCall};
use crate::mpi::execution::{MessagesInFlight, RequestLife};
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::lowering::plan::MessagePlan;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The number of pooled entries.
const KEPT: usize = 16;

/// Everything that an operation needs except its addresses.
#[derive(Default)]
pub(crate) struct SpareBuffers {
    pub(crate) lists: Lists,
    pub(crate) plan: MessagePlan,
    pub(crate) scratch: Scratch,
    pub(crate) images: Images,
    pub(crate) flight: MessagesInFlight,
    /// The call in place of the plan, if it runs in shared memory.
    pub(crate) queued: Option<QueuedSpare>,
}

/// A call through shared memory that is complete.
pub(crate) struct QueuedSpare {
    pub(crate) call: Box<QueuedCall>,
    pub(crate) completion: Arc<Completion>,
    /// Its memory, if it is on several nodes.
    pub(crate) nodes: Option<HeldMemory>,
}

/// The memory of a call on several nodes, with what it needs besides the program's.
pub(crate) struct HeldMemory {
    pub(crate) memory: StageMemory,
    pub(crate) held: Scratch,
}

/// Of the entries with more bytes than this, only the newest keeps its memory.
const MUCH: usize = 1 << 20;

impl SpareBuffers {
    /// The bytes that it holds for data.
    fn memory(&self) -> usize {
        self.scratch.memory() + self.images.memory()
    }

    fn forget(&mut self) {
        (self.scratch, self.images) = Default::default();
    }
}

struct Kept {
    life: RequestLife,
    shape: CallShape,
    decider: Decider,
    buffers: SpareBuffers,
}

type Shelf = Mutex<Vec<Kept>>;

/// The spare buffers of a communicator.
#[derive(Default)]
pub(crate) struct Spare(Arc<Shelf>);

impl Spare {
    /// Buffers of a completed call of the same shape, decider and life. A call of another life may run differently, and
    /// all ranks must choose alike.
    pub(crate) fn take(
        &self,
        shape: &CallShape,
        lists: &Lists,
        by: By<'_>,
        life: RequestLife,
    ) -> Option<SpareBuffers> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |kept: &Kept| {
            let same = kept.shape == *shape && kept.buffers.lists == *lists && kept.decider.is(by);
            same && kept.life == life
        };
        let found = shelf.iter().rposition(fits)?;
        Some(shelf.remove(found).buffers)
    }

    /// Where the buffers of a call go when it is complete.
    pub(crate) fn home(&self, by: By<'_>, life: RequestLife) -> Home {
        Home { life, shelf: Arc::downgrade(&self.0), decider: by.into() }
    }
}

/// Where buffers go when their operation is complete; the communicator may be freed by then.
pub(crate) struct Home {
    life: RequestLife,
    shelf: Weak<Shelf>,
    decider: Decider,
}

impl Home {
    /// Returns the buffers to the pool, replacing the oldest entry if it is full. Of the large entries, only the
    /// newest keeps its memory.
    pub(crate) fn leave(self, shape: CallShape, buffers: SpareBuffers) {
        let Some(shelf) = self.shelf.upgrade() else { return };
        let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.len() == KEPT {
            shelf.remove(0);
        }
        if buffers.memory() > MUCH {
            shelf
                .iter_mut()
                .map(|kept| &mut kept.buffers)
                .filter(|buffers| buffers.memory() > MUCH)
                .for_each(SpareBuffers::forget);
        }
        shelf.push(Kept { life: self.life, shape, decider: self.decider, buffers });
    }
}
