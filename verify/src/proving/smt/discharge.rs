//! Discharges obligations with solvers.

use super::answers::AnswerCache;
use super::models::Premises;
use super::query::Obligation;
use super::solver::{Effort, Solver, SolverAnswer, seconds};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The solvers and their limits.
#[derive(Clone, Debug)]
pub struct Portfolio {
    /// The solvers, the preferred one first.
    pub solvers: Vec<Solver>,
    /// The effort for the first encoding of an obligation; later ones get three times as much.
    pub limit: Effort,
    /// The folder in which to keep the files, if any.
    pub keep: Option<PathBuf>,
}

impl Portfolio {
    /// The solvers of this machine, with the user's cache of their answers.
    pub fn installed() -> Self {
        let all = Portfolio { solvers: Solver::installed(), limit: Effort::seconds(4), keep: None };
        all.keeping(AnswerCache::of_user().as_ref())
    }

    /// The same, keeping the answers of its solvers in a cache, or asking every query again.
    pub fn keeping(self, answers: Option<&AnswerCache>) -> Self {
        let solvers = self.solvers.into_iter().map(|solver| solver.keeping(answers.cloned())).collect();
        Portfolio { solvers, ..self }
    }
}

/// The verdict on an obligation.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A solver refuted its negation, and found a model of its hypotheses.
    Proved {
        /// The solver, with its version.
        solver: String,
    },
    /// Its hypotheses contradict each other, so it claims nothing.
    Vacuous,
    /// The negation has a model: a counterexample to induction, but not necessarily to the collective.
    Refuted {
        /// Values of the constants.
        model: Vec<(String, String)>,
    },
    /// No solver gave an answer; the reasons.
    Open(Vec<String>),
}

/// A counterexample to the induction.
#[derive(Clone, Debug)]
pub struct Refutation {
    /// The property that is not preserved.
    pub property: &'static str,
    /// The claim.
    pub claim: String,
    /// Values of the constants, by symbol.
    pub model: Vec<(String, String)>,
}

impl Refutation {
    /// The counterexample of a verdict, if it is one.
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
    /// The number of the obligation.
    pub obligation: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The time it took.
    pub seconds: f64,
}

/// Discharges all obligations on two threads; `tick` is called after each.
pub fn discharge(
    collective: &str,
    obligations: &[Obligation],
    portfolio: &Portfolio,
    tick: &(impl Fn() + Sync),
) -> Vec<Discharged> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let order = longest_first(obligations);
    let work = || {
        while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let obligation = &obligations[i];
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

/// The numbers of the obligations, those with the most text first: they tend to take longest, and one that began last
/// would keep one thread busy and the other idle.
fn longest_first(obligations: &[Obligation]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..obligations.len()).collect();
    order.sort_by_cached_key(|&i| std::cmp::Reverse(obligations[i].length()));
    order
}

/// What a file is given, one after another. Every file gets a little time before any gets much: which one is easy is
/// not known beforehand. Later files are longer, and get three times as much.
pub(super) fn efforts(file: usize, limit: Effort) -> Vec<Effort> {
    let share = if file == 0 { 1 } else { 3 };
    let full = share * limit;
    let less = [Effort::GLANCE, share * Effort::QUICK].into_iter().filter(|effort| *effort < full);
    less.chain([full]).collect()
}

/// The order in which files are asked. The first is the shortest; but where little effort was not enough for any, laws
/// are missing more often than effort, and the last has most of them.
fn order(files: usize, is_last_round: bool) -> impl Iterator<Item = usize> {
    (0..files).map(move |i| if is_last_round { files - 1 - i } else { i })
}

/// Discharges one obligation.
pub fn put(collective: &str, obligation: &Obligation, portfolio: &Portfolio) -> Verdict {
    match tried(collective, obligation, portfolio) {
        Verdict::Refuted { .. } => {
            Verdict::Refuted { model: model(collective, obligation, portfolio).unwrap_or_default() }
        }
        Verdict::Open(reasons) => match model(collective, obligation, portfolio) {
            Some(model) => Verdict::Refuted { model },
            None => Verdict::Open(reasons),
        },
        decided => decided,
    }
}

/// The same, without searching for a model that shows why an obligation is not proved.
pub fn tried(collective: &str, obligation: &Obligation, portfolio: &Portfolio) -> Verdict {
    let mut reasons = Vec::new();
    let proofs = obligation.proofs(collective);
    keep(collective, obligation, portfolio, &proofs);
    let rounds = efforts(0, portfolio.limit).len();
    let mut hopeless = vec![false; proofs.len()];
    for round in 0..rounds {
        let is_last = round + 1 == rounds;
        for (solver, i) in
            portfolio.solvers.iter().flat_map(|one| order(proofs.len(), is_last).map(move |i| (one, i)))
        {
            if hopeless[i] {
                continue;
            }
            match solver.ask(&proofs[i], efforts(i, portfolio.limit)[round]) {
                SolverAnswer::Unsat => return vacuity(collective, obligation, i, solver, portfolio),
                SolverAnswer::Sat => hopeless[i] = true,
                // It gets more effort in the next round.
                SolverAnswer::Unknown(_) if !is_last => {}
                other => reasons.push(format!("{}: {other}", solver.name())),
            }
        }
    }
    if portfolio.solvers.is_empty() {
        reasons.push("no solver is installed; install z3".into());
    }
    reasons.dedup();
    // A solver that answered `sat` every time may still give no model.
    if reasons.is_empty() { Verdict::Refuted { model: vec![] } } else { Verdict::Open(reasons) }
}

/// A model of the negated goal. The last encoding has the most laws: no other encoding rules out its models. Few ranks
/// are tried first, so that a model may be found even if the whole query is too hard.
fn model(collective: &str, obligation: &Obligation, portfolio: &Portfolio) -> Option<Vec<(String, String)>> {
    let text = obligation.proofs(collective).pop()?;
    portfolio.solvers.iter().find_map(|solver| solver.smallest_model(&text, portfolio.limit))
}

/// File number `i` proves the claim. Checks that the claim is not vacuous and that the premises of that very file are
/// consistent. If no solver can tell, the claim does not count, because it may be vacuous.
fn vacuity(collective: &str, obligation: &Obligation, i: usize, solver: &Solver, portfolio: &Portfolio) -> Verdict {
    let file = |i: usize| obligation.premises(collective, i);
    // Of two files with the same terms, the first has fewer laws.
    let premises = file(i).zip(file(i - i % 2)).filter(|_| i > 0);
    let premises = premises.map(|(all, with_few_laws)| Premises { all, with_few_laws }.have_model(portfolio));
    // File 1 has the hypotheses and all laws of file 0, and more: a model of its premises is one of both.
    let hypotheses = match (i, premises) {
        (1, Some(Some(true))) => Some(true),
        _ => {
            let all = obligation.vacuity(collective);
            Premises { with_few_laws: all.clone(), all }.have_model(portfolio)
        }
    };
    match (hypotheses, premises) {
        (None, _) => {
            Verdict::Open(vec!["no solver said in time whether the hypotheses have a model; raise `--limit`".into()])
        }
        (Some(false), _) | (_, Some(Some(false))) => Verdict::Vacuous,
        _ => Verdict::Proved { solver: solver.version() },
    }
}

/// Keeps the files of an obligation. Errors are ignored: a full disk does not make a proof wrong.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_little_first_and_their_full_effort_last() {
        let four = Effort::seconds(4);
        assert_eq!(efforts(0, four), [Effort::GLANCE, Effort::QUICK, four]);
        assert_eq!(efforts(2, four), [Effort::GLANCE, 3 * Effort::QUICK, Effort::seconds(12)]);
        // However small the limit is, all files have the same rounds.
        for limit in (0..6).map(Effort::seconds) {
            assert_eq!(efforts(1, limit).len(), efforts(0, limit).len());
            assert_eq!(efforts(1, limit).last(), Some(&(3 * limit)));
        }
    }

    #[test]
    fn the_last_round_asks_every_file_from_the_last_on() {
        assert_eq!(order(4, false).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(order(4, true).collect::<Vec<_>>(), [3, 2, 1, 0]);
    }
}
