//! Block sets as formulas.
//!
//! A set is never a set to the solver. "Every block of A is in B" is: take an element of A, by its indices; then one of
//! a few candidate index tuples of B gives the same block. Candidates are computed from the element by solving B's
//! item for its last index, or are indices that are at hand. An existential over a product, on which solvers
//! time out, never appears; a missing candidate makes a proof fail, never succeed.

use super::context::{Context, Unsupported, Values};
use super::term::{Term, add, and, eq, int, le, mul, not, or, sub, within};
use roundel_spec::affine::{Progression, affine};
use roundel_spec::blocks::{BlockSet, Index, Part};
use roundel_spec::expr::{Binary, Expr, Unary};
use roundel_spec::schedule::Function;

/// A set of blocks at a place of the proof: comprehensions with the values of their variables.
#[derive(Clone)]
pub(crate) struct SymbolicSet {
    pub(crate) pieces: Vec<Piece>,
}

/// One comprehension, for all values of the indices of its clause, where its guard is true.
#[derive(Clone)]
pub(crate) struct Piece {
    /// The indices of the clause (`for j in …`), then those of the comprehension.
    pub(crate) indices: Vec<Index>,
    pub(crate) guard: Option<Expr>,
    pub(crate) part: Part,
    pub(crate) values: Values,
}

/// An element of a set: the values of its indices, the condition that they are in range, the block.
#[derive(Clone)]
pub(crate) struct Element {
    pub(crate) indices: Vec<Term>,
    pub(crate) condition: Term,
    pub(crate) block: Term,
}

impl SymbolicSet {
    pub(crate) fn new(set: &BlockSet, each: &[Index], guard: Option<&Expr>, values: &Values) -> Self {
        let piece = |part: &Part| Piece {
            indices: each.iter().chain(&part.over).cloned().collect(),
            guard: guard.cloned(),
            part: part.clone(),
            values: values.clone(),
        };
        SymbolicSet { pieces: set.parts.iter().map(piece).collect() }
    }

    pub(crate) fn union(mut self, other: SymbolicSet) -> Self {
        self.pieces.extend(other.pieces);
        self
    }
}

impl Piece {
    /// The element with given index values. Everything is lowered under the conditions under which it is evaluated: the
    /// ranges of inner indices where outer ones are in range, the item where all of them are.
    pub(crate) fn at(&self, cx: &mut Context<'_>, indices: &[Term]) -> Result<Element, Unsupported> {
        let mut conditions = Vec::new();
        let element = self.lowered(cx, indices, &mut conditions);
        cx.leave(conditions.len());
        let block = element?;
        Ok(Element { indices: indices.to_vec(), condition: and(conditions), block })
    }

    fn lowered(&self, cx: &mut Context<'_>, terms: &[Term], conditions: &mut Vec<Term>) -> Result<Term, Unsupported> {
        let mut values = self.values.clone();
        let mut under = |cx: &mut Context<'_>, condition: Term| {
            cx.enter(condition.clone());
            conditions.push(condition);
        };
        let of_clause = self.indices.len() - self.part.over.len();
        for (i, (index, value)) in self.indices.iter().zip(terms).enumerate() {
            if i == of_clause {
                self.guarded(cx, &values, &mut under)?;
            }
            let (lo, hi) = (cx.lower(&index.lo, &values)?, cx.lower(&index.hi, &values)?);
            under(cx, within(value, &lo, &hi));
            values.set(index.var.slot, value.clone());
        }
        if self.part.over.is_empty() {
            self.guarded(cx, &values, &mut under)?;
        }
        if let Some(filter) = &self.part.filter {
            let filter = cx.lower(filter, &values)?;
            under(cx, filter);
        }
        cx.lower(&self.part.item, &values)
    }

    fn guarded<'c>(
        &self,
        cx: &mut Context<'c>,
        values: &Values,
        under: &mut impl FnMut(&mut Context<'c>, Term),
    ) -> Result<(), Unsupported> {
        if let Some(guard) = &self.guard {
            let guard = cx.lower(guard, values)?;
            under(cx, guard);
        }
        Ok(())
    }

    /// Any element: its indices are new constants, named like the indices.
    pub(crate) fn any(&self, cx: &mut Context<'_>, suffix: &str) -> Result<Element, Unsupported> {
        let names: Vec<Term> =
            self.indices.iter().map(|index| cx.constant(&format!("{}{suffix}", index.var.name))).collect();
        self.at(cx, &names)
    }

    /// The numbers that generated code computes where the last index of the comprehension becomes a stripe: how many
    /// blocks, the first and the step, each as the item of a piece under the conditions under which it is computed.
    pub(crate) fn computed(&self, functions: &[Function]) -> Vec<Piece> {
        if self.part.filter.is_some() {
            return vec![];
        }
        let Some(Progression { count, first, step, lazy }) = Progression::of(&self.part, functions) else {
            return vec![];
        };
        let some = Expr::binary(Binary::Lt, Expr::Int(0), count.clone());
        let filter = lazy.then_some(some);
        vec![self.outside(count, None), self.outside(first, filter.clone()), self.outside(step, filter)]
    }

    /// Another item, outside of the last index.
    fn outside(&self, item: Expr, filter: Option<Expr>) -> Piece {
        let without_last = |indices: &[Index]| indices.split_last().map_or(vec![], |(_, outer)| outer.to_vec());
        let part = Part { item, over: without_last(&self.part.over), filter };
        Piece { indices: without_last(&self.indices), part, ..self.clone() }
    }

    /// How many elements there are, over all indices of clause and comprehension; never negative. Where a condition
    /// hides some, or a range depends on another index of the piece, the number is no product, and not encoded.
    pub(crate) fn count(&self, cx: &mut Context<'_>) -> Result<Term, Unsupported> {
        if self.part.filter.is_some() {
            return Err(Unsupported("the size of a filtered set".into()));
        }
        if self.guard.is_some() {
            return Err(Unsupported("the size of a guarded set".into()));
        }
        let mut count = "1".to_string();
        for index in &self.indices {
            // The values have none for the indices of the piece, so a range that mentions one is refused here.
            let (lo, hi) = (cx.lower(&index.lo, &self.values)?, cx.lower(&index.hi, &self.values)?);
            let size = sub(&hi, &lo);
            let size = super::term::ite(&le("0", &size), &size, "0");
            count = cx.product(&count, &size);
        }
        Ok(count)
    }
}

/// Whether two blocks are the same modulo p. Exact for numbers that differ by less than four times p.
pub(crate) fn same_block(a: &str, b: &str) -> Term {
    if a == b {
        return "true".into();
    }
    or((-3..=3).map(|m| eq(a, &add(b, &mul(&int(m), "p")))))
}

/// Whether two blocks differ modulo p, for numbers that are at most `apart` times p apart.
pub(crate) fn different_block(a: &str, b: &str, apart: i64) -> Term {
    and((-apart..=apart).map(|m| not(&eq(a, &add(b, &mul(&int(m), "p"))))))
}

/// How far the search for candidates goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Terms at hand, and what solves an equation with step one.
    AtHand,
    /// Also quotients by symbolic strides.
    Quotients,
}

/// That `block` is in `set`: one of the candidates gives it. `at_hand` are terms worth trying as index values.
pub(crate) fn member(
    cx: &mut Context<'_>,
    block: &str,
    set: &SymbolicSet,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Term, Unsupported> {
    let mut options = Vec::new();
    for piece in &set.pieces {
        for candidate in candidates(cx, piece, block, at_hand, reach)? {
            let element = piece.at(cx, &candidate)?;
            options.push(and([element.condition, same_block(&element.block, block)]));
        }
    }
    Ok(or(options))
}

/// Index tuples of `piece` that may give `block`.
fn candidates(
    cx: &mut Context<'_>,
    piece: &Piece,
    block: &str,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Vec<Vec<Term>>, Unsupported> {
    let Some((last, outer)) = piece.indices.split_last() else { return Ok(vec![vec![]]) };
    let mut tuples = Vec::new();
    for outer_values in outer_candidates(outer.len(), at_hand) {
        let values = bind(&piece.values, outer, &outer_values);
        for value in last_candidates(cx, piece, last, &values, block, at_hand, reach)? {
            tuples.push(outer_values.iter().cloned().chain([value]).collect());
        }
    }
    if let [j, _] = piece.indices.as_slice()
        && reach == Reach::Quotients
    {
        tuples.extend(two_level(cx, piece, j, last, block)?);
    }
    tuples.dedup();
    Ok(tuples)
}

fn bind(values: &Values, indices: &[Index], terms: &[Term]) -> Values {
    let mut values = values.clone();
    indices.iter().zip(terms).for_each(|(index, term)| values.set(index.var.slot, term.clone()));
    values
}

/// All tuples of terms at hand.
fn outer_candidates(len: usize, at_hand: &[Term]) -> Vec<Vec<Term>> {
    let mut tuples = vec![vec![]];
    for _ in 0..len {
        tuples = tuples
            .iter()
            .flat_map(|tuple: &Vec<Term>| {
                at_hand.iter().map(move |t| [tuple.as_slice(), std::slice::from_ref(t)].concat())
            })
            .collect();
    }
    tuples
}

/// Values of the last index that may give `block`.
#[allow(clippy::too_many_arguments)]
fn last_candidates(
    cx: &mut Context<'_>,
    piece: &Piece,
    last: &Index,
    values: &Values,
    block: &str,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Vec<Term>, Unsupported> {
    let Some((base, step)) = affine(&piece.part.item, last.var.slot) else { return Ok(at_hand.to_vec()) };
    // The base cannot mention the index; any value will do for it.
    let values = values.with(last.var.slot, "0");
    let base = cx.lower(&base, &values)?;
    let distance = |m: i64| add(&sub(block, &base), &mul(&int(m), "p"));
    Ok(match step {
        Expr::Int(1) => (-2..=2).map(distance).collect(),
        Expr::Int(-1) => (-2..=2).map(|m| sub("0", &distance(m))).collect(),
        Expr::Int(0) => vec![cx.lower(&last.lo, &values)?],
        step => {
            // What is at hand, doubled and halved, reaches strides that double or halve; a quotient reaches the rest.
            let mut all = at_hand.to_vec();
            for t in at_hand {
                let half = cx.quotient(t, "2").0;
                all.extend([mul("2", t), add(&mul("2", t), "1"), half]);
            }
            if reach == Reach::AtHand {
                return Ok(all);
            }
            let (step, negative) = match step {
                Expr::Unary(Unary::Neg, inner) => (*inner, true),
                other => (other, false),
            };
            let step = cx.lower(&step, &values)?;
            for m in -1..=1 {
                let way = if negative { sub("0", &distance(m)) } else { distance(m) };
                all.push(cx.quotient(&way, &step).0);
            }
            all
        }
    })
}

/// Both indices of `base + stride * j + k` at once: quotient and remainder.
fn two_level(
    cx: &mut Context<'_>,
    piece: &Piece,
    j: &Index,
    k: &Index,
    block: &str,
) -> Result<Vec<Vec<Term>>, Unsupported> {
    let Some((rest, Expr::Int(1))) = affine(&piece.part.item, k.var.slot) else { return Ok(vec![]) };
    let Some((base, stride)) = affine(&rest, j.var.slot) else { return Ok(vec![]) };
    if matches!(stride, Expr::Int(_)) {
        return Ok(vec![]);
    }
    let values = piece.values.with(j.var.slot, "0").with(k.var.slot, "0");
    let (base, stride) = (cx.lower(&base, &values)?, cx.lower(&stride, &values)?);
    let mut tuples = Vec::new();
    for m in -1..=1 {
        let distance = add(&sub(block, &base), &mul(&int(m), "p"));
        let (quotient, remainder) = cx.quotient(&distance, &stride);
        tuples.push(vec![quotient, remainder]);
    }
    Ok(tuples)
}

/// That no two elements with different indices are the same block, for two elements of one piece.
pub(crate) fn other_index(a: &Element, b: &Element) -> Term {
    not(&and(a.indices.iter().zip(&b.indices).map(|(x, y)| eq(x, y))))
}
