//! The rounds of a rank; where messages are recorded, with their numbers among the rounds of all ranks.

use crate::any_collective::AnyCollective;
use crate::mpi::lowering::build::EndsTheJob;
use crate::rank_rounds::RankRounds;
use crate::transport::RankPlacement;
use std::mem::forget;

/// Records the rounds of a rank, and numbers them if messages are recorded.
pub(crate) fn rank_rounds(collective: &dyn AnyCollective, here: RankPlacement<'_>, recorded: bool) -> RankRounds {
    let guard = EndsTheJob { rank: here.rank };
    let mut rounds = collective.rank_rounds(here);
    rounds.numbers = recorded.then(|| numbers(collective, here));
    forget(guard);
    rounds
}

/// The number of each round in which this rank has messages, among all rounds in which any rank has messages.
fn numbers(collective: &dyn AnyCollective, here: RankPlacement<'_>) -> Vec<usize> {
    let trace = collective.trace(here.placement);
    let real = (0..trace.rounds()).filter(|&round| trace.has_messages(round));
    let own = real.enumerate().filter(|&(_, round)| !trace.ranks[here.rank].round(round).is_empty());
    own.map(|(number, _)| number).collect()
}
