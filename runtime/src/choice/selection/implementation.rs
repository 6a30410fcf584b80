//! The implementations that a call can use.

use super::algorithm::Algorithm;
use super::parameter::Parameter;
use super::rules::range::NumberRange;
use super::rules::rank_counts::RankCounts;
use super::rules::rule_error::RuleError;
use crate::choice::ports::{self, ModelledPorts, PlanEvidence};
use crate::choice::question::{ANY, Question};
use crate::plan::ports::Ports;
use crate::program::build::Scheme;
use crate::program::shared::{CopyPath, MOST_RANKS};
use roundel_spec::{Kind, Refusal};
use std::fmt;

/// How a call runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Implementation {
    /// MPI.
    Library,
    /// An algorithm of the catalogue.
    Catalogue(Algorithm),
    /// A plan with ports between nodes, for requests of `roundel::mpi::persistent`.
    Ports(PortsPlan),
    /// Memory that the ranks of a node share; between several nodes, an algorithm of the catalogue. Data that is only
    /// moved may go from rank to rank without it.
    SharedMemory(CopyPath),
}

/// The most bytes of an all-to-all that one rank keeps for the others of its node.
const MOST_KEPT: u64 = 16 << 20;

/// The name of shared memory among implementations.
pub(super) const SHARED: &str = "shared-memory";

/// The name of memory that ranks read from each other.
pub(super) const FETCHED: &str = "kernel-copy";

/// The name of an implementation in the memory of a node.
pub(super) const fn name_of_path(path: CopyPath) -> &'static str {
    match path {
        CopyPath::Slot => SHARED,
        CopyPath::Kernel => FETCHED,
    }
}

/// A plan with ports, and its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortsPlan {
    /// The ports.
    pub ports: Ports,
    /// The number of nodes that it is for.
    pub nodes: usize,
    /// Whether all ranks are known to get bitwise equal results.
    same_tree: bool,
    /// How many processes of a node send, and how they cooperate, if the clock chose that.
    pub lanes: Option<(usize, Scheme)>,
}

impl PortsPlan {
    /// Parses ports, and replays the plan, unless it has so many nodes that it is replayed only when it is created.
    fn read(kind: Kind, text: &str) -> Result<Self, RuleError> {
        let ports: Ports = text.parse()?;
        let nodes = ports.nodes(kind)?;
        let wrong =
            |fault: &dyn fmt::Display| RuleError::Plan { ports: ports.to_string(), reason: fault.to_string() };
        let same_tree = match ports::proved(nodes) {
            PlanEvidence::Replayed => ports.plan(kind)?.replay().map_err(|fault| wrong(&fault))?.same_tree,
            PlanEvidence::AtInitialisation => false,
        };
        Ok(PortsPlan { ports, nodes, same_tree, lanes: None })
    }

    /// A plan that the clock has ranked.
    pub(super) fn modelled(nodes: usize, modelled: &ModelledPorts) -> Self {
        let (ports, same_tree) = (modelled.notation.clone(), modelled.notation.is_complete());
        PortsPlan { ports, nodes, same_tree, lanes: Some((modelled.lanes, modelled.scheme)) }
    }

    fn proof(&self) -> String {
        match ports::proved(self.nodes) {
            PlanEvidence::Replayed if self.lanes.is_some() => {
                format!("all plans of up to {} nodes were replayed", ports::REPLAYED)
            }
            PlanEvidence::Replayed => format!("the plan of {} nodes was replayed when the rule was read", self.nodes),
            PlanEvidence::AtInitialisation => format!("the plan of {} nodes is replayed when it is made", self.nodes),
        }
    }
}

impl Implementation {
    /// The implementation with a name: `library`, `shared-memory`, `kernel-copy`, or an algorithm.
    ///
    /// # Errors
    /// If there is no such implementation, or the parameters are invalid.
    pub fn named(kind: Kind, name: &str, parameters: &[(String, Parameter)]) -> Result<Self, RuleError> {
        match name {
            "library" if parameters.is_empty() => Ok(Implementation::Library),
            "library" => Err(RuleError::NoParameters { what: "what is left to the library" }),
            FETCHED if kind.reduces() => Err(RuleError::Reduces { kind }),
            SHARED | FETCHED if !parameters.is_empty() => Err(RuleError::NoParameters { what: "shared memory" }),
            SHARED => Ok(Implementation::SharedMemory(CopyPath::Slot)),
            FETCHED => Ok(Implementation::SharedMemory(CopyPath::Kernel)),
            name => Algorithm::named(kind, name, parameters).map(Implementation::Catalogue),
        }
    }

    /// The implementation with these ports.
    ///
    /// # Errors
    /// If they do not make such a collective.
    pub fn ports(kind: Kind, text: &str) -> Result<Self, RuleError> {
        PortsPlan::read(kind, text).map(Implementation::Ports)
    }

    /// The name of the algorithm, if it is in the catalogue.
    pub fn algorithm(&self) -> Option<&'static str> {
        match self {
            Implementation::Catalogue(algorithm) => Some(algorithm.name()),
            _ => None,
        }
    }

    /// Whether it serves only requests of `roundel::mpi::persistent`.
    pub(super) fn is_for_requests(&self) -> bool {
        matches!(self, Implementation::Ports(_))
    }

    /// Why it is correct.
    pub fn proof(&self) -> String {
        match self {
            Implementation::Library => "nothing is proved of the library".into(),
            Implementation::Catalogue(algorithm) => algorithm.proof(),
            Implementation::Ports(planned) => planned.proof(),
            Implementation::SharedMemory(_) => {
                format!("replayed with all ranks of a node, every interleaving, up to {MOST_RANKS} of them")
            }
        }
    }

    /// Whether all ranks with a result are known to get bitwise equal results. MPI requires that of libraries, but
    /// nothing is proved about them.
    pub(super) fn keeps_tree(&self, kind: Kind) -> bool {
        match self {
            Implementation::Library => kind != Kind::Allreduce,
            Implementation::Catalogue(algorithm) => algorithm.keeps_tree(),
            Implementation::Ports(planned) => kind != Kind::Allreduce || planned.same_tree,
            Implementation::SharedMemory(_) => true,
        }
    }

    /// The orders of operands that it serves, on the axis of orders.
    pub(super) fn orders(&self, kind: Kind) -> NumberRange {
        match self {
            _ if !kind.reduces() => NumberRange::up_to(2),
            Implementation::Library | Implementation::SharedMemory(_) => NumberRange::up_to(2),
            Implementation::Catalogue(algorithm) if !algorithm.keeps_order() => NumberRange::only(0),
            Implementation::Catalogue(algorithm) if algorithm.looks_at_nodes() => NumberRange::up_to(1),
            Implementation::Catalogue(_) => NumberRange::up_to(2),
            Implementation::Ports(_) => NumberRange::only(0),
        }
    }

    /// Returns an error if it does not serve a call.
    ///
    /// # Errors
    /// The reason, in a few words.
    pub fn serves(&self, call: &Question) -> Result<(), String> {
        if call.needs_tree() && !self.keeps_tree(call.kind) {
            return Err("it does not promise the same bits on all ranks".into());
        }
        if call.needs_identity() && *self != Implementation::Library && !self.keeps_tree(call.kind) {
            return Err("ranks would reduce different trees, and MPI demands identical results of an allreduce; \
                        a rule with `order = \"any\"` takes it all the same"
                .into());
        }
        if !self.orders(call.kind).contains(call.order()) {
            return Err("it does not keep the order of these ranks".into());
        }
        match self {
            Implementation::Ports(_) if !call.request => {
                Err("plans with ports are for requests of roundel::mpi::persistent".into())
            }
            Implementation::Library | Implementation::Catalogue(_) | Implementation::SharedMemory(_)
                if call.request =>
            {
                Err("a persistent request takes plans with ports".into())
            }
            Implementation::Library => Ok(()),
            Implementation::Catalogue(algorithm) => serves(algorithm, call),
            Implementation::Ports(planned) if planned.nodes == call.nodes => Ok(()),
            Implementation::Ports(planned) => Err(format!("it is for {} nodes", planned.nodes)),
            Implementation::SharedMemory(CopyPath::Slot) => in_shared_memory(call),
            Implementation::SharedMemory(CopyPath::Kernel) => fetched(call).and_then(|()| in_shared_memory(call)),
        }
    }
}

/// Returns an error if the ranks of a call cannot use shared memory.
fn in_shared_memory(call: &Question) -> Result<(), String> {
    if call.kind == Kind::Alltoall && call.bytes == ANY && call.nodes > 1 {
        return Err("ranks know only their own lengths".into());
    }
    if call.nodes > 1 {
        between_nodes(call)?;
    }
    if call.ppn_max < 2 {
        return Err("a rank alone has nobody to share with".into());
    }
    if call.ppn_max > MOST_RANKS {
        return Err(format!("it was replayed for at most {MOST_RANKS} ranks of a node"));
    }
    Ok(())
}

/// Returns an error if ranks cannot read each other's memory in a call.
fn fetched(call: &Question) -> Result<(), String> {
    if call.kind.reduces() {
        return Err("what is reduced is not only moved".into());
    }
    if call.nodes > 1 {
        return Err("ranks read the memory of their own node only".into());
    }
    if call.kind == Kind::Alltoall && call.bytes == ANY {
        return Err("ranks know only their own lengths".into());
    }
    Ok(())
}

/// Returns an error if a call cannot use shared memory within nodes and an algorithm of the catalogue between them.
fn between_nodes(call: &Question) -> Result<(), String> {
    let divided = matches!(call.kind, Kind::Allgather | Kind::ReduceScatter | Kind::Alltoall);
    if !call.sorted && (divided || call.needs_order()) {
        return Err("it needs ranks that are numbered node by node".into());
    }
    let kept = call.bytes.saturating_mul((call.p * call.ppn_max) as u64);
    if call.kind == Kind::Alltoall && kept > MOST_KEPT {
        return Err(format!("one rank of a node would keep {kept} bytes of all others"));
    }
    match call.between_nodes() {
        Some(_) => Ok(()),
        None => Err("nothing between nodes is proved for it".into()),
    }
}

fn serves(algorithm: &Algorithm, call: &Question) -> Result<(), String> {
    // The root is a rank of the communicator, and the algorithm would interpret it in its own numbering.
    if call.kind.has_root() && algorithm.looks_at_nodes() && !call.sorted {
        return Err("it needs ranks that are numbered node by node".into());
    }
    algorithm.serves(&RankCounts::from(call)).map_err(|refusal| brief(&refusal))
}

/// A refusal in short, without the advice for programs.
pub(super) fn brief(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Unproved { range, .. } | Refusal::Placement { range } => format!("it is proved for {range}"),
        Refusal::Requires { clause, .. } => format!("it requires `{clause}`, which is false"),
        other => other.to_string(),
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Implementation::Library => f.write_str("library"),
            Implementation::Catalogue(algorithm) => algorithm.fmt(f),
            Implementation::Ports(planned) => planned.ports.fmt(f),
            Implementation::SharedMemory(path) => f.write_str(name_of_path(*path)),
        }
    }
}
