//! Numbers that a declaration could speak of: its own expressions, and what operators make of them, up to two deep.
//!
//! Every term is known by its values at all sights of a loop; a term fits where these are the values looked for. What
//! operators do is defined by `arith` alone.

use super::sights::{Sight, Sights};
use roundel_spec::Schedule;
use roundel_spec::arith;
use roundel_spec::expr::{Binary, Builtin, Expr, Unary, slot};
use roundel_spec::schedule::{BoundScope, Loop};
use std::collections::{HashMap, HashSet};

/// The values of an expression at all sights; `None` where it has none.
pub(in crate::proving) type Values = Vec<Option<i64>>;

/// An expression with its values.
#[derive(Clone, Debug)]
pub(in crate::proving) struct Term {
    pub(in crate::proving) expr: Expr,
    pub(in crate::proving) values: Values,
}

/// An operator of found expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Binary(Binary),
    Builtin(Builtin),
}

/// Commutative ones first; the order is that of trial.
const OPERATORS: [Operator; 9] = [
    Operator::Binary(Binary::Add),
    Operator::Binary(Binary::Sub),
    Operator::Binary(Binary::Mul),
    Operator::Builtin(Builtin::Min),
    Operator::Builtin(Builtin::Max),
    Operator::Builtin(Builtin::CeilDiv),
    Operator::Binary(Binary::Div),
    Operator::Builtin(Builtin::Pow),
    Operator::Binary(Binary::Rem),
];

impl Operator {
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Operator::Binary(Binary::Add) => a.checked_add(b),
            Operator::Binary(Binary::Sub) => a.checked_sub(b),
            Operator::Binary(Binary::Mul) => a.checked_mul(b),
            Operator::Binary(Binary::Div) if b > 0 => arith::checked_div(a, b),
            Operator::Binary(Binary::Rem) if b > 0 => arith::checked_rem(a, b),
            Operator::Builtin(Builtin::Min) => Some(a.min(b)),
            Operator::Builtin(Builtin::Max) => Some(a.max(b)),
            Operator::Builtin(Builtin::CeilDiv) if b > 0 => arith::checked_ceil_div(a, b),
            Operator::Builtin(Builtin::Pow) if a > 1 => arith::checked_pow(a, b),
            _ => None,
        }
    }

    fn commutes(self) -> bool {
        use Operator as O;
        matches!(self, O::Binary(Binary::Add | Binary::Mul) | O::Builtin(Builtin::Min | Builtin::Max))
    }

    /// Whether the operands are worth trying: no power of something that changes, and few literals.
    fn suits(self, a: &Expr, b: &Expr) -> bool {
        match (self, a, b) {
            (_, Expr::Int(_), Expr::Int(_)) => false,
            (Operator::Builtin(Builtin::Pow), Expr::Var(_), Expr::Int(_)) => false,
            (Operator::Builtin(Builtin::Pow), Expr::Int(2..) | Expr::Var(_), _) => true,
            (Operator::Builtin(Builtin::Pow), ..) => false,
            (Operator::Binary(Binary::Add | Binary::Sub), _, Expr::Int(1)) => true,
            (Operator::Binary(Binary::Mul), Expr::Int(2), _) => true,
            (Operator::Binary(Binary::Div), _, Expr::Int(2)) => true,
            (_, Expr::Int(_), _) | (_, _, Expr::Int(_)) => false,
            _ => a != b,
        }
    }

    fn expr(self, a: &Expr, b: &Expr) -> Expr {
        match self {
            Operator::Binary(op) => Expr::binary(op, a.clone(), b.clone()),
            Operator::Builtin(function) => Expr::Builtin(function, vec![a.clone(), b.clone()]),
        }
    }
}

/// The number of operators and operands.
pub(in crate::proving) fn size(e: &Expr) -> usize {
    let mut size = 0;
    e.walk(&mut |_| size += 1);
    size
}

/// The terms of one loop.
pub(in crate::proving) struct Terms {
    /// The declaration's own, the smallest first.
    pub(super) atoms: Vec<Term>,
    /// One operator on top of them.
    pub(super) pairs: Vec<Term>,
}

/// As many expressions are kept that fit alike.
const ALIKE: usize = 3;

/// Atoms beyond so many are left out.
const MOST_ATOMS: usize = 26;

impl Terms {
    /// The terms of a loop that `allowed` lets through, over some sights of it.
    pub(super) fn of(
        schedule: &Schedule,
        n: usize,
        sights: &Sights,
        seen: &[&Sight],
        allowed: impl Fn(&Expr) -> bool,
    ) -> Self {
        let evaluate = |expr: Expr| Term { values: values(schedule, sights, seen, &expr), expr };
        let own = own_expressions(schedule, n).into_iter().filter(|e| allowed(e)).map(evaluate);
        Self::over(own.collect())
    }

    /// The terms that operators make of some, the simplest of which come first.
    pub(in crate::proving) fn over(atoms: Vec<Term>) -> Self {
        let mut atoms = atoms;
        atoms.retain(|term| term.values.iter().any(Option::is_some));
        let mut known: HashSet<Values> = HashSet::new();
        atoms.retain(|term| matches!(term.expr, Expr::Int(_)) || known.insert(term.values.clone()));
        atoms.truncate(MOST_ATOMS);
        let mut pairs = Vec::new();
        for op in OPERATORS {
            for (i, a) in atoms.iter().enumerate() {
                for (k, b) in atoms.iter().enumerate() {
                    if (op.commutes() && k < i && !matches!(b.expr, Expr::Int(_))) || !op.suits(&a.expr, &b.expr) {
                        continue;
                    }
                    let values: Values =
                        a.values.iter().zip(&b.values).map(|(a, b)| op.apply((*a)?, (*b)?)).collect();
                    if values.iter().any(Option::is_some) && known.insert(values.clone()) {
                        pairs.push(Term { expr: op.expr(&a.expr, &b.expr), values });
                    }
                }
            }
        }
        pairs.sort_by_key(|term| size(&term.expr));
        Terms { atoms, pairs }
    }

    /// The expressions that have these values, the simplest first. Where no value is wanted, any will do.
    pub(in crate::proving) fn fitting(&self, wanted: &[Option<i64>]) -> Vec<Expr> {
        let found = self.simple(wanted);
        if found.is_empty() { self.deeper(wanted) } else { found }
    }

    /// The expressions with one operator at most that have these values.
    fn simple(&self, wanted: &[Option<i64>]) -> Vec<Expr> {
        let fits =
            |term: &&Term| term.values.iter().zip(wanted).all(|(value, wanted)| wanted.is_none() || value == wanted);
        let simple = self.atoms.iter().chain(&self.pairs).filter(fits);
        let mut found: Vec<Expr> = simple.take(ALIKE).map(|term| term.expr.clone()).collect();
        let mut some = wanted.iter().flatten();
        if let Some(first) = some.next().filter(|first| some.all(|one| one == *first)) {
            found.retain(|e| *e != Expr::Int(*first));
            found.insert(0, Expr::Int(*first));
        }
        found
    }

    /// The expressions that have these values, one for each side of a condition where there is none for both.
    pub(in crate::proving) fn fitting_by_cases(&self, wanted: &[Option<i64>], conditions: &[Term]) -> Vec<Expr> {
        let found = self.fitting(wanted);
        if found.is_empty() { self.fitting_sides(wanted, conditions, |wanted| self.fitting(wanted)) } else { found }
    }

    /// The expressions that have these values, with two conditions where one is not enough.
    pub(super) fn fitting_by_more_cases(&self, wanted: &[Option<i64>], conditions: &[Term]) -> Vec<Expr> {
        let found = self.fitting_by_cases(wanted, conditions);
        if !found.is_empty() {
            return found;
        }
        // One side is simple, and the other is divided again.
        let divides = |condition: &&Term| {
            let simple = |side: i64| !self.simple(&where_it_is(condition, side, wanted)).is_empty();
            simple(0) || simple(1)
        };
        let fitting = |wanted: &[Option<i64>]| match self.fitting(wanted) {
            found if found.is_empty() => self.sums(wanted),
            found => found,
        };
        let dividing: Vec<Term> = conditions.iter().filter(divides).cloned().collect();
        self.fitting_sides(wanted, &dividing, |side| match fitting(side) {
            found if found.is_empty() => self.fitting_sides(side, conditions, fitting),
            found => found,
        })
    }

    /// Sums and differences of two pairs.
    fn sums(&self, wanted: &[Option<i64>]) -> Vec<Expr> {
        let here = |values: &Values| -> Option<Vec<i64>> {
            values.iter().zip(wanted).filter(|(_, wanted)| wanted.is_some()).map(|(value, _)| *value).collect()
        };
        let wanted: Vec<i64> = wanted.iter().flatten().copied().collect();
        let mut known: HashMap<Vec<i64>, &Expr> = HashMap::new();
        for term in &self.pairs {
            if let Some(values) = here(&term.values) {
                known.entry(values).or_insert(&term.expr);
            }
        }
        let mut found = Vec::new();
        for term in &self.pairs {
            let Some(values) = here(&term.values) else { continue };
            let both = || wanted.iter().zip(&values);
            let rest: Option<Vec<i64>> = both().map(|(wanted, value)| wanted.checked_sub(*value)).collect();
            let more: Option<Vec<i64>> = both().map(|(wanted, value)| value.checked_sub(*wanted)).collect();
            let add = rest.and_then(|rest| known.get(&rest)).map(|other| (Binary::Add, other));
            let sub = more.and_then(|more| known.get(&more)).map(|other| (Binary::Sub, other));
            let all = add.into_iter().chain(sub);
            found.extend(all.map(|(op, other)| Expr::binary(op, term.expr.clone(), (*other).clone())));
        }
        found.sort_by_key(size);
        found.truncate(ALIKE);
        found
    }

    /// The expressions that have these values where they are not negative: `max(0, e)`.
    pub(super) fn clipped(&self, wanted: &[Option<i64>]) -> Vec<Expr> {
        let mut found = Vec::new();
        for a in &self.pairs {
            for b in &self.atoms {
                let difference = |a: &Option<i64>, b: &Option<i64>| a.zip(*b).and_then(|(a, b)| a.checked_sub(b));
                let mut all = a.values.iter().zip(&b.values).zip(wanted);
                if all.all(|((a, b), wanted)| wanted.is_none() || difference(a, b).map(|d| d.max(0)) == *wanted) {
                    let difference = Expr::binary(Binary::Sub, a.expr.clone(), b.expr.clone());
                    found.push(Expr::Builtin(Builtin::Max, vec![0.into(), difference]));
                }
            }
        }
        found.sort_by_key(size);
        found.truncate(ALIKE);
        found
    }

    /// `if condition { a } else { b }`, for all conditions that have both sides.
    fn fitting_sides(
        &self,
        wanted: &[Option<i64>],
        conditions: &[Term],
        fitting: impl Fn(&[Option<i64>]) -> Vec<Expr>,
    ) -> Vec<Expr> {
        let mut found = Vec::new();
        for condition in conditions {
            let side = |side: i64| {
                let wanted = where_it_is(condition, side, wanted);
                let some = wanted.iter().any(Option::is_some);
                some.then(|| fitting(&wanted).into_iter().next()).flatten()
            };
            if let Some(then) = side(1)
                && let Some(otherwise) = side(0)
            {
                found.push(Expr::If(Box::new(condition.expr.clone()), Box::new(then), Box::new(otherwise)));
            }
        }
        found.sort_by_key(size);
        found.truncate(ALIKE);
        found
    }

    fn deeper(&self, wanted: &[Option<i64>]) -> Vec<Expr> {
        let mut found = Vec::new();
        let mut try_both = |op: Operator, a: &Term, b: &Term| {
            let mut values = a.values.iter().zip(&b.values).zip(wanted);
            let fits = |((a, b), wanted): ((&Option<i64>, &Option<i64>), &Option<i64>)| {
                wanted.is_none() || a.zip(*b).and_then(|(a, b)| op.apply(a, b)) == *wanted
            };
            if op.suits(&a.expr, &b.expr) && values.all(fits) {
                found.push(op.expr(&a.expr, &b.expr));
            }
        };
        for op in OPERATORS {
            for a in &self.pairs {
                for b in &self.atoms {
                    try_both(op, a, b);
                    try_both(op, b, a);
                }
            }
        }
        // Rather `2 * i - 1` than `i + (i - 1)`.
        found.sort_by_key(|e| (size(e), e.children().last().is_some_and(|last| size(last) > 1)));
        found.truncate(ALIKE);
        found
    }
}

/// The values that are wanted where a condition has a value.
fn where_it_is(condition: &Term, side: i64, wanted: &[Option<i64>]) -> Values {
    condition.values.iter().zip(wanted).map(|(value, wanted)| wanted.filter(|_| *value == Some(side))).collect()
}

/// Conditions that tell ranks apart: those of the declaration, and whether a rank is the first of its group.
pub(super) fn conditions(schedule: &Schedule, n: usize, sights: &Sights, seen: &[&Sight]) -> Vec<Term> {
    let l = &schedule.loops[n];
    let known = known_slots(schedule, l);
    let mut found: Vec<Expr> = Vec::new();
    let mut add = |e: &Expr| {
        e.walk(&mut |e| {
            let literal = matches!(e, Expr::Bool(_));
            if !literal && !schedule.is_number(e) && is_known(e, &known) && !found.contains(e) {
                found.push(e.clone());
            }
        });
    };
    l.transfers.iter().flat_map(|t| &t.when).for_each(&mut add);
    for index in schedule.definitions_in(n) {
        add(&schedule.functions[index].body);
    }
    for index in &l.indices {
        add(&Expr::binary(Binary::Lt, Expr::Var(index.var.clone()), index.hi.clone()));
    }
    let ranks: Vec<Expr> = ranks(schedule, n);
    if schedule.kind.has_root() {
        ranks.iter().for_each(|v| add(&Expr::binary(Binary::Eq, v.clone(), 0.into())));
    }
    for state in &l.states {
        let state = || Expr::Var(state.var.clone());
        for v in &ranks {
            let over = Expr::binary(Binary::Rem, v.clone(), state());
            add(&Expr::binary(Binary::Eq, over, 0.into()));
            add(&Expr::binary(Binary::Lt, v.clone(), state()));
        }
    }
    // Along a chain, one more rank has the data after each round.
    if schedule.kind.has_root() {
        for index in &l.indices {
            ranks.iter().for_each(|v| add(&Expr::binary(Binary::Le, v.clone(), Expr::Var(index.var.clone()))));
        }
    }
    let evaluate = |expr: Expr| Term { values: values(schedule, sights, seen, &expr), expr };
    let mut known: HashSet<Values> = HashSet::new();
    found.sort_by_key(size);
    found.into_iter().map(evaluate).filter(|term| known.insert(term.values.clone())).collect()
}

/// `v & -v`
pub(super) fn lowest_bit(v: Expr) -> Expr {
    let minus = Expr::Unary(Unary::Neg, Box::new(v.clone()));
    Expr::binary(Binary::BitAnd, v, minus)
}

/// How far the indices of a loop have come, how many values each has, and how many multiples of a state are below p.
pub(super) fn passes(schedule: &Schedule, n: usize) -> Vec<Expr> {
    let l = &schedule.loops[n];
    let past = |e: Expr, lo: &Expr| Expr::binary(Binary::Sub, e, lo.clone());
    let indices = l.indices.iter().filter(|index| index.lo != Expr::Int(0));
    let passed = indices.flat_map(|i| [past(Expr::Var(i.var.clone()), &i.lo), past(i.hi.clone(), &i.lo)]);
    let multiples = l.states.iter().map(|state| {
        let all = vec![Expr::built_in(slot::P), Expr::Var(state.var.clone())];
        past(Expr::Builtin(Builtin::CeilDiv, all), &Expr::Int(1))
    });
    passed.chain(multiples).collect()
}

/// In which round a tree reaches a rank, and in which it goes beyond the last one.
pub(super) fn depths(schedule: &Schedule, n: usize) -> Vec<Expr> {
    let log = |e: Expr| Expr::Builtin(Builtin::CeilLog, vec![2.into(), e]);
    let both = |v: Expr| {
        let next = Expr::binary(Binary::Add, v.clone(), 1.into());
        [log(next), log(Expr::binary(Binary::Sub, Expr::built_in(slot::P), v))]
    };
    ranks(schedule, n).into_iter().flat_map(both).collect()
}

/// The rank, and what the declaration counts ranks by: definitions without arguments that depend on it.
pub(super) fn ranks(schedule: &Schedule, n: usize) -> Vec<Expr> {
    let own = schedule.definitions_in(n).into_iter().filter(|&i| {
        let function = &schedule.functions[i];
        function.args.is_empty() && schedule.is_number(&function.body) && of_rank(schedule, &function.body)
    });
    let named = own.map(|i| Expr::Call(schedule.functions[i].name.clone(), i, Vec::new()));
    [Expr::built_in(slot::RANK)].into_iter().chain(named).collect()
}

/// The first rank of an aligned group, and of the next one, for each state that could be the size of groups.
pub(super) fn groups(schedule: &Schedule, n: usize) -> Vec<Expr> {
    let mut found = Vec::new();
    for v in ranks(schedule, n) {
        for state in &schedule.loops[n].states {
            let size = || Expr::Var(state.var.clone());
            let number = Expr::binary(Binary::Div, v.clone(), size());
            let first = Expr::binary(Binary::Mul, number, size());
            found.extend([first.clone(), Expr::binary(Binary::Add, first, size())]);
        }
    }
    found
}

/// The values of an expression at some sights.
pub(super) fn values(schedule: &Schedule, sights: &Sights, seen: &[&Sight], e: &Expr) -> Values {
    seen.iter().map(|sight| sights.env(schedule, sight).eval(e).ok()).collect()
}

/// The expressions that a loop already uses, the smallest first: what its clauses say of p, parameters, indices and
/// states, without the indices of block sets.
pub(super) fn own_expressions(schedule: &Schedule, n: usize) -> Vec<Expr> {
    let l = &schedule.loops[n];
    let known = known_slots(schedule, l);
    let mut found: Vec<Expr> = vec![Expr::Int(1), Expr::Int(2), Expr::built_in(slot::P)];
    found.extend(bases(l));
    found.extend(schedule.numbers.iter().map(|number| Expr::Var(number.var.clone())));
    found.extend(l.indices.iter().map(|index| Expr::Var(index.var.clone())));
    found.extend(l.states.iter().map(|state| Expr::Var(state.var.clone())));
    let mut add = |e: &Expr| {
        e.walk(&mut |e| {
            let literal = matches!(e, Expr::Int(_) | Expr::Bool(_));
            if !literal && schedule.is_number(e) && size(e) <= 6 && is_known(e, &known) && !found.contains(e) {
                found.push(e.clone());
            }
        });
    };
    let own = schedule.definitions_in(n);
    own.iter().map(|&i| &schedule.functions[i]).filter(|function| function.args.is_empty()).for_each(|function| {
        add(&function.body);
    });
    for index in &l.indices {
        [&index.lo, &index.hi].into_iter().for_each(&mut add);
    }
    l.states.iter().for_each(|state| add(&state.init));
    for t in &l.transfers {
        t.when.iter().for_each(&mut add);
        add(&t.peer);
        for part in &t.blocks.parts {
            add(&part.item);
            part.over.iter().for_each(|index| add(&index.hi));
        }
    }
    // What a bound says of the whole run, a counter reaches.
    let whole = schedule.bounds.iter().filter(|bound| !matches!(bound.scope, BoundScope::PerRound(_)));
    whole.for_each(|bound| add(&bound.value));
    // A rank that is the first of its group has a group as large as its lowest bit.
    if schedule.kind.reduces() || schedule.kind.has_root() {
        found.extend(ranks(schedule, n).into_iter().map(lowest_bit));
    }
    found.sort_by_key(|e| (!matches!(e, Expr::Int(_)), size(e)));
    found
}

/// The numbers above 2 by which states are multiplied or divided: bases of powers and logarithms.
fn bases(l: &Loop) -> Vec<Expr> {
    let mut found = Vec::new();
    for state in &l.states {
        state.next.walk(&mut |e| {
            if let Expr::Binary(Binary::Mul | Binary::Div, a, b) = e {
                for factor in [a, b] {
                    if matches!(**factor, Expr::Int(3..)) && !found.contains(&**factor) {
                        found.push((**factor).clone());
                    }
                }
            }
        });
    }
    found
}

/// The slots whose values are known between rounds.
pub(super) fn known_slots(schedule: &Schedule, l: &Loop) -> Vec<usize> {
    let numbers = schedule.numbers.iter().map(|number| number.var.slot);
    (0..7).chain(numbers).chain(l.own_slots()).collect()
}

fn is_known(e: &Expr, known: &[usize]) -> bool {
    let mut all = true;
    e.walk(&mut |e| all &= !matches!(e, Expr::Var(v) if !known.contains(&v.slot)));
    all
}

/// Whether an expression depends on the rank, directly or through definitions.
pub(super) fn of_rank(schedule: &Schedule, e: &Expr) -> bool {
    mentions(schedule, e, &[0, 2, 4, 5])
}

/// Whether an expression mentions one of some variables, directly or through definitions.
pub(in crate::proving) fn mentions(schedule: &Schedule, e: &Expr, slots: &[usize]) -> bool {
    let mut found = false;
    e.walk(&mut |e| match e {
        Expr::Var(v) => found |= slots.contains(&v.slot),
        Expr::Call(_, index, _) => found |= mentions(schedule, &schedule.functions[*index].body, slots),
        _ => {}
    });
    found
}
