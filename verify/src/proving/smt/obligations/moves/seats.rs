//! Comprehensions of an all-to-all that looks at nodes, as formulas.
//!
//! Source and destination of a block are each a node and a seat. An end of a comprehension that is written `rank` or
//! `at(x, l)` gives two equations, of which the first is modulo `nodes`; the indices are solved for one after the
//! other: by an equation that has one unknown, or two as quotient and remainder, `l + k * lanes`. With the conditions
//! at these indices and all equations, that is a formula without a quantifier. It is true of no other blocks than those
//! of the comprehension; that it is true of all of them is an obligation. `[x -> x + j; j in 0..p]`, and the same
//! backwards or from 1, goes around all ranks: its other end is any rank, or any but `x`.

use super::super::{ProofContext, Prover, Step};
use super::sets::conjuncts;
use crate::proving::smt::context::{Context, NoEncoding, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, Numbering, P};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, and, eq, ge, implies, lt, not, or, sub, within};
use roundel_spec::affine::affine;
use roundel_spec::blocks::{BlockSet, Comprehension, Index};
use roundel_spec::expr::{Binary, Builtin, Expr};

/// A block: two ranks.
#[derive(Clone)]
pub(super) struct SeatedBlock {
    pub(super) source: CyclicTerm,
    pub(super) destination: CyclicTerm,
}

/// An end of a comprehension.
#[derive(Clone)]
enum End {
    /// `at(number, seat)`
    Cell { number: Expr, seat: Expr },
    /// All ranks, or all but the other end.
    Around { with_itself: bool },
}

/// A comprehension, for all values of the indices of its clause, where a guard is true.
#[derive(Clone)]
pub(super) struct PlacedSet {
    /// The indices of the clause, then those of the comprehension.
    pub(super) indices: Vec<Index>,
    /// How many of these are the clause's.
    of_clause: usize,
    guard: Option<Expr>,
    filter: Option<Expr>,
    ends: [End; 2],
    pub(super) values: TermValues,
    /// As declared, for people.
    pub(super) text: String,
}

/// What a comprehension has at given indices: the ends that are ranks, not wrapped.
pub(super) struct PlacedElement {
    pub(super) condition: Term,
    pub(super) ends: [Option<CyclicTerm>; 2],
}

/// What is known of a coordinate of a block, or by a filter: an expression has this value.
struct Equation<'e> {
    side: &'e Expr,
    value: Known<'e>,
    /// Whether it is modulo `nodes`.
    wraps: bool,
}

enum Known<'e> {
    Coordinate(&'e str),
    Side(&'e Expr),
}

impl PlacedSet {
    /// The comprehensions of a set.
    pub(super) fn all(set: &BlockSet, each: &[Index], guard: Option<&Expr>, values: &TermValues) -> Step<Vec<Self>> {
        set.parts.iter().map(|part| PlacedSet::new(part, each, guard, values)).collect()
    }

    fn new(part: &Comprehension, each: &[Index], guard: Option<&Expr>, values: &TermValues) -> Step<Self> {
        let unknown = || NoEncoding::new(format!("`{part}`, whose ends are not written `at(node, seat)`,"));
        let Expr::Builtin(Builtin::Pair, ends) = &part.item else { return Err(unknown()) };
        let [source, destination] = ends.as_slice() else { return Err(unknown()) };
        let (mut over, ends) = match around(part, source, destination) {
            Some(ends) => (vec![], ends),
            None => (part.over.clone(), [cell(source).ok_or_else(unknown)?, cell(destination).ok_or_else(unknown)?]),
        };
        let mut indices = each.to_vec();
        indices.append(&mut over);
        let (guard, filter) = (guard.cloned(), part.filter.clone());
        let (of_clause, values, text) = (each.len(), values.clone(), part.to_string());
        Ok(PlacedSet { indices, of_clause, guard, filter, ends, values, text })
    }

    /// The indices of the clause.
    pub(super) fn each(&self) -> &[Index] {
        &self.indices[..self.of_clause]
    }

    /// What it has at given indices; everything is lowered under the conditions under which it is evaluated.
    pub(super) fn at(&self, cx: &mut Context<'_>, terms: &[Term]) -> Step<PlacedElement> {
        let mut conditions = Vec::new();
        let lowered = self.lowered(cx, terms, &mut conditions);
        cx.leave(conditions.len());
        Ok(PlacedElement { ends: lowered?, condition: and(conditions) })
    }

    fn lowered(
        &self,
        cx: &mut Context<'_>,
        terms: &[Term],
        conditions: &mut Vec<Term>,
    ) -> Step<[Option<CyclicTerm>; 2]> {
        let mut values = self.values.clone();
        let mut under = |cx: &mut Context<'_>, condition: Term| {
            cx.enter(condition.clone());
            conditions.push(condition);
        };
        for i in 0..=self.indices.len() {
            if i == self.of_clause
                && let Some(guard) = &self.guard
            {
                let guard = cx.lower(guard, &values)?;
                under(cx, guard);
            }
            let (Some(index), Some(term)) = (self.indices.get(i), terms.get(i)) else { continue };
            let (lo, hi) = (cx.lower(&index.lo, &values)?, cx.lower(&index.hi, &values)?);
            under(cx, within(term, &lo, &hi));
            values.set(index.var.slot, term.clone());
        }
        if let Some(filter) = &self.filter {
            let filter = cx.lower(filter, &values)?;
            under(cx, filter);
        }
        if self.goes_around() == Some(false) {
            // From 1 on there is something only with another rank.
            under(cx, lt("1", "p"));
        }
        let mut end = |end: &End| match end {
            End::Cell { number, seat } => {
                let (number, seat) = (cx.lower(number, &values)?, cx.lower(seat, &values)?);
                Ok(Some(CyclicTerm { number, seat }))
            }
            End::Around { .. } => Ok(None),
        };
        Ok([end(&self.ends[0])?, end(&self.ends[1])?])
    }

    /// Whether an end goes around all ranks, and then whether it comes back to the other end.
    fn goes_around(&self) -> Option<bool> {
        self.ends.iter().find_map(|end| match end {
            End::Around { with_itself } => Some(*with_itself),
            End::Cell { .. } => None,
        })
    }

    /// Whether blocks at the same indices stand at the same position as in another set.
    pub(super) fn has_form_of(&self, other: &PlacedSet) -> bool {
        let around = |set: &PlacedSet| set.ends.clone().map(|end| matches!(end, End::Around { .. }));
        let over = |set: &PlacedSet| set.indices.len() - set.of_clause;
        around(self) == around(other) && self.goes_around() == other.goes_around() && over(self) == over(other)
    }

    /// Any element: the indices are new constants.
    pub(super) fn any(&self, cx: &mut Context<'_>, suffix: &str) -> Step<(Vec<Term>, PlacedElement)> {
        let name = |index: &Index| format!("{}{suffix}", index.var.name);
        let terms: Vec<Term> = self.indices.iter().map(|index| cx.constant(&name(index))).collect();
        let element = self.at(cx, &terms)?;
        Ok((terms, element))
    }

    /// That an element is a block.
    pub(super) fn is(&self, element: &PlacedElement, block: &SeatedBlock) -> Term {
        let mut all = Vec::new();
        for (end, rank) in element.ends.iter().zip([&block.source, &block.destination]) {
            if let Some(end) = end {
                all.push(and([near_number(&end.number, &rank.number), eq(&end.seat, &rank.seat)]));
            }
        }
        if self.goes_around() == Some(false) {
            all.push(not(&block.stays()));
        }
        and(all)
    }

    /// That a block is in the set.
    pub(super) fn has(&self, cx: &mut Context<'_>, block: &SeatedBlock) -> Step<Term> {
        let mut options = Vec::new();
        for terms in self.solutions(cx, block)? {
            let element = self.at(cx, &terms)?;
            options.push(and([element.condition.clone(), self.is(&element, block)]));
        }
        Ok(or(options))
    }

    /// The indices at which a block may be.
    fn solutions(&self, cx: &mut Context<'_>, block: &SeatedBlock) -> Step<Vec<Vec<Term>>> {
        let mut equations = Vec::new();
        for (end, rank) in self.ends.iter().zip([&block.source, &block.destination]) {
            if let End::Cell { number, seat } = end {
                equations.push(Equation { side: seat, value: Known::Coordinate(&rank.seat), wraps: false });
                equations.push(Equation { side: number, value: Known::Coordinate(&rank.number), wraps: true });
            }
        }
        for condition in self.filter.iter().flat_map(conjuncts) {
            if let Expr::Binary(Binary::Eq, a, b) = condition {
                equations.push(Equation { side: a, value: Known::Side(b), wraps: false });
                equations.push(Equation { side: b, value: Known::Side(a), wraps: false });
            }
        }
        let mut values = self.values.clone();
        self.indices.iter().for_each(|index| values.set(index.var.slot, "0"));
        let mut found = vec![values];
        let mut unknown: Vec<usize> = self.indices.iter().map(|index| index.var.slot).collect();
        while !unknown.is_empty() {
            let mut next = Vec::new();
            let mut solved = Vec::new();
            for values in &found {
                let (slots, more) = solve(cx, &equations, &unknown, values)?.ok_or_else(|| {
                    NoEncoding::new(format!("`{}`, whose indices a block does not tell,", self.text))
                })?;
                solved = slots;
                next.extend(more);
            }
            unknown.retain(|slot| !solved.contains(slot));
            found = next;
        }
        let terms = |values: &TermValues| {
            self.indices.iter().map(|index| values.get(index.var.slot, &index.var.name)).collect::<Step<Vec<Term>>>()
        };
        found.iter().map(terms).collect()
    }
}

/// The unknowns that an equation tells, and the values with them, in every way that there is.
fn solve(
    cx: &mut Context<'_>,
    equations: &[Equation<'_>],
    unknown: &[usize],
    values: &TermValues,
) -> Step<Option<(Vec<usize>, Vec<TermValues>)>> {
    for equation in equations {
        let mentioned: Vec<usize> = unknown.iter().copied().filter(|slot| equation.side.mentions(*slot)).collect();
        let value = match &equation.value {
            Known::Coordinate(value) => value.to_string(),
            Known::Side(other) if unknown.iter().any(|slot| other.mentions(*slot)) => continue,
            Known::Side(other) => cx.lower(other, values)?,
        };
        let steps: Vec<_> = mentioned.iter().map(|slot| affine(equation.side, *slot)).collect();
        match (mentioned.as_slice(), steps.as_slice()) {
            (&[slot], [Some((base, step))]) => {
                let base = cx.lower(base, values)?;
                let turns: &[i64] = if equation.wraps { &[-1, 0, 1] } else { &[0] };
                let mut ways = Vec::new();
                for turn in turns {
                    let way = sub(&Numbering::Nodes.turned(&value, *turn), &base);
                    let value = match step {
                        Expr::Int(1) => way,
                        Expr::Int(-1) => sub("0", &way),
                        Expr::Int(_) => break,
                        step => {
                            let step = cx.lower(step, values)?;
                            cx.quotient(&way, &step).0
                        }
                    };
                    ways.push(values.with(slot, value));
                }
                if !ways.is_empty() {
                    return Ok(Some((mentioned, ways)));
                }
            }
            // `l + k * lanes`: quotient and remainder.
            (&[a, b], [Some((_, one)), Some((_, two))]) if !equation.wraps => {
                let (unit, strided, step) = match (one, two) {
                    (Expr::Int(1), step) if !matches!(step, Expr::Int(_)) => (a, b, step),
                    (step, Expr::Int(1)) if !matches!(step, Expr::Int(_)) => (b, a, step),
                    _ => continue,
                };
                let (step, base) = (cx.lower(step, values)?, cx.lower(equation.side, values)?);
                let (quotient, remainder) = cx.quotient(&sub(&value, &base), &step);
                return Ok(Some((mentioned, vec![values.with(strided, quotient).with(unit, remainder)])));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// A rank that is written `at(node, seat)`.
fn cell(e: &Expr) -> Option<End> {
    Numbering::Nodes.split(e).map(|(number, seat)| End::Cell { number, seat })
}

/// The ends of `[x -> x + j; j in 0..p]` and `[x - j -> x; j in 0..p]`, also from 1.
fn around(part: &Comprehension, source: &Expr, destination: &Expr) -> Option<[End; 2]> {
    let [index] = part.over.as_slice() else { return None };
    let with_itself = match index.lo {
        Expr::Int(0) => true,
        Expr::Int(1) => false,
        _ => return None,
    };
    let is = |e: &Expr, slot: usize| matches!(e, Expr::Var(v) if v.slot == slot);
    if part.filter.is_some() || !is(&index.hi, P) {
        return None;
    }
    let turns = |e: &Expr, op: Binary, x: &Expr| match e {
        Expr::Binary(found, a, b) => *found == op && **a == *x && is(b, index.var.slot),
        _ => false,
    };
    let circle = End::Around { with_itself };
    match () {
        () if turns(destination, Binary::Add, source) => Some([cell(source)?, circle]),
        () if turns(source, Binary::Sub, destination) => Some([circle, cell(destination)?]),
        () => None,
    }
}

/// That a number in `[-nodes, 2 nodes)` is a node.
fn near_number(number: &str, node: &str) -> Term {
    or((-1..=1).map(|turns| eq(number, &Numbering::Nodes.turned(node, turns))))
}

impl SeatedBlock {
    /// Any block.
    pub(super) fn any(prover: &Prover<'_>, frame: &mut ProofContext<'_>) -> Self {
        let (source, destination) = (prover.any_rank(frame, "source!"), prover.any_rank(frame, "destination!"));
        SeatedBlock { source, destination }
    }

    /// That source and destination are the same rank.
    pub(super) fn stays(&self) -> Term {
        same(&self.source, &self.destination)
    }
}

/// That two ranks, whose nodes lie in `0..nodes`, are the same.
pub(super) fn same(a: &CyclicTerm, b: &CyclicTerm) -> Term {
    and([eq(&a.number, &b.number), eq(&a.seat, &b.seat)])
}

impl<'a> Prover<'a> {
    /// Sets have values, their ends are ranks, and their formulas are true of all their blocks; a block is in a set at
    /// one value of its indices, and in one set; what is computed fits the machine.
    pub(super) fn by_seat(
        &mut self,
        name: &str,
        all: &[PlacedSet],
        frame: &ProofContext<'a>,
        what: &str,
    ) -> Step<()> {
        for (i, one) in all.iter().enumerate() {
            let name = format!("{name}-{i}");
            let mut inner = frame.clone();
            inner.cx.settle();
            let (_, element) = one.any(&mut inner.cx, "")?;
            let defined = and(inner.cx.take_defined());
            self.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", one.text), defined);
            self.fits(&mut inner, &name, &format!("`{}`", one.text));
            let mut ranges = Vec::new();
            for end in element.ends.iter().flatten() {
                let seated = self.seated(&mut inner.cx, end);
                ranges.push(and([ge(&end.number, "(- nodes)"), lt(&end.number, "(* 2 nodes)"), seated]));
            }
            let claim = format!("the ends of `{}` are ranks, on nodes in [-nodes, 2nodes)", one.text);
            let goal = implies(&element.condition, &and(ranges));
            self.prove(&inner, Property::WrapRange, &format!("{name}-ends"), &claim, goal);
            self.found_again(&name, one, frame)?;
            self.at_one_index(&name, one, frame, what)?;
            for (k, other) in all.iter().enumerate().skip(i + 1) {
                let mut inner = frame.clone();
                let block = SeatedBlock::any(self, &mut inner);
                let goal = not(&and([one.has(&mut inner.cx, &block)?, other.has(&mut inner.cx, &block)?]));
                let claim = format!("no block of `{}` {what} as one of `{}`, too", one.text, other.text);
                self.prove(&inner, Property::SingleWrite, &format!("{name}-{k}"), &claim, goal);
            }
        }
        Ok(())
    }

    /// The formula of a set is true of all its blocks.
    fn found_again(&mut self, name: &str, one: &PlacedSet, frame: &ProofContext<'a>) -> Step<()> {
        let mut frame = frame.clone();
        let (_, element) = one.any(&mut frame.cx, "")?;
        let block = SeatedBlock::any(self, &mut frame);
        let there = and([element.condition.clone(), one.is(&element, &block)]);
        let goal = implies(&there, &one.has(&mut frame.cx, &block)?);
        let claim = format!("the blocks of `{}` are found by their ends", one.text);
        self.prove(&frame, Property::WrapRange, &format!("{name}-found"), &claim, goal);
        Ok(())
    }

    /// A block is in a set at one value of its indices.
    fn at_one_index(&mut self, name: &str, one: &PlacedSet, frame: &ProofContext<'a>, what: &str) -> Step<()> {
        if one.indices.is_empty() {
            return Ok(());
        }
        let mut frame = frame.clone();
        let (terms, element) = one.any(&mut frame.cx, "")?;
        let (others, twin) = one.any(&mut frame.cx, ".other")?;
        let block = SeatedBlock::any(self, &mut frame);
        let both = [&element, &twin].map(|element| and([element.condition.clone(), one.is(element, &block)]));
        let equal = and(terms.iter().zip(&others).map(|(a, b)| eq(a, b)));
        let claim = format!("a block of `{}` {what} once", one.text);
        self.prove(&frame, Property::SingleWrite, &format!("{name}-once"), &claim, implies(&and(both), &equal));
        Ok(())
    }
}
