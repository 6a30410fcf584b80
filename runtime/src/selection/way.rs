//! The ways in which a call can be done.

use super::algorithm::{Algorithm, Parameter};
use super::call::Call;
use super::misfit::Misfit;
use super::range::Range;
use super::spot::Spot;
use crate::plan::ports::Ports;
use crate::select::{self, Proof};
use roundel_spec::{Kind, Refusal};
use std::fmt;

/// How a call is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// By the MPI library.
    Library,
    /// By an algorithm of the catalogue.
    Catalogue(Algorithm),
    /// By a plan with ports between nodes: requests of `roundel::mpi::persistent`.
    Ports(Planned),
}

/// A plan with ports, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The ports.
    pub ports: Ports,
    /// For how many nodes it is.
    pub nodes: usize,
    /// Whether all ranks are known to get the same bits.
    same_tree: bool,
}

impl Planned {
    /// Reads ports, and replays the plan unless it has so many nodes that it is replayed when it is made.
    fn read(kind: Kind, text: &str) -> Result<Self, Misfit> {
        let ports: Ports = text.parse()?;
        let nodes = ports.nodes(kind)?;
        let wrong = |fault: &dyn fmt::Display| Misfit::Plan { ports: ports.to_string(), why: fault.to_string() };
        let same_tree = match select::proved(nodes) {
            Proof::Replayed => ports.plan(kind)?.replay().map_err(|fault| wrong(&fault))?.same_tree,
            Proof::AtInitialisation => false,
        };
        Ok(Planned { ports, nodes, same_tree })
    }

    fn proof(&self) -> String {
        match select::proved(self.nodes) {
            Proof::Replayed => format!("the plan of {} nodes was replayed when the rule was read", self.nodes),
            Proof::AtInitialisation => format!("the plan of {} nodes is replayed when it is made", self.nodes),
        }
    }
}

impl Way {
    /// What a name stands for: `library`, or an algorithm.
    ///
    /// # Errors
    /// If there is none, or the parameters are not its own.
    pub fn named(kind: Kind, name: &str, parameters: &[(String, Parameter)]) -> Result<Self, Misfit> {
        match name {
            "library" if parameters.is_empty() => Ok(Way::Library),
            "library" => Err(Misfit::NoParameters { what: "what is left to the library" }),
            name => Algorithm::named(kind, name, parameters).map(Way::Catalogue),
        }
    }

    /// What ports stand for.
    ///
    /// # Errors
    /// If they make no such collective.
    pub fn ports(kind: Kind, text: &str) -> Result<Self, Misfit> {
        Planned::read(kind, text).map(Way::Ports)
    }

    /// The name of the algorithm, if it is one of the catalogue.
    pub fn algorithm(&self) -> Option<&'static str> {
        match self {
            Way::Catalogue(algorithm) => Some(algorithm.name()),
            _ => None,
        }
    }

    /// Whether it is for requests of `roundel::mpi::persistent`, and for no other call.
    pub(super) fn is_for_requests(&self) -> bool {
        matches!(self, Way::Ports(_))
    }

    /// Why it can be relied on.
    pub fn proof(&self) -> String {
        match self {
            Way::Library => "nothing is proved of the library".into(),
            Way::Catalogue(algorithm) => algorithm.proof(),
            Way::Ports(planned) => planned.proof(),
        }
    }

    /// Whether all ranks that get a result are known to get the same bits. MPI demands it of libraries, but nothing is proved of them.
    pub(super) fn keeps_tree(&self, kind: Kind) -> bool {
        match self {
            Way::Library => kind != Kind::Allreduce,
            Way::Catalogue(algorithm) => algorithm.keeps_tree(),
            Way::Ports(planned) => kind != Kind::Allreduce || planned.same_tree,
        }
    }

    /// For which orders of operands it serves, on the axis of orders.
    pub(super) fn orders(&self, kind: Kind) -> Range {
        match self {
            _ if !kind.reduces() => Range::up_to(2),
            Way::Library => Range::up_to(2),
            Way::Catalogue(algorithm) if !algorithm.keeps_order() => Range::only(0),
            Way::Catalogue(algorithm) if algorithm.looks_at_nodes() => Range::up_to(1),
            Way::Catalogue(_) => Range::up_to(2),
            Way::Ports(_) => Range::only(0),
        }
    }

    /// Whether it serves a call; otherwise why not.
    ///
    /// # Errors
    /// The reason, in a few words.
    pub fn serves(&self, call: &Call) -> Result<(), String> {
        if call.needs_tree() && !self.keeps_tree(call.kind) {
            return Err("it does not promise the same bits on all ranks".into());
        }
        if call.needs_identity() && *self != Way::Library && !self.keeps_tree(call.kind) {
            return Err("ranks would reduce different trees, and MPI demands identical results of an allreduce; \
                        a rule with `order = \"any\"` takes it all the same"
                .into());
        }
        if !self.orders(call.kind).contains(call.order()) {
            return Err("it does not keep the order of these ranks".into());
        }
        match self {
            Way::Ports(_) if !call.request => {
                Err("plans with ports are for requests of roundel::mpi::persistent".into())
            }
            Way::Library | Way::Catalogue(_) if call.request => {
                Err("a persistent request takes plans with ports".into())
            }
            Way::Library => Ok(()),
            Way::Catalogue(algorithm) => serves(algorithm, call),
            Way::Ports(planned) if planned.nodes == call.nodes => Ok(()),
            Way::Ports(planned) => Err(format!("it is for {} nodes", planned.nodes)),
        }
    }
}

fn serves(algorithm: &Algorithm, call: &Call) -> Result<(), String> {
    // The root is a rank of the communicator, and the algorithm would take it for one of its own numbering.
    if call.kind.has_root() && algorithm.looks_at_nodes() && !call.sorted {
        return Err("it needs ranks that are numbered node by node".into());
    }
    algorithm.serves(&Spot::from(call)).map_err(|refusal| brief(&refusal))
}

/// A refusal without advice that is for programs.
pub(super) fn brief(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Unproved { range, .. } | Refusal::Placement { range } => format!("it is proved for {range}"),
        Refusal::Requires { clause, .. } => format!("it requires `{clause}`, which is false"),
        other => other.to_string(),
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Library => f.write_str("library"),
            Way::Catalogue(algorithm) => algorithm.fmt(f),
            Way::Ports(planned) => planned.ports.fmt(f),
        }
    }
}
