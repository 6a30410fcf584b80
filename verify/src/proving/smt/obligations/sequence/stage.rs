//! One stage of a sequence: its contract, and the groups that run it.

use crate::proving::smt::context::{Context, NoEncoding};
use crate::proving::smt::numbering::{CyclicTerm, LOCAL, NODE, RANK};
use crate::proving::smt::obligations::{ProofContext, Step};
use crate::proving::smt::term::{Term, and, eq, lt, within};
use roundel_spec::Kind;
use roundel_spec::blocks::Index;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Group, Within};

/// A stage, in terms of a proof. Its contract is a second reading of that of the checks.
pub(super) struct Stage<'s> {
    pub(super) kind: Kind,
    pub(super) clause: &'s Within,
    /// The index of the root among the members; 0 if there is none.
    pub(super) root: Term,
    /// The blocks, in the only form that is encoded; `None` if the stage runs on all of them.
    pub(super) blocks: Option<StageBlocks<'s>>,
}

/// The blocks of a stage.
#[derive(Clone, Copy)]
pub(super) enum StageBlocks<'s> {
    /// Those with the numbers of members: a member has its own, if a condition is true of it.
    OfMembers { filter: Option<&'s Expr> },
    /// One block, or the values of an index, if a condition is true.
    Named { item: &'s Expr, index: Option<&'s Index>, filter: Option<&'s Expr> },
}

impl<'s> StageBlocks<'s> {
    /// The blocks of a clause.
    pub(super) fn of(clause: &'s Within, kind: Kind) -> Step<Option<Self>> {
        let not_encoded = || NoEncoding::new(format!("`blocks = {}` of an inner collective", clause.brings));
        let part = match clause.brings.parts.as_slice() {
            [] if kind.takes_whole() => return Ok(None),
            [part] => part,
            _ => return Err(not_encoded()),
        };
        let filter = part.filter.as_ref();
        let blocks = match part.over.as_slice() {
            [] if kind.takes_whole() => StageBlocks::Named { item: &part.item, index: None, filter },
            [index] if kind.takes_whole() && is(&part.item, index.var.slot) => {
                StageBlocks::Named { item: &part.item, index: Some(index), filter }
            }
            [] if index_of(&clause.group).is_some_and(|slot| is(&part.item, slot)) => {
                StageBlocks::OfMembers { filter }
            }
            _ => return Err(not_encoded()),
        };
        Ok(Some(blocks))
    }
}

fn is(e: &Expr, slot: usize) -> bool {
    matches!(e, Expr::Var(v) if v.slot == slot)
}

/// The variable that is the index of a member in its group.
fn index_of(group: &Group) -> Option<usize> {
    match group {
        Group::Node => Some(LOCAL),
        Group::Lane => Some(NODE),
        Group::All => Some(RANK),
        Group::Stride { .. } | Group::Ranks { .. } => None,
    }
}

impl Stage<'_> {
    /// Its name in obligations.
    pub(super) fn name(&self) -> String {
        format!("clause{}", self.clause.site.number)
    }

    /// The index of a rank in its group.
    pub(super) fn index(&self, rank: &CyclicTerm) -> Term {
        if self.clause.group == Group::Node { rank.seat.clone() } else { rank.number.clone() }
    }

    /// The number of possible members of a rank's group.
    pub(super) fn size(&self, cx: &mut Context<'_>, rank: &CyclicTerm) -> Term {
        match self.clause.group {
            Group::Node => cx.node_size(&rank.number),
            Group::Lane => "nodes".into(),
            _ => cx.wheel().around().into(),
        }
    }

    /// A member of a rank's group, by its index.
    fn member(&self, rank: &CyclicTerm, index: &str) -> CyclicTerm {
        let (number, seat) = (rank.number.clone(), rank.seat.clone());
        match self.clause.group {
            Group::Node => CyclicTerm { number, seat: index.into() },
            _ => CyclicTerm { number: index.into(), seat },
        }
    }

    /// The member of a rank's group that stands for all of them.
    pub(super) fn first_member(&self, rank: &CyclicTerm) -> CyclicTerm {
        match self.clause.group {
            Group::All => CyclicTerm { number: "0".into(), seat: "0".into() },
            _ => self.member(rank, "0"),
        }
    }

    /// The one member of a rank's group that may have the contribution of `x`: the one on its node, or in its lane.
    pub(super) fn witness(&self, rank: &CyclicTerm, x: &CyclicTerm) -> CyclicTerm {
        match self.clause.group {
            Group::Node => self.member(rank, &x.seat),
            Group::Lane => self.member(rank, &x.number),
            _ => x.clone(),
        }
    }

    /// That a rank, with a node and a seat that may lie beyond it, is a member of the group of another.
    pub(super) fn is_member(&self, cx: &mut Context<'_>, rank: &CyclicTerm, member: &CyclicTerm) -> Term {
        match self.clause.group {
            Group::Node => {
                let size = cx.node_size(&rank.number);
                and([eq(&member.number, &rank.number), within(&member.seat, "0", &size)])
            }
            Group::Lane => and([eq(&member.seat, &rank.seat), within(&member.number, "0", "nodes")]),
            _ => "true".into(),
        }
    }

    /// That a rank is in a group, and the group runs the stage.
    pub(super) fn takes_part(&self, frame: &mut ProofContext<'_>, rank: &CyclicTerm) -> Step<Term> {
        let in_lane = if self.clause.group == Group::Lane { lt(&rank.seat, "lanes") } else { "true".into() };
        Ok(and([in_lane, condition(frame, rank, self.clause.when.as_ref())?]))
    }

    /// That a block is among those of a rank's group.
    pub(super) fn touches(&self, frame: &mut ProofContext<'_>, rank: &CyclicTerm, block: &str) -> Step<Term> {
        match self.blocks {
            None => Ok("true".into()),
            // There is a block for each rank, which is shown on its own.
            Some(StageBlocks::OfMembers { filter: None }) if self.clause.group == Group::All => Ok("true".into()),
            Some(StageBlocks::OfMembers { filter }) => {
                let size = self.size(&mut frame.cx, rank);
                Ok(and([within(block, "0", &size), condition(frame, &self.member(rank, block), filter)?]))
            }
            Some(StageBlocks::Named { item, index: None, filter }) => {
                let values = frame.seen_at(rank);
                let item = frame.cx.lower(item, &values)?;
                Ok(and([eq(&item, block), condition(frame, rank, filter)?]))
            }
            Some(StageBlocks::Named { index: Some(index), filter, .. }) => {
                let values = frame.seen_at(rank).with(index.var.slot, block);
                let (lo, hi) = (frame.cx.lower(&index.lo, &values)?, frame.cx.lower(&index.hi, &values)?);
                let filter = filter.map_or(Ok("true".into()), |filter| frame.cx.lower(filter, &values))?;
                Ok(and([within(block, &lo, &hi), filter]))
            }
        }
    }

    /// That a rank takes part, and that its group runs on a block.
    pub(super) fn runs_on(&self, frame: &mut ProofContext<'_>, rank: &CyclicTerm, block: &str) -> Step<Term> {
        Ok(and([self.takes_part(frame, rank)?, self.touches(frame, rank, block)?]))
    }

    /// That a member has a block of the group before the stage, or something to contribute to it.
    pub(super) fn starts(&self, rank: &CyclicTerm, block: &str) -> Term {
        match self.kind {
            Kind::Allgather | Kind::Gather => eq(&self.index(rank), block),
            Kind::Broadcast | Kind::Scatter => eq(&self.index(rank), &self.root),
            _ => "true".into(),
        }
    }

    /// That a member must have a block of the group after the stage.
    pub(super) fn ends(&self, rank: &CyclicTerm, block: &str) -> Term {
        match self.kind {
            Kind::ReduceScatter | Kind::Scatter => eq(&self.index(rank), block),
            Kind::Reduce | Kind::Gather => eq(&self.index(rank), &self.root),
            _ => "true".into(),
        }
    }

    /// The member from which a rank gets a block, if data only moves.
    pub(super) fn source(&self, rank: &CyclicTerm, block: &str) -> CyclicTerm {
        let from_root = matches!(self.kind, Kind::Broadcast | Kind::Scatter);
        self.member(rank, if from_root { &self.root } else { block })
    }
}

/// A condition, as a rank sees it.
fn condition(frame: &mut ProofContext<'_>, rank: &CyclicTerm, condition: Option<&Expr>) -> Step<Term> {
    let Some(condition) = condition else { return Ok("true".into()) };
    let values = frame.seen_at(rank);
    frame.cx.lower(condition, &values)
}
