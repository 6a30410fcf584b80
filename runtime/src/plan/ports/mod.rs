//! Ports and factors: the notation for a whole family of collectives.
//!
//! `8(-1 1 1 1)` is an allreduce of 8 nodes that begins with a reduce_scatter step of one port and continues with
//! three allgather steps; `2(-1) 4(1 1) 2(1)` runs in groups of 2, then of 4, then of 2. An allreduce has three
//! phases: leading groups with only negative ports (I, reduce_scatter), groups in between (II, allreduce), and as
//! many last groups as leading ones, with the same factors in reverse (III, allgather). A reduce_scatter is a phase
//! I, an allgather a phase III.
//!
//! All nodes do the same relative to their own numbers: that is a [`Pattern`]. Each node's [`RankPlan`] is made from
//! it, without those of the others.
//!
//! ```
//! use roundel::plan::ports::Ports;
//! use roundel_spec::Kind;
//!
//! let ports: Ports = "2(-1) 4(1 1) 2(1)".parse()?;
//! let plan = ports.plan(Kind::Allreduce)?;
//! assert_eq!((plan.p, plan.blocks, plan.steps()), (8, 2, 4));
//! assert!(plan.replay().is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in message-passing
//! systems, Parallel Computing 107, 2021, sections 2.3 and 2.4.

mod digits;
mod emit;
mod grow;
mod pattern;
mod phases;
mod places;
mod text;

pub use pattern::{Fractions, Line, Pattern, Received, Step};
pub use phases::{GroupsError, Phase};
pub use text::NoPorts;

use super::{Plan, RankPlan};
use roundel_spec::Kind;

/// Groups, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ports {
    /// The groups.
    pub groups: Vec<DigitGroup>,
}

/// Steps among nodes whose numbers differ in one digit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DigitGroup {
    /// The number of nodes of the group.
    pub factor: usize,
    /// The number of nodes to which each one sends in each step: negative for reduce_scatter, positive for allgather.
    pub ports: Vec<i64>,
}

impl Ports {
    /// The part of one node.
    ///
    /// # Errors
    /// If the groups do not make such a collective, or the node does not exist.
    pub fn part(&self, kind: Kind, node: usize) -> Result<RankPlan, GroupsError> {
        self.pattern(kind, Fractions::Scattered)?.part(node)
    }

    /// The plan of all nodes.
    ///
    /// # Errors
    /// If the groups do not make such a collective.
    pub fn plan(&self, kind: Kind) -> Result<Plan, GroupsError> {
        Ok(self.pattern(kind, Fractions::Scattered)?.plan())
    }
}
