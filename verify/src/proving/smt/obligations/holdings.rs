//! The blocks that are held: subsets, new blocks, and uniqueness.

use super::{ProofContext, Prover};
use crate::proving::smt::context::{Context, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::{Attempt, Property};
use crate::proving::smt::sets::{Reach, SetElement, SetPiece, SymbolicSet, member, other_index};
use crate::proving::smt::term::{Term, and, eq, implies, not};
use crate::proving::smt::windows::NumberWindow;
use roundel_spec::schedule::{Hold, Loop};

impl<'a> Prover<'a> {
    pub(super) fn equal_sets(
        &mut self,
        n: usize,
        frame: &ProofContext<'a>,
        a: &SymbolicSet,
        b: &SymbolicSet,
        property: Property,
        when: &str,
    ) {
        for (small, large, way) in [(a, b, "no less"), (b, a, "no more")] {
            let claim = format!("`holds` names {way} than is held {when}");
            self.subset(frame, small, large, &[], property, &format!("round{n}-{}", way.replace(' ', "-")), &claim);
        }
    }

    /// Proves that every block of `small` is in `large`, with one obligation per piece.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn subset(
        &mut self,
        frame: &ProofContext<'a>,
        small: &SymbolicSet,
        large: &SymbolicSet,
        at_hand: &[Term],
        property: Property,
        name: &str,
        claim: &str,
    ) {
        for (i, piece) in small.pieces.iter().enumerate() {
            self.attempt(property, |prover| {
                let mut attempts = Vec::new();
                for reach in [Reach::AtHand, Reach::Quotients] {
                    let mut frame = frame.clone();
                    let element = piece.any(&mut frame.cx, ".e")?;
                    frame.assume(element.condition.clone());
                    let mut terms = element.indices.clone();
                    terms.extend(at_hand.iter().cloned());
                    terms.push("0".into());
                    let goal = member(&mut frame.cx, &element.cell(), large, &terms, reach)?;
                    if goal == "true" {
                        return Ok(());
                    }
                    attempts.push(Attempt::new(&frame.cx, &frame.hypotheses, goal));
                }
                prover.push(property, &format!("{name}-{i}"), claim, attempts);
                Ok(())
            });
        }
    }

    /// Arriving blocks are not yet held.
    pub(super) fn fresh(&mut self, n: usize, frame: &ProofContext<'a>, arrived: &SymbolicSet, before: &SymbolicSet) {
        for (i, new) in arrived.pieces.iter().enumerate() {
            for (k, old) in before.pieces.iter().enumerate() {
                self.attempt(Property::SingleWrite, |prover| {
                    let mut frame = frame.clone();
                    let (a, b) = (new.any(&mut frame.cx, "")?, old.any(&mut frame.cx, ".held")?);
                    let goal = prover.differ_if_both(&mut frame, [(new, &a), (old, &b)], "true".into());
                    let name = format!("round{n}-new-{i}-{k}");
                    let claim = format!("`{}` is not held yet when it arrives", new.part);
                    prover.prove(&frame, Property::SingleWrite, &name, &claim, goal);
                    Ok(())
                });
            }
        }
    }

    /// That two elements are different blocks, if both exist and `unlike` holds. In a collective with a root, a rank
    /// that gets something may hold nothing; on nodes, conditions on the placement may exclude each other. That the
    /// second one exists is then part of the goal, because hypotheses that contradict each other would prove nothing.
    fn differ_if_both(
        &self,
        frame: &mut ProofContext<'_>,
        elements: [(&SetPiece, &SetElement); 2],
        unlike: Term,
    ) -> Term {
        let [(_, a), (_, b)] = elements;
        let (exist, apart) = self.in_windows(&mut frame.cx, elements);
        let different = self.different_blocks(&a.cell(), &b.cell(), apart);
        let with_root = self.schedule.kind.has_root() && !self.schedule.kind.reduces();
        if self.wheel == Numbering::Ranks && !with_root {
            exist.into_iter().chain([unlike]).for_each(|fact| frame.assume(fact));
            return different;
        }
        frame.assume(a.condition.clone());
        implies(&and(exist.into_iter().chain([unlike])), &different)
    }

    /// Whether what `holds` names wraps around p: ranks that contribute do, and blocks of which each rank has one.
    fn sets_wrap(&self) -> bool {
        self.schedule.kind.reduces() || self.blocks_are_ranks()
    }

    /// That two blocks, or two contributors, differ, if their numbers are at most `apart` times the modulus apart.
    fn different_blocks(&self, a: &CyclicTerm, b: &CyclicTerm, apart: i64) -> Term {
        if self.sets_wrap() { self.wheel.different(a, b, apart) } else { not(&eq(&a.number, &b.number)) }
    }

    /// That two elements exist and lie in their windows, which are separate obligations; and how many multiples of p
    /// the two can be apart.
    fn in_windows(&self, cx: &mut Context<'_>, elements: [(&SetPiece, &SetElement); 2]) -> (Vec<Term>, i64) {
        if !self.sets_wrap() {
            return (elements.map(|(_, element)| element.condition.clone()).into(), 0);
        }
        let mut exist = Vec::new();
        let windows = elements.map(|(piece, element)| {
            let window = self.windows.of(&piece.part.item);
            let seated = self.seated(cx, &element.cell());
            exist.extend([element.condition.clone(), and([window.contains(self.wheel, &element.block), seated])]);
            window
        });
        (exist, if windows[0] == windows[1] && windows[0] != NumberWindow::Wide { 0 } else { 3 })
    }

    /// No block arrives twice in a round.
    pub(super) fn once(&mut self, n: usize, frame: &ProofContext<'a>, arrived: &SymbolicSet) {
        self.pairwise(
            frame,
            arrived,
            Property::SingleWrite,
            &format!("round{n}-once"),
            "no block arrives twice in a round",
        );
    }

    /// `holds` names no block twice.
    pub(super) fn distinct(&mut self, n: usize, frame: &ProofContext<'a>, held: &SymbolicSet) {
        self.pairwise(
            frame,
            held,
            Property::Invariant,
            &format!("round{n}-distinct"),
            "`holds` names no block twice",
        );
        for (i, piece) in held.pieces.iter().enumerate() {
            self.attempt(Property::WrapRange, |prover| {
                let mut frame = frame.clone();
                frame.cx.settle();
                let element = piece.any(&mut frame.cx, "")?;
                let (name, defined) = (format!("round{n}-held{i}"), and(frame.cx.take_defined()));
                prover.prove(
                    &frame,
                    Property::Defined,
                    &name,
                    &format!("`{}` of `holds` has a value", piece.part),
                    defined,
                );
                frame.assume(element.condition.clone());
                let (window, inside) = if prover.sets_wrap() {
                    prover.in_window(&mut frame, piece, &element)
                } else {
                    prover.block_range(&mut frame, piece, &element)?
                };
                let claim = format!("`{}` lies in {window}", piece.part);
                prover.prove(&frame, Property::WrapRange, &name, &claim, inside);
                Ok(())
            });
        }
    }

    pub(super) fn pairwise(
        &mut self,
        frame: &ProofContext<'a>,
        set: &SymbolicSet,
        property: Property,
        name: &str,
        claim: &str,
    ) {
        for (i, a) in set.pieces.iter().enumerate() {
            for (k, b) in set.pieces.iter().enumerate().skip(i) {
                if i == k && a.indices.is_empty() {
                    continue;
                }
                self.attempt(property, |prover| {
                    let mut frame = frame.clone();
                    let (x, y) = (a.any(&mut frame.cx, "")?, b.any(&mut frame.cx, ".other")?);
                    let unlike = if i == k { other_index(&x, &y) } else { "true".into() };
                    let goal = prover.differ_if_both(&mut frame, [(a, &x), (b, &y)], unlike);
                    prover.prove(&frame, property, &format!("{name}-{i}-{k}"), claim, goal);
                    Ok(())
                });
            }
        }
    }
}

impl Prover<'_> {
    /// The blocks that `holds` claims. A part for other placements is left out, and proved to be empty.
    pub(super) fn held_set(&self, l: &Loop, values: &TermValues) -> Option<SymbolicSet> {
        self.parts_of(l, values, true)
    }

    /// The parts of `holds` that do, or do not, `occur` at small p.
    fn parts_of(&self, l: &Loop, values: &TermValues, occur: bool) -> Option<SymbolicSet> {
        let mut all = l.holds.iter().find_map(|hold| match hold {
            Hold::Blocks(set) => Some(SymbolicSet::new(set, &[], None, values)),
            _ => None,
        })?;
        let occurs = |piece: &SetPiece| self.wheel == Numbering::Ranks || self.windows.occurs(&piece.part.item);
        all.pieces.retain(|piece| occurs(piece) == occur);
        Some(all)
    }
}

impl<'a> Prover<'a> {
    /// The parts of `holds` that are left out are empty.
    pub(super) fn nothing_else(&mut self, n: usize, l: &Loop, frame: &ProofContext<'a>) {
        let Some(left_out) = self.parts_of(l, &frame.values, false) else { return };
        for (i, piece) in left_out.pieces.iter().enumerate() {
            self.attempt(Property::Invariant, |prover| {
                let mut frame = frame.clone();
                let element = piece.any(&mut frame.cx, "")?;
                let claim = format!("`{}` is empty", piece.part);
                let name = format!("round{n}-empty-{i}");
                prover.prove(&frame, Property::Invariant, &name, &claim, not(&element.condition));
                Ok(())
            });
        }
    }
}
