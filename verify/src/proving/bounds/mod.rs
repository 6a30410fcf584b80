//! Tells what a collective costs: rounds, messages and blocks as formulas.
//!
//! What small p cost is measured with the evaluator (`measured`) and fitted to expressions of the language
//! (`formulas`), the simplest first. A formula that fits is only a guess, so it is proved like a declared bound: by the
//! obligations of the declaration with that `bound` and no other. Where that does not succeed, it is said how far the
//! formula was seen to fit.

mod formulas;
mod measured;

use super::invariants;
use super::prove::obligations_with;
use super::smt::{self, Portfolio, SolverAnswer, Verdict};
use measured::Measured;
use roundel_spec::check::Points;
use roundel_spec::expr::Expr;
use roundel_spec::proof::Claim;
use roundel_spec::schedule::{Bound, BoundScope, Metric};
use roundel_spec::{Schedule, Violation};
use std::collections::HashSet;

/// As many formulas for one cost are put to the solver.
const FORMULAS: usize = 2;

/// Why nothing is proved, if no solver is to be asked.
const UNASKED: &str = "no solver was asked";

/// What is known about a cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// It is proved for all p.
    Proved,
    /// It was seen at every point that was measured; why it is not proved.
    Seen(String),
    /// No formula fits.
    None,
}

/// A cost and its formula.
#[derive(Clone, Debug)]
pub struct ToldBound {
    /// What is counted.
    pub metric: Metric,
    /// Whether all ranks use the same; otherwise it is the largest amount.
    pub alike: bool,
    /// The cost as a bound that one could declare; `None` if no formula fits.
    pub bound: Option<Bound>,
    /// What it rests on.
    pub support: Support,
    /// The largest amount at the largest p.
    pub example: i64,
}

impl ToldBound {
    /// Whether it is proved for all p.
    pub fn is_proved(&self) -> bool {
        self.support == Support::Proved
    }
}

/// Tells the costs of a schedule.
///
/// # Errors
/// Returns the violation if the schedule is wrong at one of the points.
pub fn tell(
    schedule: &Schedule,
    points: &Points,
    portfolio: Option<&Portfolio>,
) -> Result<Vec<ToldBound>, Box<Violation>> {
    let measured = Measured::of(schedule, points)?;
    let mut prover = portfolio.map(|portfolio| BoundProver::new(schedule, portfolio));
    let tell = |metric: Metric| {
        let alike = !metric.counts_rounds() && measured.is_alike(metric);
        let found = formulas::fitting(schedule, &measured, metric);
        let (bound, support) = match supported(metric, alike, found, prover.as_mut()) {
            (None, _) => declared(schedule, metric, prover.as_mut()),
            told => told,
        };
        ToldBound { metric, alike, bound, support, example: measured.example(metric) }
    };
    Ok(metrics(schedule).into_iter().map(tell).collect())
}

/// The costs that tell something about a collective.
fn metrics(schedule: &Schedule) -> Vec<Metric> {
    let mut all = vec![Metric::Rounds, Metric::MessagesSent, Metric::BlocksSent];
    if schedule.kind.has_root() {
        all.extend([Metric::MessagesReceived, Metric::BlocksReceived]);
    }
    if schedule.kind.moves() {
        all.push(Metric::Scratch);
    }
    if schedule.uses_placement() {
        all.extend([Metric::NonlocalRounds, Metric::NonlocalMessagesSent, Metric::NonlocalBlocksSent]);
    }
    all
}

/// The first formula that is proved, or the first one.
fn supported(
    metric: Metric,
    alike: bool,
    found: Vec<Expr>,
    prover: Option<&mut BoundProver<'_>>,
) -> (Option<Bound>, Support) {
    let scope = if alike { BoundScope::Each } else { BoundScope::Max };
    let bound = |exact: bool, value: &Expr| Bound { metric, scope, exact, checked: false, value: value.clone() };
    let Some(first) = found.first() else { return (None, Support::None) };
    let Some(prover) = prover else { return (Some(bound(true, first)), Support::Seen(UNASKED.into())) };
    let mut why = None;
    // The largest amount is often proved only as an upper bound: no rank is known to be the one that meets it.
    for exact in [true, false] {
        for value in found.iter().take(FORMULAS) {
            match prover.proves(&bound(exact, value)) {
                Ok(()) => return (Some(bound(exact, value)), Support::Proved),
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        if alike || metric.counts_rounds() {
            break;
        }
    }
    (Some(bound(true, first)), Support::Seen(why.unwrap_or_default()))
}

/// The upper bound that is declared, where no formula fits exactly.
fn declared(schedule: &Schedule, metric: Metric, prover: Option<&mut BoundProver<'_>>) -> (Option<Bound>, Support) {
    let of_run = |bound: &&Bound| bound.metric == metric && matches!(bound.scope, BoundScope::Max | BoundScope::Each);
    let Some(bound) = schedule.bounds.iter().find(of_run) else { return (None, Support::None) };
    let support = match prover {
        _ if bound.checked => Support::Seen("`checked` bounds are left to exact checks".into()),
        None => Support::Seen(UNASKED.into()),
        Some(prover) => prover.proves(bound).map_or_else(Support::Seen, |()| Support::Proved),
    };
    (Some(bound.clone()), support)
}

/// Proves bounds of one schedule. What one proof has shown, the next does not ask again.
struct BoundProver<'a> {
    bare: Schedule,
    portfolio: &'a Portfolio,
    /// The questions that are answered.
    proved: HashSet<String>,
    /// Why nothing is proved of the schedule, if so.
    unproved: Option<String>,
}

impl<'a> BoundProver<'a> {
    fn new(schedule: &Schedule, portfolio: &'a Portfolio) -> Self {
        let bare = Schedule { bounds: Vec::new(), ..schedule.clone() };
        let mut prover = BoundProver { bare, portfolio, proved: HashSet::new(), unproved: None };
        prover.unproved = if sound(portfolio) {
            prover.induction(&prover.bare.clone()).err().map(|reason| format!("it is not proved itself: {reason}"))
        } else {
            Some("the lemmas of the encoding are not proved".into())
        };
        prover
    }

    /// Proves the schedule with one bound.
    fn proves(&mut self, bound: &Bound) -> Result<(), String> {
        if let Some(reason) = &self.unproved {
            return Err(reason.clone());
        }
        self.induction(&Schedule { bounds: vec![bound.clone()], ..self.bare.clone() })
    }

    /// Whether an induction shows that a schedule is correct and keeps its bounds; otherwise the first gap.
    fn induction(&mut self, schedule: &Schedule) -> Result<(), String> {
        let findings = invariants::find(schedule, self.portfolio);
        let asked = obligations_with(schedule, &findings.clauses);
        let counts = |property: smt::Property| Claim::of(property.name()) != Claim::Order;
        if let Some(gap) = asked.gaps.iter().find(|gap| counts(gap.property)) {
            return Err(gap.reason.clone());
        }
        if asked.all.is_empty() {
            return Err("nothing of it is encoded".into());
        }
        let new = |one: &&smt::Obligation| counts(one.property) && !self.proved.contains(&one.hash());
        let open: Vec<smt::Obligation> = asked.all.iter().filter(new).cloned().collect();
        let verdicts = smt::discharge(&schedule.name, &open, self.portfolio, &|| {});
        let mut result = Ok(());
        for (obligation, discharged) in open.iter().zip(verdicts) {
            if matches!(discharged.verdict, Verdict::Proved { .. }) {
                self.proved.insert(obligation.hash());
            } else if result.is_ok() {
                result = Err(format!("no solver shows that {}", obligation.claim));
            }
        }
        result
    }
}

/// Whether the laws that encodings rely on are proved.
fn sound(portfolio: &Portfolio) -> bool {
    let proved = |lemma: &smt::Lemma| {
        portfolio.solvers.iter().any(|solver| solver.ask(&lemma.text, 5 * portfolio.limit) == SolverAnswer::Unsat)
    };
    !portfolio.solvers.is_empty() && smt::lemmas().iter().all(proved)
}
