//! Why an algorithm does not serve the calls of a rule or of `ROUNDEL_FORCE`.

use crate::choice::selection::parameter::Parameter;
use crate::plan::ports::{GroupsError, NoPorts};
use roundel_spec::Kind;
use roundel_spec::schedule::Domain;
use roundel_spec::similar::suggestions;

/// Why an algorithm does not fit its collective, its parameters or its rule. Every message tells what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The collective does not exist.
    #[error("there is no collective `{name}`: {}write one of {}", meant(name, &kinds()), kinds().join(", "))]
    Collective {
        /// The name.
        name: String,
    },
    /// The algorithm does not exist.
    #[error(
        "there is no algorithm `{name}` for {kind}: {}write one of {}, or `library`",
        meant(name, known),
        some(known)
    )]
    Algorithm {
        /// The collective.
        kind: Kind,
        /// The name.
        name: String,
        /// The existing algorithms.
        known: Vec<&'static str>,
    },
    /// The algorithm is for another collective.
    #[error("`{found}` is no {kind}: write one of {}, or `library`", some(known))]
    OtherKind {
        /// The collective.
        kind: Kind,
        /// The algorithm.
        found: &'static str,
        /// The existing algorithms.
        known: Vec<&'static str>,
    },
    /// The algorithm has no such parameter.
    #[error("{algorithm} has no parameter `{name}`: {}", instead(known))]
    NoParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// The name.
        name: String,
        /// The existing parameters.
        known: Vec<String>,
    },
    /// Neither MPI nor plans with ports have parameters.
    #[error("{what} has no parameters: leave out `parameters`")]
    NoParameters {
        /// The implementation.
        what: &'static str,
    },
    /// Only data that is moved can be copied by the kernel.
    #[error("`kernel-copy` only moves data, and {kind} reduces it: write `shared-memory`")]
    Reduces {
        /// The collective.
        kind: Kind,
    },
    /// The root is set, which is part of the call.
    #[error("the root of {algorithm} is that of the call: leave out `root`")]
    Root {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A parameter has no value, or a value of the wrong type.
    #[error(
        "{algorithm} needs {} `{name}` in {domain}, and there is {found}: write `parameters = {{ {name} = {} }}`",
        if *list { "a list of numbers" } else { "a number" },
        if *list { format!("[{example}]") } else { example.to_string() }
    )]
    Form {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        name: String,
        /// Whether it is a list.
        list: bool,
        /// Its domain.
        domain: String,
        /// The type found.
        found: &'static str,
        /// An example from its domain.
        example: i64,
    },
    /// A parameter is outside its domain.
    #[error("parameter `{name}` of {algorithm} must lie in {domain}, but is {value}")]
    Domain {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        name: String,
        /// Its domain.
        domain: String,
        /// The value.
        value: i64,
    },
    /// The catalogue's entry does not accept its own parameters.
    #[error(
        "{algorithm} does not take the parameters of its declaration; this is a fault of Roundel, please report it"
    )]
    Parameters {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A registered collective has no proved range.
    #[error("{algorithm} is registered without its proof: register the declared type, not `Unproved` of it")]
    SkipsProof {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The text is not in the notation of ports.
    #[error("{0}")]
    Notation(#[from] NoPorts),
    /// The ports do not make the collective.
    #[error("{0}")]
    Ports(#[from] GroupsError),
    /// The plan of the ports is wrong.
    #[error("the plan of `{ports}` is wrong: {reason}; write other ports")]
    Plan {
        /// The ports.
        ports: String,
        /// The reason.
        reason: String,
    },
    /// The ports are for another number of nodes.
    #[error("`{ports}` is for {found} nodes, and this rule is for {nodes}: write `nodes = {found}`")]
    Nodes {
        /// The ports.
        ports: String,
        /// The number of nodes that the ports are for.
        found: usize,
        /// The nodes of the rule.
        nodes: String,
    },
    /// An order is set for a collective that does not reduce.
    #[error("{kind} reduces nothing, so that there is no order: leave out `order`")]
    ReducesNothing {
        /// The collective.
        kind: Kind,
    },
    /// The algorithm does not keep the order.
    #[error("{algorithm} does not promise `{order}`: write `order = \"any\"`, or take another algorithm")]
    Order {
        /// The algorithm.
        algorithm: String,
        /// The order.
        order: &'static str,
    },
    /// The rule has calls outside the declared domain.
    #[error(
        "{algorithm} does not serve all calls of this rule: with {at}, {reason}; narrow {narrow}, or take another \
         algorithm"
    )]
    Outside {
        /// The algorithm.
        algorithm: String,
        /// The first call that is not served.
        at: String,
        /// The reason.
        reason: String,
        /// The condition to narrow.
        narrow: &'static str,
    },
    /// The rule has calls for which nothing is proved.
    #[error("{algorithm} is proved for {range}, and this rule has calls outside, such as {at}; narrow {narrow}")]
    Unproved {
        /// The algorithm.
        algorithm: String,
        /// The proved range.
        range: &'static str,
        /// The first call outside it.
        at: String,
        /// The condition to narrow.
        narrow: &'static str,
    },
    /// The rule has more calls than can be checked.
    #[error(
        "the domain of {algorithm} has conditions that can be checked for {most} numbers of ranks only: narrow `p`"
    )]
    TooFar {
        /// The algorithm.
        algorithm: String,
        /// The most numbers of ranks that are checked.
        most: u64,
    },
    /// The rule matches no calls.
    #[error("no call can match this rule: no p in {p} fits {nodes} nodes of {ppn} ranks, spread as `{shape}`")]
    NoCall {
        /// The numbers of ranks.
        p: String,
        /// The numbers of nodes.
        nodes: String,
        /// The numbers of ranks on a node.
        ppn: String,
        /// The placements.
        shape: &'static str,
    },
}

/// What to write instead of an unknown parameter.
fn instead(known: &[String]) -> String {
    if known.is_empty() {
        "it has none, leave out `parameters`".into()
    } else {
        format!("write {}", known.join(", "))
    }
}

impl RuleError {
    /// The error for a parameter without a value, or with a value of the wrong type.
    pub(in crate::choice::selection) fn form(
        algorithm: &'static str,
        name: &str,
        domain: &Domain,
        list: bool,
        found: Option<&Parameter>,
    ) -> RuleError {
        let found = match found {
            None => "none",
            Some(Parameter::Number(_)) => "a number",
            Some(Parameter::List(_)) => "a list",
        };
        RuleError::Form { algorithm, name: name.into(), list, domain: domain.to_string(), found, example: domain.lo }
    }
}

/// The algorithm that was probably meant, if a name is similar.
fn kinds() -> [&'static str; Kind::ALL.len()] {
    Kind::ALL.map(Kind::name)
}

fn meant(name: &str, known: &[&'static str]) -> String {
    match suggestions(name, known.iter().copied(), 1).as_slice() {
        [close] => format!("did you mean `{close}`? Otherwise "),
        _ => String::new(),
    }
}

/// The first five names; `roundel list` has the others.
fn some(known: &[&str]) -> String {
    let others = if known.len() > 5 { ", … (`roundel list` has all)" } else { "" };
    format!("{}{others}", known[..known.len().min(5)].join(", "))
}
