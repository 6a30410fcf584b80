//! The record of a proof, and what follows from it.
//!
//! The range of a record follows from the evidence in it, and a record that states another range is refused. Evidence
//! is what was checked exactly, and every obligation with the hash of its question, its verdict and the solver that
//! gave it. A digest over all of it detects later changes: accidental ones, not forgery. `roundel prove
//! --verify-records` detects more: it generates all questions again, and with `--again` also their answers.
//!
//! Correctness, the order of reduction and the cost are separate claims: a bound that is not proved for all p does not
//! affect the correctness of the result.

use super::{FoundClause, Placements, ProvedRange};
use crate::check::{Checked, Points};
use crate::schedule::canonical::hash;
use crate::schedule::{Bound, Group, Schedule};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// What is claimed about a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It keeps the contract of its kind.
    Correct,
    /// It reduces in the order that it declares.
    Order,
    /// It meets its declared bounds.
    Bounds,
}

impl Claim {
    /// The claim that a property belongs to.
    pub fn of(property: &str) -> Self {
        match property {
            "rank-order" | "same-tree" => Claim::Order,
            "rounds" | "counters" | "bounds" => Claim::Bounds,
            _ => Claim::Correct,
        }
    }
}

/// What the exhaustive engine covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exhaustive {
    /// The calls.
    pub range: ProvedRange,
    /// The number of points in the domain.
    pub cases: usize,
    /// The properties checked.
    pub properties: Vec<String>,
}

/// A question that a solver has answered: a line `NAME QUERY VERDICT SOLVER`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Answered {
    /// Its name; for an obligation, its number, property and place.
    pub name: String,
    /// The hash of the question's text.
    pub query: String,
    /// `proved`, or why not.
    pub verdict: String,
    /// The solver and its version.
    pub solver: String,
}

impl From<Answered> for String {
    fn from(shown: Answered) -> Self {
        format!("{} {} {} {}", shown.name, shown.query, shown.verdict, shown.solver)
    }
}

impl TryFrom<String> for Answered {
    type Error = String;

    fn try_from(line: String) -> Result<Self, String> {
        let parts: Vec<&str> = line.splitn(4, ' ').collect();
        let [name, query, verdict, solver] = parts[..] else {
            return Err(format!("`{line}` is no line `NAME QUERY VERDICT SOLVER`"));
        };
        let [name, query, verdict, solver] = [name, query, verdict, solver].map(String::from);
        Ok(Answered { name, query, verdict, solver })
    }
}

impl Answered {
    /// The verdict that counts.
    pub const PROVED: &str = "proved";

    /// Whether a solver proved it.
    pub fn is_proved(&self) -> bool {
        self.verdict == Self::PROVED && !self.solver.is_empty()
    }

    /// The property of an obligation: `sends-held` for `007-sends-held-round0`.
    fn property(&self) -> &str {
        let rest = self.name.split_once('-').map_or("", |(_, rest)| rest);
        let known =
            |property: &&&str| rest.strip_prefix(**property).is_some_and(|r| r.is_empty() || r.starts_with('-'));
        PROPERTIES.iter().find(known).copied().unwrap_or("unknown")
    }
}

/// A part of the induction that has no obligation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// What is not proved.
    pub property: String,
    /// Why.
    #[serde(rename = "why")]
    pub reason: String,
}

/// What the solvers showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Induction {
    /// The clauses that the prover found: the obligations are about the declaration together with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundClause>,
    /// The obligations, all of them, in order.
    pub obligations: Vec<Answered>,
    /// What is not encoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// The lemmas that the encoding relies on.
    pub lemmas: Vec<Answered>,
}

/// The properties of obligations.
const PROPERTIES: [&str; 20] = [
    "defined",
    "initialisation",
    "wrap-range",
    "sends-held",
    "peer-inverse",
    "same-blocks",
    "no-self-message",
    "single-write",
    "counted-once",
    "contributors",
    "invariant",
    "coverage",
    "rank-order",
    "same-tree",
    "rounds",
    "counters",
    "bounds",
    "machine-width",
    "hints",
    "root",
];

/// Properties that every induction needs, whatever the collective. A sequence has no messages of its own.
fn indispensable(schedule: &Schedule) -> &'static [&'static str] {
    match schedule.is_sequence() {
        true => &["sends-held", "coverage"],
        false => &["sends-held", "peer-inverse", "coverage", "machine-width"],
    }
}

impl Induction {
    /// Whether a claim is shown for all calls that an induction covers. Order and bounds also need correctness.
    fn shows(&self, schedule: &Schedule, claim: Claim) -> bool {
        let concerns = |property: &str| matches!(Claim::of(property), Claim::Correct) || Claim::of(property) == claim;
        let open = self.gaps.iter().any(|gap| concerns(&gap.property))
            || self.obligations.iter().any(|shown| concerns(shown.property()) && !shown.is_proved());
        let has = |property: &&str| self.obligations.iter().any(|shown| shown.property() == *property);
        // What an inner collective costs that sends between nodes is known to exact checks alone.
        let unknown = schedule.within().any(|within| within.group != Group::Node);
        let to_checks = |bound: &Bound| bound.checked || bound.metric.is_nonlocal() && unknown;
        let left_to_checks = claim == Claim::Bounds && schedule.bounds.iter().any(to_checks);
        !open && !left_to_checks && indispensable(schedule).iter().all(has)
    }

    /// What is missing or misplaced, if anything.
    fn inconsistency(&self) -> Option<String> {
        let misplaced = |(i, shown): (usize, &Answered)| !shown.name.starts_with(&format!("{i:03}-"));
        if let Some(i) = self.obligations.iter().enumerate().position(misplaced) {
            return Some(format!("obligation {i} is missing, or not in its place"));
        }
        if let Some(unknown) = self.obligations.iter().find(|shown| shown.property() == "unknown") {
            return Some(format!("obligation {} is about nothing that is known", unknown.name));
        }
        if self.lemmas.is_empty() || !self.lemmas.iter().all(Answered::is_proved) {
            return Some("there are obligations, but not the lemmas that they rest on".into());
        }
        None
    }
}

/// The record of what was proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The declared type.
    pub collective: String,
    /// The fingerprint of its schedule.
    pub schedule: String,
    /// The fingerprint of the forward collective, if it is the reverse of one: the induction is about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_of: Option<String>,
    /// The calls for which it is correct.
    pub range: ProvedRange,
    /// The calls for which it reduces in the order that it claims, if it claims any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<ProvedRange>,
    /// The calls for which its bounds hold, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<ProvedRange>,
    /// What was checked exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<Exhaustive>,
    /// What was proved by induction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub induction: Option<Induction>,
    /// A hash of everything above.
    pub digest: String,
}

/// Why a record does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// It cannot be read.
    Malformed(String),
    /// It has been changed since it was written.
    Changed,
    /// Its parts are inconsistent.
    Parts(String),
    /// It is about another declaration.
    Declaration,
    /// It has the form of an earlier version, in which the range did not follow from the evidence.
    Older,
}

impl RecordError {
    /// Whether the record has merely lapsed: it is ignored, and is not an error.
    pub fn has_lapsed(&self) -> bool {
        matches!(self, RecordError::Declaration | RecordError::Older)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Malformed(reason) => write!(f, "it cannot be read: {reason}"),
            RecordError::Changed => f.write_str("it has been changed since it was written"),
            RecordError::Parts(reason) => write!(f, "its parts do not fit together: {reason}"),
            RecordError::Declaration => f.write_str("the declaration has changed since it was proved"),
            RecordError::Older => {
                f.write_str("an earlier version wrote it, in which the range did not follow from the evidence")
            }
        }
    }
}

/// The fingerprint of the collective of which a schedule is the reverse.
fn forward(schedule: &Schedule) -> Option<String> {
    schedule.forward().map(|forward| forward.fingerprint())
}

/// The properties that the exhaustive engine checks.
const EXHAUSTIVE: [&str; 8] =
    ["defined", "no-self-message", "peer-inverse", "same-blocks", "sends-held", "single-write", "coverage", "bounds"];

impl Exhaustive {
    /// The evidence of a check.
    pub fn new(schedule: &Schedule, checked: &Checked) -> Option<Self> {
        // A record cannot state a range that leaves out small p.
        Some(Exhaustive { range: checked.range()?.clone(), cases: checked.cases(), properties: properties(schedule) })
    }

    fn inconsistency(&self, schedule: &Schedule) -> Option<String> {
        let range = &self.range;
        let placed = match range.placements {
            None => !schedule.uses_placement(),
            Some(Placements::Regular { all_up_to }) => {
                schedule.uses_placement() && all_up_to <= Points::PROVED_UNEVEN && range.p >= Some(all_up_to)
            }
            Some(Placements::Every) => false,
        };
        let limited =
            range.p.is_some() && range.numbers.iter().all(Option::is_some) && range.lists.iter().all(Option::is_some);
        match () {
            () if range.numbers.len() != schedule.numbers.len() || range.lists.len() != schedule.lists.len() => {
                Some("it has other parameters".into())
            }
            () if !limited || !placed || self.cases == 0 => Some("no check covers the range that was checked".into()),
            () if self.properties != properties(schedule) => Some("other properties are checked of it".into()),
            () => None,
        }
    }
}

/// What the exhaustive engine shows about a schedule. A reduction may write a slot several times, but counts every
/// contribution once.
fn properties(schedule: &Schedule) -> Vec<String> {
    let name = |property: &&'static str| match *property {
        "single-write" if schedule.kind.reduces() => "counted-once",
        other => other,
    };
    let order = [(schedule.order.same_tree, "same-tree"), (schedule.order.rank_order, "rank-order")];
    let order = order.into_iter().filter(|(claimed, _)| *claimed).map(|(_, name)| name);
    EXHAUSTIVE.iter().map(name).chain(["invariant"]).chain(order).map(String::from).collect()
}

/// The calls that a collective serves. A call that relies on the declared order of reduction needs a proof of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedCalls {
    /// Those for which the collective is correct.
    pub all: ProvedRange,
    /// Those for which it also reduces in the order that it declares.
    pub ordered: ProvedRange,
    /// Those for which it also stays within the bounds that it declares.
    pub bounded: ProvedRange,
    /// Whether a proof record grants them, and not only a check.
    pub recorded: bool,
}

impl GrantedCalls {
    /// Calls for which everything that the collective declares was checked.
    pub fn fully(range: ProvedRange) -> Self {
        GrantedCalls { ordered: range.clone(), bounded: range.clone(), all: range, recorded: false }
    }

    /// No calls.
    pub fn nothing(schedule: &Schedule) -> Self {
        GrantedCalls::fully(ProvedRange::nothing(schedule))
    }
}

impl Record {
    /// The record that follows from the evidence; `None` if nothing follows.
    pub fn new(schedule: &Schedule, exhaustive: Option<Exhaustive>, induction: Option<Induction>) -> Option<Self> {
        let mut record = Record {
            collective: schedule.name.clone(),
            schedule: schedule.fingerprint(),
            reverse_of: forward(schedule),
            range: ProvedRange::nothing(schedule),
            order: None,
            bounds: None,
            exhaustive,
            induction,
            digest: String::new(),
        };
        record.range = record.follows(schedule, Claim::Correct)?;
        record.order = record.order_range(schedule);
        record.bounds = record.bounds_range(schedule);
        record.digest = record.computed_digest();
        Some(record)
    }

    /// The calls for which a claim follows from the evidence.
    fn follows(&self, schedule: &Schedule, claim: Claim) -> Option<ProvedRange> {
        let checked = self.exhaustive.as_ref().map(|exhaustive| &exhaustive.range);
        match self.induction.as_ref().is_some_and(|induction| induction.shows(schedule, claim)) {
            true => Some(ProvedRange::all(schedule)),
            false => checked.cloned(),
        }
    }

    fn order_range(&self, schedule: &Schedule) -> Option<ProvedRange> {
        let claimed = schedule.order.same_tree || schedule.order.rank_order;
        let nothing = || ProvedRange::nothing(schedule);
        claimed.then(|| self.follows(schedule, Claim::Order).unwrap_or_else(nothing))
    }

    fn bounds_range(&self, schedule: &Schedule) -> Option<ProvedRange> {
        let nothing = || ProvedRange::nothing(schedule);
        (!schedule.bounds.is_empty()).then(|| self.follows(schedule, Claim::Bounds).unwrap_or_else(nothing))
    }

    fn computed_digest(&self) -> String {
        let bare = Record { digest: String::new(), ..self.clone() };
        hash(&serde_json::to_string(&bare).unwrap_or_default())
    }

    /// Whether the record is about this schedule, and its parts are consistent.
    pub fn fits(&self, schedule: &Schedule) -> Result<(), RecordError> {
        if self.schedule != schedule.fingerprint() || self.collective != schedule.name {
            return Err(RecordError::Declaration);
        }
        if self.reverse_of != forward(schedule) {
            return Err(RecordError::Parts("it is about the reverse of something else".into()));
        }
        let exhaustive = self.exhaustive.as_ref().and_then(|part| part.inconsistency(schedule));
        if let Some(reason) = exhaustive.or(self.induction.as_ref().and_then(Induction::inconsistency)) {
            return Err(RecordError::Parts(reason));
        }
        if let Err(error) = schedule.claiming(self.found()) {
            return Err(RecordError::Parts(format!("what was found of it cannot be read: {error}")));
        }
        let other = |what: &str| Err(RecordError::Parts(format!("{what} is not what follows from the evidence")));
        match self.follows(schedule, Claim::Correct) {
            Some(range) if range == self.range => {}
            _ => return other("`range`"),
        }
        match () {
            () if self.order != self.order_range(schedule) => other("`order`"),
            () if self.bounds != self.bounds_range(schedule) => other("`bounds`"),
            () if self.digest != self.computed_digest() => Err(RecordError::Changed),
            () => Ok(()),
        }
    }

    /// The calls that it grants.
    pub fn granted(&self) -> GrantedCalls {
        let part = |range: &Option<ProvedRange>| range.as_ref().unwrap_or(&self.range).clone();
        let (ordered, bounded) = (part(&self.order), part(&self.bounds));
        GrantedCalls { all: self.range.clone(), ordered, bounded, recorded: true }
    }

    /// The clauses that the prover found, which the declaration leaves out.
    pub fn found(&self) -> &[FoundClause] {
        self.induction.as_ref().map_or(&[], |induction| &induction.found)
    }

    /// The schedule that this record is about, with the found clauses as if they had been written. Nothing about them
    /// is trusted: checks and harnesses examine them like others.
    pub fn claimed(&self, schedule: &Schedule) -> Schedule {
        // What cannot be read as clauses does not fit the schedule either.
        schedule.claiming(self.found()).unwrap_or_else(|_| schedule.clone())
    }

    /// Whether this record covers at least as much as another, for every claim.
    pub fn covers(&self, other: &Record) -> bool {
        let part = |mine: &Option<ProvedRange>, theirs: &Option<ProvedRange>| match (mine, theirs) {
            (Some(mine), Some(theirs)) => mine.covers(theirs),
            (mine, theirs) => mine.is_some() || theirs.is_none(),
        };
        self.range.covers(&other.range) && part(&self.order, &other.order) && part(&self.bounds, &other.bounds)
    }

    /// What is proved, in words: the range, and where order or bounds are proved for fewer calls.
    pub fn text(&self, schedule: &Schedule) -> String {
        let mut text = self.range.text(schedule);
        for (what, range) in [("order", &self.order), ("bounds", &self.bounds)] {
            if let Some(range) = range.as_ref().filter(|range| **range != self.range) {
                text += &format!("; {what} for {}", range.text(schedule));
            }
        }
        text
    }

    /// The path of a collective's record in the crate that declares it.
    pub fn path(crate_root: &Path, schedule: &Schedule) -> PathBuf {
        crate_root.join("proofs").join(format!("{}.json", schedule.name))
    }

    /// Reads a record and checks that it counts for a schedule.
    pub fn read(text: &str, schedule: &Schedule) -> Result<Self, RecordError> {
        let malformed = |error: serde_json::Error| RecordError::Malformed(error.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        if value.get("prover").is_some() && value.get("digest").is_none() {
            return Err(RecordError::Older);
        }
        // A record of another declaration may have a form that does not fit this one.
        let record: Record = serde_json::from_value(value).map_err(malformed)?;
        record.fits(schedule).map(|()| record)
    }

    /// The record of a collective in the crate that declares it; `None` if there is none, or it has lapsed.
    ///
    /// # Errors
    /// Returns an error if the record exists but is invalid.
    pub fn in_crate(crate_root: &Path, schedule: &Schedule) -> Result<Option<Self>, RecordError> {
        let Ok(text) = std::fs::read_to_string(Record::path(crate_root, schedule)) else { return Ok(None) };
        match Record::read(&text, schedule) {
            Ok(record) => Ok(Some(record)),
            Err(unfit) if unfit.has_lapsed() => Ok(None),
            Err(unfit) => Err(unfit),
        }
    }

    /// The text of the record's file.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
