//! Puts obligations to solvers.

use super::query::Obligation;
use super::solver::{Answer, Solver, seconds};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How obligations are put to solvers.
#[derive(Clone, Debug)]
pub struct Portfolio {
    /// The solvers, the preferred one first.
    pub solvers: Vec<Solver>,
    /// The time for the first encoding of an obligation; later ones get three times as much.
    pub limit: Duration,
    /// Where to keep the files, if anywhere.
    pub keep: Option<PathBuf>,
}

impl Portfolio {
    /// The solvers of this machine.
    pub fn installed() -> Self {
        Portfolio { solvers: Solver::installed(), limit: Duration::from_secs(4), keep: None }
    }
}

/// What became of an obligation.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A solver refuted its negation, and its hypotheses have a model.
    Proved {
        /// The solver.
        solver: String,
        /// Whether its hypotheses are known to have a model; `false` when the solver did not say.
        not_vacuous: bool,
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
    let mut refuted = None;
    let proofs = obligation.proofs(collective);
    keep(collective, obligation, portfolio, &proofs);
    for solver in &portfolio.solvers {
        for (i, text) in proofs.iter().enumerate() {
            let limit = if i == 0 { portfolio.limit } else { 3 * portfolio.limit };
            match solver.ask(text, limit) {
                Answer::Unsat => return vacuity(collective, obligation, i, solver, portfolio),
                Answer::Sat => refuted = refuted.or_else(|| Some(solver.model(text, portfolio.limit))),
                other => reasons.push(format!("{}: {other}", solver.name())),
            }
        }
    }
    if portfolio.solvers.is_empty() {
        reasons.push("no solver is installed; install z3".into());
    }
    reasons.dedup();
    // An encoding without all instances of the laws may have a model that the full one has not.
    match refuted {
        Some(model) if reasons.is_empty() => Verdict::Refuted { model },
        _ => Verdict::Open(reasons),
    }
}

/// File number `i` proves the claim. Is there anything it speaks of, and are the premises of that very file in order?
fn vacuity(collective: &str, obligation: &Obligation, i: usize, solver: &Solver, portfolio: &Portfolio) -> Verdict {
    let has_model = |question: &str| has_model(question, solver, portfolio);
    let hypotheses = has_model(&obligation.vacuity(collective));
    let premises = obligation.premises(collective, i).filter(|_| i > 0);
    if hypotheses == Some(false) || premises.is_some_and(|premises| has_model(&premises) == Some(false)) {
        return Verdict::Vacuous;
    }
    Verdict::Proved { solver: solver.name(), not_vacuous: hypotheses == Some(true) }
}

/// Whether a question has a model, if the solver says. Small p are looked at first, where models are found quickly.
fn has_model(question: &str, solver: &Solver, portfolio: &Portfolio) -> Option<bool> {
    let small = question.replace("(check-sat)", "(assert (<= p 40))\n(check-sat)");
    match solver.ask(&small, portfolio.limit) {
        Answer::Sat => Some(true),
        Answer::Unsat => match solver.ask(question, portfolio.limit) {
            Answer::Unsat => Some(false),
            Answer::Sat => Some(true),
            _ => None,
        },
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
