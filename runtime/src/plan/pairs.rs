//! Matches sends with receives: messages of a pair of ranks keep their order.

use super::{SlotMessage, Turn};

/// One end of a message: sender, receiver, and its number among the sends of the one or the receives of the other.
pub(super) type End<'a> = (usize, usize, usize, &'a SlotMessage);

/// All sends of a round, sorted by sender and receiver; those of a pair keep their order.
pub(super) fn sends(turns: &[Turn]) -> Vec<End<'_>> {
    let mut ends = Vec::new();
    for (rank, turn) in turns.iter().enumerate() {
        ends.extend(turn.sends.iter().enumerate().map(|(number, message)| (rank, message.peer, number, message)));
    }
    sorted(ends)
}

/// All receives of a round, sorted in the same way.
pub(super) fn receives(turns: &[Turn]) -> Vec<End<'_>> {
    let mut ends = Vec::new();
    for (rank, turn) in turns.iter().enumerate() {
        ends.extend(turn.receives.iter().enumerate().map(|(number, message)| (message.peer, rank, number, message)));
    }
    sorted(ends)
}

fn sorted(mut ends: Vec<End<'_>>) -> Vec<End<'_>> {
    ends.sort_unstable_by_key(|&(from, to, number, _)| (from, to, number));
    ends
}
