//! Formulas for costs: what costs often are, the declaration's own expressions, and up to two operators on top.

use super::measured::Measured;
use crate::proving::invariants::terms::{Term, Terms, mentions, size};
use roundel_spec::Schedule;
use roundel_spec::expr::{Binary, Builtin, Expr, slot};
use roundel_spec::schedule::{Metric, ROOT};

/// The formulas that fit the largest amount of a metric at every point, the simplest first.
pub(super) fn fitting(schedule: &Schedule, measured: &Measured, metric: Metric) -> Vec<Expr> {
    let wanted: Vec<Option<i64>> = measured.largest(metric).into_iter().map(Some).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let term = |expr: Expr| Term { values: measured.values(schedule, &expr), expr };
    let own = own(schedule);
    let atoms: Vec<Term> = usual(schedule).into_iter().chain(own.iter().cloned()).map(term).collect();
    let terms = Terms::over(atoms);
    let mut found = terms.fitting(&wanted);
    if found.is_empty() {
        let conditions: Vec<Term> = conditions(schedule, &own).into_iter().map(term).collect();
        found = terms.fitting_by_cases(&wanted, &conditions);
    }
    // Where two expressions have the same value, one may be easier to prove: that of the declaration.
    let declared = schedule.bounds.iter().filter(|bound| bound.metric == metric).map(|bound| bound.value.clone());
    let same = |e: &Expr| measured.values(schedule, e) == wanted;
    let others: Vec<Expr> =
        own.into_iter().chain(declared).filter(|e| !found.contains(e) && is_fixed(schedule, e) && same(e)).collect();
    let second = found.len().min(1);
    found.splice(second..second, others);
    found
}

fn p() -> Expr {
    Expr::built_in(slot::P)
}

fn nodes() -> Expr {
    Expr::built_in(slot::NODES)
}

fn lanes() -> Expr {
    Expr::built_in(slot::LANES)
}

/// What costs are made of: p, parameters, nodes, and logarithms.
fn usual(schedule: &Schedule) -> Vec<Expr> {
    let log = |function, base: Expr, of: Expr| Expr::Builtin(function, vec![base, of]);
    let numbers =
        || schedule.numbers.iter().filter(|number| number.var.name != ROOT).map(|n| Expr::Var(n.var.clone()));
    let mut all = vec![Expr::Int(1), Expr::Int(2), p()];
    all.extend(numbers());
    all.extend(schedule.lists.iter().map(|list| Expr::Length(list.var.clone())));
    if schedule.uses_placement() {
        all.extend([nodes(), lanes()]);
    }
    // Whether there are several ranks, or several nodes.
    let several = |e: Expr| Expr::Builtin(Builtin::Min, vec![1.into(), Expr::binary(Binary::Sub, e, 1.into())]);
    all.push(several(p()));
    if schedule.uses_placement() {
        all.push(several(nodes()));
    }
    all.extend([Builtin::CeilLog, Builtin::FloorLog].map(|function| log(function, 2.into(), p())));
    all.extend(numbers().map(|base| log(Builtin::CeilLog, base, p())));
    if schedule.uses_placement() {
        all.push(log(Builtin::CeilLog, 2.into(), nodes()));
        all.push(log(Builtin::CeilLog, lanes(), nodes()));
    }
    all.push(Expr::Builtin(Builtin::DigitSum, vec![Expr::binary(Binary::Sub, p(), 1.into()), 2.into()]));
    all
}

/// The declaration's own numbers that are the same on all ranks and in all rounds.
fn own(schedule: &Schedule) -> Vec<Expr> {
    let mut all: Vec<Expr> = Vec::new();
    let mut add = |e: &Expr| {
        e.walk(&mut |e| {
            let literal = matches!(e, Expr::Int(_) | Expr::Bool(_));
            if !literal && schedule.is_number(e) && size(e) <= 6 && is_fixed(schedule, e) && !all.contains(e) {
                all.push(e.clone());
            }
        });
    };
    for index in schedule.loops.iter().flat_map(|l| &l.indices) {
        add(&index.hi);
        add(&index.lo);
    }
    for (i, function) in schedule.functions.iter().enumerate().filter(|(_, function)| function.args.is_empty()) {
        add(&Expr::Call(function.name.clone(), i, Vec::new()));
        add(&function.body);
    }
    add(&schedule.blocks);
    all.sort_by_key(size);
    all
}

/// Whether an expression has the same value on all ranks and in all rounds.
fn is_fixed(schedule: &Schedule, e: &Expr) -> bool {
    let is_number = |slot: usize| schedule.numbers.iter().any(|number| number.var.slot == slot);
    let same = |slot: usize| matches!(slot, slot::P | slot::NODES | slot::LANES) || is_number(slot);
    let others: Vec<usize> = (0..schedule.slots).filter(|&slot| !same(slot)).collect();
    !mentions(schedule, e, &others)
}

/// Conditions that tell calls apart: few ranks or nodes, powers of two, what is left over.
fn conditions(schedule: &Schedule, own: &[Expr]) -> Vec<Expr> {
    let more_than = |e: Expr, n: i64| Expr::binary(Binary::Gt, e, n.into());
    let log = Expr::Builtin(Builtin::FloorLog, vec![2.into(), p()]);
    let mut all = vec![more_than(p(), 1)];
    if schedule.uses_placement() {
        all.extend([more_than(nodes(), 1), more_than(lanes(), 1)]);
    }
    all.extend(own.iter().filter(|e| matches!(e, Expr::Call(..))).map(|e| more_than(e.clone(), 0)));
    let root = schedule.numbers.iter().filter(|number| number.var.name == ROOT);
    all.extend(root.map(|number| Expr::binary(Binary::Eq, Expr::Var(number.var.clone()), 0.into())));
    all.push(Expr::binary(Binary::Eq, p(), Expr::Builtin(Builtin::Pow, vec![2.into(), log])));
    all
}
