//! Calls whose data is only moved, without slots: each rank publishes where its data is, and whoever needs it reads it
//! there.
//!
//! A rank's memory belongs to the program again when the call returns, so a rank that has published something waits
//! until the others have signalled that they have read it.

use super::SharedSteps;
use super::steps::Segment;
use crate::program::MemoryRegion::{Input, Output};
use crate::program::RegionOffset;
use roundel_spec::Kind;

impl<S: SharedSteps> Segment<'_, S> {
    /// All steps of a rank.
    pub(super) fn fetch(self) {
        match self.call.kind {
            Kind::Allgather => self.fetch_all(),
            Kind::Alltoall => self.fetch_own_of_all(),
            Kind::Gather => self.fetch_to_root(),
            Kind::Broadcast | Kind::Scatter => self.fetch_from_root(),
            Kind::Allreduce | Kind::Reduce | Kind::ReduceScatter => {}
        }
    }

    /// The bytes of a number of elements.
    fn bytes(&self, elements: usize) -> usize {
        elements * self.call.size
    }

    /// Every rank reads the blocks of all others.
    fn fetch_all(mut self) {
        let given = self.given();
        self.offer(given);
        self.steps.copy(given, self.block(Output, self.rank), self.part(self.rank).len());
        for rank in self.others() {
            self.steps.await_signals(rank, 1);
            self.steps.fetch(rank, 0, self.block(Output, rank), self.part(rank).len());
        }
        self.steps.signal();
        self.await_all(2);
    }

    /// Every rank reads its block of all others.
    fn fetch_own_of_all(mut self) {
        let (own, theirs) = (self.rank, self.bytes(self.call.begin(self.rank)));
        self.offer(self.user(Input, 0));
        self.steps.copy(self.block(Input, own), self.block(Output, own), self.part(own).len());
        for rank in self.others() {
            self.steps.await_signals(rank, 1);
            self.steps.fetch(rank, theirs, self.block(Output, rank), self.part(rank).len());
        }
        self.steps.signal();
        self.await_all(2);
    }

    /// The root reads the blocks of all others.
    fn fetch_to_root(mut self) {
        if !self.is_root() {
            self.offer(self.own(Input));
            return self.steps.await_signals(self.call.root, 1);
        }
        self.steps.claim();
        self.steps.copy(self.given(), self.block(Output, self.rank), self.part(self.rank).len());
        for rank in self.others() {
            self.steps.await_signals(rank, 1);
            self.steps.fetch(rank, 0, self.block(Output, rank), self.part(rank).len());
        }
        self.steps.signal();
    }

    /// Every other rank reads the root's vector, or its block of it.
    fn fetch_from_root(mut self) {
        if !self.is_root() {
            let begin = if self.call.kind == Kind::Scatter { self.call.begin(self.rank) } else { 0 };
            self.steps.claim();
            self.steps.await_signals(self.call.root, 1);
            self.steps.fetch(self.call.root, self.bytes(begin), self.own(Output), self.part(self.rank).len());
            return self.steps.signal();
        }
        self.offer(self.user(Input, 0));
        if self.call.kind == Kind::Scatter && !self.call.in_place {
            self.steps.copy(self.block(Input, self.rank), self.own(Output), self.part(self.rank).len());
        }
        self.await_all(1);
    }

    /// Publishes where this rank's data is.
    fn offer(&mut self, from: RegionOffset) {
        self.steps.claim();
        self.steps.publish(from);
        self.steps.signal();
    }
}
