//! Puts obligations to solvers.

use super::query::Obligation;
use super::solver::{Answer, Effort, Solver, seconds};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How obligations are put to solvers.
#[derive(Clone, Debug)]
pub struct Portfolio {
    /// The solvers, the preferred one first.
    pub solvers: Vec<Solver>,
    /// What the first encoding of an obligation is worth; later ones get three times as much.
    pub limit: Effort,
    /// Where to keep the files, if anywhere.
    pub keep: Option<PathBuf>,
}

impl Portfolio {
    /// The solvers of this machine.
    pub fn installed() -> Self {
        Portfolio { solvers: Solver::installed(), limit: Effort::seconds(4), keep: None }
    }
}

/// What became of an obligation.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A solver refuted its negation, and found a model of its hypotheses.
    Proved {
        /// The solver, with its version.
        solver: String,
    },
    /// Its hypotheses contradict each other: it says nothing.
    Vacuous,
    /// The negation has a model: a counterexample to induction, which is not one to the collective.
    Refuted {
        /// Values of the constants.
        model: Vec<(String, String)>,
    },
    /// No solver gave an answer; why each did not.
    Open(Vec<String>),
}

/// A counterexample to the induction.
#[derive(Clone, Debug)]
pub struct Refutation {
    /// The property that is not preserved.
    pub property: &'static str,
    /// What was claimed.
    pub claim: String,
    /// Values of the constants, by symbol.
    pub model: Vec<(String, String)>,
}

impl Refutation {
    /// The counterexample that a verdict is, if it is one.
    pub fn of(obligation: &Obligation, verdict: &Verdict) -> Option<Self> {
        match verdict {
            Verdict::Refuted { model } => Some(Refutation {
                property: obligation.property.name(),
                claim: obligation.claim.clone(),
                model: model.clone(),
            }),
            _ => None,
        }
    }
}

/// An obligation with its verdict.
#[derive(Clone, Debug)]
pub struct Discharged {
    /// Which.
    pub obligation: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// How long it took.
    pub seconds: f64,
}

/// Puts all obligations to the solvers, on two threads; `tick` is called after each.
pub fn discharge(
    collective: &str,
    obligations: &[Obligation],
    portfolio: &Portfolio,
    tick: &(impl Fn() + Sync),
) -> Vec<Discharged> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(obligation) = obligations.get(i) else { break };
            let start = Instant::now();
            let verdict = put(collective, obligation, portfolio);
            let discharged = Discharged { obligation: i, verdict, seconds: seconds(start) };
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(discharged);
            tick();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|discharged| discharged.obligation);
    done
}

/// Puts one obligation to the solvers.
pub fn put(collective: &str, obligation: &Obligation, portfolio: &Portfolio) -> Verdict {
    let mut reasons = Vec::new();
    let proofs = obligation.proofs(collective);
    keep(collective, obligation, portfolio, &proofs);
    for solver in &portfolio.solvers {
        for (i, text) in proofs.iter().enumerate() {
            let limit = if i == 0 { portfolio.limit } else { 3 * portfolio.limit };
            match solver.ask(text, limit) {
                Answer::Unsat => return vacuity(collective, obligation, i, solver, portfolio),
                Answer::Sat => {}
                other => reasons.push(format!("{}: {other}", solver.name())),
            }
        }
    }
    if portfolio.solvers.is_empty() {
        reasons.push("no solver is installed; install z3".into());
    }
    reasons.dedup();
    // The last encoding knows most: a model of its negated goal is one that no other encoding rules out. Few ranks are
    // tried first, so that there may be a model where the whole question is too hard.
    let model =
        |text: &String| portfolio.solvers.iter().find_map(|solver| solver.smallest_model(text, portfolio.limit));
    match proofs.last().and_then(model) {
        Some(model) => Verdict::Refuted { model },
        // It said `sat` every time, and does not show why.
        None if reasons.is_empty() => Verdict::Refuted { model: vec![] },
        None => Verdict::Open(reasons),
    }
}

/// File number `i` proves the claim. Is there anything it speaks of, and are the premises of that very file in order?
/// Where no solver says, the claim does not count: it may be empty.
fn vacuity(collective: &str, obligation: &Obligation, i: usize, solver: &Solver, portfolio: &Portfolio) -> Verdict {
    let hypotheses = has_model(&obligation.vacuity(collective), portfolio);
    let premises = obligation.premises(collective, i).filter(|_| i > 0);
    match hypotheses {
        Some(true) if premises.is_none_or(|premises| has_model(&premises, portfolio) != Some(false)) => {
            Verdict::Proved { solver: solver.version() }
        }
        None => {
            Verdict::Open(vec!["no solver said in time whether the hypotheses have a model; raise `--limit`".into()])
        }
        _ => Verdict::Vacuous,
    }
}

/// Whether a question has a model, if a solver says. Small p are looked at first, where models are found quickly.
fn has_model(question: &str, portfolio: &Portfolio) -> Option<bool> {
    let ask =
        |question: &str, limit| portfolio.solvers.iter().find_map(|solver| decided(solver.ask(question, limit)));
    let up_to = |p: u32| question.replace("(check-sat)", &format!("(assert (<= p {p}))\n(check-sat)"));
    if [40, 4].into_iter().any(|p| ask(&up_to(p), portfolio.limit) == Some(true)) {
        return Some(true);
    }
    ask(question, 3 * portfolio.limit)
}

/// Whether there is a model, where the answer is one.
fn decided(answer: Answer) -> Option<bool> {
    match answer {
        Answer::Sat => Some(true),
        Answer::Unsat => Some(false),
        _ => None,
    }
}

/// Keeps the files of an obligation. Keeping is a convenience: a full disk does not make a proof wrong.
fn keep(collective: &str, obligation: &Obligation, portfolio: &Portfolio, proofs: &[String]) {
    let Some(folder) = &portfolio.keep else { return };
    let folder = folder.join(collective.replace('/', "-"));
    let _ = std::fs::create_dir_all(&folder);
    for (i, text) in proofs.iter().enumerate() {
        let attempt = if i == 0 { String::new() } else { format!("-{i}") };
        let _ = std::fs::write(folder.join(format!("{}{attempt}.smt2", obligation.name)), text);
    }
    let vacuity = obligation.vacuity(collective);
    let _ = std::fs::write(folder.join(format!("{}-vacuity.smt2", obligation.name)), vacuity);
}
