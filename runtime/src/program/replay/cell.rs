//! Shared memory that knows who touched it, and whether everybody who touches it next knows of that.
//!
//! Time is a clock for each process, which moves on when it raises its counter; whoever waits for the counter learns
//! all clocks that were known there. A process may touch what others have written, and write what others have read,
//! only if it knows their clocks as of then. Programs have no branches, so this does not depend on who happens to be
//! faster: one replay is enough to find all races (Lamport's order of events; the clocks are those of Fidge and
//! Mattern).

use roundel_spec::trees::TreeValue;

/// An element: whose contributions to which element of which call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementContent {
    pub(super) call: usize,
    pub(super) index: usize,
    pub(super) value: TreeValue,
}

/// The clocks of all processes of a node, as far as one of them knows.
pub(super) type Clock = Vec<u32>;

/// Who touched an element, and when on its own clock.
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
    /// Notes that a process reads; or says with whom it races.
    pub(super) fn reads(&mut self, local: usize, clock: &Clock) -> Result<(), usize> {
        let race = self.written.filter(|touch| !touch.known(clock));
        let touch = Touch { local, time: clock[local] };
        match self.read.iter_mut().find(|touch| touch.local == local) {
            Some(last) => *last = touch,
            None => self.read.push(touch),
        }
        race.map_or(Ok(()), |touch| Err(touch.local))
    }

    /// Notes that a process writes; or says with whom it races.
    pub(super) fn writes(&mut self, local: usize, clock: &Clock) -> Result<(), usize> {
        let race = self.written.iter().chain(&self.read).find(|touch| !touch.known(clock)).map(|touch| touch.local);
        self.read.clear();
        self.written = Some(Touch { local, time: clock[local] });
        race.map_or(Ok(()), Err)
    }
}
