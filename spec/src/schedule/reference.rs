//! The simplest implementation of each contract: it stands in for an inner collective of which only the contract is
//! known.
//!
//! A collective that is correct with one of these is correct with every collective that keeps the same contract,
//! because it only sees the state before and after the inner one.

use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::contract::Kind;
use crate::schedule::expr::{Binary, Builtin, Expr, Var, slot};
use crate::schedule::message::Direction;
use crate::schedule::message::{Action, Site};
use crate::schedule::text::USUAL_LINE;
use crate::schedule::{Layout, Limits, Loop, Order, Schedule, Transfer};

/// The simplest collective of a kind.
pub fn of(kind: Kind) -> Schedule {
    match kind {
        Kind::Allgather | Kind::Alltoall => everybody_to_everybody(kind),
        Kind::Allreduce => chain(),
        // The parser accepts no inner collectives of these kinds.
        kind => schedule(kind, p(), Vec::new(), 7),
    }
}

/// One round: every rank sends its block, or its block for the receiver, to every other rank.
fn everybody_to_everybody(kind: Kind) -> Schedule {
    let j = Var { name: "j".into(), slot: 7 };
    let others = vec![Index { var: j.clone(), lo: 1.into(), hi: p() }];
    let ahead = Expr::binary(Binary::Add, rank(), Expr::Var(j.clone()));
    let behind = Expr::binary(Binary::Sub, rank(), Expr::Var(j));
    let block = |source: Expr, destination: Expr| match kind {
        Kind::Alltoall => one(Expr::Builtin(Builtin::Pair, vec![source, destination])),
        _ => one(source),
    };
    let (sent, received) = (block(rank(), ahead.clone()), block(behind.clone(), rank()));
    let transfers = vec![
        Transfer { each: others.clone(), ..transfer(Direction::Send, 0, None, ahead, sent) },
        Transfer { each: others, ..transfer(Direction::Recv, 1, None, behind, received) },
    ];
    let blocks = if kind.moves() { Expr::binary(Binary::Mul, p(), p()) } else { p() };
    schedule(kind, blocks, vec![Loop { transfers, ..Loop::default() }], 8)
}

/// Every rank adds its contribution to the result of the ranks before it, in order; the last one distributes the
/// result.
fn chain() -> Schedule {
    let k = Var { name: "k".into(), slot: 7 };
    let step = Index { var: k.clone(), lo: 1.into(), hi: p() };
    let before = Expr::binary(Binary::Sub, rank(), 1.into());
    let (last, next) = (Expr::binary(Binary::Sub, p(), 1.into()), Expr::binary(Binary::Add, rank(), 1.into()));
    let is = |a: &Expr, b: &Expr| Expr::binary(Binary::Eq, a.clone(), b.clone());
    let zero = || one(0.into());
    let up = vec![
        transfer(Direction::Send, 0, Some(is(&next, &Expr::Var(k.clone()))), next.clone(), zero()),
        Transfer {
            site: Site { number: 1, line: 0, action: Action::CombineLeft { with: 0 } },
            ..transfer(Direction::Recv, 1, Some(is(&rank(), &Expr::Var(k.clone()))), before, zero())
        },
    ];
    let ahead = Expr::binary(Binary::Add, rank(), Expr::Var(k.clone()));
    let others = vec![Index { var: k, lo: 1.into(), hi: p() }];
    let down = vec![
        Transfer { each: others, ..transfer(Direction::Send, 2, Some(is(&rank(), &last)), ahead, zero()) },
        Transfer {
            site: Site { number: 3, line: 0, action: Action::Replace },
            ..transfer(Direction::Recv, 3, Some(Expr::binary(Binary::Ne, rank(), last.clone())), last, zero())
        },
    ];
    let loops = vec![
        Loop { indices: vec![step], transfers: up, ..Loop::default() },
        Loop { transfers: down, ..Loop::default() },
    ];
    let order = Order { same_tree: true, rank_order: true };
    Schedule { order, ..schedule(Kind::Allreduce, 1.into(), loops, 8) }
}

fn rank() -> Expr {
    Expr::built_in(slot::RANK)
}

fn p() -> Expr {
    Expr::built_in(slot::P)
}

fn one(block: Expr) -> BlockSet {
    BlockSet { parts: vec![Comprehension { item: block, over: Vec::new(), filter: None }] }
}

fn transfer(direction: Direction, number: u16, when: Option<Expr>, peer: Expr, blocks: BlockSet) -> Transfer {
    Transfer { direction, site: Site::plain(number), each: Vec::new(), when, peer, blocks }
}

fn schedule(kind: Kind, blocks: Expr, loops: Vec<Loop>, slots: usize) -> Schedule {
    Schedule {
        name: format!("any {kind}"),
        kind,
        reverse_of: None,
        numbers: Vec::new(),
        lists: Vec::new(),
        inners: Vec::new(),
        functions: Vec::new(),
        requires: Vec::new(),
        lines: vec![USUAL_LINE.into()],
        blocks,
        order: Order::default(),
        loops,
        bounds: Vec::new(),
        layouts: vec![Layout::InPlace],
        limits: Limits { p: 1, numbers: Vec::new(), lists: Vec::new() },
        slots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{self, Points};

    #[test]
    fn references_keep_their_contracts() {
        for kind in [Kind::Allgather, Kind::Allreduce, Kind::Alltoall] {
            let schedule = of(kind);
            assert_eq!(check::over(&schedule, &Points::new(&schedule, 1..=17)), Ok(17), "{kind}");
        }
    }
}
