//! Shapes of what ranks of an all-to-all hold. Of the blocks that go `j` ranks far, a rank holds one before each round:
//! the one that has come `f(j)` ranks far. So a shape is a function of `j`: the digits that have been moved, `j % X`,
//! or all of `j` where it is below a limit; or one digit more for some values of that digit.

use super::sights::{Held, Sight, Sights};
use super::terms::{Term, Terms, of_rank};
use roundel_spec::Schedule;
use roundel_spec::arith;
use roundel_spec::expr::{Expr, slot};

/// How far the block that goes `j` ranks far has come, for every j; `None` if there is no such block, or several.
fn come(sights: &Sights, sight: &Sight) -> Option<Vec<i64>> {
    let Held::Blocks(blocks) = &sight.held else { return None };
    let (p, rank) = (sights.p(sight), sight.rank as i64);
    let mut come = vec![None; p as usize];
    for &block in blocks {
        let (source, destination) = (block as i64 / p, block as i64 % p);
        let far = &mut come[(destination - source).rem_euclid(p) as usize];
        if far.replace((rank - source).rem_euclid(p)).is_some() {
            return None;
        }
    }
    come.into_iter().collect()
}

/// The sets that fit, the simplest first, as text.
pub(super) fn fitting(schedule: &Schedule, n: usize, sights: &Sights) -> Vec<String> {
    let seen: Vec<&Sight> = sights.of_loops[n].iter().collect();
    let Some(come) = seen.iter().map(|sight| come(sights, sight)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let terms = Terms::of(schedule, n, sights, &seen, |e| !of_rank(schedule, e));
    let fits = |term: &Term, shape: &dyn Fn(i64, i64) -> Option<i64>| {
        term.values.iter().zip(&come).all(|(value, come)| {
            let is = |(j, far): (usize, &i64)| value.and_then(|value| shape(j as i64, value)) == Some(*far);
            come.iter().enumerate().all(is)
        })
    };
    let digits = |j: i64, x: i64| (x > 0).then(|| j % x);
    let below = |j: i64, limit: i64| Some(if j < limit { j } else { 0 });
    let mut found = partly(schedule, n, sights, &seen, &come);
    for term in terms.atoms.iter().chain(&terms.pairs) {
        let x = &term.expr;
        if fits(term, &below) {
            // After a round without an index, everything has arrived.
            if *x == Expr::built_in(slot::P) {
                return vec!["[rank - j -> rank; j in 0..p]".into()];
            }
            found.push(format!("[rank -> rank + j; j in {x}..p] + [rank - j -> rank; j in 0..{x}]"));
        } else if fits(term, &digits) {
            let x = if super::terms::size(x) > 1 { format!("({x})") } else { x.to_string() };
            found.push(format!("[rank - j % {x} -> rank - j % {x} + j; j in 0..p]"));
        }
    }
    found.truncate(4);
    found
}

/// Where an inner index goes through the values of a digit: the digit has been moved if it is below the index.
fn partly(schedule: &Schedule, n: usize, sights: &Sights, seen: &[&Sight], come: &[Vec<i64>]) -> Vec<String> {
    let l = &schedule.loops[n];
    let ([place, value], [state]) = (l.indices.as_slice(), l.states.as_slice()) else { return Vec::new() };
    let bases = schedule.numbers.iter().map(|number| Expr::Var(number.var.clone())).chain([Expr::Int(2)]);
    let fits = |base: &Expr| {
        seen.iter().zip(come).all(|(sight, come)| {
            let mut env = sights.env(schedule, sight);
            let (place, value, size) = (env.get(place.var.slot), env.get(value.var.slot), env.get(state.var.slot));
            let Ok(base) = env.eval(base) else { return false };
            let moved = |j: i64| {
                let digit = j / arith::checked_pow(base, place)? % base;
                if digit < value { j.checked_rem(base.checked_mul(size)?) } else { j.checked_rem(size) }
            };
            base > 1 && come.iter().enumerate().all(|(j, far)| moved(j as i64) == Some(*far))
        })
    };
    let claim = |base: Expr| {
        let (x, z, size) = (&place.var.name, &value.var.name, &state.var.name);
        let gone = format!("if digit(j, {base}, {x}) < {z} {{ j % ({base} * {size}) }} else {{ j % {size} }}");
        format!("[rank - {gone} -> rank - {gone} + j; j in 0..p]")
    };
    bases.filter(fits).map(claim).collect()
}
