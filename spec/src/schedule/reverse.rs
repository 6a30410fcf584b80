//! Reversal: a collective that runs the rounds of another one backwards, with sends and receives exchanged.
//!
//! Run backwards, and combining what arrives, an allgather is a reduce_scatter and a broadcast a reduce: the tree along
//! which a block was spread is the tree along which contributions come back. A scatter and a gather are each other's
//! reverse, and so are two all-to-alls. A declaration with `reverse_of` has the clauses of the forward collective; its
//! schedule has the messages as they run, and [`Schedule::forward`] gives back what was declared. `holds` and `hint`
//! stay as they were declared: they speak of the forward collective.

use crate::schedule::Schedule;
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Builtin, Expr};
use crate::schedule::message::{Action, Direction, Site};
use crate::schedule::text::USUAL_LINE;
use crate::schedule::{Layout, Metric, Transfer};

/// On which side of what is there a reversed reduction combines what arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CombineSide {
    /// What arrives is the left operand.
    #[default]
    Left,
    /// What arrives is the right operand.
    Right,
}

impl CombineSide {
    /// Its name in declarations.
    pub const fn name(self) -> &'static str {
        match self {
            CombineSide::Left => "left",
            CombineSide::Right => "right",
        }
    }

    const fn action(self) -> Action {
        match self {
            CombineSide::Left => Action::CombineLeft { with: 0 },
            CombineSide::Right => Action::CombineRight { with: 0 },
        }
    }
}

/// A collective whose rounds run from the last to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReverseOf {
    /// The kind of the forward collective.
    pub kind: Kind,
    /// How a reduction combines what arrives.
    pub side: CombineSide,
}

impl Kind {
    /// The kind of which a collective of this kind is the reverse.
    pub const fn reverse_of(self) -> Option<Kind> {
        match self {
            Kind::ReduceScatter => Some(Kind::Allgather),
            Kind::Reduce => Some(Kind::Broadcast),
            Kind::Gather => Some(Kind::Scatter),
            Kind::Scatter => Some(Kind::Gather),
            Kind::Alltoall => Some(Kind::Alltoall),
            Kind::Allgather | Kind::Allreduce | Kind::Broadcast => None,
        }
    }
}

impl Metric {
    /// What is counted of a collective where this is counted of its reverse; `None` if that has no name.
    pub const fn reversed(self) -> Option<Metric> {
        Some(match self {
            Metric::MessagesSent => Metric::MessagesReceived,
            Metric::MessagesReceived => Metric::MessagesSent,
            Metric::BlocksSent => Metric::BlocksReceived,
            Metric::BlocksReceived => Metric::BlocksSent,
            Metric::NonlocalMessagesSent => Metric::NonlocalMessagesReceived,
            Metric::NonlocalMessagesReceived => Metric::NonlocalMessagesSent,
            Metric::Rounds | Metric::NonlocalRounds | Metric::Scratch => self,
            Metric::NonlocalBlocksSent => return None,
        })
    }
}

impl Schedule {
    /// Why it has no reverse, if so.
    pub fn has_no_reverse(&self) -> Option<&'static str> {
        let states = || self.loops.iter().flat_map(|l| &l.states);
        if self.within().next().is_some() {
            Some("a collective with inner ones has no reverse; reverse the inner ones, and write this one forwards")
        } else if states().any(|state| state.backward) {
            Some("states that run backwards have no reverse; declare them with `next`")
        } else if states().any(|state| state.each > 0) {
            Some("states that advance with an inner index have no reverse; let them advance with the first one")
        } else if self.bounds.iter().any(|bound| bound.metric.reversed().is_none()) {
            Some("`nonlocal_blocks_sent` has no reverse; remove this bound")
        } else {
            None
        }
    }

    /// The reverse of this schedule, which is of the kind that `kind` is the reverse of.
    pub fn reversed(&self, kind: Kind, side: CombineSide) -> Schedule {
        let (side, action) =
            if kind.reduces() { (side, side.action()) } else { (CombineSide::default(), Action::Copy) };
        let mut reverse = self.turned_around(kind, action);
        reverse.reverse_of = Some(ReverseOf { kind: self.kind, side });
        reverse
    }

    /// The collective of which this one is the reverse, as it was declared.
    pub fn forward(&self) -> Option<Schedule> {
        let ReverseOf { kind, .. } = self.reverse_of?;
        Some(Schedule { reverse_of: None, ..self.turned_around(kind, Action::Copy) })
    }

    /// The same clauses with sends and receives exchanged. What arrives has this effect.
    fn turned_around(&self, kind: Kind, action: Action) -> Schedule {
        let mut turned = self.clone();
        turned.kind = kind;
        turned.lines = if kind.reduces() { vec![USUAL_LINE.into()] } else { Vec::new() };
        turned.layouts = vec![Layout::InPlace];
        for t in turned.loops.iter_mut().flat_map(|l| &mut l.transfers) {
            turn_around(t, action);
            if kind.moves() {
                t.blocks.parts.iter_mut().for_each(|part| swap_ends(&mut part.item));
            }
        }
        for bound in &mut turned.bounds {
            bound.metric = bound.metric.reversed().unwrap_or(bound.metric);
        }
        turned
    }
}

fn turn_around(t: &mut Transfer, action: Action) {
    t.direction = match t.direction {
        Direction::Send => Direction::Recv,
        Direction::Recv => Direction::Send,
    };
    let action = if t.direction == Direction::Recv { action } else { Action::Copy };
    t.site = Site { number: t.site.number, line: 0, action };
}

/// Source and destination of a block of an all-to-all, exchanged.
fn swap_ends(item: &mut Expr) {
    if let Expr::Builtin(Builtin::Pair, ends) = item {
        ends.reverse();
    }
    item.children_mut().into_iter().for_each(swap_ends);
}
