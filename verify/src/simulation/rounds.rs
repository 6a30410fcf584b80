//! The rounds of one rank, without those of the others.
//!
//! Generated code hands over one rank's rounds by itself, and so does the evaluator. So a million ranks need no more
//! memory than one: whoever looks at all of them walks them one after the other.

use crate::error::Error;
use roundel::plan::ports::{Pattern, Ports};
use roundel::plan::{Local, RankPlan};
use roundel_spec::check::{self, Point};
use roundel_spec::rounds_of;
use roundel_spec::{Action, Blocks, Collective, Direction, Placement, Schedule, Sink, Site, Stripe, StripeList};
use std::ops::ControlFlow;

/// One message of a rank.
#[derive(Clone, Copy, Debug)]
pub struct RankMessage<'a> {
    /// Whether it leaves or arrives.
    pub direction: Direction,
    /// The other rank.
    pub peer: usize,
    /// The clause it comes from.
    pub site: Site,
    /// The number of blocks.
    pub count: usize,
    /// The blocks, in the order in which they are sent; empty if only their number is known.
    pub blocks: &'a [Stripe],
}

/// Watches the rounds of one rank.
pub trait RoundWatcher {
    /// The rank sends or receives a message in the current round.
    fn message(&mut self, message: &RankMessage<'_>);

    /// The current round ends. The rest of the rounds is left out after a break.
    fn end_round(&mut self) -> ControlFlow<()>;

    /// Collectives inside groups begin: groups may have different numbers of rounds.
    fn enter_groups(&mut self) {}

    /// Collectives inside groups end.
    fn leave_groups(&mut self) {}
}

/// Knows the rounds of every rank. Several threads ask at the same time.
pub trait RankSource: Sync {
    /// Shows the rounds of one rank to a watcher.
    fn walk(&self, rank: usize, watcher: &mut dyn RoundWatcher) -> Result<(), Error>;

    /// The number of blocks of the data.
    fn blocks(&self) -> usize;

    /// How many messages and sets of blocks may be asked for at once.
    fn patience(&self) -> u64 {
        4_000_000_000
    }
}

/// A watcher as a sink.
struct Watched<'w> {
    watcher: &'w mut dyn RoundWatcher,
    stripes: Vec<Stripe>,
}

/// The watcher has seen enough.
struct Enough;

impl Watched<'_> {
    fn message<B: Blocks>(
        &mut self,
        direction: Direction,
        site: Site,
        peer: usize,
        blocks: &B,
    ) -> Result<(), Enough> {
        self.stripes.clear();
        blocks.append_to(&mut self.stripes);
        let count = StripeList(&self.stripes).count();
        self.watcher.message(&RankMessage { direction, peer, site, count, blocks: &self.stripes });
        Ok(())
    }
}

impl Sink for Watched<'_> {
    type Error = Enough;

    fn begin_round(&mut self) -> Result<(), Enough> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Enough> {
        self.message(Direction::Send, site, to, &blocks)
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Enough> {
        self.message(Direction::Recv, site, from, &blocks)
    }

    fn end_round(&mut self) -> Result<(), Enough> {
        match self.watcher.end_round() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Enough),
        }
    }

    fn enter_groups(&mut self) -> Result<(), Enough> {
        self.watcher.enter_groups();
        Ok(())
    }

    fn leave_groups(&mut self) -> Result<(), Enough> {
        self.watcher.leave_groups();
        Ok(())
    }
}

/// Generated code.
#[derive(Debug)]
pub struct CodeRounds<'a, C> {
    /// The collective.
    pub collective: &'a C,
    /// The placement of the ranks.
    pub placement: &'a Placement,
}

impl<C: Collective + Sync> RankSource for CodeRounds<'_, C> {
    fn walk(&self, rank: usize, watcher: &mut dyn RoundWatcher) -> Result<(), Error> {
        let mut sink = Watched { watcher, stripes: Vec::new() };
        // A watcher that has seen enough is no error.
        let _ = rounds_of(self.collective, self.placement, rank, &mut sink);
        Ok(())
    }

    fn blocks(&self) -> usize {
        self.collective.blocks(&self.placement.place(0)) as usize
    }
}

/// The evaluator, for declarations that no compiler has seen.
pub struct EvaluatedRounds<'a> {
    /// The declaration.
    pub schedule: &'a Schedule,
    /// The call.
    pub point: &'a Point,
    /// The number of blocks of the data.
    pub blocks: usize,
}

impl RankSource for EvaluatedRounds<'_> {
    fn walk(&self, rank: usize, watcher: &mut dyn RoundWatcher) -> Result<(), Error> {
        let mut sink = Watched { watcher, stripes: Vec::new() };
        let walked = check::rounds_of_schedule(self.schedule, self.point, rank, &mut sink);
        walked.map(drop).map_err(|violation| Error::wrong(self.schedule, violation))
    }

    fn blocks(&self) -> usize {
        self.blocks
    }

    /// The evaluator takes a hundred times as long.
    fn patience(&self) -> u64 {
        100_000_000
    }
}

/// A plan of ports and factors, as persistent requests run it: one rank stands for a node.
#[derive(Debug)]
pub struct PlannedRounds<'a> {
    /// The ports and factors.
    pub ports: &'a Ports,
    /// What all nodes do, relative to their own numbers.
    pub pattern: &'a Pattern,
}

impl RankSource for PlannedRounds<'_> {
    fn walk(&self, rank: usize, watcher: &mut dyn RoundWatcher) -> Result<(), Error> {
        let RankPlan { turns, .. } =
            self.pattern.part(rank).map_err(|source| Error::Unfit { ports: self.ports.clone(), source })?;
        for turn in &turns {
            let combined = turn.locals.iter().filter(|local| matches!(local, Local::Combine { .. })).count();
            for sent in &turn.sends {
                watcher.message(&counted(Direction::Send, sent.peer, sent.slots.len(), false));
            }
            for received in &turn.receives {
                let message = counted(Direction::Recv, received.peer, received.slots.len(), combined > 0);
                watcher.message(&message);
            }
            if watcher.end_round().is_break() {
                break;
            }
        }
        Ok(())
    }

    fn blocks(&self) -> usize {
        self.pattern.fractions()
    }
}

fn counted(direction: Direction, peer: usize, count: usize, combined: bool) -> RankMessage<'static> {
    let action = if combined { Action::CombineLeft { with: 0 } } else { Action::Copy };
    RankMessage { direction, peer, site: Site { number: 0, line: 0, action }, count, blocks: &[] }
}
