//! Which send meets which receive: messages of a pair of ranks keep their order.

use super::{SlotMessage, Turn};

/// One message of a round: who sends, who receives, its number among the sends of the one or the receives of the other.
pub(super) type End<'a> = (usize, usize, usize, &'a SlotMessage);

/// All sends of a round, by the pair of their ranks, those of a pair in their order.
pub(super) fn sends(turns: &[Turn]) -> Vec<End<'_>> {
    let mut ends = Vec::new();
    for (rank, turn) in turns.iter().enumerate() {
        ends.extend(turn.sends.iter().enumerate().map(|(number, message)| (rank, message.peer, number, message)));
    }
    sorted(ends)
}

/// All receives of a round, likewise.
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
