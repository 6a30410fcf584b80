//! Decides whether a state is reachable. A solver's model is a state that `holds` admits, but no run may ever reach it.
//! For one p, one rank and given parameters, running the schedule decides this.

use crate::proving::smt::symbol;
use crate::replay::counterexample::Counterexample;
use roundel_spec::check::{self, Point};
use roundel_spec::eval::{self, Env, Halt, Walker};
use roundel_spec::schedule::{Loop, Schedule};
use std::path::Path;

/// Whether the state of a counterexample to an induction is reachable.
#[derive(Clone, Debug)]
pub struct Reached {
    /// Whether it is reached.
    pub reached: bool,
    /// The result as a sentence.
    pub text: String,
    /// The case of the model, if it is a valid one.
    pub point: Option<Point>,
}

/// Looks for the state of a counterexample to an induction.
pub fn state(saved: &Counterexample, schedule: &Schedule) -> Reached {
    let unreached = |reason: String, point| Reached {
        reached: false,
        text: format!("this is not a reachable state: {reason}"),
        point,
    };
    let point = match saved.point(schedule, Path::new("the model")) {
        Ok(point) => point,
        Err(_) => return Reached {
            reached: false,
            text:
                "the model names no case that could be run: no p, too many ranks, or a list parameter, which a model \
                   does not spell out"
                    .into(),
            point: None,
        },
    };
    let case = point.case(schedule);
    match check::in_domain(schedule, &point) {
        Ok(true) => {}
        Ok(false) => return unreached(format!("{case} lies outside the domain"), Some(point)),
        Err(violation) => return unreached(violation.to_string(), Some(point)),
    }
    let rank = saved.rank.unwrap_or(0);
    let mut search = ReachSearch { saved, found: None, seen: Vec::new(), round: 0 };
    let mut env = Env::new(schedule, &point.args, &point.placement.place(rank));
    // A run that cannot continue reaches no further state; the checks report why.
    let _ = eval::walk(&mut env, &mut search);
    match (search.found, search.seen.last()) {
        (Some(round), _) => {
            let text = format!("this state is reached: rank {rank} is in it before round {round}, with {case}");
            Reached { reached: true, text, point: Some(point) }
        }
        (None, Some(seen)) => unreached(format!("with {case}, rank {rank} has {seen} there"), Some(point)),
        (None, None) => unreached(format!("with {case}, no round has these indices"), Some(point)),
    }
}

/// Compares the indices and states of every round with those of a model.
struct ReachSearch<'a> {
    saved: &'a Counterexample,
    found: Option<usize>,
    /// The states of rounds whose indices match the model.
    seen: Vec<String>,
    round: usize,
}

impl ReachSearch<'_> {
    fn look(&mut self, env: &Env<'_>, n: usize, l: &Loop) {
        // In later loops, the names in the model end with the number of the loop.
        let suffix = if n == 0 { String::new() } else { format!(".{n}") };
        let value = |name: &str| self.saved.model.get(&symbol(&format!("{name}{suffix}")))?.parse::<i64>().ok();
        let is = |name: &str, slot: usize| value(name).map(|value| value == env.get(slot));
        let indices: Vec<Option<bool>> = l.indices.iter().map(|index| is(&index.var.name, index.var.slot)).collect();
        if self.found.is_some() || indices.is_empty() || !indices.iter().all(|same| *same == Some(true)) {
            return;
        }
        if l.states.iter().all(|state| is(&state.var.name, state.var.slot) != Some(false)) {
            self.found = Some(self.round);
        } else {
            let states = l.states.iter().map(|state| format!("{} = {}", state.var.name, env.get(state.var.slot)));
            self.seen.push(states.collect::<Vec<_>>().join(", "));
        }
    }
}

impl Walker for ReachSearch<'_> {
    type Stop = ();

    fn round(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<()>> {
        self.look(env, n, l);
        self.round += 1;
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<()>> {
        self.look(env, n, l);
        Ok(())
    }
}
