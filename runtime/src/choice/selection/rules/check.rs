//! Checks that every call that a rule matches is in the domain and proved.
//!
//! Up to a limit, every number of ranks is checked, with every way to fill nodes, and with one irregular placement.
//! Beyond it, an algorithm serves if its domain has no conditions and it is proved for the last number of ranks:
//! proved ranges have no gaps. Inner collectives are not checked beyond the limit; each call checks them again.

use super::range::NumberRange;
use super::rank_counts::{RankCounts, rank_counts};
use super::region::Region;
use super::rule_error::RuleError;
use crate::choice::question::NodeSizes;
use crate::choice::selection::algorithm::Algorithm;
use crate::choice::selection::implementation::{Implementation, PortsPlan, brief, name_of_path};
use crate::program::shared::MOST_RANKS;
use roundel_spec::Refusal;

/// The most numbers of ranks to check. It is lower for algorithms that look at nodes, because there are many ways to
/// fill them, and inner collectives are checked for every group.
const POINTS: u64 = 1024;
const POINTS_ON_NODES: u64 = 128;

const fn points(algorithm: &Algorithm) -> u64 {
    if algorithm.looks_at_nodes() { POINTS_ON_NODES } else { POINTS }
}

impl Implementation {
    /// Returns an error unless it serves all calls of a region.
    pub(in crate::choice::selection) fn covers(&self, region: &Region) -> Result<(), RuleError> {
        let tight = region.tightened();
        if !has_calls(&tight) {
            return Err(no_call(region));
        }
        match self {
            Implementation::Library => Ok(()),
            Implementation::Catalogue(algorithm) => covers(algorithm, &tight),
            Implementation::Ports(planned) => fits(planned, &tight),
            Implementation::SharedMemory(path) => on_one_node(&tight, name_of_path(*path)),
        }
    }
}

/// Returns an error if a rule for shared memory has calls of several nodes, or of too many ranks.
fn on_one_node(region: &Region, name: &str) -> Result<(), RuleError> {
    let (nodes, p) = (region.nodes(), region.p());
    let at = match (nodes.to > 1, p.to > MOST_RANKS as u64) {
        (true, _) => "nodes = 2".into(),
        (_, true) => format!("p = {}", MOST_RANKS + 1),
        _ => return Ok(()),
    };
    let reason = format!("memory is shared by at most {MOST_RANKS} ranks of one node");
    Err(RuleError::Outside { algorithm: name.into(), at, reason, narrow: "`nodes` and `p`" })
}

/// The first `points` numbers of ranks.
fn near(p: NumberRange, points: u64) -> NumberRange {
    p.and(NumberRange { from: p.from, to: p.from.saturating_add(points - 1) })
}

fn has_calls(region: &Region) -> bool {
    let NumberRange { from, to } = near(region.p(), POINTS);
    to < region.p().to || (from..=to).any(|p| rank_counts(region, p).next().is_some())
}

fn no_call(region: &Region) -> RuleError {
    RuleError::NoCall {
        p: region.p().to_string(),
        nodes: region.nodes().to_string(),
        ppn: region.ppn().to_string(),
        shape: region.shape().name(),
    }
}

/// Returns an error if a plan with ports is for another number of nodes.
fn fits(planned: &PortsPlan, region: &Region) -> Result<(), RuleError> {
    let (ports, found) = (planned.ports.to_string(), planned.nodes);
    let nodes = region.nodes();
    if nodes == NumberRange::only(found as u64) {
        Ok(())
    } else {
        Err(RuleError::Nodes { ports, found, nodes: nodes.to_string() })
    }
}

fn covers(algorithm: &Algorithm, region: &Region) -> Result<(), RuleError> {
    let NumberRange { from, to } = near(region.p(), points(algorithm));
    // An algorithm that does not look at nodes is the same for all placements.
    let most = if algorithm.looks_at_nodes() { usize::MAX } else { 1 };
    for p in from..=to {
        rank_counts(region, p).take(most).try_for_each(|counts| asked(algorithm, &counts))?;
    }
    if to < region.p().to { beyond(algorithm, region) } else { Ok(()) }
}

/// Checks numbers of ranks beyond those checked one by one.
fn beyond(algorithm: &Algorithm, region: &Region) -> Result<(), RuleError> {
    if algorithm.has_conditions() {
        return Err(RuleError::TooFar { algorithm: algorithm.to_string(), most: points(algorithm) });
    }
    let last = region.p().to;
    let uneven = region.shape() == NodeSizes::Any;
    algorithm.reaches(last, uneven).map_err(|refusal| unserved(algorithm, &RankCounts::flat(last), &refusal))
}

fn asked(algorithm: &Algorithm, counts: &RankCounts) -> Result<(), RuleError> {
    algorithm.serves(counts).map_err(|refusal| unserved(algorithm, counts, &refusal))
}

fn unserved(algorithm: &Algorithm, counts: &RankCounts, refusal: &Refusal) -> RuleError {
    let at = if algorithm.looks_at_nodes() { counts.to_string() } else { format!("p = {}", counts.p) };
    let algorithm = algorithm.to_string();
    let narrow = match refusal {
        Refusal::Placement { .. } => "`p`, or write `placement = \"regular\"` or `\"even\"`",
        Refusal::Parameter { .. } | Refusal::TooLarge { .. } => "its parameters",
        _ => "`p`",
    };
    match refusal {
        Refusal::Unproved { range, .. } | Refusal::Placement { range } => {
            RuleError::Unproved { algorithm, range, at, narrow }
        }
        _ => RuleError::Outside { algorithm, at, reason: brief(refusal), narrow },
    }
}
