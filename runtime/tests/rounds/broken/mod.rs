//! Ways to break a plan.

use roundel::plan::Plan;

/// The plan without one block of one message, at both ends: one plan for each block of each message.
pub(crate) fn without_one_block(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    for (round, turns) in plan.rounds.iter().enumerate() {
        for (rank, turn) in turns.iter().enumerate() {
            for (number, message) in turn.sends.iter().enumerate() {
                let before = turn.sends[..number].iter().filter(|other| other.peer == message.peer).count();
                let there = plan.rounds[round][message.peer].receives.iter().enumerate();
                let partner = there.filter(|(_, other)| other.peer == rank).map(|(partner, _)| partner).nth(before);
                for place in 0..message.slots.len() {
                    let mut less = plan.clone();
                    less.rounds[round][rank].sends[number].slots.remove(place);
                    let partner = partner.expect("every message has two ends");
                    less.rounds[round][message.peer].receives[partner].slots.remove(place);
                    all.push(less);
                }
            }
        }
    }
    all
}
