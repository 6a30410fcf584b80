//! What is proved about a collective, by which engine and for which calls; and its record.

use crate::proving::invariants::{self, Findings, MissingClause};
use crate::proving::smt::{
    self, Discharged, MissingObligation, Obligations, Portfolio, Property, Refutation, Verdict,
};
use roundel_spec::Schedule;
use roundel_spec::check::Checked;
use roundel_spec::expr::Expr;
use roundel_spec::proof::{self, Answered, Exhaustive, FoundClause, Record};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The result of the solver engine.
pub struct InductionResult {
    /// What was found that the declaration leaves out: the obligations are about the declaration together with it.
    pub findings: Findings,
    /// The obligations, and the parts that are not encoded.
    pub obligations: Obligations,
    /// Their verdicts, in the same order.
    pub verdicts: Vec<Discharged>,
}

/// One property of a collective, as the solver engine sees it.
#[derive(Clone, Debug, Default)]
pub struct PropertySummary {
    /// The number of its obligations.
    pub obligations: usize,
    /// The number of proved obligations.
    pub proved: usize,
    /// The time spent on it.
    pub seconds: f64,
    /// What prevents its proof.
    pub open: Vec<Obstacle>,
    /// Whether a solver failed to discharge an obligation, as opposed to a missing encoding.
    pub failed: bool,
}

/// What prevents a proof. As text it includes the advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Obstacle {
    /// The reason.
    pub reason: String,
    /// Whether it is a counterexample to the induction, to which [`ADVICE`] applies.
    pub refuted: bool,
    /// The expression that is not encoded, if it is one.
    pub expression: Option<Expr>,
    /// Whether it is a `holds` that is missing.
    pub lacks_holds: bool,
}

impl Obstacle {
    /// An obstacle that is neither a counterexample nor a single expression.
    pub fn new(reason: String) -> Self {
        Obstacle { reason, refuted: false, expression: None, lacks_holds: false }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = if self.refuted { format!(". {ADVICE}") } else { String::new() };
        write!(f, "{}{advice}", self.reason)
    }
}

impl From<Obstacle> for String {
    fn from(obstacle: Obstacle) -> Self {
        obstacle.to_string()
    }
}

impl InductionResult {
    /// Proves a schedule by induction over its rounds.
    pub fn over(name: &str, schedule: &Schedule, portfolio: &Portfolio, tick: &(impl Fn() + Sync)) -> Self {
        Self::with(Findings::default(), name, schedule, portfolio, tick)
    }

    /// Proves a schedule by induction over its rounds; what it leaves out of `holds` and `hint` is looked for.
    pub fn searching(name: &str, schedule: &Schedule, portfolio: &Portfolio, tick: &(impl Fn() + Sync)) -> Self {
        Self::with(invariants::find(schedule, portfolio), name, schedule, portfolio, tick)
    }

    /// Proves a schedule with the clauses that its record keeps, which are as uncertain as any others; `None` if there
    /// are none, or they are not inductive.
    pub fn again(
        recorded: &[FoundClause],
        name: &str,
        schedule: &Schedule,
        portfolio: &Portfolio,
        tick: &(impl Fn() + Sync),
    ) -> Option<Self> {
        if recorded.is_empty() || portfolio.solvers.is_empty() {
            return None;
        }
        let findings = Findings { clauses: recorded.to_vec(), missing: Vec::new() };
        Some(Self::discharged(findings, name, schedule, portfolio, tick)).filter(|one| one.not_inductive().is_none())
    }

    /// Proves a schedule together with what was found. What is not inductive is not kept: the proof is then that of the
    /// declaration alone, and the findings say what was tried.
    pub fn with(
        findings: Findings,
        name: &str,
        schedule: &Schedule,
        portfolio: &Portfolio,
        tick: &(impl Fn() + Sync),
    ) -> Self {
        let result = Self::discharged(findings, name, schedule, portfolio, tick);
        match result.not_inductive() {
            Some(tried) => {
                let missing = vec![MissingClause::new(tried)];
                Self::with(Findings { clauses: Vec::new(), missing }, name, schedule, portfolio, tick)
            }
            None => result,
        }
    }

    fn discharged(
        findings: Findings,
        name: &str,
        schedule: &Schedule,
        portfolio: &Portfolio,
        tick: &(impl Fn() + Sync),
    ) -> Self {
        let obligations = obligations_with(schedule, &findings.clauses);
        let verdicts = smt::discharge(name, &obligations.all, portfolio, tick);
        InductionResult { findings, obligations, verdicts }
    }

    /// Where a solver refutes what a declaration states, tries again with what it leaves out about states, and with
    /// hints. Kept only if everything is proved then.
    pub fn strengthened(self, name: &str, schedule: &Schedule, portfolio: &Portfolio) -> Self {
        if !self.failed() || !self.findings.clauses.is_empty() || !self.findings.missing.is_empty() {
            return self;
        }
        let clauses = invariants::strengthening(schedule);
        if clauses.is_empty() {
            return self;
        }
        let more = Self::with(Findings { clauses, missing: Vec::new() }, name, schedule, portfolio, &|| {});
        if more.complete() { more } else { self }
    }

    /// What was tried, and why it proves nothing, if that is so.
    fn not_inductive(&self) -> Option<String> {
        let clauses = &self.findings.clauses;
        let correct = |property: Property| proof::Claim::of(property.name()) == proof::Claim::Correct;
        let open = self.obligations.all.iter().zip(&self.verdicts).find(|(obligation, discharged)| {
            correct(obligation.property) && !matches!(discharged.verdict, Verdict::Proved { .. })
        });
        let gap = self.obligations.gaps.iter().find(|gap| correct(gap.property)).map(|gap| gap.reason.clone());
        let reason =
            open.as_ref().map(|(obligation, _)| format!("that {} is not proved", obligation.claim)).or(gap)?;
        let clauses: Vec<String> = clauses.iter().map(|found| format!("    {found}")).collect();
        (!clauses.is_empty()).then(|| {
            let clauses = clauses.join("\n");
            match open {
                Some(_) => format!(
                    "no invariant was proved: {reason}. Write the `holds` or `hint` that is missing; this fits what is \
                     seen at small p:\n{clauses}"
                ),
                // No other invariant would help.
                None => {
                    format!("no invariant is proved, because {reason}. This fits what is seen at small p:\n{clauses}")
                }
            }
        })
    }

    /// Whether everything is proved, for all p and all parameters.
    pub fn complete(&self) -> bool {
        let proved = |d: &Discharged| matches!(d.verdict, Verdict::Proved { .. });
        self.obligations.gaps.is_empty() && !self.verdicts.is_empty() && self.verdicts.iter().all(proved)
    }

    /// Whether a solver failed on an obligation.
    pub fn failed(&self) -> bool {
        self.by_property().values().any(|summary| summary.failed)
    }

    /// The obligations by property.
    pub fn by_property(&self) -> BTreeMap<Property, PropertySummary> {
        let mut all: BTreeMap<Property, PropertySummary> = BTreeMap::new();
        for (obligation, discharged) in self.obligations.all.iter().zip(&self.verdicts) {
            let summary = all.entry(obligation.property).or_default();
            summary.obligations += 1;
            summary.seconds += discharged.seconds;
            match explain(&obligation.claim, &discharged.verdict) {
                None => summary.proved += 1,
                Some(obstacle) => {
                    summary.open.push(obstacle);
                    summary.failed = true;
                }
            }
        }
        for gap in &self.obligations.gaps {
            let MissingObligation { property, reason, expression, lacks_holds } = gap.clone();
            all.entry(property).or_default().open.push(Obstacle { reason, refuted: false, expression, lacks_holds });
        }
        all
    }

    /// Every counterexample to the induction.
    pub fn refutations(&self) -> Vec<Refutation> {
        let all = self.obligations.all.iter().zip(&self.verdicts);
        all.filter_map(|(obligation, discharged)| Refutation::of(obligation, &discharged.verdict)).collect()
    }
}

/// The obligations of a schedule together with found clauses. Clauses that cannot be read prove nothing.
pub fn obligations_with(schedule: &Schedule, found: &[FoundClause]) -> Obligations {
    match schedule.claiming(found) {
        Ok(claiming) => smt::obligations(&claiming),
        Err(error) => {
            let reason = format!("what was found cannot be read: {error}");
            Obligations { all: Vec::new(), gaps: vec![smt::MissingObligation::new(Property::Invariant, reason)] }
        }
    }
}

/// What a refuted obligation means, and what to do about it.
pub const ADVICE: &str = "This is a counterexample to the induction, not to the collective: the state may be \
                          unreachable. Strengthen `holds`, or add a `hint`";

/// What prevents the proof of an obligation.
fn explain(claim: &str, verdict: &Verdict) -> Option<Obstacle> {
    let reason = match verdict {
        Verdict::Proved { .. } => return None,
        Verdict::Vacuous => format!("{claim}: the hypotheses contradict each other, so this says nothing"),
        Verdict::Refuted { model } => {
            let values: Vec<String> = model
                .iter()
                .filter_map(|(symbol, value)| Some(format!("{} = {value}", smt::name_of(symbol)?)))
                .collect();
            let state =
                if values.is_empty() { "values that the solver does not show".into() } else { values.join(", ") };
            format!("{claim}: not preserved from a state with {state}")
        }
        Verdict::Open(reasons) => format!("{claim}: {}", reasons.join("; ")),
    };
    Some(Obstacle { refuted: matches!(verdict, Verdict::Refuted { .. }), ..Obstacle::new(reason) })
}

/// Lemmas with their verdicts.
pub struct Base(pub Vec<Answered>);

impl Base {
    /// Whether all lemmas are proved: without them an encoding proves nothing.
    pub fn holds(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(Answered::is_proved)
    }
}

/// The verdict on an obligation as one word, and the solver.
fn word(verdict: &Verdict) -> (&'static str, &str) {
    match verdict {
        Verdict::Proved { solver } => (Answered::PROVED, solver),
        Verdict::Vacuous => ("vacuous", "-"),
        Verdict::Refuted { .. } => ("refuted", "-"),
        Verdict::Open(_) => ("open", "-"),
    }
}

impl InductionResult {
    /// The evidence for a record.
    fn evidence(&self, base: &Base) -> proof::Induction {
        let shown = |(obligation, discharged): (&smt::Obligation, &Discharged)| {
            let (verdict, solver) = word(&discharged.verdict);
            let (name, query) = (obligation.name.replace(' ', "-"), obligation.hash());
            Answered { name, query, verdict: verdict.into(), solver: solver.into() }
        };
        let gap = |gap: &smt::MissingObligation| proof::Gap {
            property: gap.property.name().into(),
            reason: gap.reason.clone(),
        };
        proof::Induction {
            found: self.findings.clauses.clone(),
            obligations: self.obligations.all.iter().zip(&self.verdicts).map(shown).collect(),
            gaps: self.obligations.gaps.iter().map(gap).collect(),
            lemmas: base.0.clone(),
        }
    }
}

/// The record of what was proved; `None` if nothing was. An induction does not count without its lemmas.
pub fn record(
    schedule: &Schedule,
    checked: Option<&Checked>,
    induction: Option<&InductionResult>,
    base: &Base,
) -> Option<Record> {
    let exhaustive = checked.and_then(|checked| Exhaustive::new(schedule, checked));
    let asked = |induction: &&InductionResult| base.holds() && !induction.obligations.all.is_empty();
    Record::new(schedule, exhaustive, induction.filter(asked).map(|induction| induction.evidence(base)))
}

/// What is outdated in a record; empty if all its queries are those generated today.
pub fn outdated(schedule: &Schedule, record: &Record) -> Vec<String> {
    let Some(induction) = &record.induction else { return Vec::new() };
    let obligations = obligations_with(schedule, &induction.found);
    let asked = obligations.all.iter().map(|one| (one.name.replace(' ', "-"), one.hash()));
    let lemmas = smt::lemmas();
    let mut found = differences("obligation", asked, &induction.obligations);
    found.extend(differences(
        "lemma",
        lemmas.iter().map(|lemma| (lemma.name.clone(), lemma.hash())),
        &induction.lemmas,
    ));
    let gaps = obligations.gaps.iter().map(|gap| (gap.property.name(), gap.reason.as_str()));
    if !gaps.eq(induction.gaps.iter().map(|gap| (gap.property.as_str(), gap.reason.as_str()))) {
        found.push("it says otherwise what is not encoded".into());
    }
    found
}

/// How the queries of a record differ from those generated now.
fn differences(what: &str, asked: impl Iterator<Item = (String, String)>, stated: &[Answered]) -> Vec<String> {
    let asked: Vec<(String, String)> = asked.collect();
    let mut found = Vec::new();
    for (name, query) in &asked {
        match stated.iter().find(|shown| shown.name == *name) {
            None => found.push(format!("{what} {name} is missing")),
            Some(shown) if shown.query != *query => found.push(format!("{what} {name} is another question now")),
            Some(_) => {}
        }
    }
    let unknown = stated.iter().filter(|shown| !asked.iter().any(|(name, _)| *name == shown.name));
    found.extend(unknown.map(|shown| format!("{what} {} is not asked", shown.name)));
    found
}
