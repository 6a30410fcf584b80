//! Runs one rank's rounds on its memory: turns the schedule into messages, and messages into blocks.

use super::comm::ThreadComm;
use super::member::{Half, MemberMessage, PostedRound};
use super::parcel::{Expected, Parcel};
use crate::call::geometry::Geometry;
use crate::error::Error;
use crate::rank_rounds::RankRounds;
use crate::runs::{MessageShape, Run, for_each_run};
use roundel_spec::{Action, Blocks, Sink, Site};

/// Collects a round's messages and exchanges them when the round ends.
pub(super) struct RoundSink<'a, T, G, F> {
    comm: &'a ThreadComm,
    lines: Vec<&'a mut [T]>,
    geometry: &'a G,
    blocks: usize,
    combine: F,
    collective: &'static str,
    number: usize,
    operations: Vec<MemberMessage>,
    /// The destinations of the round's receives, in the order of declaration.
    landings: Vec<Landing>,
}

/// The destination of a message, and what is done with it there.
struct Landing {
    site: Site,
    runs: Vec<Run>,
}

impl<'a, T: Clone, G, F: Fn(&T, &T) -> T> RoundSink<'a, T, G, F> {
    /// Executes rounds on `lines`, which all have the blocks of the collective.
    pub(super) fn new(
        comm: &'a ThreadComm,
        &RankRounds { name: collective, blocks, .. }: &RankRounds,
        lines: Vec<&'a mut [T]>,
        geometry: &'a G,
        combine: F,
    ) -> Self {
        let (operations, landings) = (Vec::new(), Vec::new());
        RoundSink { comm, lines, geometry, blocks, combine, collective, number: 0, operations, landings }
    }

    /// Stores the elements of a message at their destination.
    fn put(&mut self, landing: &Landing, elements: Vec<T>) {
        let line = landing.site.line as usize;
        let mut elements = elements.into_iter();
        let places = landing.runs.iter().flat_map(|run| run.start..run.start + run.len);
        for (place, arrived) in places.zip(elements.by_ref()) {
            self.lines[line][place] = match landing.site.action {
                Action::Copy | Action::Replace | Action::Overwrite => arrived,
                Action::CombineLeft { with } => (self.combine)(&arrived, &self.lines[with as usize][place]),
                Action::CombineRight { with } => (self.combine)(&self.lines[with as usize][place], &arrived),
            };
        }
    }
}

impl<T: Clone + Send + 'static, G: Geometry, F: Fn(&T, &T) -> T> Sink for RoundSink<'_, T, G, F> {
    type Error = Error;

    fn begin_round(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Error> {
        let line = &self.lines[site.line as usize];
        let mut elements = Vec::with_capacity(MessageShape::of(&blocks, self.geometry, self.blocks).elements);
        for_each_run(&blocks, self.geometry, self.blocks, |run| {
            elements.extend_from_slice(&line[run.start..][..run.len]);
        });
        let half = Half::Send(Parcel::new(elements));
        self.operations.push(MemberMessage { peer: to, blocks: blocks.count(), half });
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Error> {
        let mut runs = Vec::new();
        for_each_run(&blocks, self.geometry, self.blocks, |run| runs.push(run));
        let half = Half::Recv(Expected::elements::<T>(runs.iter().map(|run| run.len).sum()));
        self.operations.push(MemberMessage { peer: from, blocks: blocks.count(), half });
        self.landings.push(Landing { site, runs });
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Error> {
        let operations = std::mem::take(&mut self.operations);
        let round = PostedRound { collective: self.collective, number: self.number, operations };
        let parcels = self.comm.exchange(round)?;
        for (landing, parcel) in std::mem::take(&mut self.landings).iter().zip(parcels) {
            self.put(landing, parcel.open());
        }
        self.number += 1;
        Ok(())
    }
}
