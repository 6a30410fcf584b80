//! Assigns groups to phases, and checks that they are complete.

use super::text::MOST;
use super::{DigitGroup, Ports};
use roundel_spec::Kind;

/// A phase of an allreduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Phase I: every node keeps a fraction of its group's data.
    Scatter,
    /// Phase II: every node gets the reduction over its group.
    Reduce,
    /// Phase III: every node gets the fractions of its group.
    Gather,
}

/// Why groups do not make the requested collective. Groups are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupsError {
    /// The collective has no such algorithm.
    #[error("ports and factors make no {kind}: ask for allreduce, reduce_scatter or allgather")]
    Kind {
        /// The collective.
        kind: Kind,
    },
    /// A factor or a port is zero.
    #[error("group {group}, `{text}`, has a zero: give a factor of at least 1, and ports other than 0")]
    Zero {
        /// Its number.
        group: usize,
        /// The group.
        text: String,
    },
    /// The steps do not reach all nodes of a group.
    #[error(
        "group {group}, `{text}`, reaches only {reached} nodes: give it more ports or steps, or a smaller factor"
    )]
    Incomplete {
        /// Its number.
        group: usize,
        /// The group.
        text: String,
        /// The number of nodes that it reaches.
        reached: usize,
    },
    /// A port has the wrong sign.
    #[error("group {group}, `{text}`, has ports of the wrong sign: {reason}")]
    Sign {
        /// Its number.
        group: usize,
        /// The group.
        text: String,
        /// The rule that is violated.
        reason: &'static str,
    },
    /// Phase III is not the reverse of phase I.
    #[error(
        "group {group}, `{text}`, should have the factor {expected}: the last groups have the factors of the leading \
         ones, with negative ports, in reverse"
    )]
    NotReversed {
        /// Its number.
        group: usize,
        /// The group.
        text: String,
        /// The factor of its counterpart.
        expected: usize,
    },
    /// A leading group has no counterpart.
    #[error("group {group}, `{text}`, has no counterpart: end with a group of {factor} with positive ports")]
    NoCounterpart {
        /// Its number.
        group: usize,
        /// The group.
        text: String,
        /// Its factor.
        factor: usize,
    },
    /// There are too many nodes.
    #[error("the factors multiply to more than {MOST} nodes: give smaller ones")]
    TooManyNodes,
    /// The pattern has too many lines.
    #[error("the plan would have more than {limit} lines: scatter more, or split the factor")]
    TooManyLines {
        /// The most lines.
        limit: usize,
    },
    /// The node does not exist.
    #[error("node {node} does not exist: there are {nodes}, from 0 on")]
    NoSuchNode {
        /// The node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
}

/// A group with its digit and its phase.
#[derive(Clone, Debug)]
pub(super) struct GroupRun<'a> {
    /// The number of the digit.
    pub(super) digit: usize,
    /// Its phase.
    pub(super) phase: Phase,
    /// The group.
    pub(super) group: &'a DigitGroup,
}

impl DigitGroup {
    /// The most nodes that steps with such ports reach.
    fn reached(&self, wanted: impl Fn(i64) -> bool) -> usize {
        let ports = self.ports.iter().filter(|&&port| wanted(port));
        ports.fold(1, |reached: usize, port| reached.saturating_mul(port.unsigned_abs() as usize + 1))
    }

    fn all(&self, wanted: impl Fn(i64) -> bool) -> bool {
        self.ports.iter().all(|&port| wanted(port))
    }
}

impl Ports {
    /// The groups in the order in which they run, each with its digit, after all checks.
    pub(super) fn runs(&self, kind: Kind) -> Result<Vec<GroupRun<'_>>, GroupsError> {
        let runs = match kind {
            Kind::ReduceScatter => self.one_phase(Phase::Scatter),
            Kind::Allgather => self.one_phase(Phase::Gather),
            Kind::Allreduce => self.three_phases()?,
            kind => return Err(GroupsError::Kind { kind }),
        };
        runs.iter().enumerate().try_for_each(|(number, run)| run.check(number + 1))?;
        Ok(runs)
    }

    /// The number of nodes.
    ///
    /// # Errors
    /// If the groups do not make such a collective, or there are too many nodes.
    pub fn nodes(&self, kind: Kind) -> Result<usize, GroupsError> {
        factors(&self.runs(kind)?).map(|factors| factors.iter().product())
    }

    fn one_phase(&self, phase: Phase) -> Vec<GroupRun<'_>> {
        self.groups.iter().enumerate().map(|(digit, group)| GroupRun { digit, phase, group }).collect()
    }

    fn three_phases(&self) -> Result<Vec<GroupRun<'_>>, GroupsError> {
        let leads = |group: &&DigitGroup| !group.ports.is_empty() && group.all(|port| port < 0);
        let (leading, all) = (self.groups.iter().take_while(leads).count(), self.groups.len());
        if 2 * leading > all {
            // The last groups are the counterparts of the innermost leading ones.
            let number = 2 * leading - all;
            let group = &self.groups[number - 1];
            return Err(GroupsError::NoCounterpart { group: number, text: group.to_string(), factor: group.factor });
        }
        let place = |(number, group)| match number {
            n if n < leading => GroupRun { digit: n, phase: Phase::Scatter, group },
            n if n < all - leading => GroupRun { digit: n, phase: Phase::Reduce, group },
            n => GroupRun { digit: all - 1 - n, phase: Phase::Gather, group },
        };
        let runs: Vec<GroupRun<'_>> = self.groups.iter().enumerate().map(place).collect();
        for (number, run) in runs.iter().enumerate().filter(|(_, run)| run.phase == Phase::Gather) {
            let expected = self.groups[run.digit].factor;
            if run.group.factor != expected {
                return Err(GroupsError::NotReversed { group: number + 1, text: run.group.to_string(), expected });
            }
        }
        Ok(runs)
    }
}

impl GroupRun<'_> {
    /// Whether nodes of the group hold different fractions in between.
    pub(super) fn divides(&self) -> bool {
        self.phase != Phase::Reduce || !self.group.all(|port| port > 0)
    }

    /// Returns an error if a sign is wrong, or a node is not reached.
    fn check(&self, number: usize) -> Result<(), GroupsError> {
        let text = || self.group.to_string();
        if self.group.factor == 0 || self.group.ports.contains(&0) {
            return Err(GroupsError::Zero { group: number, text: text() });
        }
        let scatters_first = self.group.ports.is_sorted_by_key(|&port| port > 0);
        let (signs, reason) = match self.phase {
            Phase::Scatter => (self.group.all(|port| port < 0), "a reduce_scatter has negative ports alone"),
            Phase::Gather => (self.group.all(|port| port > 0), "an allgather has positive ports alone"),
            Phase::Reduce => (scatters_first, "negative ports come before positive ones"),
        };
        if !signs {
            return Err(GroupsError::Sign { group: number, text: text(), reason });
        }
        let reached = self.group.reached(|port| (port < 0) == (self.phase == Phase::Scatter));
        if reached < self.group.factor {
            return Err(GroupsError::Incomplete { group: number, text: text(), reached });
        }
        Ok(())
    }
}

/// The factors of the digits, in their order.
pub(super) fn factors(runs: &[GroupRun<'_>]) -> Result<Vec<usize>, GroupsError> {
    let digits = runs.iter().map(|run| run.digit + 1).max().unwrap_or(0);
    let mut factors = vec![1; digits];
    runs.iter().for_each(|run| factors[run.digit] = run.group.factor);
    let nodes = factors.iter().try_fold(1usize, |nodes, &factor| nodes.checked_mul(factor));
    nodes.filter(|&nodes| nodes <= MOST).map(|_| factors).ok_or(GroupsError::TooManyNodes)
}
