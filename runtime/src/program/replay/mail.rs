//! Messages in transit: those of a pair of ranks match in the order in which they were started.

use std::collections::BTreeMap;

use super::cell::ElementContent;
use super::fault::ProgramFault;

/// The messages started from one rank to another.
#[derive(Debug, Default)]
struct Channel {
    sent: Vec<Vec<ElementContent>>,
    received: Vec<usize>,
}

/// All messages of a replay.
#[derive(Debug, Default)]
pub(super) struct Mail {
    lanes: BTreeMap<(usize, usize), Channel>,
}

impl Mail {
    /// Starts a send; returns its number among those of the pair.
    pub(super) fn send(&mut self, from: usize, to: usize, contents: Vec<ElementContent>) -> usize {
        let lane = self.lanes.entry((from, to)).or_default();
        lane.sent.push(contents);
        lane.sent.len() - 1
    }

    /// Starts a receive; returns its number among those of the pair.
    pub(super) fn receive(&mut self, from: usize, to: usize, elements: usize) -> usize {
        let lane = self.lanes.entry((from, to)).or_default();
        lane.received.push(elements);
        lane.received.len() - 1
    }

    /// The contents of a message once both ends have started: programs must not rely on a send that completes before
    /// it is received.
    pub(super) fn met(
        &self,
        from: usize,
        to: usize,
        number: usize,
    ) -> Option<Result<&[ElementContent], (usize, usize)>> {
        let lane = self.lanes.get(&(from, to))?;
        let (sent, &received) = (lane.sent.get(number)?, lane.received.get(number)?);
        Some(if sent.len() == received { Ok(sent) } else { Err((sent.len(), received)) })
    }

    /// A pair of ranks with different numbers of sends and receives.
    pub(super) fn unmatched(&self) -> Option<(usize, ProgramFault)> {
        self.lanes.iter().find_map(|(&(from, peer), lane)| {
            let (sent, received) = (lane.sent.len(), lane.received.len());
            (sent != received).then_some((from, ProgramFault::Unmatched { peer, sent, received }))
        })
    }
}
