//! The order of ranks when blocks have different lengths: short ones next to long ones.
//!
//! Short and long blocks form pairs, then pairs of pairs, and so on: a tree, whose leaves are the order. That makes
//! the messages of every step nearly equal at low cost. (Jocksch and others, 2021, section 2.2.3.)
//!
//! ```
//! use roundel::plan::order::order;
//! assert_eq!(order(&[1, 2, 6, 9, 10, 11, 14]), [0, 3, 4, 1, 6, 2, 5]);
//! ```

use super::{Plan, RankPlan, Slot, SlotMessage, Turn};

/// A tree of ranks: the total length of their blocks, and their order.
type Heap = (usize, Vec<usize>);

/// The best order of ranks with blocks of these lengths: the first entry is the rank that takes the place of rank 0.
///
/// The shortest is paired with the longest, the second shortest with the second longest, and so on; the shorter one
/// of a pair comes first. If the number is odd, the shortest is put aside until the number is odd again.
pub fn order(sizes: &[usize]) -> Vec<usize> {
    let mut heaps: Vec<Heap> = sizes.iter().enumerate().map(|(rank, &size)| (size, vec![rank])).collect();
    let mut aside: Option<Heap> = None;
    while heaps.len() > 1 || aside.is_some() {
        if heaps.len() % 2 == 1 {
            heaps.extend(aside.take());
        }
        heaps.sort_by_key(|heap| heap.0);
        if heaps.len() % 2 == 1 {
            aside = Some(heaps.remove(0));
        }
        heaps = paired(heaps);
    }
    heaps.pop().map(|(_, ranks)| ranks).unwrap_or_default()
}

/// Pairs the shortest with the longest. The number is even, and the list sorted.
fn paired(mut heaps: Vec<Heap>) -> Vec<Heap> {
    let longer = heaps.split_off(heaps.len() / 2);
    let pair = |(short, long): (Heap, Heap)| (short.0.saturating_add(long.0), [short.1, long.1].concat());
    heaps.into_iter().zip(longer.into_iter().rev()).map(pair).collect()
}

/// An invalid order of ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the order has {found} ranks or names one twice: give each of the {p} ranks a place")]
pub struct InvalidOrder {
    /// The number of ranks.
    pub p: usize,
    /// The number of ranks in the order.
    pub found: usize,
}

fn is_order(order: &[usize], p: usize) -> Result<(), InvalidOrder> {
    let mut seen = vec![false; p];
    let once = |&rank: &usize| seen.get_mut(rank).is_some_and(|seen| !std::mem::replace(seen, true));
    let all = order.len() == p && order.iter().all(once);
    if all { Ok(()) } else { Err(InvalidOrder { p, found: order.len() }) }
}

impl RankPlan {
    /// The part with ranks in another order: rank `order[i]` takes the role of rank `i`. If every rank has its own
    /// block, blocks follow their ranks.
    ///
    /// # Errors
    /// If not every rank has a place.
    pub fn renumbered(mut self, order: &[usize]) -> Result<Self, InvalidOrder> {
        is_order(order, self.p)?;
        let follow = self.kind.has_a_block_each();
        self.turns.iter_mut().for_each(|turn| turn.renumber(order, follow));
        (self.rank, self.root) = (order[self.rank], if self.kind.has_root() { order[self.root] } else { self.root });
        Ok(self)
    }
}

impl Plan {
    /// The plan with ranks in another order: rank `order[i]` takes the role of rank `i`. If every rank has its own
    /// block, blocks follow their ranks.
    ///
    /// # Errors
    /// If not every rank has a place.
    pub fn renumbered(mut self, order: &[usize]) -> Result<Self, InvalidOrder> {
        is_order(order, self.p)?;
        let follow = self.kind.has_a_block_each();
        for round in &mut self.rounds {
            let mut turns = vec![Turn::default(); self.p];
            for (rank, mut turn) in std::mem::take(round).into_iter().enumerate().take(self.p) {
                turn.renumber(order, follow);
                turns[order[rank]] = turn;
            }
            *round = turns;
        }
        self.root = if self.kind.has_root() { order[self.root] } else { self.root };
        Ok(self)
    }
}

impl Turn {
    fn renumber(&mut self, order: &[usize], follow: bool) {
        let block = |slot: &mut Slot| {
            if let Some(&rank) = order.get(slot.block as usize).filter(|_| follow) {
                slot.block = rank as u32;
            }
        };
        let message = |message: &mut SlotMessage| {
            message.peer = order.get(message.peer).copied().unwrap_or(message.peer);
            message.slots.iter_mut().for_each(block);
        };
        self.sends.iter_mut().chain(&mut self.receives).for_each(message);
        self.locals.iter_mut().for_each(|local| local.slots_mut().for_each(block));
    }
}
