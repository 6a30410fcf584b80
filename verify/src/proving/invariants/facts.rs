//! Facts about states, counters, and hints, as candidates: each is true at every sight, and none is trusted.

use super::shapes::is_known;
use super::sights::{Sight, Sights};
use super::terms::{self, Terms, lowest_bit, mentions, of_rank, own_expressions, ranks};
use roundel_spec::Schedule;
use roundel_spec::expr::{Binary, Builtin, Expr, slot};
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

/// How large the lowest bit of a rank is that is the first of its group, where groups become smaller, and where a claim
/// speaks of that bit.
pub(super) fn bits(schedule: &Schedule, n: usize, sights: &Sights, claim: &str) -> Vec<Expr> {
    let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
    let smaller = schedule.loops[n].states.iter().filter(|state| !matches!(state.init, Expr::Int(_)));
    let fact = |v: Expr, size: Expr| {
        let first = Expr::binary(Binary::Rem, v.clone(), size.clone());
        let cases = [
            Expr::binary(Binary::Eq, v.clone(), 0.into()),
            Expr::binary(Binary::Ne, first, 0.into()),
            Expr::binary(Binary::Le, size, lowest_bit(v)),
        ];
        cases.into_iter().reduce(|a, b| Expr::binary(Binary::Or, a, b))
    };
    let mut ranks = ranks(schedule, n);
    ranks.retain(|v| claim.contains(&lowest_bit(v.clone()).to_string()));
    let all = smaller.flat_map(|state| ranks.iter().filter_map(|v| fact(v.clone(), Expr::Var(state.var.clone()))));
    all.filter(|fact| is_true(schedule, sights, &seen, fact)).collect()
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
        // Of several indices, some combinations may have no messages. With one, that every round has is proved.
        let rounds = bound.metric.counts_rounds() && (bound.metric != Metric::Rounds || l.indices.len() < 2);
        if whole && !rounds && bound.metric != Metric::Scratch && !counted && !found.contains(&bound.metric) {
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
    let term = |expr: Expr| terms::Term { values: terms::values(schedule, sights, &seen, &expr), expr };
    let small = || own_expressions(schedule, n).into_iter().filter(|e| terms::size(e) == 1);
    if schedule.loops[n].indices.len() > 1 {
        let atoms = small().chain(terms::passes(schedule, n)).map(term).collect();
        return Terms::over(atoms).fitting_by_more_cases(&wanted, &conditions);
    }
    let found = Terms::of(schedule, n, sights, &seen, |_| true).fitting_by_more_cases(&wanted, &conditions);
    if !found.is_empty() || !schedule.kind.has_root() {
        return found;
    }
    Terms::over(small().chain(terms::depths(schedule, n)).map(term).collect()).clipped(&wanted)
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
    powers(schedule, n, sights, &seen).into_iter().for_each(&mut add);
    for t in &l.transfers {
        t.peer.walk(&mut |e| {
            if let Expr::Binary(Binary::BitXor, ..) = e {
                add(Expr::binary(Binary::Lt, e.clone(), Expr::built_in(slot::P)));
            }
        });
    }
    found
}

/// Which powers of two definitions are, if they are: `d == pow(2, w - s - 1)`.
fn powers(schedule: &Schedule, n: usize, sights: &Sights, seen: &[&Sight]) -> Vec<Expr> {
    let l = &schedule.loops[n];
    let states: Vec<usize> = l.states.iter().map(|state| state.var.slot).collect();
    let allowed = |e: &Expr| !of_rank(schedule, e) && !mentions(schedule, e, &states);
    let terms = Terms::of(schedule, n, sights, seen, allowed);
    let own = schedule.definitions_in(n).into_iter().filter(|&i| {
        let function = &schedule.functions[i];
        function.args.is_empty() && schedule.is_number(&function.body) && mentions(schedule, &function.body, &states)
    });
    let hint = |i: usize| {
        let named = Expr::Call(schedule.functions[i].name.clone(), i, Vec::new());
        let exponents: Vec<Option<i64>> =
            terms::values(schedule, sights, seen, &named).into_iter().map(exponent).collect();
        let all = !exponents.is_empty() && exponents.iter().all(Option::is_some);
        let exponent = all.then(|| terms.fitting(&exponents).into_iter().next()).flatten()?;
        Some(Expr::binary(Binary::Eq, named, Expr::Builtin(Builtin::Pow, vec![2.into(), exponent])))
    };
    own.filter_map(hint).collect()
}

/// The exponent of a power of two.
fn exponent(value: Option<i64>) -> Option<i64> {
    let value = value.filter(|value| *value > 0 && value & (value - 1) == 0)?;
    Some(i64::from(value.trailing_zeros()))
}
