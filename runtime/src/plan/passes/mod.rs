//! What can be done to a plan, one file each. Dead blocks are found by looking at all ranks; everything else is done to
//! each rank by itself, so that it can be done to a [`RankPlan`] whose rank knows no other.
//!
//! A pass is given what [replays](crate::plan::Plan::replay). What it makes of anything else is no better.

mod copies;
mod dead;
mod messages;
mod rename;

pub use dead::remove_dead;

use crate::plan::{Plan, RankPlan};

impl RankPlan {
    /// Makes several messages to one rank, or from it, one.
    pub fn merge_messages(&mut self) {
        messages::merge(self);
    }

    /// Makes a message of more than `size` blocks several ones, as even as possible, but at most `most`. Both numbers
    /// count as 1 if they are 0.
    pub fn split_ports(&mut self, size: usize, most: usize) {
        messages::split(self, size.max(1), most.max(1));
    }

    /// Takes copies away: what is only copied is read where it was, and what arrives or is made to be copied goes where
    /// it is needed.
    pub fn merge_copies(&mut self) {
        // Backward first: what is read where it was copied from must stay there.
        copies::backward(self);
        copies::forward(self);
        copies::remove_unused(self);
        copies::backward(self);
    }

    /// Gives working memory new lines, as few as possible.
    pub fn rename(&mut self) {
        rename::rename(self);
    }
}

/// Makes several messages from one rank to another in a round one.
pub fn merge_messages(plan: &mut Plan) {
    plan.map_parts(RankPlan::merge_messages);
}

/// Makes every message of more than `size` blocks several ones, but at most `most`.
pub fn split_ports(plan: &mut Plan, size: usize, most: usize) {
    plan.map_parts(|part| part.split_ports(size, most));
}

/// Takes copies away, and the rounds in which nothing else was done.
pub fn merge_copies(plan: &mut Plan) {
    plan.map_parts(RankPlan::merge_copies);
    plan.rounds.retain(|round| round.iter().any(|turn| !turn.is_empty()));
}

/// Gives working memory as few lines as possible.
pub fn rename(plan: &mut Plan) {
    plan.map_parts(RankPlan::rename);
}
