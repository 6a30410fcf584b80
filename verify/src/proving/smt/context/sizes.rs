//! The sizes of nodes: an arbitrary function with positive values.
//!
//! It is defined for all integers, by wrapping around `nodes`. What is known of it beside that, at the nodes that
//! occur: no node has fewer than `lanes` ranks, and p is the sum of all sizes. So the other nodes have at least `lanes`
//! ranks each, and one node has all ranks where there is no other.

use super::{Context, NoEncoding, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, Numbering, P, RANK};
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, int, le, mul, sub, within};
use roundel_spec::expr::{Binary, Expr};

/// The symbol of sizes; no constant has it.
pub(super) const NODE_SIZE: &str = "node_size";

impl Context<'_> {
    /// The number of ranks on a node; any integer, which wraps around.
    pub(crate) fn node_size(&mut self, node: &str) -> Term {
        self.declarations.insert(NODE_SIZE.into(), format!("(declare-fun {NODE_SIZE} (Int) Int)"));
        self.sized.insert(node.into());
        size(node)
    }

    /// The two ranks of `peer % p < rank` and `peer % p > rank`, which `combine = by_rank` is.
    pub(super) fn ranks_compared(&self, op: Binary, left: &Expr, right: &Expr) -> Option<(Expr, Expr)> {
        let is = |e: &Expr, slot: usize| matches!(e, Expr::Var(v) if v.slot == slot);
        match left {
            Expr::Binary(Binary::Rem, peer, p) if self.wheel == Numbering::Nodes && is(p, P) && is(right, RANK) => {
                matches!(op, Binary::Lt | Binary::Gt).then(|| ((**peer).clone(), right.clone()))
            }
            _ => None,
        }
    }

    /// Whether a rank that is written `at(node, seat)` comes before another, or after it: by node, then by seat.
    pub(super) fn compared(
        &mut self,
        op: Binary,
        peer: &Expr,
        rank: &Expr,
        values: &TermValues,
    ) -> Result<Term, NoEncoding> {
        let (peer, rank) = (self.cell(peer, values)?, self.cell(rank, values)?);
        let seats = self.node_size(&peer.number);
        self.must(within(&peer.seat, "0", &seats));
        let (_, node) = self.quotient(&peer.number, "nodes");
        let peer = CyclicTerm { number: node, seat: peer.seat };
        let wheel = self.wheel;
        Ok(if op == Binary::Lt { wheel.before(&peer, &rank) } else { wheel.before(&rank, &peer) })
    }

    /// What is known of the sizes that occur.
    pub(super) fn size_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for node in &self.sized {
            let (here, least) = (size(node), mul("nodes", "lanes"));
            let others = le(&sub(&here, "lanes"), &sub("p", &least));
            let alone = implies(&eq("nodes", "1"), &eq(&here, "p"));
            laws.push(and([ge(&here, "lanes"), le(&here, "p"), others, alone]));
            for other in self.sized.iter().filter(|other| *other > node) {
                for turns in [-2, -1, 1, 2] {
                    let same = eq(node, &add(other, &mul(&int(turns), "nodes")));
                    laws.push(implies(&same, &eq(&here, &size(other))));
                }
            }
        }
        laws
    }
}

fn size(node: &str) -> Term {
    format!("({NODE_SIZE} {node})")
}
