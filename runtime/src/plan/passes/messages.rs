//! Merges messages to the same rank, and splits long messages over several ports.
//!
//! Messages of a pair of ranks keep their order, and both ends have the same number of blocks. So both ends do the
//! same without communication.

use crate::plan::{RankPlan, SlotMessage};
use std::collections::HashMap;

/// Merges messages to the same rank, and messages from the same rank.
pub(super) fn merge(part: &mut RankPlan) {
    for turn in &mut part.turns {
        turn.sends = merged(std::mem::take(&mut turn.sends));
        turn.receives = merged(std::mem::take(&mut turn.receives));
    }
}

fn merged(messages: Vec<SlotMessage>) -> Vec<SlotMessage> {
    let (mut all, mut numbers) = (Vec::<SlotMessage>::new(), HashMap::new());
    for message in messages {
        let number = *numbers.entry(message.peer).or_insert(all.len());
        match all.get_mut(number) {
            Some(first) => first.slots.extend(message.slots),
            None => all.push(message),
        }
    }
    all
}

/// Splits a message of more than `size` blocks into several, at most `most`.
pub(super) fn split(part: &mut RankPlan, size: usize, most: usize) {
    for turn in &mut part.turns {
        for messages in [&mut turn.sends, &mut turn.receives] {
            *messages = messages.iter().flat_map(|message| pieces(message, size, most)).collect();
        }
    }
}

fn pieces(message: &SlotMessage, size: usize, most: usize) -> Vec<SlotMessage> {
    let count = message.slots.len().div_ceil(size).clamp(1, most);
    let each = message.slots.len().div_ceil(count).max(1);
    message.slots.chunks(each).map(|slots| SlotMessage::new(message.peer, slots.to_vec())).collect()
}
