//! All-to-alls that send each block directly to its destination.
//!
//! Only these serve blocks of different lengths: sender and receiver know the length of a block, and no other rank
//! needs it.

use crate::schedule::contract::Kind;
use crate::schedule::expr::{Builtin, Expr, slot};
use crate::schedule::message::Direction;
use crate::schedule::{Schedule, Transfer};

/// Whether every message consists of the one block that its sender has for its receiver.
pub(super) fn is_straight(schedule: &Schedule) -> bool {
    schedule.kind == Kind::Alltoall && schedule.within().next().is_none() && schedule.transfers().all(goes_straight)
}

fn goes_straight(transfer: &Transfer) -> bool {
    let [part] = transfer.blocks.parts.as_slice() else { return false };
    let Expr::Builtin(Builtin::Pair, ends) = &part.item else { return false };
    let (rank, alone) = (Expr::built_in(slot::RANK), part.over.is_empty() && part.filter.is_none());
    match (transfer.direction, ends.as_slice()) {
        (Direction::Send, [source, destination]) => alone && *source == rank && *destination == transfer.peer,
        (Direction::Recv, [source, destination]) => alone && *destination == rank && *source == transfer.peer,
        _ => false,
    }
}
