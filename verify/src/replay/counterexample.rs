//! Counterexamples in files: one format for all engines, made to be replayed.
//!
//! The file contains the declaration itself, as Rust source, so that it can be replayed even if the source is gone, has
//! changed, or never existed (a mutant). The finding is stored too, so that a replay can tell whether it is still true.
//! A solver finds a counterexample *to the induction*, which need not be one to the collective; such a file says so,
//! and a replay checks whether the state is reachable at all.

use crate::error::Error;
use crate::params::Params;
use crate::proving::smt::Refutation;
use crate::source::{Diagnostic, Source};
use roundel_spec::check::arguments::least_inner;
use roundel_spec::check::{self, Point};
use roundel_spec::violation::Problem;
use roundel_spec::{Arguments, Placement, Schedule, Violation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the format.
const FORMAT: &str = "roundel-counterexample";

/// The version of the format. It changes when older files can no longer be read.
const VERSION: u64 = 1;

/// The largest number of ranks that is replayed, since every rank is a thread.
pub const MAX_P: usize = 1024;

/// What a counterexample refutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refutes {
    /// The collective: it is wrong in this very case.
    Collective,
    /// The proof by induction: a round leads from a state that `holds` admits to one that it does not. The state may be
    /// unreachable, so the collective need not be wrong.
    Induction,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArgumentValue {
    /// The value of a number parameter.
    Number(i64),
    /// The value of a list parameter.
    List(Vec<i64>),
}

/// A counterexample, as stored in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counterexample {
    format: String,
    version: u64,
    /// The engine that found it.
    pub engine: String,
    /// What it refutes.
    pub refutes: Refutes,
    /// The collective, by the name that users know.
    pub collective: String,
    /// The change, if it is a mutant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation: Option<String>,
    /// The declaration, as Rust source.
    pub declaration: String,
    /// The number of ranks; missing if a solver's model does not name it.
    pub p: Option<usize>,
    /// Ranks per node, if relevant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppn: Option<usize>,
    /// The node of each rank, if `ppn` does not determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<usize>>,
    /// The parameters.
    #[serde(default)]
    pub params: BTreeMap<String, ArgumentValue>,
    /// The rank that shows the fault.
    pub rank: Option<usize>,
    /// The round, counted from 0.
    pub round: Option<usize>,
    /// The fault: the name of the check, or of the property that is not preserved.
    pub violation: String,
    /// The fault as a sentence.
    pub message: String,
    /// The values of a solver's model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model: BTreeMap<String, String>,
}

impl Counterexample {
    /// The counterexample of a violation.
    pub fn of_violation(engine: &str, collective: &str, schedule: &Schedule, violation: &Violation) -> Self {
        let value = |(name, text): &(String, String)| {
            // Numbers and lists have the same syntax as in JSON.
            Some((name.clone(), serde_json::from_str(text).ok()?))
        };
        Counterexample {
            p: Some(violation.case.p),
            ppn: violation.case.ppn,
            nodes: violation.case.nodes.clone(),
            params: violation.case.params.iter().filter_map(value).collect(),
            rank: rank_of(&violation.problem),
            round: violation.round,
            violation: violation.code().into(),
            message: violation.to_string(),
            ..Self::empty(engine, Refutes::Collective, collective, schedule)
        }
    }

    /// The counterexample to the induction from a solver's model.
    pub fn of_model(collective: &str, schedule: &Schedule, refutation: &Refutation) -> Self {
        let model: BTreeMap<String, String> = refutation.model.iter().cloned().collect();
        let number = |name: &str| model.get(&crate::proving::smt::symbol(name)).and_then(|value| value.parse().ok());
        let params = schedule.numbers.iter().map(|number| &number.var.name);
        let params = params.filter_map(|name| Some((name.clone(), ArgumentValue::Number(number(name)?))));
        let natural = |name: &str| number(name).and_then(|value| usize::try_from(value).ok());
        // If nodes are counted, a rank is given by its node and its local index.
        let seat = || natural("node")?.checked_mul(natural("ppn")?)?.checked_add(natural("local")?);
        Counterexample {
            p: natural("p"),
            ppn: natural("ppn"),
            rank: natural("rank").or_else(seat),
            params: params.collect(),
            violation: refutation.property.into(),
            message: refutation.claim.clone(),
            model: model.clone(),
            ..Self::empty("smt", Refutes::Induction, collective, schedule)
        }
    }

    fn empty(engine: &str, refutes: Refutes, collective: &str, schedule: &Schedule) -> Self {
        Counterexample {
            format: FORMAT.into(),
            version: VERSION,
            engine: engine.into(),
            refutes,
            collective: collective.into(),
            mutation: None,
            declaration: schedule.declaration(),
            p: None,
            ppn: None,
            nodes: None,
            params: BTreeMap::new(),
            rank: None,
            round: None,
            violation: String::new(),
            message: String::new(),
            model: BTreeMap::new(),
        }
    }

    /// Marks it as a mutant.
    pub fn mutated(self, mutation: &str) -> Self {
        Counterexample { mutation: Some(mutation.into()), ..self }
    }

    /// The order of counterexamples: few ranks first, then early rounds.
    pub fn size(&self) -> (usize, usize, usize) {
        let or_last = |n: Option<usize>| n.unwrap_or(usize::MAX);
        (or_last(self.p), or_last(self.ppn), or_last(self.round))
    }

    /// Whether its declaration can be parsed. A mutant may break a rule of the language, and would then never reach a
    /// check.
    pub fn is_readable(&self) -> bool {
        self.parsed().is_ok()
    }

    /// Writes it, after checking that a replay finds the same fault.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let fault = |reason: String| Error::NotReplayable { collective: self.collective.clone(), reason };
        let schedule =
            self.parsed().map_err(|reason| fault(format!("it cannot be written as a declaration: {reason}")))?;
        if self.refutes == Refutes::Collective {
            let point = self.point(&schedule, path)?;
            match check::at_point(&schedule, &point) {
                Err(violation) if violation.code() == self.violation => {}
                _ => return Err(fault("the declaration alone does not show it".into())),
            }
        }
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        std::fs::write(path, text + "\n").map_err(|source| Error::Write { path: path.into(), source })
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
        let fault = |reason: String| Error::Counterexample { path: path.into(), reason };
        let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
        if json["format"] != FORMAT {
            return Err(fault(format!("its `format` is not \"{FORMAT}\"")));
        }
        if json["version"] != VERSION {
            let found = &json["version"];
            return Err(fault(format!("it has version {found}, and this is a `roundel` for version {VERSION}")));
        }
        serde_json::from_value(json).map_err(|error| fault(error.to_string()))
    }

    /// The parsed declaration; `path` is for errors.
    pub fn schedule(&self, path: &Path) -> Result<Schedule, Error> {
        self.parsed().map_err(|reason| Error::Counterexample { path: path.into(), reason })
    }

    fn parsed(&self) -> Result<Schedule, String> {
        let first = |errors: Vec<Diagnostic>| {
            let say = |error: &Diagnostic| format!("line {} of its declaration: {}", error.line, error.message);
            errors.first().map_or_else(String::new, say)
        };
        let mut declared = Source::of_text("declaration", &self.declaration).declarations().map_err(first)?;
        match (declared.pop(), declared.is_empty()) {
            (Some(one), true) => Ok(one.result.map_err(first)?.schedule),
            _ => Err("its `declaration` must be one struct with `#[derive(Collective)]`".into()),
        }
    }

    /// The case.
    pub fn point(&self, schedule: &Schedule, path: &Path) -> Result<Point, Error> {
        let fault = |reason: String| Error::Counterexample { path: path.into(), reason };
        let p = self.p.ok_or_else(|| fault("it names no `p`".into()))?;
        if p == 0 || p > MAX_P {
            return Err(Error::Ranks { p, limit: MAX_P, reason: "every rank of a replay is a thread" });
        }
        if self.ppn == Some(0) {
            return Err(Error::NoRanksPerNode { p });
        }
        if let Some(rank) = self.rank.filter(|&rank| rank >= p) {
            return Err(Error::NoSuchRank { rank, p });
        }
        let args = self.arguments(schedule).map_err(fault)?;
        let placement = match &self.nodes {
            Some(nodes) if nodes.len() == p => Placement::from_nodes(nodes.clone()),
            Some(nodes) => return Err(fault(format!("its `nodes` place {} ranks, but `p` is {p}", nodes.len()))),
            None => Placement::consecutive(p, self.ppn.unwrap_or(p)),
        };
        Ok(Point { placement, args })
    }

    fn arguments(&self, schedule: &Schedule) -> Result<Arguments, String> {
        let mut args = Arguments { inner: least_inner(schedule), ..Arguments::default() };
        for number in &schedule.numbers {
            let name = &number.var.name;
            match self.params.get(name) {
                Some(ArgumentValue::Number(value)) => args.numbers.push(*value),
                _ => return Err(format!("its `params` have no number `{name}`")),
            }
        }
        for list in &schedule.lists {
            let name = &list.var.name;
            match self.params.get(name) {
                Some(ArgumentValue::List(values)) => args.lists.push(values.clone()),
                _ => return Err(format!("its `params` have no list `{name}`")),
            }
        }
        let known = Params::of(schedule, &args).named();
        match self.params.keys().find(|name| !known.iter().any(|(known, _)| known == *name)) {
            Some(stranger) => Err(format!("its declaration has no parameter `{stranger}`")),
            None => Ok(args),
        }
    }
}

/// The rank that shows a problem.
fn rank_of(problem: &Problem) -> Option<usize> {
    match problem {
        Problem::Fault { rank, .. }
        | Problem::SelfMessage { rank, .. }
        | Problem::Phantom { rank, .. }
        | Problem::SentTwice { rank, .. }
        | Problem::WrittenTwice { rank, .. }
        | Problem::Missing { rank, .. }
        | Problem::OtherBlocks { rank, .. }
        | Problem::ClaimedTwice { rank, .. }
        | Problem::OtherCount { rank, .. }
        | Problem::FalseFact { rank, .. }
        | Problem::FalseHint { rank, .. }
        | Problem::Empty { rank, .. }
        | Problem::Overwritten { rank, .. }
        | Problem::Forgets { rank, .. }
        | Problem::ReplacedInUse { rank, .. }
        | Problem::CountedTwice { rank, .. }
        | Problem::Incomplete { rank, .. }
        | Problem::OutOfOrder { rank, .. }
        | Problem::OtherContributors { rank, .. } => Some(*rank),
        Problem::OtherTree { ranks: (_, rank), .. } => Some(*rank),
        Problem::UnmatchedSend { from, .. }
        | Problem::DifferentBlocks { from, .. }
        | Problem::Confused { from, .. } => Some(*from),
        Problem::UnmatchedRecv { to, .. } => Some(*to),
        Problem::Bound { rank, .. } => *rank,
        Problem::NotABlockEach { .. } | Problem::NoSuchRoot { .. } | Problem::NothingChecked { .. } => None,
    }
}
