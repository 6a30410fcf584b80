//! The communicator that each rank holds.

use super::hub::Hub;
use super::rotation::Rotation;
use super::sink::RoundSink;
use crate::error::Error;
use crate::geometry::{Described, Geometry};
use crate::transport::{Gather, Transport};
use roundel_spec::{Collective, Place};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// One rank's end of a world of threads; [`run`](super::run) makes one for each rank.
///
/// A rank is one thread, so a communicator cannot be shared between threads:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>() {}
/// shared::<roundel::threads::ThreadComm>();
/// ```
pub struct ThreadComm {
    hub: Arc<Hub>,
    place: Place,
    not_sync: PhantomData<Cell<()>>,
}

impl ThreadComm {
    pub(super) fn new(hub: Arc<Hub>, place: Place) -> Self {
        ThreadComm { hub, place, not_sync: PhantomData }
    }

    /// This rank, in `0..size`.
    pub fn rank(&self) -> usize {
        self.place.rank as usize
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.place.p as usize
    }

    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Puts this rank's block into `buffer` and runs the rounds there.
    fn run<C: Collective, T: Clone + Send + 'static>(
        &self,
        collective: &C,
        send: &[T],
        buffer: &mut [T],
        geometry: &impl Geometry,
    ) -> Result<(), Error> {
        // An empty block may lie anywhere, even outside the buffer.
        if !send.is_empty() {
            buffer[geometry.offset(self.rank())..][..send.len()].clone_from_slice(send);
        }
        collective.rounds(&self.place, &mut RoundSink::new(self, C::NAME, buffer, geometry))
    }
}

impl<T: Clone + Send + 'static> Transport<T> for ThreadComm {
    fn place(&self) -> Result<Place, Error> {
        Ok(self.place)
    }

    fn gather<C: Collective, G: Described>(&self, collective: &C, call: Gather<'_, T, G>) -> Result<(), Error> {
        let rotation = call.validate(collective, &self.place)?;
        self.hub.check(self.rank())?;
        let Gather { send, recv, geometry, options: _ } = call;
        let Some(by) = rotation else {
            return self.run(collective, send, recv, &geometry);
        };
        let rotation = Rotation::new(&geometry, by, self.size());
        let mut scratch = rotation.copy_out(recv, &geometry);
        self.run(collective, send, &mut scratch, &rotation.geometry())?;
        rotation.put_in_place(scratch, recv, &geometry);
        Ok(())
    }
}

impl fmt::Debug for ThreadComm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadComm(rank {} of {})", self.rank(), self.size())
    }
}
