//! Queues of operations between ranks: one for each channel and ordered pair, first in, first out.

use std::collections::{HashMap, VecDeque};

/// Channel, sender and receiver.
pub(super) type Pair = (usize, usize, usize);

/// A queue for each pair that has entries; empty queues take no memory.
pub(super) struct Queues<V> {
    waiting: HashMap<Pair, VecDeque<V>>,
}

impl<V> Queues<V> {
    pub(super) fn new() -> Self {
        Queues { waiting: HashMap::new() }
    }

    /// Puts `value` at the end of the pair's queue.
    pub(super) fn push(&mut self, pair: Pair, value: V) {
        self.waiting.entry(pair).or_default().push_back(value);
    }

    /// Removes the oldest entry.
    pub(super) fn pop(&mut self, pair: Pair) -> Option<V> {
        let queue = self.waiting.get_mut(&pair)?;
        let value = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&pair);
        }
        value
    }
}
