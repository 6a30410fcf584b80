//! Passes over a plan, one file each. Finding dead blocks requires all ranks; all other passes work on each rank
//! separately, so they also work on a [`RankPlan`] without the other ranks.
//!
//! The input of a pass must [replay](crate::plan::Plan::replay) without errors; otherwise its result is not correct
//! either.

mod copies;
mod dead;
mod messages;
mod rename;

pub use dead::remove_dead;

use crate::plan::{Plan, RankPlan};

impl RankPlan {
    /// Merges messages to the same rank, and messages from the same rank.
    pub fn merge_messages(&mut self) {
        messages::merge(self);
    }

    /// Splits a message of more than `size` blocks into several of nearly equal length, at most `most`. Both numbers
    /// count as 1 if they are 0.
    pub fn split_ports(&mut self, size: usize, most: usize) {
        messages::split(self, size.max(1), most.max(1));
    }

    /// Removes copies: reads a copied value at its origin, and writes a value that is received or computed only to be
    /// copied directly to its destination.
    pub fn merge_copies(&mut self) {
        // Backward first: forwarding makes steps read the origin, which must then stay where it is.
        copies::backward(self);
        copies::forward(self);
        copies::remove_unused(self);
        copies::backward(self);
    }

    /// Renumbers the lines of working memory to use as few as possible.
    pub fn rename(&mut self) {
        rename::rename(self);
    }
}

/// Merges the messages from one rank to another in a round.
pub fn merge_messages(plan: &mut Plan) {
    plan.map_parts(RankPlan::merge_messages);
}

/// Splits every message of more than `size` blocks into several, at most `most`.
pub fn split_ports(plan: &mut Plan, size: usize, most: usize) {
    plan.map_parts(|part| part.split_ports(size, most));
}

/// Removes copies, and rounds that become empty.
pub fn merge_copies(plan: &mut Plan) {
    plan.map_parts(RankPlan::merge_copies);
    plan.rounds.retain(|round| round.iter().any(|turn| !turn.is_empty()));
}

/// Renumbers the lines of working memory to use as few as possible.
pub fn rename(plan: &mut Plan) {
    plan.map_parts(RankPlan::rename);
}
