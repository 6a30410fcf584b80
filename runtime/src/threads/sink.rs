//! One rank's rounds on its buffer: what the schedule says becomes messages, and messages become blocks.

use super::comm::ThreadComm;
use super::member::{Half, Operation, Round};
use super::parcel::{Expected, Parcel};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::runs::{Run, Shape, for_each_run};
use roundel_spec::{Blocks, Sink, Site};

/// Collects a round's messages and exchanges them when the round ends.
pub(super) struct RoundSink<'a, T, G> {
    comm: &'a ThreadComm,
    buffer: &'a mut [T],
    geometry: &'a G,
    collective: &'static str,
    number: usize,
    operations: Vec<Operation>,
    /// Where the round's receives go, in the order in which they were declared.
    landings: Vec<Vec<Run>>,
}

impl<'a, T, G> RoundSink<'a, T, G> {
    pub(super) fn new(comm: &'a ThreadComm, collective: &'static str, buffer: &'a mut [T], geometry: &'a G) -> Self {
        RoundSink { comm, buffer, geometry, collective, number: 0, operations: Vec::new(), landings: Vec::new() }
    }
}

impl<T: Clone + Send + 'static, G: Geometry> Sink for RoundSink<'_, T, G> {
    type Error = Error;

    fn begin_round(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _site: Site, to: usize, blocks: B) -> Result<(), Error> {
        let p = self.comm.size();
        let mut elements = Vec::with_capacity(Shape::of(&blocks, self.geometry, p).elements);
        for_each_run(&blocks, self.geometry, p, |run| {
            elements.extend_from_slice(&self.buffer[run.start..][..run.len])
        });
        let half = Half::Send(Parcel::new(elements));
        self.operations.push(Operation { peer: to, blocks: blocks.count(), half });
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _site: Site, from: usize, blocks: B) -> Result<(), Error> {
        let mut landing = Vec::new();
        for_each_run(&blocks, self.geometry, self.comm.size(), |run| landing.push(run));
        let half = Half::Recv(Expected::elements::<T>(landing.iter().map(|run| run.len).sum()));
        self.operations.push(Operation { peer: from, blocks: blocks.count(), half });
        self.landings.push(landing);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Error> {
        let operations = std::mem::take(&mut self.operations);
        let round = Round { collective: self.collective, number: self.number, operations };
        let parcels = self.comm.hub().exchange(self.comm.rank(), round)?;
        for (landing, parcel) in self.landings.drain(..).zip(parcels) {
            put(self.buffer, &landing, parcel.open());
        }
        self.number += 1;
        Ok(())
    }
}

/// Moves `elements` into the runs of `buffer`, in their order.
fn put<T>(buffer: &mut [T], runs: &[Run], elements: Vec<T>) {
    let mut elements = elements.into_iter();
    for run in runs {
        let places = buffer[run.start..][..run.len].iter_mut();
        places.zip(elements.by_ref()).for_each(|(old, new)| *old = new);
    }
}
