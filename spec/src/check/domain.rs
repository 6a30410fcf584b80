//! Rule 1: nobody sends to itself. (That peers lie in `0..p` follows from wrapping; that every expression has a value
//! is found by the evaluator, which reports a [`EvalFault`](crate::eval::EvalFault).)

use super::CheckInput;
use crate::schedule::{Field, SchedulePart};
use crate::violation::{Problem, Violation};

/// Checks one round.
pub fn check(scene: &CheckInput<'_>, round: usize) -> Result<(), Violation> {
    for (rank, log) in scene.trace.ranks.iter().enumerate() {
        if let Some(message) = log.round(round).iter().find(|message| message.peer == rank) {
            let spot = SchedulePart::Transfer(message.site, Field::Peer);
            let problem = Problem::SelfMessage { rank, direction: message.direction };
            return Err(scene.violation(spot, Some(round), problem));
        }
    }
    Ok(())
}
