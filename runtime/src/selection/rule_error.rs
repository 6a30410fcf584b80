//! Why an algorithm does not serve what a rule, or a force, says.

use super::algorithm::Parameter;
use crate::plan::ports::{GroupsError, NoPorts};
use roundel_spec::Kind;
use roundel_spec::schedule::Domain;
use roundel_spec::similar::suggestions;

/// An algorithm that does not fit its collective, its parameters or its rule. Every message says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There is no such collective.
    #[error("there is no collective `{name}`: write one of {}", Kind::ALL.map(Kind::name).join(", "))]
    Collective {
        /// What was written.
        name: String,
    },
    /// There is no such algorithm.
    #[error(
        "there is no algorithm `{name}` for {kind}: {}write one of {}, or `library`",
        meant(name, known),
        some(known)
    )]
    Algorithm {
        /// The collective.
        kind: Kind,
        /// What was written.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The algorithm is one of another collective.
    #[error("`{found}` is no {kind}: write one of {}, or `library`", some(known))]
    OtherKind {
        /// The collective.
        kind: Kind,
        /// The algorithm.
        found: &'static str,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The algorithm has no such parameter.
    #[error("{algorithm} has no parameter `{name}`: {}", if known.is_empty() { "it has none, leave out `parameters`".into() } else { format!("write {}", known.join(", ")) })]
    NoParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// What was written.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// What is left to the library, and plans with ports, have no parameters.
    #[error("{what} has no parameters: leave out `parameters`")]
    NoParameters {
        /// What has none.
        what: &'static str,
    },
    /// The root is part of the call.
    #[error("the root of {algorithm} is that of the call: leave out `root`")]
    Root {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A parameter has no value, or one of another form.
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
        /// What there is.
        found: &'static str,
        /// A number of its domain.
        example: i64,
    },
    /// A parameter outside its domain.
    #[error("parameter `{name}` of {algorithm} must lie in {domain}, but is {value}")]
    Domain {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        name: String,
        /// Its domain.
        domain: String,
        /// What was written.
        value: i64,
    },
    /// The catalogue's entry does not take its own parameters.
    #[error(
        "{algorithm} does not take the parameters of its declaration; this is a fault of Roundel, please report it"
    )]
    Parameters {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// No notation of ports.
    #[error("{0}")]
    Notation(#[from] NoPorts),
    /// Ports that do not make the collective.
    #[error("{0}")]
    Ports(#[from] GroupsError),
    /// Ports whose plan is wrong.
    #[error("the plan of `{ports}` is wrong: {why}; write other ports")]
    Plan {
        /// The ports.
        ports: String,
        /// What is wrong.
        why: String,
    },
    /// Ports for other numbers of nodes.
    #[error("`{ports}` is for {found} nodes, and this rule is for {nodes}: write `nodes = {found}`")]
    Nodes {
        /// The ports.
        ports: String,
        /// Its nodes.
        found: usize,
        /// The nodes of the rule.
        nodes: String,
    },
    /// An order where nothing is reduced.
    #[error("{kind} reduces nothing, so that there is no order: leave out `order`")]
    NoOrder {
        /// The collective.
        kind: Kind,
    },
    /// An order that is not kept.
    #[error("{algorithm} does not promise `{order}`: write `order = \"any\"`, or take another algorithm")]
    Order {
        /// The algorithm.
        algorithm: String,
        /// What is not kept.
        order: &'static str,
    },
    /// The rule has calls outside the declared domain.
    #[error(
        "{algorithm} does not serve all calls of this rule: with {at}, {why}; narrow {narrow}, or take another algorithm"
    )]
    Outside {
        /// The algorithm.
        algorithm: String,
        /// The first call that is not served.
        at: String,
        /// Why.
        why: String,
        /// What to narrow.
        narrow: &'static str,
    },
    /// The rule has calls of which nothing is proved.
    #[error("{algorithm} is proved for {range}, and this rule has calls outside, such as {at}; narrow {narrow}")]
    Unproved {
        /// The algorithm.
        algorithm: String,
        /// What is proved.
        range: &'static str,
        /// The first call outside.
        at: String,
        /// What to narrow.
        narrow: &'static str,
    },
    /// The rule has more calls than can be looked at.
    #[error(
        "the domain of {algorithm} has conditions that can be checked for {most} numbers of ranks only: narrow `p`"
    )]
    TooFar {
        /// The algorithm.
        algorithm: String,
        /// How many are looked at.
        most: u64,
    },
    /// The rule has no calls.
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

impl RuleError {
    /// A parameter without a value, or with one of another form.
    pub(super) fn form(
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

/// The algorithm that was meant, if one looks like what was written.
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
