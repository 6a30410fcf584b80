//! The search: one candidate for everything that is missing, the simplest first; what a solver does not find inductive
//! is replaced by the next.

use super::sights::Sights;
use super::{Findings, blockwise, facts, pairs, shapes::Shapes, states_line, table, wants_memory};
use crate::proving::smt::{Effort, Obligation, Portfolio, Property, SolverAnswer, obligations};
use crate::proving::sweep::parallel;
use roundel_spec::Schedule;
use roundel_spec::proof::{Claim, FoundClause};
use roundel_spec::schedule::Metric;
use std::sync::atomic::{AtomicBool, Ordering};

/// The effort for one question of the search: what is simple is decided soon.
const QUICK: Effort = Effort::seconds(1);

/// As many combinations of candidates are tried.
const ATTEMPTS: usize = 10;

/// What a clause is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// What a state is.
    State,
    /// What ranks hold, or the contributors to a line.
    Memory,
    Counter(Metric),
    Hint,
}

/// A missing clause with its candidates.
#[derive(Debug)]
struct Choice {
    round: usize,
    about: About,
    candidates: Vec<String>,
    /// The candidate in use; none beyond the last.
    current: usize,
}

impl Choice {
    fn clause(&self) -> Option<FoundClause> {
        let clause = self.candidates.get(self.current)?.clone();
        Some(FoundClause { round: self.round, clause })
    }
}

/// An obligation that is not proved at once.
#[derive(Debug)]
struct Failure {
    name: String,
    property: Property,
    /// Whether it has a counterexample; otherwise the solver did not decide it.
    refuted: bool,
}

pub(super) struct Search<'a> {
    schedule: &'a Schedule,
    sights: &'a Sights,
    choices: Vec<Choice>,
    /// The rounds for which no shape fits.
    unfit: Vec<usize>,
}

impl<'a> Search<'a> {
    pub(super) fn new(schedule: &'a Schedule, sights: &'a Sights) -> Self {
        let mut search = Search { schedule, sights, choices: Vec::new(), unfit: Vec::new() };
        (0..schedule.loops.len()).for_each(|n| search.gather(n));
        search
    }

    /// The candidates of one loop, in the order in which the prover reads their clauses.
    fn gather(&mut self, n: usize) {
        let (schedule, sights) = (self.schedule, self.sights);
        let l = &schedule.loops[n];
        for (i, facts) in facts::of_states(schedule, n, sights).into_iter().enumerate() {
            if facts.is_empty() {
                let limits = facts::limits(schedule, n, sights);
                let own = limits.into_iter().filter(|fact| fact.mentions(l.states[i].var.slot));
                own.for_each(|fact| self.add(n, About::State, vec![format!("holds({fact})")]));
            } else {
                self.add(n, About::State, facts.iter().map(|fact| format!("holds({fact})")).collect());
            }
        }
        if wants_memory(schedule, l) {
            self.memory(n);
            let facts = facts::bits(schedule, n, sights, &self.claimed(n));
            facts.into_iter().for_each(|fact| self.add(n, About::State, vec![format!("holds({fact})")]));
        }
        if !l.indices.is_empty() {
            for metric in facts::metrics(schedule, l) {
                let found = facts::of_counter(schedule, n, sights, metric);
                let clauses = found.iter().map(|value| format!("holds({metric} = {value})"));
                self.add(n, About::Counter(metric), clauses.collect());
            }
        }
        for hint in facts::hints(schedule, n, sights) {
            self.add(n, About::Hint, vec![format!("hint({hint})")]);
        }
    }

    /// The candidates for what ranks hold.
    fn memory(&mut self, n: usize) {
        let (schedule, sights) = (self.schedule, self.sights);
        let mut sets = Vec::new();
        if schedule.kind.reduces() {
            for line in (0..schedule.lines.len()).filter(|&line| !states_line(&schedule.loops[n], line)) {
                let name = &schedule.lines[line];
                let claims: Vec<String> = match Shapes::of_line(schedule, n, sights, line) {
                    Some(shapes) => shapes.fitting().iter().map(|set| format!("{name} = {set}")).collect(),
                    None => blockwise::fitting(schedule, n, sights, line),
                };
                sets.push(claims.iter().map(|claim| format!("holds({claim})")).collect::<Vec<_>>());
            }
        } else if schedule.kind.moves() {
            let found = pairs::fitting(schedule, n, sights);
            sets.push(found.iter().map(|set| format!("holds(blocks = {set})")).collect());
        } else {
            let found = Shapes::of_blocks(schedule, n, sights).fitting();
            sets.push(found.iter().map(|set| format!("holds(blocks = {set})")).collect());
        }
        if sets.is_empty() || sets.iter().any(Vec::is_empty) {
            self.unfit.push(n);
        }
        sets.into_iter().for_each(|candidates| self.add(n, About::Memory, candidates));
    }

    /// The simplest candidates for what ranks hold in a round.
    fn claimed(&self, n: usize) -> String {
        let there = self.choices.iter().filter(|choice| choice.round == n && choice.about == About::Memory);
        there.map(|choice| choice.candidates[0].as_str()).collect()
    }

    fn add(&mut self, round: usize, about: About, candidates: Vec<String>) {
        if !candidates.is_empty() {
            self.choices.push(Choice { round, about, candidates, current: 0 });
        }
    }

    fn clauses(&self) -> Vec<FoundClause> {
        self.choices.iter().filter_map(Choice::clause).collect()
    }

    /// Tries candidates until all that is missing is found.
    pub(super) fn run(mut self, portfolio: &Portfolio) -> Findings {
        self.readable();
        if !self.unfit.is_empty() {
            let missing = self.unfit.iter().map(|&n| table::nothing_fits(self.schedule, n, self.sights)).collect();
            return Findings { clauses: Vec::new(), missing };
        }
        let first = self.clauses();
        let mut best: Option<((usize, usize), Vec<FoundClause>)> = None;
        for _ in 0..ATTEMPTS {
            self.readable();
            let clauses = self.clauses();
            let Ok(claiming) = self.schedule.claiming(&clauses) else { break };
            let only = |choice: &Choice| choice.candidates.len() == 1 && choice.about != About::Hint;
            if portfolio.solvers.is_empty() || self.choices.iter().all(only) {
                return Findings { clauses, missing: Vec::new() };
            }
            let asked = obligations(&claiming);
            if asked.gaps.iter().any(|gap| Claim::of(gap.property.name()) == Claim::Correct) {
                // What is not encoded no other candidate proves.
                return Findings { clauses, missing: Vec::new() };
            }
            let failures = quickly(&self.schedule.name, &asked.all, portfolio);
            let correct = |failure: &&Failure| Claim::of(failure.property.name()) == Claim::Correct;
            let grave = failures.iter().filter(correct).count();
            // A counter that is left out leaves a gap.
            let open = (grave, failures.len() - grave + asked.gaps.len());
            if best.as_ref().is_none_or(|(fewest, _)| open < *fewest) && !failures.iter().any(is_grave) {
                best = Some((open, clauses));
            }
            if failures.is_empty() || !self.advance(&failures) {
                break;
            }
        }
        Findings { clauses: best.map_or(first, |(_, clauses)| clauses), missing: Vec::new() }
    }

    /// Drops candidates that cannot be read as clauses, because a name means something else there.
    fn readable(&mut self) {
        for choice in &mut self.choices {
            while choice.clause().is_some_and(|clause| self.schedule.claiming(&[clause]).is_err()) {
                choice.current += 1;
            }
            if choice.about == About::Memory && choice.clause().is_none() && !self.unfit.contains(&choice.round) {
                self.unfit.push(choice.round);
            }
        }
    }

    /// Replaces what failed by the next candidate. False if there is none.
    fn advance(&mut self, failures: &[Failure]) -> bool {
        let mut changed = false;
        let wrong: Vec<usize> = failures.iter().filter_map(|failure| self.culprit(failure)).collect();
        for (i, choice) in self.choices.iter_mut().enumerate() {
            let last = choice.current + 1 >= choice.candidates.len();
            if wrong.contains(&i) && !(choice.about == About::Memory && last) {
                choice.current += 1;
                changed = true;
            }
        }
        changed
    }

    /// The choice that an unproved obligation is about.
    fn culprit(&self, failure: &Failure) -> Option<usize> {
        let round = round_of(&failure.name);
        let place = |about: &dyn Fn(About) -> bool| {
            let there = |choice: &Choice| about(choice.about) && round.is_none_or(|round| choice.round == round);
            self.choices.iter().rposition(|choice| there(choice) && choice.current < choice.candidates.len())
        };
        let numbered = |word: &str| number_after(&failure.name, word);
        match failure.property {
            Property::Hints => self.nth(round?, |about| about == About::Hint, numbered("hint")?, |l| l.hints.len()),
            Property::Initialisation | Property::Invariant if numbered("fact").is_some() => {
                self.nth(round?, |about| about != About::Hint, numbered("fact")?, |l| l.holds.len())
            }
            Property::Counters | Property::Bounds | Property::Rounds => {
                place(&|about| matches!(about, About::Counter(metric) if failure.name.contains(metric.name())))
            }
            _ => place(&|about| about == About::Memory),
        }
    }

    /// The choice that is clause number `i` of its round, after those that are stated.
    fn nth(
        &self,
        round: usize,
        about: impl Fn(About) -> bool,
        i: usize,
        stated: impl Fn(&roundel_spec::schedule::Loop) -> usize,
    ) -> Option<usize> {
        let i = i.checked_sub(stated(&self.schedule.loops[round]))?;
        let used = self.choices.iter().enumerate().filter(|(_, choice)| choice.clause().is_some());
        used.filter(|(_, choice)| choice.round == round && about(choice.about)).nth(i).map(|(number, _)| number)
    }
}

/// Whether a failure shows that a candidate is not inductive, and not only that a bound is not proved.
fn is_grave(failure: &Failure) -> bool {
    failure.refuted && Claim::of(failure.property.name()) == Claim::Correct
}

/// The number of the round in an obligation's name.
fn round_of(name: &str) -> Option<usize> {
    number_after(name, "round")
}

fn number_after(name: &str, word: &str) -> Option<usize> {
    name.split('-').filter_map(|part| part.strip_prefix(word)).find_map(|number| number.parse().ok())
}

/// The obligations that are not proved within a little time. Ends early where one has a counterexample.
fn quickly(name: &str, all: &[Obligation], portfolio: &Portfolio) -> Vec<Failure> {
    let stop = AtomicBool::new(false);
    let ask = |i: usize| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let refuted = unproved(name, &all[i], portfolio)?;
        let failure = Failure { name: all[i].name.clone(), property: all[i].property, refuted };
        stop.fetch_or(is_grave(&failure), Ordering::Relaxed);
        Some(failure)
    };
    parallel(all.len(), ask).into_iter().flatten().collect()
}

/// Whether an obligation is refuted or undecided; `None` if it is proved.
fn unproved(name: &str, obligation: &Obligation, portfolio: &Portfolio) -> Option<bool> {
    let limit = portfolio.limit.min(QUICK);
    let mut refuted = false;
    for text in obligation.proofs(name) {
        for solver in &portfolio.solvers {
            match solver.ask(&text, limit) {
                SolverAnswer::Unsat => return None,
                answer => refuted = answer == SolverAnswer::Sat,
            }
        }
    }
    Some(refuted)
}
