//! Shared memory that records its accesses, and detects races.
//!
//! Each process has a clock, which advances when it increments its counter; a process that waits for the counter
//! learns all clocks that were known there. A process may access what others have written, and write what others have
//! read, only if it knows their clocks at that time. Programs have no branches, so this does not depend on the speed
//! of processes: one replay is enough to find all races (Lamport's order of events, with the vector clocks of Fidge
//! and Mattern).

use roundel_spec::trees::TreeValue;

/// The symbolic content of an element: the contributions to an element of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementContent {
    pub(super) call: usize,
    pub(super) index: usize,
    pub(super) value: TreeValue,
}

/// A vector clock: the clocks of all processes of a node, as known by one of them.
pub(super) type Clock = Vec<u32>;

/// An access to an element: the process, and the time on its own clock.
#[derive(Clone, Copy, Debug)]
struct Touch {
    local: usize,
    time: u32,
}

/// An element of shared memory.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedCell {
    pub(super) content: Option<ElementContent>,
    written: Option<Touch>,
    read: Vec<Touch>,
}

impl Touch {
    fn known(&self, clock: &Clock) -> bool {
        self.time <= clock[self.local]
    }
}

impl SharedCell {
    /// Records a read by a process, or returns the process with which it races.
    pub(super) fn reads(&mut self, local: usize, clock: &Clock) -> Result<(), usize> {
        let race = self.written.filter(|touch| !touch.known(clock));
        let touch = Touch { local, time: clock[local] };
        match self.read.iter_mut().find(|touch| touch.local == local) {
            Some(last) => *last = touch,
            None => self.read.push(touch),
        }
        race.map_or(Ok(()), |touch| Err(touch.local))
    }

    /// Records a write by a process, or returns the process with which it races.
    pub(super) fn writes(&mut self, local: usize, clock: &Clock) -> Result<(), usize> {
        let race = self.written.iter().chain(&self.read).find(|touch| !touch.known(clock)).map(|touch| touch.local);
        self.read.clear();
        self.written = Some(Touch { local, time: clock[local] });
        race.map_or(Ok(()), Err)
    }
}
