//! Block sets as formulas.
//!
//! Sets are never passed to the solver. "Every block of A is in B" becomes: take an element of A, by its indices; then
//! one of a few candidate index tuples of B gives the same block. Candidates are computed from the element by solving
//! B's item for its last index, or are index values already in use. An existential over a product, on which solvers
//! time out, never appears. A missing candidate can only make a proof fail, never succeed.

use super::context::{Context, NoEncoding, TermValues};
use super::numbering::{CyclicTerm, Numbering};
use super::term::{Term, add, and, eq, int, le, mul, not, or, sub, within};
use roundel_spec::affine::{Progression, affine};
use roundel_spec::blocks::{BlockSet, Comprehension, Index};
use roundel_spec::expr::{Binary, Builtin, Expr, Unary};
use roundel_spec::schedule::{Function, Transfer};

/// A set of blocks at a point of the proof: comprehensions with the values of their variables.
#[derive(Clone)]
pub(crate) struct SymbolicSet {
    pub(crate) pieces: Vec<SetPiece>,
}

/// One comprehension, for all values of the indices of its clause, under its guard.
#[derive(Clone)]
pub(crate) struct SetPiece {
    /// The indices of the clause (`for j in …`), then those of the comprehension.
    pub(crate) indices: Vec<Index>,
    pub(crate) guard: Option<Expr>,
    pub(crate) part: Comprehension,
    pub(crate) values: TermValues,
    /// Whether blocks are plain numbers, also where ranks are a node and a seat.
    plain: bool,
}

/// An element of a set: the values of its indices, the condition that they are in range, the block.
#[derive(Clone)]
pub(crate) struct SetElement {
    pub(crate) indices: Vec<Term>,
    pub(crate) condition: Term,
    pub(crate) block: Term,
    /// Its local index, if `block` is a node.
    pub(crate) seat: Term,
}

impl SetElement {
    /// The block.
    pub(crate) fn cell(&self) -> CyclicTerm {
        CyclicTerm { number: self.block.clone(), seat: self.seat.clone() }
    }
}

impl SymbolicSet {
    pub(crate) fn new(set: &BlockSet, each: &[Index], guard: Option<&Expr>, values: &TermValues) -> Self {
        let piece = |part: &Comprehension| SetPiece {
            indices: each.iter().chain(&part.over).cloned().collect(),
            guard: guard.cloned(),
            part: part.clone(),
            values: values.clone(),
            plain: false,
        };
        SymbolicSet { pieces: set.parts.iter().map(piece).collect() }
    }

    /// The blocks of a clause, under its condition and for all values of its indices.
    pub(crate) fn of_clause(cx: &Context<'_>, t: &Transfer, values: &TermValues) -> Self {
        let mut set = SymbolicSet::new(&t.blocks, &t.each, t.when.as_ref(), values);
        set.pieces.iter_mut().for_each(|piece| piece.plain = cx.blocks_are_plain());
        set
    }

    pub(crate) fn union(mut self, other: SymbolicSet) -> Self {
        self.pieces.extend(other.pieces);
        self
    }
}

impl SetPiece {
    /// The element with given index values. Everything is lowered under the conditions under which it is evaluated: the
    /// ranges of inner indices if the outer ones are in range, the item if all of them are.
    pub(crate) fn at(&self, cx: &mut Context<'_>, indices: &[Term]) -> Result<SetElement, NoEncoding> {
        let mut conditions = Vec::new();
        let element = self.lowered(cx, indices, &mut conditions);
        cx.leave(conditions.len());
        let CyclicTerm { number: block, seat } = element?;
        Ok(SetElement { indices: indices.to_vec(), condition: and(conditions), block, seat })
    }

    fn lowered(
        &self,
        cx: &mut Context<'_>,
        terms: &[Term],
        conditions: &mut Vec<Term>,
    ) -> Result<CyclicTerm, NoEncoding> {
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
        if self.plain {
            let number = cx.lower(&self.part.item, &values)?;
            return Ok(CyclicTerm { number, seat: "0".into() });
        }
        cx.cell(&self.part.item, &values)
    }

    fn guarded<'c>(
        &self,
        cx: &mut Context<'c>,
        values: &TermValues,
        under: &mut impl FnMut(&mut Context<'c>, Term),
    ) -> Result<(), NoEncoding> {
        if let Some(guard) = &self.guard {
            let guard = cx.lower(guard, values)?;
            under(cx, guard);
        }
        Ok(())
    }

    /// Any element: its indices are new constants, named like the indices.
    pub(crate) fn any(&self, cx: &mut Context<'_>, suffix: &str) -> Result<SetElement, NoEncoding> {
        let names: Vec<Term> =
            self.indices.iter().map(|index| cx.constant(&format!("{}{suffix}", index.var.name))).collect();
        self.at(cx, &names)
    }

    /// Whether it has its first element where it has any: no condition, peer or range depends on an index.
    pub(crate) fn first_tells(&self) -> bool {
        let of_clause = self.indices.len() - self.part.over.len();
        self.part.filter.is_none() && of_clause == 0 && self.indices.len() <= 1
    }

    /// The numbers that generated code computes if the last index of the comprehension becomes a stripe: the number of
    /// blocks, the first one and the step, each as the item of a piece under the conditions under which it is computed.
    pub(crate) fn computed(&self, wheel: Numbering, functions: &[Function]) -> Vec<SetPiece> {
        if self.part.filter.is_some() {
            return vec![];
        }
        if wheel == Numbering::Nodes && !self.plain {
            return self.computed_node(wheel);
        }
        let Some(Progression { count, first, step, lazy }) = Progression::of(&self.part, functions) else {
            return vec![];
        };
        let some = Expr::binary(Binary::Lt, Expr::Int(0), count.clone());
        let filter = lazy.then_some(some);
        vec![self.outside(count, None), self.outside(first, filter.clone()), self.outside(step, filter)]
    }

    /// The node of blocks that form a stripe on it; the resulting numbers are below p.
    fn computed_node(&self, wheel: Numbering) -> Vec<SetPiece> {
        let (Some((node, _)), Some(last)) = (wheel.split(&self.part.item), self.part.over.last()) else {
            return vec![];
        };
        if node.mentions(last.var.slot) {
            return vec![];
        }
        vec![self.outside(Expr::Builtin(Builtin::FirstRank, vec![node]), None)]
    }

    /// Another item, without the last index.
    fn outside(&self, item: Expr, filter: Option<Expr>) -> SetPiece {
        let without_last = |indices: &[Index]| indices.split_last().map_or(vec![], |(_, outer)| outer.to_vec());
        let part = Comprehension { item, over: without_last(&self.part.over), filter };
        SetPiece { indices: without_last(&self.indices), part, ..self.clone() }
    }

    /// The number of elements over all indices of clause and comprehension; never negative. If a condition hides some,
    /// or a range depends on another index of the piece, the number is not a product, and is not encoded.
    pub(crate) fn count(&self, cx: &mut Context<'_>) -> Result<Term, NoEncoding> {
        if self.part.filter.is_some() {
            return Err(NoEncoding::new("the size of a filtered set".into()));
        }
        if self.guard.is_some() {
            return Err(NoEncoding::new("the size of a guarded set".into()));
        }
        let mut count = "1".to_string();
        for index in &self.indices {
            // The indices of the piece have no values here, so a range that mentions one is refused.
            let (lo, hi) = (cx.lower(&index.lo, &self.values)?, cx.lower(&index.hi, &self.values)?);
            let size = sub(&hi, &lo);
            let size = super::term::ite(&le("0", &size), &size, "0");
            count = cx.product(&count, &size);
        }
        Ok(count)
    }
}

/// How far the search for candidates goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Terms in use, and solutions of equations with step one.
    AtHand,
    /// Also quotients by symbolic strides.
    Quotients,
}

/// That `block` is in `set`: one of the candidates gives it. `at_hand` lists terms worth trying as index values.
pub(crate) fn member(
    cx: &mut Context<'_>,
    block: &CyclicTerm,
    set: &SymbolicSet,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Term, NoEncoding> {
    let mut options = Vec::new();
    for piece in &set.pieces {
        for candidate in candidates(cx, piece, block, at_hand, reach)? {
            let element = piece.at(cx, &candidate)?;
            options.push(and([element.condition.clone(), cx.same_block(&element.cell(), block)]));
        }
    }
    Ok(or(options))
}

/// Index tuples of `piece` that may give `block`.
fn candidates(
    cx: &mut Context<'_>,
    piece: &SetPiece,
    block: &CyclicTerm,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Vec<Vec<Term>>, NoEncoding> {
    let (number, seat) = cx.coordinates(&piece.part.item)?;
    let seated = seat_index(&piece.indices, &number, &seat);
    let mut others = piece.indices.clone();
    seated.iter().for_each(|&i| drop(others.remove(i)));
    let mut tuples = Vec::new();
    let mut at_hand = at_hand.to_vec();
    if reach == Reach::Quotients {
        at_hand.extend(strides(cx, piece, &seat, &block.seat)?);
    }
    for mut tuple in number_candidates(cx, piece, &others, &number, &block.number, &at_hand, reach)? {
        if let Some(i) = seated {
            // The seat determines this index; the base does not mention it.
            let values = bind(&piece.values, &others, &tuple).with(piece.indices[i].var.slot, "0");
            let base = cx.lower(&seat, &values)?;
            tuple.insert(i, sub(&block.seat, &base));
        }
        tuples.push(tuple);
    }
    Ok(tuples)
}

/// How often a stride of the seats fits into a seat: an index that counts lanes.
fn strides(cx: &mut Context<'_>, piece: &SetPiece, seat: &Expr, of: &str) -> Result<Vec<Term>, NoEncoding> {
    let mut all = Vec::new();
    for index in &piece.indices {
        let Some((_, step)) = affine(seat, index.var.slot) else { continue };
        if !matches!(step, Expr::Int(_)) {
            let step = cx.lower(&step, &piece.values)?;
            all.push(cx.quotient(of, &step).0);
        }
    }
    Ok(all)
}

/// The index that counts seats one by one, on nodes that do not depend on it.
pub(crate) fn seat_index(indices: &[Index], number: &Expr, seat: &Expr) -> Option<usize> {
    let counts = |index: &Index| {
        !number.mentions(index.var.slot) && matches!(affine(seat, index.var.slot), Some((_, Expr::Int(1))))
    };
    indices.iter().position(counts)
}

/// Values of some indices for which `item` may be the number `block`.
#[allow(clippy::too_many_arguments)]
fn number_candidates(
    cx: &mut Context<'_>,
    piece: &SetPiece,
    indices: &[Index],
    item: &Expr,
    block: &str,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Vec<Vec<Term>>, NoEncoding> {
    // Solved for the last index, unless the number does not depend on it.
    let depends = |index: &Index| item.mentions(index.var.slot);
    let solved = match cx.wheel() {
        Numbering::Ranks => indices.len().checked_sub(1),
        Numbering::Nodes => indices.iter().rposition(depends).or(indices.len().checked_sub(1)),
    };
    let Some(solved) = solved else { return Ok(vec![vec![]]) };
    let mut outer = indices.to_vec();
    let last = outer.remove(solved);
    let mut tuples = Vec::new();
    for outer_values in outer_candidates(outer.len(), at_hand) {
        let values = bind(&piece.values, &outer, &outer_values);
        for value in last_candidates(cx, item, &last, &values, block, at_hand, reach)? {
            let mut tuple = outer_values.clone();
            tuple.insert(solved, value);
            tuples.push(tuple);
        }
    }
    if let [j, k] = indices
        && reach == Reach::Quotients
    {
        tuples.extend(two_level(cx, piece, item, j, k, block)?);
    }
    tuples.dedup();
    Ok(tuples)
}

fn bind(values: &TermValues, indices: &[Index], terms: &[Term]) -> TermValues {
    let mut values = values.clone();
    indices.iter().zip(terms).for_each(|(index, term)| values.set(index.var.slot, term.clone()));
    values
}

/// All tuples of the terms `at_hand`.
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
    item: &Expr,
    last: &Index,
    values: &TermValues,
    block: &str,
    at_hand: &[Term],
    reach: Reach,
) -> Result<Vec<Term>, NoEncoding> {
    let Some((base, step)) = affine(item, last.var.slot) else { return Ok(at_hand.to_vec()) };
    // The base does not mention the index, so any value will do for it.
    let values = values.with(last.var.slot, "0");
    let base = cx.lower(&base, &values)?;
    let around = cx.wheel().around();
    let distance = |m: i64| add(&sub(block, &base), &mul(&int(m), around));
    Ok(match step {
        Expr::Int(1) => (-2..=2).map(distance).collect(),
        Expr::Int(-1) => (-2..=2).map(|m| sub("0", &distance(m))).collect(),
        Expr::Int(0) => vec![cx.lower(&last.lo, &values)?],
        step => {
            // Doubled and halved terms cover strides that double or halve; a quotient covers the rest.
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
    piece: &SetPiece,
    item: &Expr,
    j: &Index,
    k: &Index,
    block: &str,
) -> Result<Vec<Vec<Term>>, NoEncoding> {
    let Some((rest, Expr::Int(1))) = affine(item, k.var.slot) else { return Ok(vec![]) };
    let Some((base, stride)) = affine(&rest, j.var.slot) else { return Ok(vec![]) };
    if matches!(stride, Expr::Int(_)) {
        return Ok(vec![]);
    }
    let values = piece.values.with(j.var.slot, "0").with(k.var.slot, "0");
    let (base, stride) = (cx.lower(&base, &values)?, cx.lower(&stride, &values)?);
    let mut tuples = Vec::new();
    for m in -1..=1 {
        let distance = add(&sub(block, &base), &mul(&int(m), cx.wheel().around()));
        let (quotient, remainder) = cx.quotient(&distance, &stride);
        tuples.push(vec![quotient, remainder]);
    }
    Ok(tuples)
}

/// That two elements of one piece have different indices.
pub(crate) fn other_index(a: &SetElement, b: &SetElement) -> Term {
    not(&and(a.indices.iter().zip(&b.indices).map(|(x, y)| eq(x, y))))
}
