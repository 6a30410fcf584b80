//! What repairs need of algebra: another rank in the place of `rank`, and the rank from which a peer is reached.

use crate::schedule::Schedule;
use crate::schedule::blocks::BlockSet;
use crate::schedule::expr::slot::{P, RANK};
use crate::schedule::expr::{Binary, Expr, Unary, Var};

/// An expression with the variable in `slot` replaced; `None` if a definition hides where it occurs.
pub(super) fn substituted(schedule: &Schedule, e: &Expr, slot: usize, by: &Expr) -> Option<Expr> {
    match e {
        Expr::Var(var) if var.slot == slot => Some(by.clone()),
        Expr::Call(_, index, _) if mentions(schedule, &schedule.functions[*index].body, slot) => None,
        _ => {
            let mut changed = e.clone();
            for child in changed.children_mut() {
                *child = substituted(schedule, child, slot, by)?;
            }
            // `a + (b + c)` is written without parentheses.
            Some(flat(changed))
        }
    }
}

fn mentions(schedule: &Schedule, e: &Expr, slot: usize) -> bool {
    let mut found = false;
    e.walk(&mut |e| match e {
        Expr::Var(var) => found |= var.slot == slot,
        Expr::Call(_, index, _) => found |= mentions(schedule, &schedule.functions[*index].body, slot),
        _ => {}
    });
    found
}

/// A block set as another rank sees it.
pub(super) fn blocks_of(schedule: &Schedule, set: &BlockSet, rank: &Expr) -> Option<BlockSet> {
    let mut changed = set.clone();
    let mut all = true;
    changed.for_each_expr_mut(&mut |e| match substituted(schedule, e, RANK, rank) {
        Some(new) => *e = new,
        None => all = false,
    });
    all.then_some(changed)
}

/// A condition, or any expression, as another rank sees it.
pub(super) fn seen_by(schedule: &Schedule, e: &Expr, rank: &Expr) -> Option<Expr> {
    substituted(schedule, e, RANK, rank)
}

/// A set with other variables in the place of some.
pub(super) fn renamed(schedule: &Schedule, set: &BlockSet, names: &[(Var, Var)]) -> Option<BlockSet> {
    let mut changed = set.clone();
    let mut all = true;
    for (old, new) in names {
        changed.for_each_expr_mut(&mut |e| match substituted(schedule, e, old.slot, &Expr::Var(new.clone())) {
            Some(new) => *e = new,
            None => all = false,
        });
    }
    all.then_some(changed)
}

/// The rank whose peer is this rank: `rank - e` for `rank + e`, `rank ^ e` for itself.
pub(super) fn inverse(schedule: &Schedule, peer: &Expr) -> Option<Expr> {
    match peer {
        Expr::Binary(Binary::Rem, inner, around) if matches!(&**around, Expr::Var(var) if var.slot == P) => {
            inverse(schedule, inner)
        }
        Expr::Binary(Binary::BitXor, a, b) if is_rank(a) && !mentions(schedule, b, RANK) => Some(peer.clone()),
        _ => {
            let terms = terms(peer);
            let (own, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(_, e)| is_rank(e));
            let free = others.iter().all(|(_, e)| !mentions(schedule, e, RANK));
            let turned = others.into_iter().map(|(plus, e)| (!plus, e));
            (own.len() == 1 && own[0].0 && free).then(|| sum(own.clone().into_iter().chain(turned)))
        }
    }
}

fn is_rank(e: &Expr) -> bool {
    matches!(e, Expr::Var(var) if var.slot == RANK)
}

/// The terms of a sum, each with whether it is added.
fn terms(e: &Expr) -> Vec<(bool, Expr)> {
    let turned = |all: Vec<(bool, Expr)>| all.into_iter().map(|(plus, e)| (!plus, e));
    match e {
        Expr::Binary(Binary::Add, a, b) => terms(a).into_iter().chain(terms(b)).collect(),
        Expr::Binary(Binary::Sub, a, b) => terms(a).into_iter().chain(turned(terms(b))).collect(),
        Expr::Unary(Unary::Neg, a) => turned(terms(a)).collect(),
        Expr::Int(n) if *n < 0 => vec![(false, Expr::Int(n.saturating_neg()))],
        other => vec![(true, other.clone())],
    }
}

/// The sum of terms, without those that cancel out, and with one number at most.
fn sum(all: impl Iterator<Item = (bool, Expr)>) -> Expr {
    let mut kept: Vec<(bool, Expr)> = Vec::new();
    let mut number = 0i64;
    for (plus, e) in all {
        if let Expr::Int(n) = e {
            number = number.saturating_add(if plus { n } else { -n });
        } else if let Some(opposite) = kept.iter().position(|(other, same)| *other != plus && *same == e) {
            kept.remove(opposite);
        } else {
            kept.push((plus, e));
        }
    }
    // What is added comes first, because `0 - a + b` reads badly.
    let first = kept.iter().position(|(plus, _)| *plus);
    let mut total = first.map(|first| kept.remove(first).1);
    if number != 0 {
        kept.push((number > 0, Expr::Int(number.saturating_abs())));
    }
    for (plus, e) in kept {
        total = Some(match (total, plus) {
            (Some(total), true) => Expr::binary(Binary::Add, total, e),
            (Some(total), false) => Expr::binary(Binary::Sub, total, e),
            (None, true) => e,
            (None, false) => Expr::Unary(Unary::Neg, Box::new(e)),
        });
    }
    total.unwrap_or(Expr::Int(0))
}

/// A sum without parentheses and without terms that cancel out; any other expression as it is.
pub(super) fn flat(e: Expr) -> Expr {
    match e {
        Expr::Binary(Binary::Add | Binary::Sub, ..) => sum(terms(&e).into_iter()),
        other => other,
    }
}

/// An expression as a user would write it: all sums flat, nothing multiplied or divided by 1.
pub(super) fn tidy(mut e: Expr) -> Expr {
    for child in e.children_mut() {
        *child = tidy(std::mem::replace(child, Expr::Int(0)));
    }
    match e {
        Expr::Binary(Binary::Mul | Binary::Div, a, b) if *b == Expr::Int(1) => *a,
        Expr::Binary(Binary::Mul, a, b) if *a == Expr::Int(1) => *b,
        other => flat(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x(name: &str) -> Expr {
        Expr::var(
            name,
            match name {
                "rank" => RANK,
                "p" => P,
                other => 10 + other.len(),
            },
        )
    }

    #[test]
    fn sums_are_turned_around() {
        let schedule = crate::schedule::reference::of(crate::Kind::Allgather);
        let inverse = |e: Expr| inverse(&schedule, &e).map(|e| e.to_string());
        let (rank, d) = (x("rank"), x("D"));
        let plus = Expr::binary(Binary::Add, rank.clone(), d.clone());
        assert_eq!(inverse(plus.clone()).as_deref(), Some("rank - D"));
        assert_eq!(inverse(Expr::binary(Binary::Rem, plus.clone(), x("p"))).as_deref(), Some("rank - D"));
        assert_eq!(inverse(Expr::binary(Binary::Sub, plus, 3.into())).as_deref(), Some("rank - D + 3"));
        assert_eq!(inverse(Expr::binary(Binary::BitXor, rank.clone(), d.clone())).as_deref(), Some("rank ^ D"));
        assert_eq!(inverse(d.clone()), None);
        assert_eq!(inverse(Expr::binary(Binary::Sub, d, rank)), None);
    }

    #[test]
    fn what_cancels_out_is_left_out() {
        let e = Expr::binary(Binary::Sub, Expr::binary(Binary::Add, x("rank"), 1.into()), x("s"));
        let e = Expr::binary(Binary::Add, e, Expr::binary(Binary::Sub, x("s"), 2.into()));
        assert_eq!(tidy(e).to_string(), "rank - 1");
        assert_eq!(tidy(Expr::binary(Binary::Div, Expr::binary(Binary::Mul, 1.into(), x("D")), 1.into())), x("D"));
    }
}
