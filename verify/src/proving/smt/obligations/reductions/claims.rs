//! The claims of `holds` about a line: a set of ranks for each rank and block, as a formula on one rank.
//!
//! Membership is exact, in both directions: the index is computed, not searched for. So the same formula may be assumed
//! and proved. Sets whose index cannot be computed (several indices, items that are not affine) are not encoded.

use super::super::{ProofContext, Prover, RANK, Step, values_at};
use crate::proving::smt::context::{Context, NoEncoding, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SetPiece, SymbolicSet, seat_index};
use crate::proving::smt::term::{Term, add, and, eq, implies, int, mul, or, sub, within};
use roundel_spec::affine::affine;
use roundel_spec::blocks::BlockSet;
use roundel_spec::expr::{Expr, Unary};
use roundel_spec::schedule::{Hold, Loop};

/// The contributors of a line, for every rank and block.
#[derive(Clone)]
pub(in super::super) struct ContributorClaim {
    ranks: BlockSet,
    /// The variable of the block, if the contributors depend on it.
    block: Option<usize>,
    values: TermValues,
    wheel: Numbering,
}

impl ContributorClaim {
    /// The same contributors for all blocks.
    pub(in super::super) fn everywhere(ranks: BlockSet, values: &TermValues, wheel: Numbering) -> Self {
        ContributorClaim { ranks, block: None, values: values.clone(), wheel }
    }

    /// Whether it is the rank itself, as at the beginning.
    pub(super) fn is_own(&self) -> bool {
        let own = |item: &Expr| matches!(item, Expr::Var(v) if v.slot == RANK);
        matches!(self.ranks.parts.as_slice(), [part] if own(&part.item) && part.over.is_empty() && part.filter.is_none())
    }

    /// The contributors on a rank to a block, in `0..blocks`.
    pub(super) fn at(&self, rank: &CyclicTerm, block: &str) -> SymbolicSet {
        let mut values = values_at(self.wheel, &self.values, rank);
        if let Some(slot) = self.block {
            values.set(slot, block);
        }
        SymbolicSet::new(&self.ranks, &[], None, &values)
    }
}

impl<'a> Prover<'a> {
    /// The claims of `holds` about every line; `None` unless it describes each line, and only once.
    pub(in super::super) fn lines_of(&self, l: &Loop, values: &TermValues) -> Option<Vec<ContributorClaim>> {
        let of_line = |line: usize| {
            let mut claims = l.holds.iter().filter_map(|hold| match hold {
                Hold::Contributors { line: of, block, ranks } if *of as usize == line => {
                    let block = block.as_ref().map(|var| var.slot);
                    Some(ContributorClaim { ranks: ranks.clone(), block, values: values.clone(), wheel: self.wheel })
                }
                _ => None,
            });
            let claim = claims.next()?;
            claims.next().is_none().then_some(claim)
        };
        (0..self.schedule.lines.len()).map(of_line).collect()
    }

    /// That a rank, whose number lies in `0..p` or in `0..nodes`, is in a set of ranks.
    pub(super) fn contributes(&self, cx: &mut Context<'_>, x: &CyclicTerm, set: &SymbolicSet) -> Step<Term> {
        let mut options = Vec::new();
        for piece in &set.pieces {
            let turns = self.windows.of(&piece.part.item).turns();
            options.push(match self.wheel {
                Numbering::Ranks => in_piece(cx, &x.number, piece, turns)?,
                Numbering::Nodes => seat_in_piece(cx, x, piece, turns)?,
            });
        }
        Ok(or(options))
    }

    /// That block `b`, in `0..blocks`, is among those of some clauses.
    pub(super) fn carries(&self, cx: &mut Context<'_>, b: &str, set: &SymbolicSet) -> Step<Term> {
        let mut options = Vec::new();
        for piece in &set.pieces {
            options.push(in_piece(cx, b, piece, self.block_turns(piece))?);
        }
        Ok(or(options))
    }

    fn block_turns(&self, piece: &SetPiece) -> &'static [i64] {
        if self.blocks_are_ranks() { self.windows.of(&piece.part.item).turns() } else { &[0] }
    }

    /// The block of an element, in `0..blocks`; assumes that it lies in its window, which is a separate obligation.
    pub(super) fn slot(&self, frame: &mut ProofContext<'_>, piece: &SetPiece, element: &SetElement) -> Step<Term> {
        let blocks = self.blocks(frame)?;
        let turns = self.block_turns(piece);
        if turns == [0] {
            frame.assume(within(&element.block, "0", &blocks));
            return Ok(element.block.clone());
        }
        let block = frame.cx.constant("block!");
        frame.assume(within(&block, "0", &blocks));
        frame.assume(or(turns.iter().map(|m| eq(&element.block, &turned(&block, *m)))));
        Ok(block)
    }

    /// Any block.
    pub(in super::super) fn any_block(&self, frame: &mut ProofContext<'_>) -> Step<Term> {
        let blocks = self.blocks(frame)?;
        let block = frame.cx.constant("block!");
        frame.assume(within(&block, "0", &blocks));
        Ok(block)
    }

    /// Any rank.
    pub(in super::super) fn any_rank(&self, frame: &mut ProofContext<'_>, name: &str) -> CyclicTerm {
        let number = frame.cx.constant(name);
        let seat = match self.wheel {
            Numbering::Ranks => "0".into(),
            Numbering::Nodes => frame.cx.constant(&format!("seat_of_{name}")),
        };
        let rank = CyclicTerm { number, seat };
        let is_rank = self.is_rank(&mut frame.cx, &rank);
        frame.assume(is_rank);
        rank
    }

    /// That a number, or a node and a seat, is a rank.
    pub(in super::super) fn is_rank(&self, cx: &mut Context<'_>, rank: &CyclicTerm) -> Term {
        and([within(&rank.number, "0", self.wheel.around()), self.seated(cx, rank)])
    }

    /// That a set is not empty: it contains this rank, or the first one of a comprehension.
    pub(super) fn some(&self, cx: &mut Context<'_>, rank: &CyclicTerm, set: &SymbolicSet) -> Step<Term> {
        let mut options = vec![self.contributes(cx, rank, set)?];
        for piece in &set.pieces {
            options.push(first(cx, piece)?.condition);
        }
        Ok(or(options))
    }

    /// At the beginning of a loop, `holds` claims exactly what is held.
    pub(in super::super) fn equal_lines(
        &mut self,
        n: usize,
        frame: &ProofContext<'a>,
        held: &[ContributorClaim],
        claimed: &[ContributorClaim],
    ) {
        for (line, (held, claimed)) in held.iter().zip(claimed).enumerate() {
            for (small, large, way) in [(held, claimed, "no less"), (claimed, held, "no more")] {
                self.attempt(Property::Initialisation, |prover| {
                    let mut frame = frame.clone();
                    let (b, x) = (prover.any_block(&mut frame)?, prover.any_rank(&mut frame, "contributor!"));
                    let here = prover.wheel.here();
                    let has = prover.contributes(&mut frame.cx, &x, &small.at(&here, &b))?;
                    let goal = prover.contributes(&mut frame.cx, &x, &large.at(&here, &b))?;
                    if has == "false" || has == goal {
                        return Ok(());
                    }
                    // A line may be empty here; that is not a contradiction.
                    let goal = implies(&has, &goal);
                    let name = format!("round{n}-line{line}-{}", way.replace(' ', "-"));
                    let line = &prover.schedule.lines[line];
                    let claim =
                        format!("`holds` names {way} than has contributed to `{line}` before the first round");
                    prover.prove(&frame, Property::Initialisation, &name, &claim, goal);
                    Ok(())
                });
            }
        }
    }

    /// `holds` names no rank twice, and only numbers near `0..p`.
    pub(in super::super) fn distinct_contributors(
        &mut self,
        n: usize,
        frame: &ProofContext<'a>,
        lines: &[ContributorClaim],
    ) {
        for claim in lines {
            self.attempt(Property::Invariant, |prover| {
                let mut frame = frame.clone();
                let block = prover.any_block(&mut frame)?;
                prover.distinct(n, &frame, &claim.at(&prover.wheel.here(), &block));
                Ok(())
            });
        }
    }
}

/// `x + m p`
pub(super) fn turned(x: &str, m: i64) -> Term {
    add(x, &mul(&int(m), "p"))
}

/// The element of a piece with the first value of every index.
pub(in super::super) fn first(cx: &mut Context<'_>, piece: &SetPiece) -> Step<SetElement> {
    let mut values = piece.values.clone();
    let mut indices = Vec::new();
    for index in &piece.indices {
        let lo = cx.lower(&index.lo, &values)?;
        values.set(index.var.slot, lo.clone());
        indices.push(lo);
    }
    piece.at(cx, &indices)
}

/// The element of a piece with the last value of every index.
pub(super) fn last(cx: &mut Context<'_>, piece: &SetPiece) -> Step<SetElement> {
    let mut values = piece.values.clone();
    let mut indices = Vec::new();
    for index in &piece.indices {
        let hi = sub(&cx.lower(&index.hi, &values)?, "1");
        values.set(index.var.slot, hi.clone());
        indices.push(hi);
    }
    piece.at(cx, &indices)
}

/// That `x` is the item of a piece, up to `turns` times p, for some value of its index.
fn in_piece(cx: &mut Context<'_>, x: &str, piece: &SetPiece, turns: &[i64]) -> Step<Term> {
    let mut options = Vec::new();
    let index = match piece.indices.as_slice() {
        [] => {
            let element = piece.at(cx, &[])?;
            let same = or(turns.iter().map(|m| eq(&element.block, &turned(x, *m))));
            return Ok(and([element.condition, same]));
        }
        [index] => index,
        _ => return Err(NoEncoding::new(format!("membership in `{}`, which has several indices,", piece.part))),
    };
    let unsolved = || NoEncoding::new(format!("membership in `{}`, whose index cannot be solved for,", piece.part));
    let (base, step) = affine(&piece.part.item, index.var.slot).ok_or_else(unsolved)?;
    // The base does not mention the index, so any value will do for it.
    let values = piece.values.with(index.var.slot, "0");
    let base = cx.lower(&base, &values)?;
    let (step, negative) = match step {
        Expr::Int(0) => return Err(unsolved()),
        Expr::Int(n) => (Expr::Int(n.abs()), n < 0),
        Expr::Unary(Unary::Neg, inner) => (*inner, true),
        step => (step, false),
    };
    let step = cx.lower(&step, &values)?;
    for m in turns {
        let way = sub(&turned(x, *m), &base);
        let way = if negative { sub("0", &way) } else { way };
        if step == "1" {
            options.push(piece.at(cx, &[way])?.condition);
        } else {
            // If the step is not positive, quotient and remainder are arbitrary: the formula is then neither provable
            // nor useful as a hypothesis.
            let (quotient, remainder) = cx.quotient(&way, &step);
            let element = piece.at(cx, &[quotient])?;
            options.push(and([element.condition, eq(&remainder, "0")]));
        }
    }
    Ok(or(options))
}

/// That a node and a seat are the item of a piece, up to `turns` times around the nodes, for some values of its
/// indices: the seat tells the index that counts seats, and the node the other one.
fn seat_in_piece(cx: &mut Context<'_>, x: &CyclicTerm, piece: &SetPiece, turns: &[i64]) -> Step<Term> {
    let unsolved = || NoEncoding::new(format!("membership in `{}`, whose indices cannot be solved for,", piece.part));
    let (number, seat) = cx.coordinates(&piece.part.item)?;
    let seated = seat_index(&piece.indices, &number, &seat);
    let counts_seats = |i: usize| seated == Some(i);
    let others: Vec<usize> = (0..piece.indices.len()).filter(|i| !counts_seats(*i)).collect();
    let wheel = cx.wheel();
    let mut options = Vec::new();
    for m in turns {
        let mut values = piece.values.clone();
        piece.indices.iter().for_each(|index| values.set(index.var.slot, "0"));
        match others.as_slice() {
            [] => {}
            [i] => {
                let slot = piece.indices[*i].var.slot;
                let (base, step) = affine(&number, slot).ok_or_else(unsolved)?;
                // The base does not mention the index, so any value will do for it.
                let way = sub(&wheel.turned(&x.number, *m), &cx.lower(&base, &values)?);
                values.set(
                    slot,
                    match step {
                        Expr::Int(1) => way,
                        Expr::Int(-1) => sub("0", &way),
                        _ => return Err(unsolved()),
                    },
                );
            }
            _ => return Err(NoEncoding::new(format!("membership in `{}`, which has several indices,", piece.part))),
        }
        if let Some(i) = seated {
            let base = cx.lower(&seat, &values)?;
            values.set(piece.indices[i].var.slot, sub(&x.seat, &base));
        }
        let indices = piece.indices.iter().map(|index| values.get(index.var.slot, &index.var.name));
        let element = piece.at(cx, &indices.collect::<Step<Vec<Term>>>()?)?;
        let node = if others.is_empty() { eq(&element.block, &wheel.turned(&x.number, *m)) } else { "true".into() };
        let seat = if seated.is_none() { eq(&element.seat, &x.seat) } else { "true".into() };
        options.push(and([element.condition, node, seat]));
    }
    Ok(or(options))
}
