//! The numbering of ranks and blocks, and the modulus around which they wrap.
//!
//! A collective that does not look at nodes counts ranks modulo p. For one that does, a rank, or a block, is a node and
//! a seat on it. How many seats a node has is an arbitrary function with positive values. Nodes wrap around `nodes`,
//! seats do not wrap: `first_rank(x) + l` is the seat `l` of node `x` if `0 <= l < node_size(x)`, which is an
//! obligation. So no sum over nodes and no product of nodes and their sizes is needed, which solvers handle badly.

use super::term::{Term, add, and, eq, int, lt, mul, not, or};
use roundel_spec::Schedule;
pub(crate) use roundel_spec::expr::slot::{LANES, LOCAL, NODE, NODES, P, PPN, RANK};
use roundel_spec::expr::{Binary, Builtin, Expr, PLACEMENT_SLOTS};
use roundel_spec::schedule::Group;

/// How ranks and blocks are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// By their number, modulo p.
    Ranks,
    /// By node and seat, with nodes modulo `nodes`.
    Nodes,
}

/// A rank or a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CyclicTerm {
    /// The part that wraps: its number, or its node.
    pub(crate) number: Term,
    /// Its local index on the node; 0 if nodes are not counted.
    pub(crate) seat: Term,
}

impl Numbering {
    /// The numbering for a schedule.
    pub(crate) fn of(schedule: &Schedule) -> Self {
        let mut nodes = schedule.within().any(|within| matches!(within.group, Group::Node | Group::Lane));
        schedule.for_each_expr(&mut |_, e| e.walk(&mut |e| nodes |= looks_at_nodes(e)));
        if nodes { Numbering::Nodes } else { Numbering::Ranks }
    }

    /// The modulus.
    pub(crate) fn around(self) -> &'static str {
        match self {
            Numbering::Ranks => "p",
            Numbering::Nodes => "nodes",
        }
    }

    /// The position of this rank.
    pub(crate) fn here(self) -> CyclicTerm {
        match self {
            Numbering::Ranks => CyclicTerm { number: "rank".into(), seat: "0".into() },
            Numbering::Nodes => CyclicTerm { number: "node".into(), seat: "local".into() },
        }
    }

    /// A rank or a block as its two coordinates, if it has that form.
    pub(crate) fn split(self, e: &Expr) -> Option<(Expr, Expr)> {
        match (self, e) {
            (Numbering::Ranks, e) => Some((e.clone(), Expr::Int(0))),
            (Numbering::Nodes, Expr::Var(v)) if v.slot == RANK => {
                Some((Expr::var("node", NODE), Expr::var("local", LOCAL)))
            }
            (Numbering::Nodes, Expr::Builtin(Builtin::FirstRank, args)) => Some((args[0].clone(), Expr::Int(0))),
            (Numbering::Nodes, Expr::Binary(Binary::Add, first, seat)) => match &**first {
                Expr::Builtin(Builtin::FirstRank, args) => Some((args[0].clone(), (**seat).clone())),
                _ => None,
            },
            (Numbering::Nodes, _) => None,
        }
    }

    /// Whether two numbers are equal modulo the modulus. Exact if they differ by less than four times the modulus.
    pub(crate) fn same_number(self, a: &str, b: &str) -> Term {
        if a == b {
            return "true".into();
        }
        or((-3..=3).map(|m| eq(a, &self.turned(b, m))))
    }

    /// Whether two ranks or blocks are equal, as far as [`same_number`](Numbering::same_number) is exact.
    pub(crate) fn same(self, a: &CyclicTerm, b: &CyclicTerm) -> Term {
        and([self.same_number(&a.number, &b.number), eq(&a.seat, &b.seat)])
    }

    /// Whether two numbers differ modulo the modulus, if they are at most `apart` times the modulus apart.
    pub(crate) fn different_number(self, a: &str, b: &str, apart: i64) -> Term {
        and((-apart..=apart).map(|m| not(&eq(a, &self.turned(b, m)))))
    }

    /// Whether two ranks or blocks differ, if their numbers are at most `apart` times the modulus apart.
    pub(crate) fn different(self, a: &CyclicTerm, b: &CyclicTerm, apart: i64) -> Term {
        let numbers = self.different_number(&a.number, &b.number, apart);
        if a.seat == b.seat { numbers } else { or([numbers, not(&eq(&a.seat, &b.seat))]) }
    }

    /// Whether a rank comes before another, if the numbers of both lie in `0..p`, or in `0..nodes`.
    pub(crate) fn before(self, a: &CyclicTerm, b: &CyclicTerm) -> Term {
        let first = lt(&a.number, &b.number);
        match self {
            Numbering::Ranks => first,
            Numbering::Nodes => or([first, and([eq(&a.number, &b.number), lt(&a.seat, &b.seat)])]),
        }
    }

    /// A number plus `turns` times the modulus.
    pub(crate) fn turned(self, x: &str, turns: i64) -> Term {
        add(x, &mul(&int(turns), self.around()))
    }
}

/// Whether the value of an expression depends on the placement; its parts are not examined.
pub(crate) fn looks_at_nodes(e: &Expr) -> bool {
    match e {
        Expr::Var(v) => PLACEMENT_SLOTS.contains(&v.slot),
        Expr::Builtin(function, _) => matches!(function, Builtin::FirstRank | Builtin::NodeSize),
        _ => false,
    }
}
