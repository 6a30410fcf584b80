//! Finds what a declaration leaves out: what ranks hold before each round, what states are, what is counted.
//!
//! Small p are simulated (`sights`), and what is seen there is fitted to expressions (`terms`, `facts`) and shapes of
//! sets (`shapes`, `blockwise`, `pairs`). Many fit; the `search` takes the simplest that a solver finds inductive.
//! Nothing found is trusted: what is proved is the declaration together with the found clauses, by the same obligations
//! as if they had been written. A wrong guess makes a proof fail, and never makes one succeed.

mod blockwise;
mod facts;
mod pairs;
mod search;
mod shapes;
mod sights;
mod table;
pub(super) mod terms;
pub mod written;

use super::smt::Portfolio;
use roundel_spec::Schedule;
use roundel_spec::proof::FoundClause;
use roundel_spec::schedule::{Hold, Loop};
use serde::Serialize;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The clauses that the declaration leaves out.
    pub clauses: Vec<FoundClause>,
    /// What is missing all the same.
    pub missing: Vec<MissingClause>,
}

/// A clause that was not found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct MissingClause {
    /// What was tried, or seen at small p.
    pub seen: String,
    /// What to write, the same for all rounds of a collective.
    pub advice: Option<String>,
}

impl MissingClause {
    /// What was seen, where there is nothing to advise.
    pub(super) fn new(seen: String) -> Self {
        MissingClause { seen, advice: None }
    }
}

impl From<MissingClause> for String {
    fn from(MissingClause { seen, advice }: MissingClause) -> Self {
        match advice {
            Some(advice) => format!("{seen}\n{advice}"),
            None => seen,
        }
    }
}

/// Finds the clauses that an induction over a schedule needs and the schedule does not state.
pub fn find(schedule: &Schedule, portfolio: &Portfolio) -> Findings {
    if !wants_claims(schedule) {
        return Findings::default();
    }
    let forward = schedule.forward();
    let forward = forward.as_ref().unwrap_or(schedule);
    match sights::Sights::of(forward) {
        Ok(sights) => search::Search::new(forward, &sights).run(portfolio),
        // A collective that is wrong has no invariant; the exact check shows the fault.
        Err(violation) => {
            Findings { clauses: Vec::new(), missing: vec![MissingClause::new(format!("it is wrong: {violation}"))] }
        }
    }
}

/// What a flat declaration leaves out about its states, and hints: the simplest that fits what is seen at small p.
pub fn strengthening(schedule: &Schedule) -> Vec<FoundClause> {
    let forward = schedule.forward();
    let schedule = forward.as_ref().unwrap_or(schedule);
    if schedule.uses_placement() || schedule.within().next().is_some() {
        return Vec::new();
    }
    let Ok(sights) = sights::Sights::of(schedule) else { return Vec::new() };
    let mut all = Vec::new();
    for n in 0..schedule.loops.len() {
        let states = facts::of_states(schedule, n, &sights).into_iter().filter_map(|facts| facts.into_iter().next());
        let clauses = states.map(|fact| format!("holds({fact})"));
        let hints = facts::hints(schedule, n, &sights).into_iter().map(|hint| format!("hint({hint})"));
        all.extend(clauses.chain(hints).map(|clause| FoundClause { round: n, clause }));
    }
    all.retain(|clause| schedule.claiming(std::slice::from_ref(clause)).is_ok());
    all
}

/// Whether a declaration leaves out what an induction needs. What looks at nodes must state it.
pub fn wants_claims(schedule: &Schedule) -> bool {
    let forward = schedule.forward();
    let schedule = forward.as_ref().unwrap_or(schedule);
    let flat = !schedule.uses_placement() && schedule.within().next().is_none();
    let wants =
        |l: &Loop| wants_memory(schedule, l) || !l.indices.is_empty() && !facts::metrics(schedule, l).is_empty();
    flat && schedule.loops.iter().any(wants)
}

/// Whether a loop does not say what ranks hold. After a round without an index, a gather holds what arrived, too.
fn wants_memory(schedule: &Schedule, l: &Loop) -> bool {
    if !schedule.kind.reduces() {
        let stated = l.holds.iter().any(|hold| matches!(hold, Hold::Blocks(_)));
        return !stated && (!l.indices.is_empty() || schedule.kind.moves());
    }
    (0..schedule.lines.len()).any(|line| !states_line(l, line))
}

fn states_line(l: &Loop, wanted: usize) -> bool {
    l.holds.iter().any(|hold| matches!(hold, Hold::Contributors { line, .. } if *line as usize == wanted))
}
