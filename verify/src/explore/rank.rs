//! One rank of a call: what is claimed about it before each round, and how its counts stand against the bounds.

use super::Refusal;
use super::recording::{Recording, States};
use super::step::{naming, rank_of};
use super::subject::{ExploredCollective, PlaceKey};
use roundel_spec::check::CheckInput;
use roundel_spec::check::bounds::{RoundCount, Usage};
use roundel_spec::eval::{self, Env, EvalFault, Halt, Walker};
use roundel_spec::schedule::{Bound, BoundScope, Hold, Loop};
use roundel_spec::{Direction, Schedule};
use serde_json::{Value, json};

/// Describes a rank.
pub(super) fn rank(recording: &Recording, rank: usize) -> Result<Value, Refusal> {
    let rank = rank_of(recording, rank)?;
    let note = recording.subject.schedule.reverse_of.is_some().then_some(
        "The claims of this declaration are about the collective of which it is the reverse; the rounds run backwards.",
    );
    Ok(json!({
        "rank": rank,
        "claims": if note.is_some() { Vec::new() } else { claims(recording, rank) },
        "note": note,
        "bounds": bounds(recording, rank),
        "held": held(recording, rank),
    }))
}

/// What the rank holds after each step, in words; nothing if there are too many ranks.
fn held(recording: &Recording, rank: usize) -> Vec<String> {
    if recording.p() > 64 {
        return Vec::new();
    }
    let run = recording.run();
    let words = |step: usize| {
        let before = recording.before(step);
        match &recording.states {
            States::Blocks(provenance) => {
                run.naming().text(&provenance.held(rank, before).into_iter().collect::<Vec<_>>())
            }
            _ => run.shares_of(rank, before).unwrap_or_default(),
        }
    };
    (0..=recording.active.len()).map(words).collect()
}

/// The claims that are true before a round, for each step.
fn claims(recording: &Recording, rank: usize) -> Vec<Value> {
    let Recording { subject, point, .. } = recording;
    let stated = &subject.schedule;
    let claiming = subject.record().map_or_else(|| stated.clone(), |record| record.claimed(stated));
    let mut env = Env::new(&claiming, &point.args, &point.place(stated, rank));
    let place = point.place(stated, rank);
    let around = match stated.kind.moves() {
        true => place.p * place.p,
        false => eval::blocks::<()>(stated, &point.args, &place).unwrap_or(place.p),
    };
    env.wrap_around(if stated.kind.reduces() { place.p } else { around });
    let mut walker = Claims { recording, stated, own: 0, all: Vec::new(), around };
    // Where a value is missing, the check says so; the claims before it are shown.
    let _ = eval::walk(&mut env, &mut walker);
    let at = |step: usize| {
        let before = recording.before(step);
        let last = walker.all.iter().map(|claim| claim.0).filter(|&at| at <= before).max();
        // Between the rounds of an inner collective nothing is claimed; silent rounds change nothing.
        let last = last.filter(|&last| !recording.active.iter().any(|round| (last..before).contains(round)));
        let now = walker.all.iter().filter(|claim| Some(claim.0) == last);
        Value::Array(now.map(|claim| claim.1.clone()).collect())
    };
    (0..=recording.active.len()).map(at).collect()
}

struct Claims<'a> {
    recording: &'a Recording,
    /// The schedule without what was found.
    stated: &'a Schedule,
    own: usize,
    /// The round before which a claim is true, and the claim.
    all: Vec<(usize, Value)>,
    around: i64,
}

impl Claims<'_> {
    fn add(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) {
        let variables = l.indices.iter().map(|index| &index.var).chain(l.states.iter().map(|state| &state.var));
        let variables: Vec<String> = variables.map(|var| format!("{} = {}", var.name, env.get(var.slot))).collect();
        let stated = self.stated.loops[n].holds.len();
        let holds: Vec<Value> = (l.holds.iter().enumerate())
            .map(|(i, hold)| {
                let subject: &ExploredCollective = &self.recording.subject;
                let key = PlaceKey::Hold(n, i);
                let value = self.value(env, hold).unwrap_or_else(|fault| fault.to_string());
                let (place, text) = match i < stated {
                    true => (subject.place(key), subject.written(key)),
                    false => (None, None),
                };
                json!({ "text": text.unwrap_or_else(|| kind_of(hold).into()), "value": value, "place": place,
                    "found": i >= stated })
            })
            .collect();
        let at = self.recording.trace.own_round(self.own);
        self.all.push((at, json!({ "variables": variables.join(", "), "holds": holds })));
    }

    /// What a claim says on this rank.
    fn value(&self, env: &mut Env<'_>, hold: &Hold) -> Result<String, EvalFault> {
        let (placement, schedule) = (&self.recording.point.placement, &self.recording.subject.schedule);
        let renumbered = self.recording.point.is_renumbered(schedule);
        let mut items = Vec::new();
        Ok(match hold {
            Hold::Blocks(set) => {
                env.wrap_around(self.around);
                env.many_blocks(set, &mut items)?;
                if renumbered {
                    items.iter_mut().for_each(|block| *block = placement.real_block(schedule.kind, *block));
                }
                naming(self.recording).text(&items)
            }
            Hold::Contributors { block, ranks, .. } => {
                if let Some(var) = block {
                    env.set(var.slot, 0);
                }
                env.many_blocks(ranks, &mut items)?;
                if renumbered {
                    items.iter_mut().for_each(|rank| *rank = placement.order()[*rank]);
                }
                let first = if block.is_some() { "for block 0: " } else { "" };
                format!("{first}{{{}}}", crate::report::rounds::compact(&items))
            }
            Hold::Counter(_, value) => env.eval(value)?.to_string(),
            Hold::Fact(fact) => env.holds(fact)?.to_string(),
        })
    }
}

/// What a claim is about, if it is not written anywhere.
fn kind_of(hold: &Hold) -> &'static str {
    match hold {
        Hold::Blocks(_) => "blocks (found)",
        Hold::Contributors { .. } => "contributors (found)",
        Hold::Counter(metric, _) => metric.name(),
        Hold::Fact(_) => "a fact (found)",
    }
}

impl Walker for Claims<'_> {
    type Stop = ();

    fn round(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<()>> {
        if !l.indices.is_empty() {
            self.add(env, n, l);
        }
        self.own += 1;
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<()>> {
        self.add(env, n, l);
        Ok(())
    }
}

/// The bounds, and what has been used of them after each step.
fn bounds(recording: &Recording, rank: usize) -> Vec<Value> {
    let Recording { subject, point, trace, active, .. } = recording;
    let scene = CheckInput { schedule: &subject.schedule, point, trace };
    let node = point.placement.node(rank);
    let together: Vec<usize> = (0..trace.p()).filter(|&other| point.placement.node(other) == node).collect();
    let each: Vec<RoundCount> = active.iter().map(|&round| RoundCount::one(&scene, round)).collect();
    let one = |(i, bound): (usize, &Bound)| {
        let of: Vec<usize> = match bound.scope {
            BoundScope::Each => vec![rank],
            BoundScope::Node => together.clone(),
            BoundScope::Max | BoundScope::PerRound(_) if bound.metric.counts_rounds() => vec![rank],
            BoundScope::Max | BoundScope::PerRound(_) => (0..trace.p()).collect(),
        };
        let at = if bound.scope == BoundScope::Node { together.first().copied().unwrap_or(rank) } else { rank };
        let value = match bound.scope {
            // It may name the indices of the round.
            BoundScope::PerRound(_) => None,
            _ => {
                Env::new(&subject.schedule, &point.args, &point.place(&subject.schedule, at)).eval(&bound.value).ok()
            }
        };
        let key = PlaceKey::Bound(i);
        json!({
            "text": subject.written(key).unwrap_or_else(|| bound.to_string()),
            "place": subject.place(key),
            "checked": bound.checked,
            "exact": bound.exact,
            "value": value,
            "who": who(bound, rank, node),
            "used": used(&scene, bound, &of, active, &each),
        })
    };
    subject.schedule.bounds.iter().enumerate().map(one).collect()
}

/// Whose amounts are shown for a bound.
fn who(bound: &Bound, rank: usize, node: usize) -> String {
    match bound.scope {
        _ if bound.metric.counts_rounds() => "so far".into(),
        BoundScope::Each => format!("rank {rank} so far"),
        BoundScope::Node => format!("node {node} so far"),
        BoundScope::Max => "the most of any rank so far".into(),
        BoundScope::PerRound(_) => "the most of any rank in this round".into(),
    }
}

/// The amounts after each step: the largest of the ranks, or the sum of those of a node.
fn used(scene: &CheckInput<'_>, bound: &Bound, of: &[usize], active: &[usize], each: &[RoundCount]) -> Vec<i64> {
    let sums = bound.scope == BoundScope::Node;
    let single = matches!(bound.scope, BoundScope::PerRound(_));
    let mut totals = vec![Usage::default(); of.len()];
    let mut rounds = RoundCount::default();
    let mut amounts = vec![0];
    for (&round, &count) in active.iter().zip(each) {
        rounds = if single { count } else { RoundCount { active: rounds.active + count.active, ..rounds } };
        if !single {
            rounds.nonlocal += count.nonlocal;
        }
        for (total, &rank) in totals.iter_mut().zip(of) {
            if scene.trace.ranks[rank].directed(round, Direction::Send).next().is_some()
                || scene.trace.ranks[rank].directed(round, Direction::Recv).next().is_some()
                || single
            {
                let usage = Usage::in_round(scene, rank, round);
                if single {
                    *total = usage;
                } else {
                    total.add(usage);
                }
            }
        }
        let values = totals.iter().map(|total| total.get(bound.metric, rounds));
        amounts.push(if sums { values.sum() } else { values.max().unwrap_or(0) });
    }
    amounts
}
