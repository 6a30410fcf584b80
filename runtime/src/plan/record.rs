//! Records a plan from generated code.
//!
//! A schedule has its input and its result in the same line, and combines data as it arrives. So the input is copied
//! to the output first; data that must be combined, or must not disturb a message of the same round, arrives in a
//! separate line.

use super::{INPUT, Local, OUTPUT, Plan, SCRATCH, Slot, SlotMessage, Turn};
use roundel_spec::Direction;
use roundel_spec::check::record_code;
use roundel_spec::record::RankLog;
use roundel_spec::{Action, Collective, Kind, Line, Placement, Refusal};
use std::collections::{HashMap, HashSet};

/// Why a collective has no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplanned {
    /// Blocks of an all-to-all move, so they have no fixed slots.
    #[error("{} has no plan, because its blocks move: plan a collective of another kind", .kind.with_article())]
    Moves {
        /// The collective.
        kind: Kind,
    },
    /// The call lies outside the domain.
    #[error("the collective does not serve this call: {0}")]
    Refused(Refusal),
}

impl Plan {
    /// Records the generated code of a collective, with `p` ranks on one node.
    ///
    /// # Errors
    /// If the collective does not serve such a call, or is an all-to-all.
    pub fn record<C: Collective>(collective: &C, p: usize) -> Result<Self, Unplanned> {
        Self::record_placed(collective, &Placement::consecutive(p, p))
    }

    /// Like [`record`](Self::record), with any placement of ranks.
    ///
    /// # Errors
    /// If the collective does not serve such a call, or is an all-to-all.
    pub fn record_placed<C: Collective>(collective: &C, placement: &Placement) -> Result<Self, Unplanned> {
        let (kind, place, p) = (C::schedule().kind, placement.place(0), placement.p());
        if kind.moves() {
            return Err(Unplanned::Moves { kind });
        }
        collective.admits(&place).map_err(Unplanned::Refused)?;
        let trace = record_code(collective, placement);
        let mut plan = Plan::new(kind, p, C::LINES + 1, collective.blocks(&place) as usize);
        plan.root = C::schedule().root(&collective.arguments());
        plan.rounds.push((0..p).map(|rank| plan.beginning(rank)).collect());
        let mut aside = Aside { first: plan.lines as u32, most: 0, used: HashMap::new() };
        for round in (0..trace.rounds()).filter(|&round| trace.has_messages(round)) {
            plan.rounds.push(trace.ranks.iter().map(|log| aside.turn(log, round)).collect());
        }
        plan.lines += aside.most as usize;
        Ok(plan)
    }

    /// Copies the blocks that a rank holds initially to its output.
    fn beginning(&self, rank: usize) -> Turn {
        let held = (0..self.blocks).filter(|&block| self.kind.initially_holds(rank, block, self.root, self.p));
        let copy = |block| Local::Copy { from: Slot::new(INPUT, block), to: Slot::new(OUTPUT, block) };
        Turn { locals: held.map(|block| copy(block as u32)).collect(), ..Turn::default() }
    }
}

/// The slot of a schedule's line: the first one is the output.
fn slot(line: Line, block: u32) -> Slot {
    Slot::new(if line == 0 { OUTPUT } else { SCRATCH - 1 + line as u32 }, block)
}

/// Lines for data that arrives and does not stay.
struct Aside {
    /// The first such line.
    first: u32,
    /// The largest number of such lines in any round.
    most: u32,
    /// The number of such lines in use in this round, for each block.
    used: HashMap<u32, u32>,
}

impl Aside {
    fn slot(&mut self, block: u32) -> Slot {
        let used = self.used.entry(block).or_default();
        *used += 1;
        self.most = self.most.max(*used);
        Slot::new(self.first + *used - 1, block)
    }

    /// One round of one rank.
    fn turn(&mut self, log: &RankLog, round: usize) -> Turn {
        self.used.clear();
        let mut turn = Turn::default();
        for sent in log.directed(round, Direction::Send) {
            let slots = log.blocks(sent).iter().map(|&block| slot(sent.site.line, block)).collect();
            turn.sends.push(SlotMessage::new(sent.peer, slots));
        }
        let mut busy: HashSet<Slot> = turn.sends.iter().flat_map(|message| message.slots.iter().copied()).collect();
        for received in log.directed(round, Direction::Recv) {
            let (line, action) = (received.site.line, received.site.action);
            let mut slots = Vec::new();
            for &block in log.blocks(received) {
                let to = slot(line, block);
                let stays = action == Action::Copy && busy.insert(to);
                let from = if stays { to } else { self.slot(block) };
                turn.locals.extend(afterwards(action, from, to));
                slots.push(from);
            }
            turn.receives.push(SlotMessage::new(received.peer, slots));
        }
        turn
    }
}

/// The local step for a block that has arrived at `from` and belongs at `to`.
fn afterwards(action: Action, from: Slot, to: Slot) -> Option<Local> {
    match action {
        Action::Copy | Action::Replace | Action::Overwrite => (from != to).then_some(Local::Copy { from, to }),
        Action::CombineLeft { with } => Some(Local::Combine { left: from, right: slot(with, to.block), into: to }),
        Action::CombineRight { with } => Some(Local::Combine { left: slot(with, to.block), right: from, into: to }),
    }
}
