//! Shapes of contributors that differ from block to block: `acc(b) = [rank - k; k in 0..count]`.
//!
//! Where a vector is reduced in blocks, a slot has what the block has met on its way. The way goes around the ranks, so
//! the count depends on how far the block is from the rank, and on whether that is within what the rounds so far reach.

use super::shapes::free_name;
use super::sights::{Held, Sight, Sights};
use super::terms::{self, Term, Terms, own_expressions, size};
use roundel_spec::Schedule;
use roundel_spec::expr::{Binary, Expr, Var, slot};
use std::collections::{BTreeSet, HashSet};

/// The largest p that is looked at: there are p blocks on each rank in each round.
const LARGEST: i64 = 7;

/// As many sets are kept.
const MOST: usize = 4;

/// The contributors to one line, slot by slot.
struct Slots<'a> {
    /// The declaration, with a variable for the block.
    schedule: Schedule,
    sights: &'a Sights,
    /// One for each block of each sight.
    seen: Vec<Sight>,
    wanted: Vec<BTreeSet<usize>>,
    block: Var,
}

/// The claims that fit, the simplest first, as text: `acc(b) = [rank - k; k in 0..count]`.
pub(super) fn fitting(schedule: &Schedule, n: usize, sights: &Sights, line: usize) -> Vec<String> {
    let slots = Slots::of(schedule, n, sights, line);
    let atoms = slots.atoms(n);
    let conditions = slots.conditions(n, &atoms);
    let counts = || {
        let sizes: Vec<Option<i64>> = slots.wanted.iter().map(|set| Some(set.len() as i64)).collect();
        Terms::over(atoms.clone()).fitting_by_cases(&sizes, &conditions)
    };
    let index = free_name(schedule, &["k", "o", "m"], &[&slots.block.name]);
    let (name, block) = (&schedule.lines[line], &slots.block.name);
    let mut ways = [(Binary::Sub, '-'), (Binary::Add, '+')].into_iter();
    let Some((_, sign)) = ways.find(|(op, _)| slots.go(*op)) else { return Vec::new() };
    let claim = |count: &Expr| format!("{name}({block}) = [rank {sign} {index}; {index} in 0..{count}]");
    counts().iter().take(MOST).map(claim).collect()
}

impl<'a> Slots<'a> {
    fn of(schedule: &Schedule, n: usize, sights: &'a Sights, line: usize) -> Self {
        let block = Var { name: free_name(schedule, &["b", "c", "x"], &[]), slot: schedule.slots };
        let (mut seen, mut wanted) = (Vec::new(), Vec::new());
        for sight in sights.of_loops[n].iter().filter(|sight| sights.p(sight) <= LARGEST) {
            let Held::Lines(lines) = &sight.held else { continue };
            for (b, ranks) in lines[line].iter().enumerate() {
                let mut one = sight.clone();
                one.values.push((block.slot, b as i64));
                seen.push(one);
                wanted.push(ranks.clone());
            }
        }
        let mut schedule = schedule.clone();
        schedule.slots += 1;
        Slots { schedule, sights, seen, wanted, block }
    }

    fn term(&self, expr: Expr) -> Term {
        let seen: Vec<&Sight> = self.seen.iter().collect();
        Term { values: terms::values(&self.schedule, self.sights, &seen, &expr), expr }
    }

    /// How far a block is from the rank, and from the next one, in both directions.
    fn ways(&self) -> Vec<Expr> {
        let (rank, p) = (Expr::built_in(slot::RANK), Expr::built_in(slot::P));
        let block = Expr::Var(self.block.clone());
        let next = Expr::binary(Binary::Add, rank.clone(), 1.into());
        let before = Expr::binary(Binary::Sub, rank.clone(), 1.into());
        let ends = [(&rank, &block), (&block, &rank), (&next, &block), (&block, &before)];
        ends.map(|(a, b)| Expr::binary(Binary::Sub, a.clone(), b.clone()))
            .map(|way| Expr::binary(Binary::Rem, way, p.clone()))
            .into()
    }

    /// What counts are made of: the ways, and what the declaration itself says.
    fn atoms(&self, n: usize) -> Vec<Term> {
        let mut all = own_expressions(&self.schedule, n);
        let literals = all.iter().filter(|e| matches!(e, Expr::Int(_))).count();
        all.splice(literals..literals, self.ways());
        all.into_iter().map(|expr| self.term(expr)).collect()
    }

    /// Whether the block is the rank's own, and whether it is near enough.
    fn conditions(&self, n: usize, atoms: &[Term]) -> Vec<Term> {
        let l = &self.schedule.loops[n];
        let own = Expr::binary(Binary::Eq, Expr::Var(self.block.clone()), Expr::built_in(slot::RANK));
        let reached: Vec<Expr> = l.own_slots().into_iter().filter_map(|slot| variable(atoms, slot)).collect();
        let near = self.ways().into_iter().flat_map(|way| {
            let within =
                |reach: &Expr| [Binary::Le, Binary::Lt].map(|op| Expr::binary(op, way.clone(), reach.clone()));
            reached.iter().flat_map(within).collect::<Vec<_>>()
        });
        let mut all: Vec<Expr> = std::iter::once(own).chain(near).collect();
        all.sort_by_key(size);
        let mut known = HashSet::new();
        all.into_iter().map(|expr| self.term(expr)).filter(|term| known.insert(term.values.clone())).collect()
    }

    /// Whether the contributors always begin at the rank, and follow each other in this direction.
    fn go(&self, op: Binary) -> bool {
        self.seen.iter().zip(&self.wanted).all(|(sight, set)| {
            let (p, rank) = (self.sights.p(sight), sight.rank as i64);
            let at = |k: i64| (if op == Binary::Add { rank + k } else { rank - k }).rem_euclid(p) as usize;
            (0..set.len() as i64).all(|k| set.contains(&at(k)))
        })
    }
}

/// The variable with a slot, among terms.
fn variable(atoms: &[Term], slot: usize) -> Option<Expr> {
    atoms.iter().map(|term| &term.expr).find(|e| matches!(e, Expr::Var(v) if v.slot == slot)).cloned()
}
