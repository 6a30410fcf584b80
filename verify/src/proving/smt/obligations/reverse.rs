//! The reverse of a collective: the proof of the forward collective is its proof.
//!
//! Let every block of the forward collective be written once at every rank, and be sent only by ranks that hold it.
//! Then the messages that carry a block form a tree from the rank that has it at first. Run backwards, each rank sends
//! what it has of a block once, to its parent in that tree, after all of its children have sent theirs: so the
//! contribution of every rank in the tree reaches the root of the tree exactly once. In an allgather and a broadcast
//! the tree has all ranks. In an all-to-all a block is at one rank at a time, and goes the same way back. Messages,
//! peers and blocks of a round, and what they cost, are those of the forward round.
//!
//! A gather and a scatter may send a block where it is not needed; backwards, that rank would have nothing to send.
//! That they do not is not encoded.

use super::{MissingObligation, Obligations, Property};
use roundel_spec::schedule::ReverseOf;
use roundel_spec::{Kind, Schedule};

/// The obligations of a schedule that is the reverse of another one.
pub(super) fn obligations(schedule: &Schedule, forward: &Schedule) -> Obligations {
    let mut all = super::obligations(forward);
    let mut gap = |property, reason: &str| all.gaps.push(MissingObligation::new(property, reason.into()));
    match forward.kind {
        Kind::Allgather | Kind::Broadcast | Kind::Alltoall => {}
        _ => gap(Property::Coverage, "that no block is sent where it is not needed is not encoded"),
    }
    if let Some(reason) = schedule.has_no_reverse() {
        gap(Property::Invariant, reason);
    }
    let Some(ReverseOf { side, .. }) = schedule.reverse_of else { return all };
    if forward.reversed(schedule.kind, side) != *schedule {
        gap(Property::Invariant, "it is not the reverse of what it was declared to be");
    }
    if schedule.order.same_tree {
        gap(Property::SameTree, "the order of a reverse is not encoded");
    }
    if schedule.order.rank_order {
        gap(Property::RankOrder, "the order of a reverse is not encoded");
    }
    all
}
