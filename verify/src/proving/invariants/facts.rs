//! Facts about states, counters, and hints, as candidates: each is true at every sight, and none is trusted.

use super::shapes::is_known;
use super::sights::{Sight, Sights};
use super::terms::{self, Terms, mentions, of_rank};
use roundel_spec::Schedule;
use roundel_spec::expr::{Binary, Expr, slot};
use roundel_spec::schedule::{BoundScope, Hold, Loop, Metric};

/// What each state of a loop could be, the simplest first: `D == pow(2, s)`.
pub(super) fn of_states(schedule: &Schedule, n: usize, sights: &Sights) -> Vec<Vec<Expr>> {
    let l = &schedule.loops[n];
    let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
    let states: Vec<usize> = l.states.iter().map(|state| state.var.slot).collect();
    let allowed = |e: &Expr| !of_rank(schedule, e) && !mentions(schedule, e, &states);
    let terms = Terms::of(schedule, n, sights, &seen, allowed);
    let known = |state: usize| {
        let defines = |hold: &Hold| matches!(hold, Hold::Fact(Expr::Binary(Binary::Eq, a, _)) if a.mentions(state));
        l.holds.iter().any(defines)
    };
    let of_state = |state: &roundel_spec::schedule::State| {
        if known(state.var.slot) || state.backward {
            return Vec::new();
        }
        let value =
            |sight: &&Sight| sight.values.iter().find(|(slot, _)| *slot == state.var.slot).map(|(_, value)| *value);
        let wanted: Vec<Option<i64>> = seen.iter().map(value).collect();
        let is = |value: Expr| Expr::binary(Binary::Eq, Expr::Var(state.var.clone()), value);
        terms.fitting(&wanted).into_iter().map(is).collect()
    };
    l.states.iter().map(of_state).collect()
}

/// Limits of states that no equation describes: `1 <= D`, `D <= p`.
pub(super) fn limits(schedule: &Schedule, n: usize, sights: &Sights) -> Vec<Expr> {
    let l = &schedule.loops[n];
    let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
    let p = || Expr::built_in(slot::P);
    let of_state = |state: &roundel_spec::schedule::State| {
        let var = || Expr::Var(state.var.clone());
        [Expr::binary(Binary::Le, 1.into(), var()), Expr::binary(Binary::Le, var(), p())]
    };
    let all: Vec<Expr> = l.states.iter().flat_map(of_state).collect();
    all.into_iter().filter(|fact| is_true(schedule, sights, &seen, fact)).collect()
}

fn is_true(schedule: &Schedule, sights: &Sights, seen: &[&Sight], fact: &Expr) -> bool {
    !seen.is_empty() && terms::values(schedule, sights, seen, fact).iter().all(|value| *value == Some(1))
}

/// The metrics that bounds on the whole run speak of, and that a loop does not count yet.
pub(super) fn metrics(schedule: &Schedule, l: &Loop) -> Vec<Metric> {
    let mut found = Vec::new();
    for bound in schedule.bounds.iter().filter(|bound| !bound.checked) {
        let counted = l.holds.iter().any(|hold| matches!(hold, Hold::Counter(metric, _) if *metric == bound.metric));
        let whole = !matches!(bound.scope, BoundScope::PerRound(_));
        let by_rank = !bound.metric.counts_rounds() && bound.metric != Metric::Scratch;
        if whole && by_rank && !counted && !found.contains(&bound.metric) {
            found.push(bound.metric);
        }
    }
    found
}

/// What a counter could be, the simplest first.
pub(super) fn of_counter(schedule: &Schedule, n: usize, sights: &Sights, metric: Metric) -> Vec<Expr> {
    let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
    let wanted: Vec<Option<i64>> = seen.iter().map(|sight| Some(sight.used(metric))).collect();
    let alike = Terms::of(schedule, n, sights, &seen, |e| !of_rank(schedule, e)).fitting(&wanted);
    if !alike.is_empty() {
        return alike;
    }
    let conditions = terms::conditions(schedule, n, sights, &seen);
    Terms::of(schedule, n, sights, &seen, |_| true).fitting_by_cases(&wanted, &conditions)
}

/// Hints that often help: halves of what is even, ranks that stay in range, powers of two.
pub(super) fn hints(schedule: &Schedule, n: usize, sights: &Sights) -> Vec<Expr> {
    let l = &schedule.loops[n];
    let seen: Vec<&Sight> = sights.of_loops[n].iter().filter(|sight| sight.inside || l.indices.is_empty()).collect();
    let mut found: Vec<Expr> = Vec::new();
    let mut add = |hint: Expr| {
        let new = !found.contains(&hint) && !l.hints.contains(&hint);
        if new && is_known(schedule, l, &hint) && is_true(schedule, sights, &seen, &hint) {
            found.push(hint);
        }
    };
    let own = schedule.definitions_in(n);
    for &i in &own {
        let function = &schedule.functions[i];
        if let (true, Expr::Binary(Binary::Div, whole, by)) = (function.args.is_empty(), &function.body)
            && matches!(**by, Expr::Int(_))
        {
            let named = Expr::Call(function.name.clone(), i, Vec::new());
            let product = Expr::binary(Binary::Mul, (**by).clone(), named);
            add(Expr::binary(Binary::Eq, (**whole).clone(), product));
        }
    }
    for t in &l.transfers {
        t.peer.walk(&mut |e| {
            if let Expr::Binary(Binary::BitXor, ..) = e {
                add(Expr::binary(Binary::Lt, e.clone(), Expr::built_in(slot::P)));
            }
        });
    }
    found
}
