//! Single edits: one more or one less, another operator or variable, a clip at p, another modulus; a smaller domain;
//! another bound.

use super::algebra::{flat, tidy};
use super::mirror::loop_of;
use super::{Candidate, words};
use crate::check::violation::Violation;
use crate::schedule::expr::{BUILTIN_VARS, Binary, Builtin, Expr, Unary, Var, slot};
use crate::schedule::{Bound, Schedule, SchedulePart};

/// All candidates for a violation, the most likely first.
pub(super) fn candidates(schedule: &Schedule, violation: &Violation) -> Vec<Candidate> {
    match violation.spot {
        SchedulePart::Bound(i) => bounds(schedule, i),
        // A claim is wrong, and what runs is right: only the claim is changed.
        SchedulePart::Hold(..) | SchedulePart::Hint(..) => {
            edits(schedule, &|spot| (spot == violation.spot).then_some(0))
        }
        SchedulePart::Requires(_) | SchedulePart::EndsWith(..) | SchedulePart::Layout => Vec::new(),
        SchedulePart::SameTree | SchedulePart::RankOrder => Vec::new(),
        _ => edits(schedule, &|spot| distance(schedule, violation, spot)),
    }
}

/// How far a part is from what is wrong; `None` if it is a claim, or the domain.
fn distance(schedule: &Schedule, violation: &Violation, spot: SchedulePart) -> Option<usize> {
    let clause = |part: SchedulePart| match part {
        SchedulePart::Transfer(site, _) => Some(site.number),
        _ => None,
    };
    let round = |part: SchedulePart| match part {
        SchedulePart::Transfer(site, _) => loop_of(schedule, site),
        SchedulePart::Round(n) | SchedulePart::State(n, _) => Some(n),
        _ => None,
    };
    let near = [Some(violation.spot), violation.other];
    match spot {
        _ if spot == violation.spot => Some(0),
        SchedulePart::Transfer(..) if clause(spot) == clause(violation.spot) => Some(1),
        SchedulePart::Transfer(..) if near.iter().flatten().any(|part| clause(spot) == clause(*part)) => Some(2),
        SchedulePart::Define(_) => Some(3),
        SchedulePart::Transfer(..) | SchedulePart::State(..) | SchedulePart::Round(_) => {
            Some(if round(spot) == round(violation.spot) { 4 } else { 5 })
        }
        SchedulePart::Blocks if schedule.kind.is_divided() => Some(6),
        _ => None,
    }
}

/// Every edit of every part that is near, the nearest first.
fn edits(schedule: &Schedule, near: &dyn Fn(SchedulePart) -> Option<usize>) -> Vec<Candidate> {
    let mut found = Vec::new();
    schedule.for_each_expr(&mut |spot, e| found.push((spot, e.clone())));
    let mut parts: Vec<(usize, usize)> =
        found.iter().enumerate().filter_map(|(number, (spot, _))| Some((near(*spot)?, number))).collect();
    parts.sort_unstable();
    let mut all = Vec::new();
    for (_, number) in parts {
        let (spot, old) = &found[number];
        for new in variants(schedule, *spot, old) {
            let changed = with(schedule, number, &new);
            if let Some(order) = words::part(schedule, &changed, *spot) {
                all.push(Candidate::new(order, changed));
            }
        }
    }
    all
}

/// A schedule with another expression number `number`.
fn with(schedule: &Schedule, number: usize, new: &Expr) -> Schedule {
    let mut changed = schedule.clone();
    let mut count = 0;
    changed.for_each_expr_mut(&mut |_, e| {
        if count == number {
            *e = new.clone();
        }
        count += 1;
    });
    changed
}

/// An expression with one change.
fn variants(schedule: &Schedule, spot: SchedulePart, e: &Expr) -> Vec<Expr> {
    let known = variables(schedule, spot, e);
    let mut all = e.with_one_node_changed(&|node| replacements(node, &known));
    if schedule.is_number(e) {
        // Nothing begins at -1.
        let ops = if *e == Expr::Int(0) { &[Binary::Add][..] } else { &[Binary::Sub, Binary::Add] };
        let one_off = ops.iter().map(|op| flat(Expr::binary(*op, e.clone(), 1.into())));
        // What becomes shorter was meant rather than another operator: `n` instead of `n - 1`.
        let (shorter, others): (Vec<Expr>, Vec<Expr>) = one_off.partition(|new| size(new) < size(e));
        all.splice(0..0, shorter);
        all.extend(others);
        all.extend(clips(schedule, spot, e));
    }
    all.into_iter().map(tidy).collect()
}

/// The number of operators and operands.
fn size(e: &Expr) -> usize {
    let mut size = 0;
    e.walk(&mut |_| size += 1);
    size
}

fn p() -> Expr {
    Expr::built_in(slot::P)
}

/// The replacements of one node.
fn replacements(e: &Expr, known: &[Var]) -> Vec<Expr> {
    match e {
        Expr::Int(0) => vec![Expr::Int(1)],
        Expr::Int(n) => [n.checked_add(1), n.checked_sub(1)].into_iter().flatten().map(Expr::Int).collect(),
        Expr::Var(var) if var.slot == slot::P => {
            [Binary::Sub, Binary::Add].map(|op| Expr::binary(op, p(), 1.into())).to_vec()
        }
        Expr::Var(var) if known.iter().any(|other| other.slot == var.slot) => {
            known.iter().filter(|other| other.slot != var.slot).cloned().map(Expr::Var).collect()
        }
        Expr::Unary(Unary::Not, a) => vec![(**a).clone()],
        Expr::Binary(Binary::Rem, a, around) => {
            let others = [p(), flat(Expr::binary(Binary::Add, (**around).clone(), 1.into()))];
            let others = others.into_iter().chain([flat(Expr::binary(Binary::Sub, (**around).clone(), 1.into()))]);
            let moduli = others.map(|other| Expr::binary(Binary::Rem, (**a).clone(), other));
            moduli.chain([(**a).clone()]).collect()
        }
        Expr::Binary(Binary::Div, a, b) => vec![Expr::Builtin(Builtin::CeilDiv, vec![(**a).clone(), (**b).clone()])],
        Expr::Binary(op, a, b) => {
            swapped(*op).into_iter().map(|other| Expr::Binary(other, a.clone(), b.clone())).collect()
        }
        Expr::Builtin(function, args) => match (function, args.as_slice()) {
            (Builtin::CeilDiv, [a, b]) => vec![Expr::binary(Binary::Div, a.clone(), b.clone())],
            (other, _) => other.confused_with().into_iter().map(|other| Expr::Builtin(other, args.clone())).collect(),
        },
        _ => Vec::new(),
    }
}

fn swapped(op: Binary) -> Option<Binary> {
    match op {
        Binary::BitAnd | Binary::BitOr => Some(Binary::BitXor),
        other => other.confused_with(),
    }
}

/// The indices and states that could be meant instead of one of them.
fn variables(schedule: &Schedule, spot: SchedulePart, e: &Expr) -> Vec<Var> {
    let round = match spot {
        SchedulePart::Transfer(site, _) => loop_of(schedule, site),
        SchedulePart::Hold(n, _) | SchedulePart::Hint(n, _) | SchedulePart::State(n, _) => Some(n),
        _ => None,
    };
    let mut known: Vec<Var> = Vec::new();
    e.walk(&mut |e| {
        if let Expr::Var(var) = e
            && var.slot >= BUILTIN_VARS.len()
            && !known.contains(var)
        {
            known.push(var.clone());
        }
    });
    if let Some(l) = round.map(|n| &schedule.loops[n]) {
        let own = l.indices.iter().map(|index| &index.var).chain(l.states.iter().map(|state| &state.var));
        own.for_each(|var| {
            if !known.contains(var) {
                known.push(var.clone());
            }
        });
    }
    known
}

/// A number that must not reach beyond p: `min(D, p - D)`, or what is left beyond the distance of a peer.
fn clips(schedule: &Schedule, spot: SchedulePart, e: &Expr) -> Vec<Expr> {
    if !matches!(spot, SchedulePart::Define(_) | SchedulePart::Transfer(..)) || matches!(e, Expr::Int(_)) {
        return Vec::new();
    }
    let mut left = vec![e.clone()];
    let round = match spot {
        SchedulePart::Transfer(site, _) => loop_of(schedule, site),
        _ => None,
    };
    let loops = schedule.loops.iter().enumerate().filter(|(n, _)| round.is_none_or(|round| round == *n));
    for t in loops.flat_map(|(_, l)| &l.transfers) {
        if let Expr::Binary(Binary::Add | Binary::Sub, own, distance) = &t.peer
            && matches!(&**own, Expr::Var(var) if var.slot == slot::RANK)
            && !left.contains(distance)
        {
            left.push((**distance).clone());
        }
    }
    if let SchedulePart::Define(i) = spot {
        left.retain(|distance| is_known(distance, e, i));
    }
    let clip = |distance: Expr| {
        let rest = Expr::binary(Binary::Sub, p(), distance);
        Expr::Builtin(Builtin::Min, vec![e.clone(), rest])
    };
    let mut all: Vec<Expr> = Vec::new();
    // A clip that is there, and is too wide.
    if let Expr::Builtin(Builtin::Min, args) = e {
        let narrower = |own: &Expr| {
            let rest = Expr::binary(Binary::Sub, p(), own.clone());
            Expr::Builtin(Builtin::Min, vec![own.clone(), rest])
        };
        all.extend(args.iter().map(narrower));
    }
    all.extend(left.into_iter().map(clip));
    all
}

/// Whether a part of another clause means the same in definition number `i`: it calls earlier definitions only, because
/// evaluating one that calls itself would never end, and it has no variables that the definition does not have.
fn is_known(part: &Expr, body: &Expr, i: usize) -> bool {
    let mut own = Vec::new();
    body.walk(&mut |e| {
        if let Expr::Var(var) = e {
            own.push(var.slot);
        }
    });
    let mut known = true;
    part.walk(&mut |e| match e {
        Expr::Call(_, callee, _) => known &= *callee < i,
        Expr::Var(var) => known &= var.slot < BUILTIN_VARS.len() || own.contains(&var.slot),
        _ => {}
    });
    known
}

/// Domains for which algorithms are often meant: an even number of ranks, a power of two.
pub(super) fn domains(schedule: &Schedule) -> Vec<Candidate> {
    let even = Expr::binary(Binary::Eq, Expr::binary(Binary::Rem, p(), 2.into()), 0.into());
    let log = Expr::Builtin(Builtin::FloorLog, vec![2.into(), p()]);
    let power = Expr::binary(Binary::Eq, p(), Expr::Builtin(Builtin::Pow, vec![2.into(), log]));
    let restricted = |condition: Expr| {
        let order = format!("add `#[requires({condition})]`, if no other p is needed");
        let mut schedule = schedule.clone();
        schedule.requires.push(condition);
        Candidate { order, schedule, narrower: true }
    };
    [even, power].map(restricted).into()
}

/// Other values of a bound: one node changed, or what costs often are.
fn bounds(schedule: &Schedule, i: usize) -> Vec<Candidate> {
    let old = &schedule.bounds[i];
    let two = || Expr::Int(2);
    let times_two = |e: Expr| Expr::binary(Binary::Mul, two(), e);
    let less_one = || Expr::binary(Binary::Sub, p(), 1.into());
    let log = |base: Expr| Expr::Builtin(Builtin::CeilLog, vec![base, p()]);
    let mut values = variants(schedule, SchedulePart::Bound(i), &old.value);
    values.extend([0.into(), 1.into(), p(), less_one(), log(two()), Expr::binary(Binary::Div, p(), two())]);
    values.extend(schedule.numbers.iter().map(|number| log(Expr::Var(number.var.clone()))));
    values.extend([times_two(less_one()), times_two(log(two()))]);
    let with = |value: Expr| {
        let new = Bound { value, ..old.clone() };
        let order = words::bound(old, &new);
        let mut schedule = schedule.clone();
        schedule.bounds[i] = new;
        Candidate::new(order, schedule)
    };
    values.into_iter().map(with).collect()
}
