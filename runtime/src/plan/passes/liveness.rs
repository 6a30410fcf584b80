//! Dead messages: what arrives and is never used.
//!
//! Backwards from the result: a slot is *live* when what it holds goes into somebody's result. A message is needed where it
//! writes a live slot; then the slot that its sender reads is live before the round, and so is the other operand, if what
//! arrives is combined. All else is taken away, on both ends of the message. (Jocksch and others, 2021, algorithm 1, do this
//! for lines; here it is block by block, for any plan.)

use crate::plan::{Plan, Round};
use roundel_spec::record::Direction;
use roundel_spec::{Action, Kind, Line};

/// Takes away all messages, and blocks of messages, that no result needs; and the rounds in which nothing is left.
///
/// The plan must be one that [checks](Plan::check); what is made of another one is no better.
pub fn remove_dead(plan: &mut Plan) {
    let mut live = Live::at_the_end(plan);
    for round in plan.rounds.iter_mut().rev() {
        let needed = live.before(round);
        keep(round, needed);
    }
    plan.rounds.retain(|round| round.iter().any(|messages| !messages.is_empty()));
}

/// For every rank, message and block of a round: whether it is needed.
type Needed = Vec<Vec<Vec<bool>>>;

/// Which slots are live.
struct Live {
    lines: usize,
    blocks: usize,
    slots: Vec<bool>,
}

impl Live {
    fn at_the_end(plan: &Plan) -> Self {
        let (lines, blocks) = (plan.lines, plan.blocks);
        let result = |kind: Kind, i: usize| {
            let (rank, line, block) = (i / (lines * blocks), i / blocks % lines, i % blocks);
            line == 0 && kind.must_hold(rank, block, plan.root, plan.p)
        };
        let slots = (0..plan.p * lines * blocks).map(|i| result(plan.kind, i)).collect();
        Live { lines, blocks, slots }
    }

    fn slot(&mut self, rank: usize, line: Line, block: usize) -> &mut bool {
        &mut self.slots[(rank * self.lines + line as usize) * self.blocks + block]
    }

    /// Goes from after a round to before it; says what of the round is needed.
    fn before(&mut self, round: &Round) -> Needed {
        let mut needed: Needed =
            round.iter().map(|messages| messages.iter().map(|m| vec![false; m.blocks.len()]).collect()).collect();
        for rank in 0..round.len() {
            // What arrives is combined in the order of the messages, so the last one is undone first.
            for number in (0..round[rank].len()).rev() {
                if round[rank][number].direction == Direction::Recv {
                    needed[rank][number] = self.undo(round, rank, number);
                }
            }
        }
        // Sends read what was there before the round: after all that is undone.
        for rank in 0..round.len() {
            for (number, message) in round[rank].iter().enumerate() {
                if message.direction != Direction::Send {
                    continue;
                }
                let Some(partner) = Plan::partner(round, rank, number) else { continue };
                let there = needed[message.peer][partner].clone();
                for (&block, _) in message.blocks.iter().zip(&there).filter(|(_, needed)| **needed) {
                    *self.slot(rank, message.line, block) = true;
                }
                needed[rank][number] = there;
            }
        }
        needed
    }

    /// Undoes one receive; says which of its blocks were needed.
    fn undo(&mut self, round: &Round, rank: usize, number: usize) -> Vec<bool> {
        let message = &round[rank][number];
        let block = |&block: &usize| {
            let needed = std::mem::take(self.slot(rank, message.line, block));
            if let (true, Action::CombineLeft { with } | Action::CombineRight { with }) = (needed, message.action) {
                *self.slot(rank, with, block) = true;
            }
            needed
        };
        message.blocks.iter().map(block).collect()
    }
}

/// Keeps what is needed of a round.
fn keep(round: &mut Round, needed: Needed) {
    for (messages, needed) in round.iter_mut().zip(needed) {
        for (message, needed) in messages.iter_mut().zip(needed) {
            let mut needed = needed.into_iter();
            message.blocks.retain(|_| needed.next().unwrap_or(false));
        }
        messages.retain(|message| !message.blocks.is_empty());
    }
}
