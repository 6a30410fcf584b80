//! Where threads meet: the shared [`ThreadWorld`] behind a lock, and the first panic.

use super::member::PostedRound;
use super::parcel::Parcel;
use super::world::ThreadWorld;
use crate::error::Error;
use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The payload of a panic.
pub(super) type Payload = Box<dyn Any + Send>;

/// The shared state of all ranks, with a lock.
pub(super) struct Hub {
    world: Mutex<ThreadWorld>,
    first_panic: Mutex<Option<Payload>>,
}

impl Hub {
    /// Creates the hub for `p` running ranks.
    pub(super) fn new(p: usize) -> Self {
        Hub { world: Mutex::new(ThreadWorld::new(p)), first_panic: Mutex::new(None) }
    }

    /// Returns the error of a broken world.
    pub(super) fn check(&self, rank: usize) -> Result<(), Error> {
        self.lock().error(rank).map_or(Ok(()), Err)
    }

    /// Posts a round, waits until it is complete, and returns the received messages in their order.
    pub(super) fn exchange(&self, member: usize, round: PostedRound) -> Result<Vec<Parcel>, Error> {
        let mut world = self.lock();
        world.post(member, round)?;
        ring(&mut world);
        let bell = world.bell(member);
        loop {
            if let Some(outcome) = world.outcome(member) {
                return outcome;
            }
            world = bell.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds a request of a rank.
    pub(super) fn open(&self, rank: usize, channel: usize) -> usize {
        self.lock().open(rank, channel)
    }

    /// Forgets a request that is not under way.
    pub(super) fn close(&self, request: usize) {
        self.lock().close(request);
    }

    /// Notes that a call of a request begins.
    pub(super) fn start(&self, request: usize) -> Result<(), Error> {
        self.lock().start(request)
    }

    /// Notes that the call of a request has ended.
    pub(super) fn end(&self, request: usize) {
        let mut world = self.lock();
        world.end(request);
        ring(&mut world);
    }

    /// Whether no call of a request is under way.
    pub(super) fn is_idle(&self, request: usize) -> bool {
        self.lock().is_idle(request)
    }

    /// Waits until the call of a request of this rank has ended.
    pub(super) fn wait_for(&self, rank: usize, request: usize) {
        let mut world = self.lock();
        world.wait_for(rank, request);
        ring(&mut world);
        let bell = world.bell(rank);
        while !world.is_idle(request) {
            world = bell.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes that the rank's closure has returned.
    pub(super) fn finish(&self, rank: usize) {
        let mut world = self.lock();
        world.finish(rank);
        ring(&mut world);
    }

    /// Notes that the rank's closure, or a call of its request, has panicked. The panic is stored before the others
    /// learn of it, so that the stored panic is the cause and not a consequence on another rank.
    pub(super) fn panicked(&self, rank: usize, panic: Payload) {
        let reason = reason(&*panic);
        self.first_panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        self.fail(rank, reason);
    }

    /// Notes that the rank has failed, or never started.
    pub(super) fn fail(&self, rank: usize, reason: String) {
        let mut world = self.lock();
        world.fail(rank, reason);
        ring(&mut world);
    }

    /// The first panic of any rank.
    pub(super) fn take_panic(&self) -> Option<Payload> {
        self.first_panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The only foreign code that runs inside the lock is destructors of elements, whose panics leave the world
    /// consistent.
    fn lock(&self) -> MutexGuard<'_, ThreadWorld> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ring(world: &mut ThreadWorld) {
    let released: Vec<usize> = world.take_released().collect();
    released.into_iter().for_each(|member| world.bell(member).notify_one());
}

/// The text of a panic, if it has one.
fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(|| "it panicked".into(), |text| format!("it panicked: {text}"))
}
