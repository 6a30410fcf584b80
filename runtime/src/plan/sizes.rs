//! Removes messages of blocks of length zero.
//!
//! A broadcast is an allgather, and a reduce a reduce_scatter, with only one non-empty block; the remaining messages
//! form a tree.

use super::{Plan, RankPlan, Slot, SlotMessage, Turn};

impl Turn {
    /// Removes slots that the filter rejects, local steps that write them, and messages that become empty.
    fn retain(&mut self, wanted: impl Fn(Slot) -> bool) {
        let prune = |messages: &mut Vec<SlotMessage>| {
            messages.iter_mut().for_each(|message| message.slots.retain(|&slot| wanted(slot)));
            messages.retain(|message| !message.slots.is_empty());
        };
        prune(&mut self.sends);
        prune(&mut self.receives);
        self.locals.retain(|local| wanted(local.writes()));
    }
}

impl RankPlan {
    /// The part without blocks of length zero, and without messages that only have such blocks. Blocks beyond the
    /// list are not empty.
    pub fn without_empty(mut self, sizes: &[usize]) -> Self {
        self.turns.iter_mut().for_each(|turn| turn.retain(|slot| sizes.get(slot.block as usize) != Some(&0)));
        self
    }
}

impl Plan {
    /// The plan without blocks of length zero, at both ends of every message.
    pub fn without_empty(mut self, sizes: &[usize]) -> Self {
        let turns = self.rounds.iter_mut().flatten();
        turns.for_each(|turn| turn.retain(|slot| sizes.get(slot.block as usize) != Some(&0)));
        self
    }
}

/// The modelled cost of parts that run together: the sum over all rounds of the longest message, for blocks of these
/// sizes. Latency is ignored. Blocks beyond the list have size 0.
pub fn cost(parts: &[RankPlan], sizes: &[usize]) -> usize {
    let length = |message: &SlotMessage| -> usize {
        message.slots.iter().map(|slot| sizes.get(slot.block as usize).copied().unwrap_or(0)).sum()
    };
    let rounds = parts.iter().map(|part| part.turns.len()).max().unwrap_or(0);
    let sends =
        |round: usize| parts.iter().filter_map(move |part| part.turns.get(round)).flat_map(|turn| &turn.sends);
    (0..rounds).map(|round| sends(round).map(length).max().unwrap_or(0)).sum()
}
