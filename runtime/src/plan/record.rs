//! From generated code to a plan.

use super::{Message, Plan};
use roundel_spec::check::record_code;
use roundel_spec::{Collective, Placement, Trace};

impl Plan {
    /// What the generated code of a collective says, with `p` ranks on one node. Only for a p that it
    /// [admits](Collective::admits).
    pub fn record<C: Collective>(collective: &C, p: usize) -> Self {
        Self::record_placed(collective, &Placement::consecutive(p, p))
    }

    /// The same, with ranks that sit anywhere.
    pub fn record_placed<C: Collective>(collective: &C, placement: &Placement) -> Self {
        let (p, blocks) = (placement.p(), collective.blocks(&placement.place(0)) as usize);
        let mut plan = Plan::new(C::schedule().kind, p, C::LINES, blocks);
        plan.root = C::schedule().root(&collective.arguments());
        plan.rounds = rounds(&record_code(collective, placement));
        plan
    }
}

/// Recorded rounds, without those in which nobody sends anything.
fn rounds(trace: &Trace) -> Vec<super::Round> {
    let messages = |rank: usize, round: usize| {
        let log = &trace.ranks[rank];
        let recorded = log.round(round).iter().map(|m| Message {
            direction: m.direction,
            peer: m.peer,
            line: m.site.line,
            action: m.site.action,
            blocks: log.blocks(m).iter().map(|&block| block as usize).collect(),
        });
        recorded.collect()
    };
    let real = (0..trace.rounds()).filter(|&round| trace.has_messages(round));
    real.map(|round| (0..trace.p()).map(|rank| messages(rank, round)).collect()).collect()
}
