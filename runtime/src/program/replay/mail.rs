//! Messages on their way: those of a pair of ranks meet in the order in which they were started.

use std::collections::BTreeMap;

use super::cell::ElementContent;
use super::fault::ProgramFault;

/// What has been started from one rank to another.
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
    /// Starts a send; says its number among those of the pair.
    pub(super) fn send(&mut self, from: usize, to: usize, contents: Vec<ElementContent>) -> usize {
        let lane = self.lanes.entry((from, to)).or_default();
        lane.sent.push(contents);
        lane.sent.len() - 1
    }

    /// Starts a receive; says its number among those of the pair.
    pub(super) fn receive(&mut self, from: usize, to: usize, elements: usize) -> usize {
        let lane = self.lanes.entry((from, to)).or_default();
        lane.received.push(elements);
        lane.received.len() - 1
    }

    /// What travels, once both ends are there: nobody may count on a send that ends before it is received.
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

    /// A pair whose sends and receives are not equally many.
    pub(super) fn unmatched(&self) -> Option<(usize, ProgramFault)> {
        self.lanes.iter().find_map(|(&(from, peer), lane)| {
            let (sent, received) = (lane.sent.len(), lane.received.len());
            (sent != received).then_some((from, ProgramFault::Unmatched { peer, sent, received }))
        })
    }
}
