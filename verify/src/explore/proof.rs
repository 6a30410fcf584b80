//! What is proved of a collective, and by whom; and proofs that are under way.

use super::Refusal;
use super::subject::ExploredCollective;
use crate::catalogue;
use crate::error::Error;
use crate::proving::invariants;
use crate::proving::prove::{InductionResult, obligations_with};
use crate::proving::smt::{AnswerCache, Portfolio};
use roundel_spec::check;
use roundel_spec::proof::FoundClause;
use roundel_spec::{Arguments, Placement};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known to be proved.
pub(super) fn known(subject: &ExploredCollective, args: &Arguments, placement: &Placement) -> Value {
    let record = subject.record();
    let range = match (&record, subject.entry) {
        (_, Some(entry)) => catalogue::proved_range(entry).ok().map(str::to_string),
        (Some(record), None) => Some(record.text(&subject.schedule)),
        (None, None) => None,
    };
    let call = subject.entry.map(|entry| match catalogue::unproved(entry, args, placement.place(0)) {
        Ok(None) => json!({ "proved": true }),
        Ok(Some(refusal)) => json!({ "proved": false, "why": refusal.to_string() }),
        Err(error) => json!({ "proved": false, "why": error.to_string() }),
    });
    let bounds = subject.entry.and_then(|entry| catalogue::bounds_proved_for(entry).ok().flatten());
    let mut by = Vec::new();
    if let Some(record) = &record {
        by.extend(
            record
                .exhaustive
                .as_ref()
                .map(|_| json!({ "engine": "exhaustive", "what": "every rule, at every point of a range" })),
        );
        by.extend(record.induction.as_ref().map(|proof| {
            let solvers: BTreeSet<&str> = proof.obligations.iter().map(|one| one.solver.as_str()).collect();
            let proved = proof.obligations.iter().filter(|one| one.is_proved()).count();
            json!({
                "engine": "smt",
                "what": format!("{proved} of {} obligations, by induction over the rounds", proof.obligations.len()),
                "solvers": solvers,
                "lemmas": proof.lemmas.len(),
                "found": proof.found.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "gaps": proof.gaps.iter().map(|gap| format!("{}: {}", gap.property, gap.reason)).collect::<Vec<_>>(),
            })
        }));
    }
    json!({ "range": range, "bounds": bounds, "call": call, "by": by })
}

/// The largest number of proofs at a time: each keeps a processor busy.
const AT_A_TIME: usize = 1;

/// Proofs that were started, in order.
#[derive(Debug, Default)]
pub(super) struct ProofJobs {
    all: Mutex<Vec<Arc<ProofJob>>>,
}

#[derive(Debug, Default)]
struct ProofJob {
    done: AtomicUsize,
    of: AtomicUsize,
    result: Mutex<Option<Value>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProofJobs {
    /// Starts a proof for all p. Nothing is written: that is for `roundel prove`.
    pub(super) fn start(&self, subject: ExploredCollective) -> Result<Value, Refusal> {
        let portfolio = Portfolio::installed();
        if portfolio.solvers.is_empty() {
            return Err(Error::NoSolver.into());
        }
        let job = Arc::new(ProofJob::default());
        let number = {
            let mut all = locked(&self.all);
            if all.iter().filter(|job| locked(&job.result).is_none()).count() >= AT_A_TIME {
                return Err(Refusal::Busy);
            }
            all.push(job.clone());
            all.len() - 1
        };
        let prove = move || {
            let answers = AnswerCache::of_user();
            let portfolio = portfolio.keeping(answers.as_ref());
            let proved = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.prove(&subject, &portfolio)));
            let failed = || json!({ "state": "failed", "message": "the prover failed; please report it" });
            *locked(&job.result) = Some(proved.unwrap_or_else(|_| failed()));
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(prove);
        thread.map_err(|error| Refusal::Failed(error.to_string()))?;
        Ok(json!({ "job": number }))
    }

    /// How far a proof has come.
    pub(super) fn progress(&self, number: usize) -> Result<Value, Refusal> {
        let job = locked(&self.all).get(number).cloned().ok_or(Refusal::NotFound)?;
        let (done, of) = (job.done.load(Ordering::Relaxed), job.of.load(Ordering::Relaxed));
        let result = locked(&job.result).clone();
        Ok(json!({ "done": done, "of": of, "result": result }))
    }
}

impl ProofJob {
    fn prove(&self, subject: &ExploredCollective, portfolio: &Portfolio) -> Value {
        let schedule = subject.schedule.by_contract();
        if let Err(violation) = check::at_compile_time(&schedule) {
            return json!({ "state": "wrong", "message": violation.to_string() });
        }
        let tick = || {
            self.done.fetch_add(1, Ordering::Relaxed);
        };
        let begin = |clauses: &[FoundClause]| {
            self.done.store(0, Ordering::Relaxed);
            self.of.store(obligations_with(&schedule, clauses).all.len(), Ordering::Relaxed);
        };
        let recorded = subject.record().map_or_else(Vec::new, |record| record.found().to_vec());
        begin(&recorded);
        let again = InductionResult::again(&recorded, &subject.name, &schedule, portfolio, &tick);
        let proof = again.unwrap_or_else(|| {
            let findings = invariants::find(&schedule, portfolio);
            begin(&findings.clauses);
            InductionResult::with(findings, &subject.name, &schedule, portfolio, &tick)
        });
        let properties = proof.by_property();
        let rows = properties.iter().map(|(property, summary)| {
            json!({ "property": property.name(), "proved": summary.proved, "of": summary.obligations,
                "open": summary.open })
        });
        json!({
            "state": if proof.complete() { "proved" } else { "open" },
            "properties": rows.collect::<Vec<_>>(),
            "found": proof.findings.clauses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "missing": proof.findings.missing,
        })
    }
}
