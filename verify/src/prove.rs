//! What is proved of a collective, by which engine, for which calls; and the record of it.

use crate::smt::{self, Discharged, Obligations, Portfolio, Property, Refutation, Verdict};
use roundel_spec::Schedule;
use roundel_spec::check::Checked;
use roundel_spec::proof::{Evidence, PROVER, ProvedRange, Record};
use std::collections::BTreeMap;

/// What the solver engine found.
pub struct Induction {
    /// The obligations and what is not encoded.
    pub obligations: Obligations,
    /// Their verdicts, in the same order.
    pub verdicts: Vec<Discharged>,
}

/// One property of a collective, as the solver engine sees it.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many obligations it has.
    pub obligations: usize,
    /// How many of them are proved.
    pub proved: usize,
    /// The time that went into it.
    pub seconds: f64,
    /// What keeps it from being proved.
    pub open: Vec<String>,
    /// Whether something is wrong, and not only missing: an obligation that a solver did not discharge.
    pub failed: bool,
}

impl Induction {
    /// Proves a schedule by induction over its rounds.
    pub fn over(name: &str, schedule: &Schedule, portfolio: &Portfolio, tick: &(impl Fn() + Sync)) -> Self {
        let obligations = smt::obligations(schedule);
        let verdicts = smt::discharge(name, &obligations.all, portfolio, tick);
        Induction { obligations, verdicts }
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
    pub fn by_property(&self) -> BTreeMap<Property, Summary> {
        let mut all: BTreeMap<Property, Summary> = BTreeMap::new();
        for (obligation, discharged) in self.obligations.all.iter().zip(&self.verdicts) {
            let summary = all.entry(obligation.property).or_default();
            summary.obligations += 1;
            summary.seconds += discharged.seconds;
            match explain(&obligation.claim, &discharged.verdict) {
                None => summary.proved += 1,
                Some(why) => {
                    summary.open.push(why);
                    summary.failed = true;
                }
            }
        }
        for gap in &self.obligations.gaps {
            all.entry(gap.property).or_default().open.push(gap.why.clone());
        }
        all
    }

    /// Every counterexample to the induction.
    pub fn refutations(&self) -> Vec<Refutation> {
        let all = self.obligations.all.iter().zip(&self.verdicts);
        all.filter_map(|(obligation, discharged)| Refutation::of(obligation, &discharged.verdict)).collect()
    }
}

/// What keeps an obligation from being proved.
fn explain(claim: &str, verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Proved { .. } => None,
        Verdict::Vacuous => Some(format!("{claim}: the hypotheses contradict each other, so this says nothing")),
        Verdict::Refuted { model } => {
            let values: Vec<String> = model
                .iter()
                .filter_map(|(symbol, value)| Some(format!("{} = {value}", smt::name_of(symbol)?)))
                .collect();
            let state =
                if values.is_empty() { "values that the solver does not show".into() } else { values.join(", ") };
            Some(format!(
                "{claim}: not preserved from a state with {state}. This is a counterexample to the induction, not to the \
                 collective: the state may be unreachable. Strengthen `holds`, or add a `hint`"
            ))
        }
        Verdict::Open(reasons) => Some(format!("{claim}: {}", reasons.join("; "))),
    }
}

/// The properties that the exhaustive engine checks.
const EXHAUSTIVE: [&str; 8] =
    ["defined", "no-self-message", "peer-inverse", "same-blocks", "sends-held", "single-write", "coverage", "bounds"];

/// What the exhaustive engine shows of a schedule. A reduction may write a slot several times, but counts every
/// contribution once.
fn exhaustive(schedule: &Schedule) -> Vec<String> {
    let name = |property: &&'static str| match *property {
        "single-write" if schedule.kind.reduces() => "counted-once",
        other => other,
    };
    let order = [(schedule.order.same_tree, "same-tree"), (schedule.order.rank_order, "rank-order")];
    let order = order.into_iter().filter(|(claimed, _)| *claimed).map(|(_, name)| name);
    EXHAUSTIVE.iter().map(name).chain(["invariant"]).chain(order).map(String::from).collect()
}

/// The record of what was proved; `None` when nothing was.
pub fn record(schedule: &Schedule, checked: Option<&Checked>, induction: Option<&Induction>) -> Option<Record> {
    let mut evidence = Vec::new();
    let mut range = None;
    // A range that leaves out small p is no range a record can state.
    if let Some((proved, cases)) = checked.and_then(|checked| Some((checked.range()?.clone(), checked.cases()))) {
        let properties = exhaustive(schedule);
        let text = proved.text(schedule);
        evidence.push(Evidence { engine: "exhaustive".into(), range: text, properties, cases, gaps: vec![] });
        range = Some(proved);
    }
    if let Some(induction) = induction {
        let by_property = induction.by_property();
        let proved = by_property.iter().filter(|(_, summary)| summary.open.is_empty());
        let all = ProvedRange::all(schedule);
        evidence.push(Evidence {
            engine: "smt".into(),
            range: all.text(schedule),
            properties: proved.map(|(property, _)| property.name().to_string()).collect(),
            cases: by_property.values().map(|summary| summary.proved).sum(),
            gaps: by_property.values().flat_map(|summary| summary.open.clone()).collect(),
        });
        if induction.complete() {
            range = Some(match &range {
                Some(checked) => all.and_checked(checked),
                None => all,
            });
        }
    }
    Some(Record {
        collective: schedule.name.clone(),
        schedule: schedule.fingerprint(),
        prover: PROVER.into(),
        range: range?,
        evidence,
    })
}
