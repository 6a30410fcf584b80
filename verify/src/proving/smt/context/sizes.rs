//! The sizes of nodes: an arbitrary function with positive values.
//!
//! It is defined for all integers, by wrapping around `nodes`. What is known of it beside that, at the nodes that occur:
//! no node has fewer than `lanes` ranks, and p is the sum of all sizes. So the other nodes have at least `lanes` ranks
//! each, and one node has all ranks where there is no other.

use super::Context;
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, int, le, mul, sub};

/// The symbol of sizes; no constant has it.
pub(super) const NODE_SIZE: &str = "node_size";

impl Context<'_> {
    /// The number of ranks on a node; any integer, which wraps around.
    pub(crate) fn node_size(&mut self, node: &str) -> Term {
        self.declarations.insert(NODE_SIZE.into(), format!("(declare-fun {NODE_SIZE} (Int) Int)"));
        self.sized.insert(node.into());
        size(node)
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
