//! Where threads meet: the shared [`ThreadWorld`] behind a lock, and a condition variable for each rank, so that only
//! the affected ranks wake up.

use super::member::PostedRound;
use super::parcel::Parcel;
use super::world::ThreadWorld;
use crate::error::Error;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The shared state of all ranks, with a lock.
pub(super) struct Hub {
    world: Mutex<ThreadWorld>,
    bells: Vec<Condvar>,
}

impl Hub {
    /// Creates the hub for `p` running ranks.
    pub(super) fn new(p: usize) -> Self {
        Hub { world: Mutex::new(ThreadWorld::new(p)), bells: (0..p).map(|_| Condvar::new()).collect() }
    }

    /// Returns the error of a broken world.
    pub(super) fn check(&self, rank: usize) -> Result<(), Error> {
        self.lock().error(rank).map_or(Ok(()), Err)
    }

    /// Posts a round, waits until it is complete, and returns the received messages in their order.
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

    /// Notes that the rank's closure has returned.
    pub(super) fn finish(&self, rank: usize) {
        let mut world = self.lock();
        world.finish(rank);
        self.ring(&mut world);
    }

    /// Notes that the rank's closure has panicked, or never started.
    pub(super) fn fail(&self, rank: usize, reason: String) {
        let mut world = self.lock();
        world.fail(rank, reason);
        self.ring(&mut world);
    }

    /// The only foreign code that runs inside the lock is destructors of elements, whose panics leave the world
    /// consistent.
    fn lock(&self) -> MutexGuard<'_, ThreadWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, world: &mut ThreadWorld) {
        world.take_released().for_each(|rank| self.bells[rank].notify_one());
    }
}
