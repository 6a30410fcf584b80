//! Counters of `holds`: they are correct at the start and advance by what a round uses.

use super::reductions::first;
use super::{LoopEntry, ProofContext, Prover, Step};
use crate::proving::smt::context::{NoEncoding, TermValues};
use crate::proving::smt::numbering::{NODE, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::SymbolicSet;
use crate::proving::smt::term::{Term, add, and, eq, ite, le, lt, mul, or, sub};
use roundel_spec::Direction;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Group, Hold, Loop, Metric, Transfer, Within};

impl<'a> Prover<'a> {
    /// Counters of `holds` after a round without an index.
    pub(super) fn counted(&mut self, n: usize, l: &Loop, frame: &ProofContext<'a>, used: &[(Metric, Term)]) {
        for hold in &l.holds {
            let Hold::Counter(metric, value) = hold else { continue };
            self.attempt(Property::Counters, |prover| {
                let mut frame = frame.clone();
                frame.cx.settle();
                let claimed = frame.cx.lower(value, &frame.values)?;
                let found = used.iter().find(|(known, _)| known == metric);
                let (_, found) = found.ok_or_else(|| NoEncoding::new(format!("the {metric} of round {n}")))?;
                let goal = and(frame.cx.take_defined().into_iter().chain([eq(&claimed, found)]));
                let claim = format!("`{metric} = {value}` after the round");
                prover.prove(&frame, Property::Counters, &format!("round{n}-{metric}"), &claim, goal);
                Ok(())
            });
        }
    }

    /// Counters of `holds`: correct at the start, and advanced by what a round uses.
    pub(super) fn counters(
        &mut self,
        n: usize,
        l: &'a Loop,
        at_start: &ProofContext<'a>,
        inside: &ProofContext<'a>,
        next: &TermValues,
        entry: &LoopEntry<'a>,
    ) {
        for hold in &l.holds {
            let Hold::Counter(metric, value) = hold else { continue };
            self.attempt(Property::Counters, |prover| {
                prover.counter_starts(n, (*metric, value), at_start, entry.used(*metric))?;
                let mut frame = inside.clone();
                frame.cx.settle();
                let (now, then) = (frame.cx.lower(value, &frame.values)?, frame.cx.lower(value, next)?);
                let defined = and(frame.cx.take_defined());
                let used = match usage(&mut frame, l, *metric) {
                    Ok(used) => used,
                    Err(_)
                        if matches!(metric, Metric::BlocksSent | Metric::BlocksReceived) && l.within.is_empty() =>
                    {
                        prover.balance(n, l, inside)?;
                        growth(prover, &mut frame, l, next)?
                    }
                    Err(unsupported) => return Err(unsupported),
                };
                let claim = format!("`{metric} = {value}` advances by what a round uses");
                prover.prove(
                    &frame,
                    Property::Counters,
                    &format!("round{n}-{metric}-step"),
                    &claim,
                    and([defined, eq(&then, &add(&now, &used))]),
                );
                Ok(())
            });
        }
    }

    /// Proves that a counter is right where a loop begins, after rounds that have `used` this much.
    pub(super) fn counter_starts(
        &mut self,
        n: usize,
        (metric, value): (Metric, &Expr),
        start: &ProofContext<'a>,
        used: Option<Term>,
    ) -> Step<()> {
        let mut start = start.clone();
        start.cx.settle();
        let first = start.cx.lower(value, &start.values)?;
        let defined = and(start.cx.take_defined());
        let used = used.ok_or_else(|| NoEncoding::new(format!("the {metric} of the rounds before")))?;
        let (name, claim) =
            (format!("round{n}-{metric}-start"), format!("`{metric} = {value}` before the first round"));
        self.prove(&start, Property::Counters, &name, &claim, and([defined, eq(&first, &used)]));
        Ok(())
    }

    /// On nodes, a clause whose first block is missing has no other either, so that its messages can be counted.
    pub(super) fn messages_have_first(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) {
        let speaks =
            |metric: Metric| matches!(metric, Metric::NonlocalMessagesSent | Metric::NonlocalMessagesReceived);
        let bounded = self.schedule.bounds.iter().any(|bound| speaks(bound.metric) && !bound.checked);
        let held = l.holds.iter().any(|hold| matches!(hold, Hold::Counter(metric, _) if speaks(*metric)));
        if self.wheel == Numbering::Ranks || !(bounded || held) {
            return;
        }
        for t in l.transfers.iter().filter(|t| t.each.is_empty()) {
            self.attempt(Property::Counters, |prover| {
                let set = SymbolicSet::of_clause(&inside.cx, t, &inside.values);
                for (i, piece) in set.pieces.iter().enumerate() {
                    let mut frame = inside.clone();
                    let element = piece.any(&mut frame.cx, "")?;
                    frame.assume(element.condition);
                    let goal = has_first(&mut frame, t)?;
                    let name = format!("round{n}-clause{}-first{i}", t.site.number);
                    let claim = format!("`{}` has its first block where it has any", t.blocks);
                    prover.prove(&frame, Property::Counters, &name, &claim, goal);
                }
                Ok(())
            });
        }
    }

    /// A rank sends as many blocks as it receives, so the number sent is also the number gained.
    pub(super) fn balance(&mut self, n: usize, l: &'a Loop, inside: &ProofContext<'a>) -> Step<()> {
        let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction);
        for (send, recv) in of(Direction::Send).zip(of(Direction::Recv)) {
            let mut frame = inside.clone();
            let mine = SymbolicSet::of_clause(&frame.cx, send, &frame.values);
            let theirs = SymbolicSet::of_clause(&frame.cx, recv, &frame.values);
            for (i, (a, b)) in mine.pieces.iter().zip(&theirs.pieces).enumerate() {
                let element = a.any(&mut frame.cx, "")?;
                let other = self.counterpart(&mut frame, a, b, &element)?;
                let goal = eq(&element.condition, &other.condition);
                let name = format!("round{n}-balance{}-{i}", send.site.number);
                self.prove(&frame, Property::Counters, &name, "a rank sends as many blocks as it receives", goal);
            }
        }
        Ok(())
    }

    /// The value of each metric with a counter at the end of a loop.
    pub(super) fn used_at(&mut self, l: &Loop, exit: &mut ProofContext<'a>) -> Vec<(Metric, Term)> {
        let mut used = Vec::new();
        for hold in &l.holds {
            if let Hold::Counter(metric, value) = hold
                && let Ok(term) = exit.cx.lower(value, &exit.values)
            {
                used.push((*metric, term));
            }
        }
        used
    }
}

/// The exact amount of a metric that one rank uses in a round; only if no clause has indices of its own, but for the
/// blocks of a reduction.
pub(super) fn usage(frame: &mut ProofContext<'_>, l: &Loop, metric: Metric) -> Step<Term> {
    let direction = match metric {
        // Messages inside a node do not cross nodes; other costs of inner collectives are unknown.
        Metric::NonlocalMessagesSent | Metric::NonlocalBlocksSent if frame.cx.wheel() == Numbering::Nodes => {
            Direction::Send
        }
        Metric::NonlocalMessagesReceived if frame.cx.wheel() == Numbering::Nodes => Direction::Recv,
        _ if !l.within.is_empty() => return Err(NoEncoding::new(format!("{metric} of inner collectives"))),
        Metric::MessagesSent | Metric::BlocksSent => Direction::Send,
        Metric::MessagesReceived | Metric::BlocksReceived => Direction::Recv,
        _ => return Err(NoEncoding::new(format!("{metric}"))),
    };
    let mut total = "0".to_string();
    for t in l.transfers.iter().filter(|t| t.direction == direction) {
        if metric.is_nonlocal() && stays_on_node(t) {
            continue;
        }
        let blocks = matches!(metric, Metric::BlocksSent | Metric::BlocksReceived);
        let counted = blocks && frame.cx.reduces();
        if !t.each.is_empty() && !counted {
            return Err(NoEncoding::new(format!("the sum of {metric} over `for`")));
        }
        let amount = match metric {
            Metric::BlocksSent | Metric::BlocksReceived => blocks_of(frame, t)?,
            Metric::NonlocalBlocksSent => {
                let (blocks, leaves) = (blocks_of(frame, t)?, leaves_node(frame, t)?);
                ite(&leaves, &blocks, "0")
            }
            _ if frame.cx.wheel() == Numbering::Nodes => {
                let mut there = vec![has_first(frame, t)?];
                if metric.is_nonlocal() {
                    there.push(leaves_node(frame, t)?);
                }
                ite(&and(there), "1", "0")
            }
            _ => ite(&lt("0", &blocks_of(frame, t)?), "1", "0"),
        };
        total = add(&total, &amount);
    }
    if metric.is_nonlocal() { unless_among_all(frame, l, total) } else { Ok(total) }
}

/// What a round uses between nodes, where no inner collective runs among all ranks. Where one does, it is any number:
/// what an inner collective costs is no part of its contract.
pub(super) fn unless_among_all(frame: &mut ProofContext<'_>, l: &Loop, used: Term) -> Step<Term> {
    let mut total = used;
    for runs in among_all(frame, l)? {
        let unknown = frame.cx.constant("unknown!");
        total = ite(&runs, &unknown, &total);
    }
    Ok(total)
}

/// When the inner collectives of a round run that send between nodes.
pub(super) fn among_all(frame: &mut ProofContext<'_>, l: &Loop) -> Step<Vec<Term>> {
    let outside = l.within.iter().filter(|clause| clause.group != Group::Node);
    let when = |clause: &Within| match &clause.when {
        Some(when) => frame.cx.lower(when, &frame.values),
        None => Ok("true".into()),
    };
    outside.map(when).collect()
}

/// Whether the peer of a clause is written `at(node, …)`.
pub(super) fn stays_on_node(t: &Transfer) -> bool {
    let here = Expr::var("node", NODE);
    Numbering::Nodes.split(&t.peer).is_some_and(|(node, _)| node == here)
}

/// That the peer of a clause is on another node.
fn leaves_node(frame: &mut ProofContext<'_>, t: &Transfer) -> Step<Term> {
    let wheel = frame.cx.wheel();
    let peer = frame.cx.cell(&t.peer, &frame.values)?;
    Ok(wheel.different_number(&peer.number, &wheel.here().number, 2))
}

/// That a clause without indices of its own has a block: the first one of a comprehension. That it has none where this
/// one is missing is an obligation ([`messages_have_first`](Prover::messages_have_first)).
fn has_first(frame: &mut ProofContext<'_>, t: &Transfer) -> Step<Term> {
    let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
    let first = set.pieces.iter().map(|piece| Ok(first(&mut frame.cx, piece)?.condition));
    Ok(or(first.collect::<Step<Vec<Term>>>()?))
}

/// The number of blocks of a clause, over all values of its indices, on which nothing else may depend.
pub(super) fn blocks_of(frame: &mut ProofContext<'_>, t: &Transfer) -> Step<Term> {
    let set = SymbolicSet::new(&t.blocks, &t.each, None, &frame.values);
    let mut blocks = "0".to_string();
    for piece in &set.pieces {
        blocks = add(&blocks, &piece.count(&mut frame.cx)?);
    }
    match &t.when {
        Some(when) => {
            let when = frame.cx.lower(when, &frame.values)?;
            Ok(ite(&when, &blocks, "0"))
        }
        None => Ok(blocks),
    }
}

/// An upper bound on the messages of a round: one for each value of the clause's indices.
pub(super) fn at_most(frame: &mut ProofContext<'_>, l: &Loop, metric: Metric) -> Step<Term> {
    let direction = match metric {
        _ if !l.within.is_empty() => return Err(NoEncoding::new(format!("{metric} of inner collectives"))),
        Metric::MessagesSent => Direction::Send,
        Metric::MessagesReceived => Direction::Recv,
        _ => return Err(NoEncoding::new(format!("the sum of {metric} over `for`"))),
    };
    let mut total = "0".to_string();
    for t in l.transfers.iter().filter(|t| t.direction == direction) {
        let mut count = "1".to_string();
        for index in &t.each {
            let (lo, hi) = (frame.cx.lower(&index.lo, &frame.values)?, frame.cx.lower(&index.hi, &frame.values)?);
            let size = ite(&le(&lo, &hi), &sub(&hi, &lo), "0");
            count = mul(&count, &size);
        }
        total = add(&total, &count);
    }
    Ok(total)
}

/// The number of blocks of a set that names none twice.
pub(super) fn size(frame: &mut ProofContext<'_>, set: &SymbolicSet) -> Step<Term> {
    let mut total = "0".to_string();
    for piece in &set.pieces {
        total = add(&total, &piece.count(&mut frame.cx)?);
    }
    Ok(total)
}

/// The number of blocks gained in a round: `holds` is exact and names none twice, so sizes subtract.
fn growth(prover: &Prover<'_>, frame: &mut ProofContext<'_>, l: &Loop, next: &TermValues) -> Step<Term> {
    let missing = || NoEncoding::new("`holds(blocks = …)`".into());
    let (now, then) = (prover.held_set(l, &frame.values), prover.held_set(l, next));
    let (now, then) = (now.ok_or_else(missing)?, then.ok_or_else(missing)?);
    Ok(sub(&size(frame, &then)?, &size(frame, &now)?))
}
