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
use crate::schedule::{Domain, Layout, Limits, Loop, Number, Order, ROOT, Schedule, Transfer};

/// The simplest collective of a kind.
pub fn of(kind: Kind) -> Schedule {
    match kind {
        Kind::Allgather | Kind::Alltoall => everybody_to_everybody(kind),
        Kind::Allreduce | Kind::ReduceScatter | Kind::Reduce => chain(kind),
        Kind::Broadcast | Kind::Scatter => from_root(kind),
        Kind::Gather => to_root(),
    }
}

/// One round: every rank sends its block, or its block for the receiver, to every other rank.
fn everybody_to_everybody(kind: Kind) -> Schedule {
    let j = index();
    let ahead = Expr::binary(Binary::Add, rank(), Expr::Var(j.clone()));
    let behind = Expr::binary(Binary::Sub, rank(), Expr::Var(j));
    let block = |source: Expr, destination: Expr| match kind {
        Kind::Alltoall => one(Expr::Builtin(Builtin::Pair, vec![source, destination])),
        _ => one(source),
    };
    let (sent, received) = (block(rank(), ahead.clone()), block(behind.clone(), rank()));
    let transfers = vec![
        Transfer { each: others(), ..transfer(Direction::Send, 0, None, ahead, sent) },
        Transfer { each: others(), ..transfer(Direction::Recv, 1, None, behind, received) },
    ];
    let blocks = if kind.moves() { Expr::binary(Binary::Mul, p(), p()) } else { p() };
    schedule(kind, blocks, vec![Loop { transfers, ..Loop::default() }])
}

/// One round: the root sends every other rank its block, or the only one.
fn from_root(kind: Kind) -> Schedule {
    let ahead = Expr::binary(Binary::Add, rank(), Expr::Var(index()));
    let (sent, received, blocks) = match kind {
        Kind::Scatter => (ahead.clone(), rank(), p()),
        _ => (0.into(), 0.into(), 1.into()),
    };
    let transfers = vec![
        Transfer { each: others(), ..transfer(Direction::Send, 0, Some(is(rank(), root())), ahead, one(sent)) },
        transfer(Direction::Recv, 1, Some(is_not(rank(), root())), root(), one(received)),
    ];
    schedule(kind, blocks, vec![Loop { transfers, ..Loop::default() }])
}

/// One round: every other rank sends its block to the root.
fn to_root() -> Schedule {
    let ahead = Expr::binary(Binary::Add, rank(), Expr::Var(index()));
    let arrives = transfer(Direction::Recv, 1, Some(is(rank(), root())), ahead.clone(), one(ahead));
    let transfers = vec![
        transfer(Direction::Send, 0, Some(is_not(rank(), root())), root(), one(rank())),
        Transfer { each: others(), ..arrives },
    ];
    schedule(Kind::Gather, p(), vec![Loop { transfers, ..Loop::default() }])
}

/// Every rank adds its contribution to the result of the ranks before it, in order; the last one distributes the
/// result.
fn chain(kind: Kind) -> Schedule {
    let k = index();
    let step = Index { var: k.clone(), lo: 1.into(), hi: p() };
    let before = Expr::binary(Binary::Sub, rank(), 1.into());
    let (last, next) = (Expr::binary(Binary::Sub, p(), 1.into()), Expr::binary(Binary::Add, rank(), 1.into()));
    let up = vec![
        transfer(Direction::Send, 0, Some(is(next.clone(), Expr::Var(k.clone()))), next, whole(kind)),
        Transfer {
            site: Site { number: 1, line: 0, action: Action::CombineLeft { with: 0 } },
            ..transfer(Direction::Recv, 1, Some(is(rank(), Expr::Var(k))), before, whole(kind))
        },
    ];
    let blocks = if kind == Kind::ReduceScatter { p() } else { 1.into() };
    let loops = vec![
        Loop { indices: vec![step], transfers: up, ..Loop::default() },
        Loop { transfers: from_last(kind, &last), ..Loop::default() },
    ];
    let order = Order { same_tree: true, rank_order: true };
    Schedule { order, ..schedule(kind, blocks, loops) }
}

/// The last rank sends the result, or a block of it, to the ranks that must have it.
fn from_last(kind: Kind, last: &Expr) -> Vec<Transfer> {
    let ahead = Expr::binary(Binary::Add, rank(), Expr::Var(index()));
    let (sends, gets) = (is(rank(), last.clone()), is_not(rank(), last.clone()));
    let (each, sends, gets, to, sent, received) = match kind {
        Kind::Reduce => {
            let elsewhere = |here| Expr::binary(Binary::And, here, is_not(root(), last.clone()));
            (Vec::new(), elsewhere(sends), elsewhere(is(rank(), root())), root(), 0.into(), 0.into())
        }
        Kind::ReduceScatter => (others(), sends, gets, ahead.clone(), ahead, rank()),
        _ => (others(), sends, gets, ahead, 0.into(), 0.into()),
    };
    vec![
        Transfer { each, ..transfer(Direction::Send, 2, Some(sends), to, one(sent)) },
        Transfer {
            site: Site { number: 3, line: 0, action: Action::Replace },
            ..transfer(Direction::Recv, 3, Some(gets), last.clone(), one(received))
        },
    ]
}

/// All blocks.
fn whole(kind: Kind) -> BlockSet {
    if kind != Kind::ReduceScatter {
        return one(0.into());
    }
    let b = Var { name: "b".into(), slot: 9 };
    let over = vec![Index { var: b.clone(), lo: 0.into(), hi: p() }];
    BlockSet { parts: vec![Comprehension { item: Expr::Var(b), over, filter: None }] }
}

/// The root, in collectives that have one.
fn root() -> Expr {
    Expr::var(ROOT, 8)
}

fn index() -> Var {
    Var { name: "k".into(), slot: 7 }
}

/// The distances to all other ranks.
fn others() -> Vec<Index> {
    vec![Index { var: index(), lo: 1.into(), hi: p() }]
}

fn is(a: Expr, b: Expr) -> Expr {
    Expr::binary(Binary::Eq, a, b)
}

fn is_not(a: Expr, b: Expr) -> Expr {
    Expr::binary(Binary::Ne, a, b)
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

fn schedule(kind: Kind, blocks: Expr, loops: Vec<Loop>) -> Schedule {
    let rooted = kind.has_root();
    let number = Number { var: Var { name: ROOT.into(), slot: 8 }, domain: Domain { lo: 0, hi: None } };
    Schedule {
        name: format!("any {kind}"),
        kind,
        reverse_of: None,
        numbers: if rooted { vec![number] } else { Vec::new() },
        lists: Vec::new(),
        inners: Vec::new(),
        functions: Vec::new(),
        requires: if rooted { vec![Expr::binary(Binary::Lt, root(), p())] } else { Vec::new() },
        lines: vec![USUAL_LINE.into()],
        blocks,
        order: Order::default(),
        loops,
        bounds: Vec::new(),
        layouts: vec![Layout::InPlace],
        limits: Limits { p: 1, numbers: if rooted { vec![16] } else { Vec::new() }, lists: Vec::new() },
        slots: 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{self, Points};

    #[test]
    fn references_keep_their_contracts() {
        for kind in Kind::ALL {
            let schedule = of(kind);
            let points = if kind.has_root() { 17 * 18 / 2 } else { 17 };
            assert_eq!(check::over(&schedule, &Points::new(&schedule, 1..=17)), Ok(points), "{kind}");
        }
    }
}
