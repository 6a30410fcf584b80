//! After the last round: the contract and the bounds; and bounds on single rounds.

use super::counters::{among_all, at_most, size, unless_among_all, usage};
use super::{LoopEntry, ProofContext, Prover, Step, SymbolicMemory};
use crate::proving::smt::context::NoEncoding;
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{Reach, SymbolicSet, member};
use crate::proving::smt::term::{Term, add, and, eq, implies, int, ite, le, mul, not, or, sub, within};
use roundel_spec::Direction;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Bound, BoundScope, Group, Loop, Metric, Transfer};

/// Refuses a bound on what all ranks of a node use together.
pub(super) fn not_of_a_node(bound: &Bound) -> Step<()> {
    match bound.scope {
        BoundScope::Node => Err(NoEncoding::new(format!("`{bound}`, which adds up what ranks use"))),
        _ => Ok(()),
    }
}

impl<'a> Prover<'a> {
    pub(super) fn per_round_bounds(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) {
        for (i, bound) in self.schedule.bounds.iter().enumerate() {
            if bound.scope != BoundScope::PerRound(n) || bound.checked {
                continue;
            }
            self.attempt(Property::Bounds, |prover| {
                let mut frame = inside.clone();
                frame.cx.settle();
                let value = frame.cx.lower(&bound.value, &frame.values)?;
                let defined = and(frame.cx.take_defined());
                let used = match usage(&mut frame, l, bound.metric) {
                    Ok(used) => used,
                    Err(_) if !bound.exact => at_most(&mut frame, l, bound.metric)?,
                    Err(unsupported) => return Err(unsupported),
                };
                let goal = and([defined, prover.is_met(bound, &mut frame, &used, &value)?]);
                prover.prove(&frame, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
                Ok(())
            });
        }
    }

    /// Silent rounds do not count, so an exact number of rounds requires a message in each.
    pub(super) fn no_silent_round(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) {
        let exact = |bound: &&Bound| bound.metric == Metric::Rounds && bound.exact && !bound.checked;
        if self.schedule.bounds.iter().find(exact).is_none() {
            return;
        }
        if self.wheel == Numbering::Nodes {
            return self.gap(Property::Rounds, "rounds without messages, on nodes, are not encoded".into());
        }
        if self.schedule.kind.reduces() {
            return self.no_silent_reduction(n, l, inside);
        }
        self.attempt(Property::Rounds, |prover| {
            let mut frame = inside.clone();
            let (taking_part, claim) = if prover.schedule.kind.has_root() {
                (prover.root(&mut frame)?, "the root has a message in every round")
            } else {
                ("0".into(), "rank 0 sends in every round")
            };
            frame.assume(eq("rank", &taking_part));
            let counts = |t: &&Transfer| t.direction == Direction::Send || prover.schedule.kind.has_root();
            let mut some = Vec::new();
            for t in l.transfers.iter().filter(counts) {
                let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
                for piece in &set.pieces {
                    let mut values = piece.values.clone();
                    let mut first = Vec::new();
                    for index in &piece.indices {
                        let lo = frame.cx.lower(&index.lo, &values)?;
                        values.set(index.var.slot, lo.clone());
                        first.push(lo);
                    }
                    some.push(piece.at(&mut frame.cx, &first)?.condition);
                }
            }
            prover.prove(&frame, Property::Rounds, &format!("round{n}-not-silent"), claim, or(some));
            Ok(())
        });
    }

    /// After the last round: the contract, the bounds on the whole run.
    pub(super) fn end(&mut self, entry: LoopEntry<'a>) {
        self.attempt(Property::Coverage, |prover| {
            let mut frame = entry.frame.clone();
            let held = match &entry.held {
                SymbolicMemory::Blocks(held) => held,
                SymbolicMemory::Lines(lines) => return prover.complete(&frame, lines),
            };
            if prover.schedule.kind.has_root() {
                return prover.held_as_promised(frame, held);
            }
            let (goal, claim) = match size(&mut frame, held) {
                // `holds` names no block twice, so p blocks are all blocks.
                Ok(size) => (eq(&size, "p"), "p different blocks are held after the last round"),
                Err(_) => {
                    let block = prover.any_cell(&mut frame);
                    let goal = member(&mut frame.cx, &block, held, &["0".into()], Reach::Quotients)?;
                    (goal, "every block is held after the last round")
                }
            };
            prover.prove(&frame, Property::Coverage, "every-block", claim, goal);
            Ok(())
        });
        for (i, bound) in self.bounds_of_the_run() {
            self.attempt(Property::Bounds, |prover| {
                not_of_a_node(bound)?;
                let mut frame = entry.frame.clone();
                if bound.metric.is_nonlocal() {
                    prover.nothing_among_all(&mut frame)?;
                }
                frame.cx.settle();
                let value = frame.cx.lower(&bound.value, &frame.values)?;
                let defined = and(frame.cx.take_defined());
                let used = match bound.metric {
                    Metric::Rounds => prover.rounds(&mut frame, bound.exact)?,
                    metric => match entry.used(metric) {
                        Some(used) => used,
                        None if !bound.exact || prover.counts_rounds(metric) => {
                            prover.at_most_in_all(&mut frame, metric)?
                        }
                        None => {
                            return Err(NoEncoding::new(format!(
                                "the bound `{bound}` without `holds({metric} = …)`"
                            )));
                        }
                    },
                };
                let goal = and([defined, prover.is_met(bound, &mut frame, &used, &value)?]);
                prover.prove(&frame, Property::Bounds, &format!("bound{i}"), &format!("`{bound}`"), goal);
                Ok(())
            });
        }
    }

    /// The bounds on the whole run that are to be proved, with their numbers.
    pub(super) fn bounds_of_the_run(&self) -> impl Iterator<Item = (usize, &'a Bound)> + use<'a> {
        let whole = |bound: &Bound| !matches!(bound.scope, BoundScope::PerRound(_)) && !bound.checked;
        self.schedule.bounds.iter().enumerate().filter(move |(_, bound)| whole(bound))
    }

    /// Whether the rounds between nodes are counted exactly: those of a reduction without inner collectives.
    fn counts_rounds(&self, metric: Metric) -> bool {
        let alone = self.schedule.within().next().is_none();
        metric == Metric::NonlocalRounds && self.schedule.kind.reduces() && alone
    }

    /// Assumes that no inner collective runs among all ranks: what it costs is known to exact checks alone, to which
    /// records leave such bounds.
    fn nothing_among_all(&self, frame: &mut ProofContext<'_>) -> Step<()> {
        for l in &self.schedule.loops {
            for runs in among_all(frame, l)? {
                frame.assume(not(&runs));
            }
        }
        Ok(())
    }

    /// Any block of a gather.
    fn any_cell(&self, frame: &mut ProofContext<'_>) -> CyclicTerm {
        let number = frame.cx.constant("block!");
        frame.assume(within(&number, "0", self.wheel.around()));
        let seat = match self.wheel {
            Numbering::Ranks => "0".into(),
            Numbering::Nodes => frame.cx.constant("seat!"),
        };
        let cell = CyclicTerm { number, seat };
        let seated = self.seated(&mut frame.cx, &cell);
        frame.assume(seated);
        cell
    }

    /// An upper bound on messages between nodes: one for each sending clause in each round; or on the rounds that have
    /// such a clause. Inside nodes there are none.
    fn at_most_in_all(&self, frame: &mut ProofContext<'_>, metric: Metric) -> Step<Term> {
        if !metric.is_nonlocal() {
            return Err(NoEncoding::new(format!("a bound on {metric} without `holds({metric} = …)`")));
        }
        let mut total = "0".to_string();
        for (n, l) in self.schedule.loops.iter().enumerate() {
            if self.stays_on_node(l) && l.within.iter().all(|within| within.group == Group::Node) {
                continue;
            }
            if let Some(phases) = self.phases_between_nodes(n) {
                let rounds = self.outer_rounds(l, frame)?;
                let each = self.most_in_round(n, metric, &phases)?;
                total = add(&total, &mul(&each, &rounds));
                continue;
            }
            let sends: Vec<_> = l.transfers.iter().filter(|t| t.direction == Direction::Send).collect();
            let each = match metric {
                Metric::NonlocalRounds => sends.len().min(1),
                Metric::NonlocalMessagesSent if sends.iter().all(|t| t.each.is_empty()) => sends.len(),
                _ => return Err(NoEncoding::new(format!("a bound on {metric} without `holds({metric} = …)`"))),
            };
            let rounds = match &l.indices[..] {
                [] if metric == Metric::NonlocalRounds && self.schedule.kind.reduces() => self.active(l, frame)?,
                [] => "1".into(),
                [_] => self.outer_rounds(l, frame)?,
                _ => return Err(NoEncoding::new(format!("{metric} of nested rounds"))),
            };
            let used = mul(&int(each as i64), &rounds);
            let used = unless_among_all(frame, l, used)?;
            total = add(&total, &used);
        }
        Ok(total)
    }

    /// How often the first index of a loop has a value.
    fn outer_rounds(&self, l: &Loop, frame: &mut ProofContext<'_>) -> Step<Term> {
        let index = &l.indices[0];
        let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
        Ok(ite(&le(&lo, &hi), &sub(&hi, &lo), "0"))
    }

    /// The most that the phases of a loop use for each value of the first index: one for each that sends between nodes
    /// or, of messages, what a bound on single rounds says.
    fn most_in_round(&self, n: usize, metric: Metric, phases: &[&Loop]) -> Step<Term> {
        let single =
            |bound: &&Bound| bound.scope == BoundScope::PerRound(n) && bound.metric == metric && !bound.checked;
        let of_round = self.schedule.bounds.iter().find(single).map(|bound| &bound.value);
        match (metric, of_round) {
            (Metric::NonlocalRounds, _) => Ok(phases.len().to_string()),
            (_, Some(Expr::Int(most @ 0..))) => Ok(int(most * phases.len() as i64)),
            _ => Err(NoEncoding::new(format!("{metric} of nested rounds, without a bound on each of them,"))),
        }
    }

    /// The number of rounds of all loops, in the terms of one frame.
    pub(super) fn rounds(&self, frame: &mut ProofContext<'_>, exact: bool) -> Step<Term> {
        if self.schedule.within().next().is_some() {
            return Err(NoEncoding::new("the number of rounds of inner collectives".into()));
        }
        let mut total = "0".to_string();
        for l in &self.schedule.loops {
            if l.indices.len() > 1 {
                return Err(NoEncoding::new("the number of nested rounds".into()));
            }
            let Some(index) = l.indices.first() else {
                let one = if exact && self.schedule.kind.reduces() { self.active(l, frame)? } else { "1".into() };
                total = add(&total, &one);
                continue;
            };
            let lo = frame.cx.lower(&index.lo, &frame.values)?;
            let hi = frame.cx.lower(&index.hi, &frame.values)?;
            total = add(&total, &ite(&le(&lo, &hi), &sub(&hi, &lo), "0"));
        }
        Ok(total)
    }
}

impl Prover<'_> {
    /// That a bound is met. Ranks of a collective with a root differ, and so do ranks on nodes: of the largest amount,
    /// which must be met exactly, it is shown that no rank uses more, and that the root, or the first rank of the first
    /// node, uses as much.
    fn is_met(&self, bound: &Bound, frame: &mut ProofContext<'_>, used: &str, value: &str) -> Step<Term> {
        let of_one_rank = matches!(bound.scope, BoundScope::Max | BoundScope::PerRound(_));
        if !bound.exact || !of_one_rank || bound.metric.counts_rounds() {
            return Ok(compare(bound, used, value));
        }
        let largest = if self.schedule.kind.has_root() {
            eq("rank", &self.root(frame)?)
        } else if self.wheel == Numbering::Nodes && bound.scope == BoundScope::Max {
            and([eq("node", "0"), eq("local", "0")])
        } else {
            return Ok(compare(bound, used, value));
        };
        Ok(and([le(used, value), implies(&largest, &eq(used, value))]))
    }
}

pub(super) fn compare(bound: &Bound, used: &str, value: &str) -> Term {
    if bound.exact { eq(used, value) } else { le(used, value) }
}
