//! Where threads meet: the shared [`World`] behind a lock, and a bell for each rank, so that only the ranks concerned
//! wake up.

use super::member::PostedRound;
use super::parcel::Parcel;
use super::world::ThreadWorld;
use crate::error::Error;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The meeting point of all ranks.
pub(super) struct Hub {
    world: Mutex<ThreadWorld>,
    bells: Vec<Condvar>,
}

impl Hub {
    /// For `p` ranks, all of them running.
    pub(super) fn new(p: usize) -> Self {
        Hub { world: Mutex::new(ThreadWorld::new(p)), bells: (0..p).map(|_| Condvar::new()).collect() }
    }

    /// The error of a broken world.
    pub(super) fn check(&self, rank: usize) -> Result<(), Error> {
        self.lock().error(rank).map_or(Ok(()), Err)
    }

    /// Posts a round, waits until it is complete, and returns what its receives brought, in their order.
    pub(super) fn exchange(&self, rank: usize, round: PostedRound) -> Result<Vec<Parcel>, Error> {
        let mut world = self.lock();
        world.post(rank, round)?;
        self.ring(&mut world);
        loop {
            if let Some(outcome) = world.outcome(rank) {
                return outcome;
            }
            world = self.bells[rank].wait(world).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The rank's closure returned.
    pub(super) fn finish(&self, rank: usize) {
        let mut world = self.lock();
        world.finish(rank);
        self.ring(&mut world);
    }

    /// The rank's closure panicked, or never started.
    pub(super) fn fail(&self, rank: usize, reason: String) {
        let mut world = self.lock();
        world.fail(rank, reason);
        self.ring(&mut world);
    }

    /// No rank runs foreign code inside the lock but destructors of elements, whose panic leaves the world whole.
    fn lock(&self) -> MutexGuard<'_, ThreadWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, world: &mut ThreadWorld) {
        world.take_released().for_each(|rank| self.bells[rank].notify_one());
    }
}
