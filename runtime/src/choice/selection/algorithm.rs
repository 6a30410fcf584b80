//! An algorithm, of the catalogue or registered by another crate, with its parameters: its properties, and whether it
//! is proved for ranks on nodes.

use super::fingerprint::print_of;
use super::parameter::Parameter;
use super::rules::rank_counts::RankCounts;
use super::rules::rule_error::RuleError;
use crate::algorithms::{Entry, catalogue, current, own};
use crate::any_collective::{AnyCollective, Constants, SharedCollective};
use roundel_spec::check::arguments::least_inner;
use roundel_spec::expr::{Binary, Expr};
use roundel_spec::schedule::{Domain, Schedule};
use roundel_spec::{Arguments, Kind, Place, Placement, Refusal};
use std::fmt;
use std::sync::Arc;

/// An algorithm of the catalogue, or one that another crate has registered, with its parameters.
#[derive(Clone)]
pub struct Algorithm {
    entry: &'static Entry,
    kind: Kind,
    args: Arguments,
    names: Vec<String>,
    collective: Arc<SharedCollective>,
    constants: Constants,
    range: &'static str,
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Algorithm").field(&self.to_string()).finish()
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.args == other.args
    }
}

impl Algorithm {
    /// A hash of the algorithm and its parameters, which ranks compare.
    pub fn fingerprint(&self) -> u64 {
        print_of(&self.to_string())
    }

    /// The algorithm of a kind with a full name, `allreduce/nap`, or a short one, `nap`.
    ///
    /// # Errors
    /// If there is no such algorithm for the collective, or the parameters are invalid.
    pub fn named(kind: Kind, name: &str, parameters: &[(String, Parameter)]) -> Result<Self, RuleError> {
        let entry = find(kind, name)?;
        let schedule = (entry.schedule)();
        let args = arguments(entry, &schedule, parameters)?;
        let unfit = || RuleError::Parameters { algorithm: entry.name };
        let collective: Arc<SharedCollective> = entry.with_arguments(&args).ok_or_else(unfit)?.into();
        let range = proved_range(&*collective).ok_or(RuleError::SkipsProof { algorithm: entry.name })?;
        let (names, constants) = (names(&schedule), collective.constants());
        Ok(Algorithm { entry, kind, args, names, collective, constants, range })
    }

    /// Its full name.
    pub const fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The collective that it implements.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The values of its parameters. A root is 0: the call sets it.
    pub const fn arguments(&self) -> &Arguments {
        &self.args
    }

    /// The values of its parameters in a call with a root; other algorithms ignore it.
    pub fn with_root(&self, root: i64) -> Arguments {
        let mut args = self.args.clone();
        if let Some(at) = self.names.iter().position(|name| self.kind.has_root() && name == "root") {
            args.numbers[at] = root;
        }
        args
    }

    /// The collective.
    #[cfg(feature = "mpi")]
    pub(crate) fn collective(&self) -> &dyn AnyCollective {
        &*self.collective
    }

    /// The collective in a call with a root; other algorithms ignore it.
    pub(crate) fn collective_with_root(&self, root: i64) -> Arc<SharedCollective> {
        let rooted = self.kind.has_root().then(|| self.entry.with_arguments(&self.with_root(root))).flatten();
        rooted.map_or_else(|| Arc::clone(&self.collective), Arc::from)
    }

    /// Whether it has one round, in which every rank sends to every other, so that each message has one block.
    #[cfg(feature = "mpi")]
    pub(crate) fn sends_to_all(&self, p: usize) -> bool {
        let radix = self.names.iter().position(|name| name == "radix").map(|at| self.args.numbers[at]);
        self.kind == Kind::Allgather && radix.is_some_and(|radix| radix >= p as i64)
    }

    /// Whether it depends on which ranks share a node.
    pub const fn looks_at_nodes(&self) -> bool {
        self.constants.looks_at_nodes
    }

    /// Whether all ranks with a result have reduced the same tree. Only an allreduce has a result on several ranks.
    pub fn keeps_tree(&self) -> bool {
        self.constants.order.same_tree || self.kind != Kind::Allreduce
    }

    /// Whether operands stay in the order of ranks. Algorithms that look at nodes number ranks node by node.
    pub const fn keeps_order(&self) -> bool {
        self.constants.order.rank_order
    }

    /// The proved range, and where the proof is recorded.
    pub fn proof(&self) -> String {
        let (range, Entry { type_name, .. }) = (self.range, self.entry);
        let of = self.entry.origin().map_or(String::new(), |origin| format!(" of {origin}"));
        match self.constants.record {
            Some(record) => format!("proved for {range} ({record}{of})"),
            None => format!(
                "checked for {range} by the compiler (no proofs/{type_name}.json{of}: `roundel prove` writes it)"
            ),
        }
    }

    /// The range of calls for which it is proved, in words.
    pub const fn range(&self) -> &'static str {
        self.range
    }

    /// Whether its domain depends on the number of ranks, or on their placement.
    pub(super) fn has_conditions(&self) -> bool {
        let schedule = (self.entry.schedule)();
        let requires = schedule.requires.iter().any(|condition| !is_about_root(condition));
        requires || schedule.loops.iter().any(|rounds| !rounds.ends_with.is_empty())
    }

    /// Returns an error unless it is declared and proved for these ranks and nodes, for any root.
    pub(super) fn serves(&self, counts: &RankCounts) -> Result<(), Refusal> {
        let roots = if self.kind.has_root() { vec![0, counts.p.saturating_sub(1) as i64] } else { vec![0] };
        roots.into_iter().try_for_each(|root| self.serves_root(counts, root))
    }

    /// Returns an error unless it is proved for `p` ranks, on some nodes if it looks at nodes, or on `uneven` ones. Its
    /// inner collectives are not checked, which would take time proportional to the number of ranks.
    pub(super) fn reaches(&self, p: u64, uneven: bool) -> Result<(), Refusal> {
        // A proof asks for the number of ranks, and whether their nodes are regular; these are not, however many ranks
        // there are.
        let (irregular, looks) = (Placement::of_sizes(&[1, 2, 1]), self.looks_at_nodes());
        let at = match (looks, uneven) {
            (false, _) => Place::flat(0, p as i64),
            (true, false) => Place::apart(0, p as i64),
            (true, true) => Place { p: p as i64, ..irregular.place(0) },
        };
        match self.collective_with_root(p as i64 - 1).proved_alone(&at) {
            // The refusal is about nodes with one rank each, not about the number of ranks.
            Err(Refusal::Placement { .. }) if looks && !uneven => Ok(()),
            answer => answer,
        }
    }

    fn serves_root(&self, counts: &RankCounts, root: i64) -> Result<(), Refusal> {
        let collective = self.collective_with_root(root);
        let looks = self.looks_at_nodes();
        let ask = |place: &Place<'_>| {
            let flat = Place::flat(0, place.p);
            let at = if looks { place } else { &flat };
            collective.admits(at).and_then(|()| collective.proved(at))
        };
        let counts = if looks { *counts } else { RankCounts::flat(counts.p) };
        counts.ask(ask).unwrap_or(Err(Refusal::Placement { range: self.range }))
    }
}

/// Whether a condition says only that the root is a rank, which it is in every call.
fn is_about_root(condition: &Expr) -> bool {
    match condition {
        Expr::Binary(Binary::Lt, root, p) => {
            matches!((&**root, &**p), (Expr::Var(root), Expr::Var(p)) if root.name == "root" && p.name == "p")
        }
        _ => false,
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.args.numbers.iter().map(i64::to_string);
        let values = numbers.chain(self.args.lists.iter().map(|list| format!("{list:?}")));
        let named = self.names.iter().zip(values).filter(|(name, _)| *name != "root");
        let said: Vec<String> = named.map(|(name, value)| format!("{name} = {value}")).collect();
        f.write_str(self.name())?;
        if said.is_empty() { Ok(()) } else { write!(f, " with {}", said.join(", ")) }
    }
}

/// The range of calls for which a collective is proved, in words.
fn proved_range(collective: &dyn AnyCollective) -> Option<&'static str> {
    // Nothing is proved for this many ranks, and the refusal contains the proved range.
    match collective.proved(&Place::flat(0, i64::MAX)) {
        Err(Refusal::Unproved { range, .. }) => Some(range),
        _ => None,
    }
}

/// The catalogue, and what other crates have registered.
fn all() -> impl Iterator<Item = &'static Entry> {
    catalogue().iter().chain(own())
}

/// The algorithms of a collective.
fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Entry> {
    let prefix = kind.name().replace('_', "-");
    all().filter(move |entry| entry.name.split('/').next() == Some(prefix.as_str()))
}

fn find(kind: Kind, name: &str) -> Result<&'static Entry, RuleError> {
    let name = current(name);
    let is = |entry: &&'static Entry| entry.name == name || entry.name.rsplit('/').next() == Some(name);
    if let Some(entry) = of_kind(kind).find(is) {
        return Ok(entry);
    }
    let known = of_kind(kind).map(|entry| entry.name).collect();
    match all().find(is) {
        Some(other) => Err(RuleError::OtherKind { kind, found: other.name, known }),
        None => Err(RuleError::Algorithm { kind, name: name.into(), known }),
    }
}

fn names(schedule: &Schedule) -> Vec<String> {
    let numbers = schedule.numbers.iter().map(|number| number.var.name.clone());
    numbers.chain(schedule.lists.iter().map(|list| list.var.name.clone())).collect()
}

/// The values of all parameters. All but the root are required.
fn arguments(
    entry: &'static Entry,
    schedule: &Schedule,
    given: &[(String, Parameter)],
) -> Result<Arguments, RuleError> {
    let algorithm = entry.name;
    let names = names(schedule);
    for (name, _) in given {
        if name == "root" && schedule.kind.has_root() {
            return Err(RuleError::Root { algorithm });
        }
        if !names.contains(name) {
            return Err(RuleError::NoParameter { algorithm, name: name.clone(), known: names });
        }
    }
    let value = |name: &str| given.iter().find(|(other, _)| other == name).map(|(_, value)| value);
    let mut args = Arguments { inner: least_inner(schedule), ..Arguments::default() };
    for number in &schedule.numbers {
        let name = &number.var.name;
        args.numbers.push(match value(name) {
            None if name == "root" => 0,
            Some(&Parameter::Number(value)) => inside(algorithm, name, &number.domain, value)?,
            other => return Err(RuleError::form(algorithm, name, &number.domain, false, other)),
        });
    }
    for list in &schedule.lists {
        let name = &list.var.name;
        args.lists.push(match value(name) {
            Some(Parameter::List(values)) => {
                values.iter().map(|&value| inside(algorithm, name, &list.domain, value)).collect::<Result<_, _>>()?
            }
            other => return Err(RuleError::form(algorithm, name, &list.domain, true, other)),
        });
    }
    Ok(args)
}

fn inside(algorithm: &'static str, name: &str, domain: &Domain, value: i64) -> Result<i64, RuleError> {
    let outside = || RuleError::Domain { algorithm, name: name.into(), domain: domain.to_string(), value };
    domain.contains(value).then_some(value).ok_or_else(outside)
}
