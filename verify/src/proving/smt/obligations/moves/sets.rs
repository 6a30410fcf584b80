//! Comprehensions by offset, as formulas.

use super::{ProofContext, Prover, Step, SymbolicBlock};
use crate::proving::smt::context::{Context, NoEncoding, TermValues};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, int, lt, mul, or, sub, within};
use roundel_spec::affine::{self, affine};
use roundel_spec::blocks::{BlockSet, Comprehension, Index};
use roundel_spec::expr::{Binary, Builtin, Expr};

/// `[source -> destination; j in lo..hi, filter]`, for each value of at most one index of its clause, where a guard is
/// true.
#[derive(Clone)]
pub(super) struct MovedSet {
    /// The index of the clause (`for z in …`).
    pub(super) each: Option<Index>,
    guard: Option<Expr>,
    pub(super) over: Option<Index>,
    pub(super) filter: Option<Expr>,
    source: Expr,
    destination: Expr,
    pub(super) values: TermValues,
    /// The declared text, for messages.
    pub(super) text: String,
}

/// A block of a comprehension at given indices: the condition under which it exists, its source (not wrapped), its
/// destination and its offset.
pub(super) struct MovedElement {
    pub(super) condition: Term,
    pub(super) source: Term,
    destination: Term,
    pub(super) offset: Term,
}

impl MovedSet {
    /// The comprehensions of a set.
    pub(super) fn all(set: &BlockSet, each: &[Index], guard: Option<&Expr>, values: &TermValues) -> Step<Vec<Self>> {
        if each.len() > 1 {
            return Err(NoEncoding::new("a clause with several indices".into()));
        }
        set.parts.iter().map(|part| MovedSet::new(part, each.first(), guard, values)).collect()
    }

    fn new(part: &Comprehension, each: Option<&Index>, guard: Option<&Expr>, values: &TermValues) -> Step<Self> {
        let Expr::Builtin(Builtin::Pair, ends) = &part.item else {
            return Err(NoEncoding::new(format!("`{part}`, which is not written `source -> destination`,")));
        };
        let ([source, destination], [] | [_]) = (ends.as_slice(), part.over.as_slice()) else {
            return Err(NoEncoding::new(format!("`{part}`, which has several indices,")));
        };
        Ok(MovedSet {
            each: each.cloned(),
            guard: guard.cloned(),
            over: part.over.first().cloned(),
            filter: part.filter.clone(),
            source: source.clone(),
            destination: destination.clone(),
            values: values.clone(),
            text: part.to_string(),
        })
    }

    /// The same set with the values of another rank.
    pub(super) fn with_values(&self, values: &TermValues) -> Self {
        MovedSet { values: values.clone(), ..self.clone() }
    }

    /// The conditions under which there is a block at indices `z` of the clause and `j`, each lowered under those
    /// before it; they stay entered. Returns the values with the indices set.
    fn conditions(&self, cx: &mut Context<'_>, z: &str, j: &str, all: &mut Vec<Term>) -> Step<TermValues> {
        let mut values = self.values.clone();
        let mut under = |cx: &mut Context<'_>, condition: Term| {
            cx.enter(condition.clone());
            all.push(condition);
        };
        if let Some(index) = &self.each {
            let (lo, hi) = (cx.lower(&index.lo, &values)?, cx.lower(&index.hi, &values)?);
            under(cx, within(z, &lo, &hi));
            values.set(index.var.slot, z);
        }
        if let Some(guard) = &self.guard {
            let guard = cx.lower(guard, &values)?;
            under(cx, guard);
        }
        if let Some(index) = &self.over {
            let (lo, hi) = (cx.lower(&index.lo, &values)?, cx.lower(&index.hi, &values)?);
            under(cx, within(j, &lo, &hi));
            values.set(index.var.slot, j);
        }
        if let Some(filter) = &self.filter {
            let filter = cx.lower(filter, &values)?;
            under(cx, filter);
        }
        Ok(values)
    }

    /// The conditions for a block at given indices, in the order in which they are evaluated.
    pub(super) fn at_indices(&self, cx: &mut Context<'_>, z: &str, j: &str) -> Step<Vec<Term>> {
        let mut all = Vec::new();
        let lowered = self.conditions(cx, z, j, &mut all);
        cx.leave(all.len());
        lowered.map(|_| all)
    }

    /// The block at given indices.
    pub(super) fn at(&self, cx: &mut Context<'_>, z: &str, j: &str) -> Step<MovedElement> {
        let mut all = Vec::new();
        let lowered = self
            .conditions(cx, z, j, &mut all)
            .and_then(|values| Ok((cx.lower(&self.source, &values)?, cx.lower(&self.destination, &values)?)));
        cx.leave(all.len());
        let (source, destination) = lowered?;
        let offset = if self.over.is_some() { j.to_string() } else { sub(&destination, &source) };
        Ok(MovedElement { condition: and(all), source, destination, offset })
    }

    /// Any block: the indices of clause and comprehension are new constants.
    pub(super) fn any(&self, cx: &mut Context<'_>) -> Step<(Term, Term, MovedElement)> {
        let z = self.each.as_ref().map_or("0".into(), |index| cx.constant(&index.var.name));
        let j = self.over.as_ref().map_or("0".into(), |index| cx.constant(&index.var.name));
        let element = self.at(cx, &z, &j)?;
        Ok((z, j, element))
    }

    /// The claim that a block is in the message with index `z` of the clause.
    pub(super) fn has(&self, cx: &mut Context<'_>, z: &str, block: &SymbolicBlock) -> Step<Term> {
        let element = self.at(cx, z, &block.offset)?;
        Ok(and([element.condition, eq(&element.offset, &block.offset), around(&element.source, &block.source)]))
    }

    /// The message of its clause that a block is in, if any: an equation of the filter, or the offset, determines the
    /// index. That it is in no other is an obligation.
    pub(super) fn which(&self, cx: &mut Context<'_>, block: &SymbolicBlock) -> Step<Term> {
        let Some(each) = &self.each else { return Ok("0".into()) };
        let slot = each.var.slot;
        let mut equations = Vec::new();
        if self.over.is_none() {
            let offset = affine::sub(self.destination.clone(), self.source.clone());
            equations.push((offset, None));
        }
        for (a, b) in self.filter.iter().flat_map(conjuncts).filter_map(equation) {
            equations.extend([(a.clone(), Some(b.clone())), (b, Some(a))]);
        }
        let mut values = self.values.with(slot, "0");
        self.over.iter().for_each(|index| values.set(index.var.slot, block.offset.clone()));
        for (side, other) in equations {
            if other.as_ref().is_some_and(|other| other.mentions(slot)) {
                continue;
            }
            let Some((base, Expr::Int(step @ (1 | -1)))) = affine(&side, slot) else { continue };
            let value = match &other {
                Some(other) => cx.lower(other, &values)?,
                None => block.offset.clone(),
            };
            let way = sub(&value, &cx.lower(&base, &values)?);
            return Ok(if step == 1 { way } else { sub("0", &way) });
        }
        Err(NoEncoding::new(format!("`for {each}`, which a block of `{}` does not tell,", self.text)))
    }

    /// Whether a guard or a filter may hide blocks.
    pub(super) fn is_conditional(&self) -> bool {
        self.guard.is_some() || self.filter.is_some()
    }

    /// The guard and the parts of the filter.
    pub(super) fn conditions_declared(&self) -> Vec<Expr> {
        self.guard.iter().chain(&self.filter).flat_map(conjuncts).cloned().collect()
    }

    /// The claim that a block is in some message of the clause.
    pub(super) fn has_in_any(&self, cx: &mut Context<'_>, block: &SymbolicBlock) -> Step<Term> {
        let z = self.which(cx, block)?;
        self.has(cx, &z, block)
    }
}

/// The claim that a block is in one of several comprehensions.
pub(super) fn any_has(all: &[MovedSet], cx: &mut Context<'_>, block: &SymbolicBlock) -> Step<Term> {
    let each = all.iter().map(|one| one.has_in_any(cx, block)).collect::<Step<Vec<Term>>>()?;
    Ok(or(each))
}

/// The claim that a number in `[-p, 2p)` equals one in `0..p` modulo p.
pub(super) fn around(x: &str, rank: &str) -> Term {
    or((-1..=1).map(|turns| eq(x, &add(rank, &mul(&int(turns), "p")))))
}

/// The claim that a number is in `[-p, 2p)`.
pub(super) fn near(x: &str) -> Term {
    and([ge(x, "(- p)"), lt(x, "(* 2 p)")])
}

/// The conjuncts of a condition.
pub(super) fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match e {
        Expr::Binary(Binary::And, a, b) => [conjuncts(a), conjuncts(b)].concat(),
        other => vec![other],
    }
}

/// The sides of an equation.
pub(super) fn equation(e: &Expr) -> Option<(Expr, Expr)> {
    match e {
        Expr::Binary(Binary::Eq, a, b) => Some(((**a).clone(), (**b).clone())),
        _ => None,
    }
}

impl<'a> Prover<'a> {
    /// Proves that comprehensions are given by offset, which their formulas rely on.
    pub(super) fn by_offset(&mut self, name: &str, all: &[MovedSet], frame: &ProofContext<'a>) -> Step<()> {
        for (i, one) in all.iter().enumerate() {
            let mut frame = frame.clone();
            frame.cx.settle();
            let (_, _, element) = one.any(&mut frame.cx)?;
            let name = format!("{name}-{i}");
            let defined = and(frame.cx.take_defined());
            self.prove(&frame, Property::Defined, &name, &format!("`{}` has a value", one.text), defined);
            let way = sub(&element.destination, &element.source);
            let goal = and([within(&element.offset, "0", "p"), eq(&way, &element.offset)]);
            let claim = format!("`{}` is by offsets in [0, p)", one.text);
            let goal = implies(&element.condition, &goal);
            self.prove(&frame, Property::WrapRange, &format!("{name}-offset"), &claim, goal);
            let claim = format!("sources of `{}` lie in [-p, 2p)", one.text);
            let goal = implies(&element.condition, &near(&element.source));
            self.prove(&frame, Property::WrapRange, &format!("{name}-source"), &claim, goal);
        }
        Ok(())
    }
}
