//! Rule 1: no rank sends to itself. (Peers lie in `0..p` because they wrap around. The evaluator reports an expression
//! without a value as an [`EvalFault`](crate::meaning::eval::EvalFault).)

use super::CheckInput;
use crate::check::violation::{Problem, Violation};
use crate::schedule::{Field, SchedulePart};

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
