//! The numbers of a rank's rounds among those of all ranks, for records of messages.

use crate::transport::RankPlacement;
use roundel_spec::Collective;
use roundel_spec::check::record_code;

/// The number of each round in which this rank has messages, among all rounds in which any rank has messages.
pub(crate) fn numbers<K: Collective>(collective: &K, here: RankPlacement<'_>) -> Vec<usize> {
    let trace = record_code(collective, here.placement);
    let real = (0..trace.rounds()).filter(|&round| trace.has_messages(round));
    let own = real.enumerate().filter(|&(_, round)| !trace.ranks[here.rank].round(round).is_empty());
    own.map(|(number, _)| number).collect()
}
