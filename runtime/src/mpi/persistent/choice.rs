//! Chooses how a call runs: the ports between nodes, the number of ranks per node that communicate, and how a node
//! shares its memory.
//!
//! The choice depends only on values that are equal on all ranks, so they choose alike without communication.

use super::Settings;
use crate::algorithms::RecursiveDoublingAllreduce;
use crate::choice::ports::{self, PlanEvidence};
use crate::choice::profile::Profile;
use crate::choice::selection::{self, Implementation, PortsPlan, Selection};
use crate::choice::{Question, RequiredOrder};
use crate::error::Error;
use crate::mpi::raw;
use crate::plan::order::order;
use crate::plan::part::RankPlan;
use crate::plan::ports::Ports;
use crate::plan::{Plan, passes};
use crate::program::build::Scheme;
use roundel_spec::{Collective, Kind, Placement};
use std::fmt;

/// The properties of a call, equal on all ranks.
pub(super) struct PortsRequest<'a> {
    pub(super) kind: Kind,
    pub(super) counts: &'a [usize],
    pub(super) size: usize,
    pub(super) placement: &'a Placement,
    /// Whether the operation commutes.
    pub(super) commutes: bool,
    /// Whether different trees may give different results.
    pub(super) inexact: bool,
    /// Whether the request owns its buffers.
    pub(super) owned: bool,
    /// Whether it stands for a broadcast or a reduction to a root, for which there are no rules.
    pub(super) rooted: bool,
    /// Whether this rank explains a choice that the environment has made.
    pub(super) explains: bool,
}

/// The algorithm between nodes.
#[derive(Clone, Debug, PartialEq)]
enum Between {
    /// There is only one node.
    Nothing,
    /// Cyclic shifts with ports, over the factors.
    Ports(Ports),
    /// Recursive doubling, which keeps the order of nodes.
    Doubling,
}

/// How a call runs.
#[derive(Clone, Debug)]
pub(super) struct PortsChoice {
    between: Between,
    pub(super) lanes: usize,
    pub(super) scheme: Scheme,
}

impl fmt::Display for PortsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.between {
            Between::Nothing => write!(f, "one node")?,
            Between::Ports(ports) => write!(f, "{ports}, {} of a node", self.lanes)?,
            Between::Doubling => write!(f, "{}, {} of a node", RecursiveDoublingAllreduce::NAME, self.lanes)?,
        }
        write!(f, ", {}", self.scheme)
    }
}

impl PortsChoice {
    /// The first answer that respects the settings: the program's own come first, then those of the environment, then
    /// the fastest by the profile that keeps the required order.
    pub(super) fn new(
        request: &PortsRequest<'_>,
        settings: &Settings,
        environment: &selection::Settings,
        profile: &Profile,
    ) -> Result<Self, Error> {
        let selection = environment.selection.clone().with_profile(profile);
        let reproducible = settings.reproducible || environment.reproducible;
        let question = Question { reproducible, ..request.question() };
        let ports = settings.ports.clone().or_else(|| request.ruled(&question, settings, &selection));
        // All ranks get identical results of an allreduce, as in MPI's own, unless the program or a rule has chosen the
        // ports.
        let question = Question { identical: question.identical && ports.is_none(), ..question };
        let mut choice = match question.required_order() {
            RequiredOrder::RankOrder => request.ordered(&question, settings, &selection)?,
            _ => fastest(&selection, &question, settings)?,
        };
        choice.lanes = settings.lanes.unwrap_or(choice.lanes).max(1);
        choice.scheme = settings.scheme.unwrap_or(choice.scheme);
        if let (Some(ports), true) = (ports, question.nodes > 1) {
            choice.between = Between::Ports(ports);
            choice.same_tree(&question)?;
        }
        choice.rank_order(&question)?;
        Ok(choice)
    }

    /// Returns an error if the user's ports do not reduce the same tree on all ranks, where that is required. Ports
    /// from the selector always do.
    fn same_tree(&self, question: &Question) -> Result<(), Error> {
        let (RequiredOrder::SameTree, Between::Ports(ports)) = (question.required_order(), &self.between) else {
            return Ok(());
        };
        let plan = ports.plan(question.kind)?;
        let same = plan.replay().is_ok_and(|order| order.same_tree);
        if same { Ok(()) } else { Err(Error::NotReproducible { name: self.to_string() }) }
    }

    /// Returns an error if the user's settings break the order of ranks, where it must be kept.
    fn rank_order(&self, question: &Question) -> Result<(), Error> {
        let mixes = matches!(self.between, Between::Ports(_)) || self.scheme == Scheme::Chunks;
        match question.required_order() == RequiredOrder::RankOrder && mixes {
            true => Err(Error::NeedsOrder { name: self.to_string() }),
            false => Ok(()),
        }
    }

    /// The part of one node, for blocks of these lengths.
    pub(super) fn part(&self, kind: Kind, sizes: &[usize], node: usize) -> Result<RankPlan, Error> {
        match &self.between {
            Between::Nothing => Ok(RankPlan { kind, p: 1, rank: 0, root: 0, blocks: 1, lines: 2, turns: Vec::new() }),
            Between::Doubling => doubling(sizes.len())?.part(node).ok_or(NO_DOUBLING),
            Between::Ports(ports) => match ports.nodes(kind)? {
                found if found == sizes.len() => Self::reordered(ports, kind, sizes, node),
                found => Err(Error::PortsOfOthers { ports: ports.to_string(), found, nodes: sizes.len() }),
            },
        }
    }

    /// Places nodes with short blocks next to nodes with long ones; empty blocks are not sent.
    fn reordered(ports: &Ports, kind: Kind, sizes: &[usize], node: usize) -> Result<RankPlan, Error> {
        let Some(order) = reorder(kind, sizes) else { return Ok(ports.part(kind, node)?) };
        let at = order.iter().position(|&rank| rank == node).unwrap_or(node);
        Ok(ports.part(kind, at)?.renumbered(&order)?.without_empty(sizes))
    }

    /// The plan of all nodes.
    fn plan(&self, kind: Kind, sizes: &[usize]) -> Result<Option<Plan>, Error> {
        Ok(match &self.between {
            Between::Nothing => None,
            Between::Doubling => Some(doubling(sizes.len())?),
            Between::Ports(ports) => match reorder(kind, sizes) {
                None => Some(ports.plan(kind)?),
                Some(order) => Some(ports.plan(kind)?.renumbered(&order)?.without_empty(sizes)),
            },
        })
    }

    /// Whether the plan between nodes must be checked before it runs, because there are more nodes than all plans
    /// were checked for.
    pub(super) fn is_unknown(&self, nodes: usize) -> bool {
        self.between != Between::Nothing && ports::proved(nodes) == PlanEvidence::AtInitialisation
    }

    /// Checks the plan between nodes, as it will run, against its specification.
    pub(super) fn validate(&self, kind: Kind, sizes: &[usize]) -> Result<(), Error> {
        let (nodes, part) = (sizes.len(), self.part(kind, sizes, 0)?);
        let slots = (part.lines * part.blocks).saturating_mul(nodes);
        if slots > CHECKED.0 || nodes > CHECKED.1 {
            return Err(Error::Unproved { nodes, proved: ports::REPLAYED });
        }
        let Some(plan) = self.plan(kind, sizes)? else { return Ok(()) };
        let outcome = plan.replay_where(|block| kind == Kind::Allreduce || sizes[block] > 0);
        outcome.map(|_| ()).map_err(|fault| Error::InvalidPlan { reason: fault.to_string() })
    }
}

/// The most slots of all nodes together, and the most nodes, for which a plan is checked when a request is made. The
/// check takes some seconds and gigabytes.
const CHECKED: (usize, usize) = (1 << 26, 1 << 14);

/// The order of nodes with blocks of these lengths, if it differs from their own.
fn reorder(kind: Kind, sizes: &[usize]) -> Option<Vec<usize>> {
    let even = sizes.iter().all(|&size| size == sizes[0]);
    (kind != Kind::Allreduce && !even).then(|| order(sizes))
}

const NO_DOUBLING: Error = Error::NoPlan { name: RecursiveDoublingAllreduce::NAME };

/// Recursive doubling among nodes, recorded from its generated code, without redundant copies.
fn doubling(nodes: usize) -> Result<Plan, Error> {
    let mut plan = Plan::record(&RecursiveDoublingAllreduce, nodes).map_err(|_| NO_DOUBLING)?;
    passes::merge_copies(&mut plan);
    passes::rename(&mut plan);
    Ok(plan)
}

/// The bytes of the vector of an allreduce, or of a rank's block on average.
fn bytes_of_each(kind: Kind, counts: &[usize], size: usize, p: usize) -> u64 {
    let elements = counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count));
    let each = if kind == Kind::Allreduce { elements } else { elements.div_ceil(p) };
    each.saturating_mul(size) as u64
}

impl PortsRequest<'_> {
    fn question(&self) -> Question {
        let bytes = bytes_of_each(self.kind, self.counts, self.size, self.placement.p());
        Question {
            commutes: self.commutes,
            identical: self.inexact,
            request: true,
            owned_buffers: self.owned,
            ..Question::at(self.kind, self.placement, bytes)
        }
    }

    /// The ports that the environment forces, or that a rule sets. Rules are about nodes, so they do not apply to
    /// ranks that communicate for themselves.
    fn ruled(&self, question: &Question, settings: &Settings, selection: &Selection) -> Option<Ports> {
        if settings.flat || self.rooted {
            return None;
        }
        let chosen = selection.ports(question)?;
        if self.explains {
            raw::explain(&chosen);
        }
        planned(chosen.implementation).map(|planned| planned.ports)
    }

    /// For operations that do not commute: keeps the order of ranks within nodes and between them.
    fn ordered(&self, question: &Question, settings: &Settings, selection: &Selection) -> Result<PortsChoice, Error> {
        let mut choice = fastest(selection, &Question { nodes: 1, ..*question }, settings)?;
        if question.nodes > 1 {
            let served = self.kind == Kind::Allreduce && self.placement.is_sorted();
            if !served {
                let name = format!("{} on {} nodes", self.kind, question.nodes);
                return Err(Error::NeedsOrder { name });
            }
            choice.between = Between::Doubling;
        }
        Ok(choice)
    }
}

/// The plan with ports, if the implementation is one.
fn planned(implementation: Implementation) -> Option<PortsPlan> {
    match implementation {
        Implementation::Ports(planned) => Some(planned),
        Implementation::Library | Implementation::Catalogue(_) | Implementation::SharedMemory(_) => None,
    }
}

/// The fastest plan by the clock that respects the settings.
fn fastest(selection: &Selection, question: &Question, settings: &Settings) -> Result<PortsChoice, Error> {
    ports::check(question)?;
    let by_the_clock = selection.answers(question).into_iter().filter_map(|answer| {
        let planned = planned(answer.implementation)?;
        planned.lanes.map(|(lanes, scheme)| (planned.ports, lanes, scheme))
    });
    let mut plans = by_the_clock.peekable();
    let first = plans.peek().cloned();
    let chosen = plans.find(|&(_, lanes, _)| settings.lanes.is_none_or(|wanted| lanes == wanted)).or(first);
    let (ports, lanes, scheme) = chosen.ok_or_else(|| Error::NeedsOrder { name: question.kind.to_string() })?;
    let between = if question.nodes == 1 { Between::Nothing } else { Between::Ports(ports) };
    Ok(PortsChoice { between, lanes, scheme })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(ports: &str) -> PortsChoice {
        let ports = ports.parse().expect("are ports");
        PortsChoice { between: Between::Ports(ports), lanes: 1, scheme: Scheme::Copies }
    }

    #[test]
    fn plans_of_many_nodes_are_checked_as_they_run() {
        let many = choice("70(-1 -1 -1 -1 -1 -1 -1)");
        assert!(many.is_unknown(70) && !many.is_unknown(64));
        let uneven: Vec<usize> = (0..70).map(|node| node * 7 % 5).collect();
        for sizes in [vec![1; 70], uneven] {
            assert_eq!(many.validate(Kind::ReduceScatter, &sizes), Ok(()));
            // The plan of all nodes consists of the parts of each.
            let plan = many.plan(Kind::ReduceScatter, &sizes).expect("is a plan").expect("has nodes");
            assert!((0..70).all(|node| many.part(Kind::ReduceScatter, &sizes, node).ok() == plan.part(node)));
        }
        let others = many.validate(Kind::ReduceScatter, &[1; 71]);
        assert!(matches!(others, Err(Error::PortsOfOthers { found: 70, nodes: 71, .. })), "{others:?}");
    }

    #[test]
    fn what_is_too_large_to_be_checked_is_refused() {
        let huge = choice("65536(15 15 15 15)").validate(Kind::Allgather, &vec![1; 65_536]);
        assert_eq!(huge, Err(Error::Unproved { nodes: 65_536, proved: 64 }));
    }
}
