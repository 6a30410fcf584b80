//! What operations that are over leave on their communicator for the next ones like them: programs start a few again
//! and again.

use super::By;
use super::choice::Decider;
use super::image::Images;
use super::shape::{CallShape, Lists};
use crate::mpi::areas::Scratch;
use crate::mpi::execution::MessagesInFlight;
use crate::mpi::plan::MessagePlan;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// How much is kept.
const KEPT: usize = 16;

/// Everything of an operation but its addresses.
#[derive(Default)]
pub(super) struct SpareBuffers {
    pub(super) lists: Lists,
    pub(super) plan: MessagePlan,
    pub(super) scratch: Scratch,
    pub(super) images: Images,
    pub(super) flight: MessagesInFlight,
}

/// Larger buffers are freed, not pooled.
const MUCH: usize = 1 << 20;

impl SpareBuffers {
    /// How many bytes it keeps for data.
    fn memory(&self) -> usize {
        self.scratch.memory() + self.images.memory()
    }

    fn forget(&mut self) {
        (self.scratch, self.images) = Default::default();
    }
}

struct Kept {
    shape: CallShape,
    decider: Decider,
    kit: SpareBuffers,
}

type Shelf = Mutex<Vec<Kept>>;

/// The kits of a communicator.
#[derive(Default)]
pub(in crate::mpi) struct Spare(Arc<Shelf>);

impl Spare {
    /// A kit for a call.
    pub(super) fn take(&self, shape: &CallShape, lists: &Lists, by: By<'_>) -> Option<SpareBuffers> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |kept: &Kept| kept.shape == *shape && kept.kit.lists == *lists && kept.decider.is(by);
        let found = shelf.iter().rposition(fits)?;
        Some(shelf.remove(found).kit)
    }

    /// Where the kit of a call goes when it is over.
    pub(super) fn home(&self, by: By<'_>) -> Home {
        Home { shelf: Arc::downgrade(&self.0), decider: by.into() }
    }
}

/// Where a kit goes when its operation is over; its communicator may be gone by then.
pub(super) struct Home {
    shelf: Weak<Shelf>,
    decider: Decider,
}

impl Home {
    /// Leaves it there, in place of the one that lies there longest. Of all that lie there, only this one has much
    /// memory.
    pub(super) fn leave(self, shape: CallShape, kit: SpareBuffers) {
        let Some(shelf) = self.shelf.upgrade() else { return };
        let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.len() == KEPT {
            shelf.remove(0);
        }
        if kit.memory() > MUCH {
            shelf
                .iter_mut()
                .map(|kept| &mut kept.kit)
                .filter(|kit| kit.memory() > MUCH)
                .for_each(SpareBuffers::forget);
        }
        shelf.push(Kept { shape, decider: self.decider, kit });
    }
}
