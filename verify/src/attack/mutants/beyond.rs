//! Mutants that are wrong only for large p.
//!
//! A typing mistake shows at small p, where the exact check finds it. Only the prover can find a fault that begins
//! later. Here one node `e` becomes `if p > 41 { e + 1 } else { e }`, or its negation if it is a condition: 41 is one
//! more than the largest p that is checked at compile time by default.

use super::{Mutant, Nursery, declared, place};
use roundel_spec::Schedule;
use roundel_spec::check::{self, Points};
use roundel_spec::expr::{BUILTIN_VARS, Binary, Expr, Unary};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// The largest p for which such a mutant equals its original.
pub const BEYOND: i64 = 41;

/// The ranges for such mutants: the first one with a point in the original's domain is used.
const RANGES: [RangeInclusive<usize>; 2] = [42..=44, 64..=64];

/// All mutants of a schedule that differ from it in one node, where p is larger than [`BEYOND`].
pub fn beyond(original: &Schedule) -> Vec<Mutant> {
    let mut nursery = Nursery { original, seen: HashSet::from([original.clone()]), all: Vec::new() };
    let mut found = Vec::new();
    original.for_each_expr(&mut |spot, e| found.push((spot, e.clone())));
    for (number, (spot, old)) in found.iter().enumerate().filter(|(_, (spot, _))| declared(original, *spot)) {
        for new in variants(old, original) {
            nursery.add(format!("{}: `{old}` -> `{new}`", place(original, *spot)), |schedule| {
                let mut count = 0;
                schedule.for_each_expr_mut(&mut |_, e| {
                    if count == number {
                        *e = new.clone();
                    }
                    count += 1;
                });
            });
        }
    }
    nursery.all
}

/// The points at which such mutants of a schedule are judged.
pub fn points(original: &Schedule) -> Option<Points> {
    let in_domain = |points: &Points| points.iter().any(|point| check::in_domain(original, &point).unwrap_or(false));
    RANGES.into_iter().map(|range| Points::new(original, range)).find(in_domain)
}

/// `e` with one node changed for large p.
fn variants(e: &Expr, schedule: &Schedule) -> Vec<Expr> {
    e.with_one_node_changed(&|node| vec![changed(node, schedule)])
}

fn changed(e: &Expr, schedule: &Schedule) -> Expr {
    let p = Expr::var(BUILTIN_VARS[1], 1);
    let large = Expr::binary(Binary::Gt, p, Expr::Int(BEYOND));
    let other = match is_condition(e, schedule) {
        true => Expr::Unary(Unary::Not, Box::new(e.clone())),
        false => Expr::binary(Binary::Add, e.clone(), Expr::Int(1)),
    };
    Expr::If(Box::new(large), Box::new(other), Box::new(e.clone()))
}

fn is_condition(e: &Expr, schedule: &Schedule) -> bool {
    match e {
        Expr::Bool(_) | Expr::Unary(Unary::Not, _) => true,
        Expr::Binary(op, ..) => op.is_logical(),
        Expr::Call(_, index, _) => is_condition(&schedule.functions[*index].body, schedule),
        Expr::If(_, then, _) => is_condition(then, schedule),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fate, Original};
    use super::*;

    #[test]
    fn they_are_wrong_beyond_and_nowhere_else() {
        let schedule = crate::recorded::of_entry(crate::catalogue::find("allgather/ring").expect("in the catalogue"));
        let all = beyond(&schedule);
        let peer = all.iter().find(|m| m.description.starts_with("send #0 to")).expect("there is one");
        assert_eq!(peer.description, "send #0 to: `rank + 1` -> `if p > 41 { rank + 1 + 1 } else { rank + 1 }`");
        let fate = |points: &Points| Original::new(&schedule, points).expect("right").fate(&peer.schedule);
        assert!(matches!(fate(&Points::new(&schedule, 1..=41)), Fate::Survived(_)));
        assert!(matches!(fate(&points(&schedule).expect("in the domain")), Fate::Killed(_)));
    }
}
