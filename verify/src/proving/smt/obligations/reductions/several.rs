//! Rounds in which several messages are combined into one slot.
//!
//! Clauses are executed in order, those with an index in the order of its values, and a message carries what was there
//! before the round. So what a slot has in the middle of a round is a union: what it, or an operand, had, and all that
//! has arrived so far. Every message must bring what is not there yet, neither from before the round nor from another
//! message. A declaration need not say anything about the middle of a round.
//!
//! A union over an index is not passed to the solver. Where a rank is known to be in it, the index has an arbitrary
//! value; where that is to be shown, the value is computed from the rank. A wrong one can only make a proof fail.

use super::super::matching::distance;
use super::super::round::bind;
use super::super::{ProofContext, Prover, Step};
use super::ReductionRound;
use super::claims::{ContributorClaim, first, last, turned};
use super::meetings::operand;
use crate::proving::smt::context::{Context, NoEncoding};
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SetPiece, SymbolicSet};
use crate::proving::smt::term::{Term, and, eq, implies, lt, not, or, sub};
use roundel_spec::Direction;
use roundel_spec::affine::affine;
use roundel_spec::blocks::{BlockSet, Index};
use roundel_spec::expr::{Binary, Expr, Unary};
use roundel_spec::schedule::{Loop, Transfer};

/// The only block.
const BLOCK: &str = "0";

/// What a line has in the middle of a round: the union of its shares.
type Contents<'a> = Vec<Share<'a>>;

/// A part of what a line has, if all conditions are true.
#[derive(Clone)]
struct Share<'a> {
    when: Vec<Expr>,
    origin: Origin<'a>,
}

#[derive(Clone, Copy)]
enum Origin<'a> {
    /// What the rank had in a line before the round.
    Held(usize),
    /// What the messages of a clause bring.
    Arrived(Arrivals<'a>),
}

/// The messages of a receiving clause, and the line from which they are sent.
#[derive(Clone, Copy)]
struct Arrivals<'a> {
    recv: &'a Transfer,
    from: usize,
}

/// Who has contributed to a message.
struct Message {
    /// That there is such a message.
    exists: Term,
    /// That its sender lies where senders do, so that it wraps to one rank.
    near: Term,
    /// That the sender is this rank.
    sender: Term,
    /// That a rank has contributed.
    has: Term,
}

impl<'a> Prover<'a> {
    /// Whether a rank was seen to combine several messages of a round into one slot. The guess decides which rule is
    /// tried, and both are sound.
    pub(super) fn combines_several(&self, l: &Loop) -> bool {
        let recvs: Vec<&Transfer> = l.transfers.iter().filter(|t| t.direction == Direction::Recv).collect();
        let both = |a: &Transfer, b: &Transfer| a.site.line == b.site.line && self.windows.together(a, b);
        let several = recvs.iter().enumerate().any(|(i, a)| recvs[i..].iter().any(|b| both(a, b)));
        several && self.wheel == Numbering::Ranks && self.schedule.blocks == Expr::Int(1)
    }

    /// All obligations of a round in which several messages are combined into one slot.
    pub(super) fn several_combined(&mut self, round: ReductionRound<'_, 'a>) {
        let ReductionRound { n, l, frame, before, after } = round;
        let order = self.schedule.order;
        for (claimed, property) in [(order.rank_order, Property::RankOrder), (order.same_tree, Property::SameTree)] {
            if claimed {
                let reason = "an order of reduction where several messages are combined into one slot is not encoded";
                self.gap(property, reason.into());
            }
        }
        let mut contents: Vec<Contents<'a>> =
            (0..before.len()).map(|line| vec![Share { when: vec![], origin: Origin::Held(line) }]).collect();
        for (send, recv) in self.paired(n, l) {
            self.pair(n, l, send, recv, frame);
            self.pair(n, l, recv, send, frame);
            self.sends_contributions(n, frame, send, before);
            let arrivals = Arrivals { recv, from: send.site.line as usize };
            self.attempt(Property::Contributors, |prover| prover.executed(round, arrivals, &mut contents));
        }
        for (line, contents) in contents.iter().enumerate() {
            self.attempt(Property::Contributors, |prover| prover.ends_as(round, line, contents, &after[line]));
        }
    }

    /// The obligations of one clause, and what its line has afterwards.
    fn executed(
        &mut self,
        round: ReductionRound<'_, 'a>,
        arrivals: Arrivals<'a>,
        contents: &mut [Contents<'a>],
    ) -> Step<()> {
        let t = arrivals.recv;
        if !is_the_block(&t.blocks) {
            return Err(NoEncoding::new(format!("`{}`, of which several are combined into one slot,", t.blocks)));
        }
        let reason = "a message that is not combined, in a round that combines several into one slot,";
        let with = operand(t).map(usize::from).ok_or_else(|| NoEncoding::new(reason.into()))?;
        let into = t.site.line as usize;
        self.operand_is_there(round, t, with, &contents[with])?;
        self.adds_to(round, arrivals, &contents[with])?;
        self.differ_from_each_other(round, arrivals)?;
        let arrived = Share { when: vec![], origin: Origin::Arrived(arrivals) };
        let mut result = contents[with].clone();
        result.push(arrived);
        if with != into {
            result = self.replaced(round, arrivals, &contents[into], result)?;
        }
        contents[into] = result;
        Ok(())
    }

    /// What a line has after a clause that replaces it by another one with what arrives: nothing may be lost.
    fn replaced(
        &mut self,
        round: ReductionRound<'_, 'a>,
        Arrivals { recv: t, .. }: Arrivals<'a>,
        old: &Contents<'a>,
        new: Contents<'a>,
    ) -> Step<Contents<'a>> {
        if !t.each.is_empty() {
            return Err(NoEncoding::new("a clause with an index and the operand of another line".into()));
        }
        let under = |condition: Expr, shares: Contents<'a>| {
            shares.into_iter().map(move |mut share| {
                share.when.push(condition.clone());
                share
            })
        };
        let happens = t.when.clone().unwrap_or(Expr::Bool(true));
        let new: Contents<'a> = under(happens.clone(), new).collect();
        for (i, share) in under(happens.clone(), old.clone()).enumerate() {
            let what = format!("what `{}` replaces is not lost", self.schedule.lines[t.site.line as usize]);
            self.contained(round, &share, &new, &format!("clause{}-is-not-lost{i}", t.site.number), &what)?;
        }
        Ok(under(Expr::Unary(Unary::Not, Box::new(happens)), old.clone()).chain(new).collect())
    }

    /// A line that is an operand is not empty. What has arrived in the round does not count.
    fn operand_is_there(
        &mut self,
        round: ReductionRound<'_, 'a>,
        t: &'a Transfer,
        with: usize,
        contents: &Contents<'a>,
    ) -> Step<()> {
        let mut frame = round.frame.clone();
        let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
        let element = set.pieces[0].any(&mut frame.cx, "")?;
        frame.assume(element.condition);
        let here = self.wheel.here();
        let mut some = Vec::new();
        for share in contents {
            if let Origin::Held(line) = share.origin {
                let held = self.some(&mut frame.cx, &here, &round.before[line].at(&here, BLOCK))?;
                some.push(and([conditions(&mut frame, share)?, held]));
            }
        }
        let claim = format!("there is something in `{}` to combine with", self.schedule.lines[with]);
        self.prove(&frame, Property::SendsHeld, &round.name(t, "operand"), &claim, or(some));
        Ok(())
    }

    /// No rank has contributed to a message and to what it is combined with.
    fn adds_to(
        &mut self,
        round: ReductionRound<'_, 'a>,
        arrivals: Arrivals<'a>,
        contents: &Contents<'a>,
    ) -> Step<()> {
        let t = arrivals.recv;
        for (i, share) in contents.iter().enumerate() {
            let mut frame = round.frame.clone();
            let x = self.any_rank(&mut frame, "contributor!");
            let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
            let element = set.pieces[0].any(&mut frame.cx, "")?;
            let arrives = self.message(round, &mut frame, &x, arrivals, &element)?.known();
            let there = self.known(round, &mut frame, &x, share)?;
            let claim = format!("what arrives from `{}` is counted once", t.peer);
            let name = round.name(t, &format!("is-counted-once{i}"));
            self.prove(&frame, Property::CountedOnce, &name, &claim, not(&and([arrives, there])));
        }
        Ok(())
    }

    /// No rank has contributed to two messages of a clause.
    fn differ_from_each_other(&mut self, round: ReductionRound<'_, 'a>, arrivals: Arrivals<'a>) -> Step<()> {
        let t = arrivals.recv;
        match t.each.len() {
            0 => return Ok(()),
            1 => {}
            _ => return Err(several_indices(t)),
        }
        let mut frame = round.frame.clone();
        let x = self.any_rank(&mut frame, "contributor!");
        let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
        let one = set.pieces[0].any(&mut frame.cx, "")?;
        let other = set.pieces[0].any(&mut frame.cx, ".other")?;
        let both = [
            lt(&one.indices[0], &other.indices[0]),
            self.message(round, &mut frame, &x, arrivals, &one)?.known(),
            self.message(round, &mut frame, &x, arrivals, &other)?.known(),
        ];
        let claim = format!("what two messages from `{}` bring is counted once", t.peer);
        self.prove(&frame, Property::CountedOnce, &round.name(t, "differ"), &claim, not(&and(both)));
        Ok(())
    }

    /// After the last clause, a line has exactly what `holds` claims.
    fn ends_as(
        &mut self,
        round: ReductionRound<'_, 'a>,
        line: usize,
        contents: &Contents<'a>,
        after: &ContributorClaim,
    ) -> Step<()> {
        let (name, text) = (format!("round{}-line{line}", round.n), &self.schedule.lines[line]);
        let claimed = after.at(&self.wheel.here(), BLOCK);
        for (i, share) in contents.iter().enumerate() {
            let mut frame = round.frame.clone();
            let x = self.any_rank(&mut frame, "contributor!");
            let has = self.known(round, &mut frame, &x, share)?;
            let goal = implies(&has, &self.contributes(&mut frame.cx, &x, &claimed)?);
            let claim = format!("`holds` names everything that `{text}` has after the round");
            self.prove(&frame, Property::Contributors, &format!("{name}-no-less{i}"), &claim, goal);
        }
        let mut frame = round.frame.clone();
        let x = self.any_rank(&mut frame, "contributor!");
        let has = self.contributes(&mut frame.cx, &x, &claimed)?;
        let goal = implies(&has, &self.shown(round, &mut frame, &x, contents)?);
        let claim = format!("`holds` names nothing that `{text}` does not have after the round");
        self.prove(&frame, Property::Contributors, &format!("{name}-no-more"), &claim, goal);
        Ok(())
    }

    /// Proves that a share is contained in others.
    fn contained(
        &mut self,
        round: ReductionRound<'_, 'a>,
        small: &Share<'a>,
        large: &Contents<'a>,
        name: &str,
        claim: &str,
    ) -> Step<()> {
        let mut frame = round.frame.clone();
        let x = self.any_rank(&mut frame, "contributor!");
        let has = self.known(round, &mut frame, &x, small)?;
        let goal = implies(&has, &self.shown(round, &mut frame, &x, large)?);
        self.prove(&frame, Property::Contributors, &format!("round{}-{name}", round.n), claim, goal);
        Ok(())
    }

    /// That a rank is in a share, where that is known: the message that brings it has an arbitrary index.
    fn known(
        &self,
        round: ReductionRound<'_, 'a>,
        frame: &mut ProofContext<'a>,
        x: &CyclicTerm,
        share: &Share<'a>,
    ) -> Step<Term> {
        let when = conditions(frame, share)?;
        let has = match share.origin {
            Origin::Held(line) => self.contributes(&mut frame.cx, x, &round.held(line, self.wheel))?,
            Origin::Arrived(arrivals) => {
                let set = SymbolicSet::of_clause(&frame.cx, arrivals.recv, &frame.values);
                let element = set.pieces[0].any(&mut frame.cx, ".earlier")?;
                self.message(round, frame, x, arrivals, &element)?.known()
            }
        };
        Ok(and([when, has]))
    }

    /// That a rank is in one of some shares, where that is to be shown: the index is computed.
    fn shown(
        &self,
        round: ReductionRound<'_, 'a>,
        frame: &mut ProofContext<'a>,
        x: &CyclicTerm,
        shares: &Contents<'a>,
    ) -> Step<Term> {
        let mut options = Vec::new();
        for share in shares {
            let when = conditions(frame, share)?;
            match share.origin {
                Origin::Held(line) => {
                    let has = self.contributes(&mut frame.cx, x, &round.held(line, self.wheel))?;
                    options.push(and([when, has]));
                }
                Origin::Arrived(arrivals) => {
                    let set = SymbolicSet::of_clause(&frame.cx, arrivals.recv, &frame.values);
                    for element in self.bringing(round, frame, x, arrivals, &set.pieces[0])? {
                        let message = self.message(round, frame, x, arrivals, &element)?;
                        frame.assume(implies(&message.near, &message.sender));
                        options.push(and([when.clone(), message.exists, message.has]));
                    }
                }
            }
        }
        Ok(or(options))
    }

    /// Whether a rank has contributed to the message of an element. Its sender is a new constant, which is determined
    /// where the declared number is near `0..p`; that it is so wherever there is a message is another obligation.
    fn message(
        &self,
        round: ReductionRound<'_, 'a>,
        frame: &mut ProofContext<'a>,
        x: &CyclicTerm,
        Arrivals { recv: t, from }: Arrivals<'a>,
        element: &SetElement,
    ) -> Step<Message> {
        let values = bind(&frame.values, t, element);
        let declared = frame.cx.cell(&t.peer, &values)?;
        self.strides(frame, t, element)?;
        let (window, sender) = (self.windows.of(&t.peer), frame.cx.constant("sender!"));
        let sender = CyclicTerm { number: sender, seat: declared.seat };
        let turns = window.turns().iter().map(|m| eq(&declared.number, &turned(&sender.number, *m)));
        let is_sender = and([self.is_rank(&mut frame.cx, &sender), or(turns)]);
        Ok(Message {
            exists: element.condition.clone(),
            near: window.contains(self.wheel, &declared.number),
            has: self.contributes(&mut frame.cx, x, &round.before[from].at(&sender, BLOCK))?,
            sender: is_sender,
        })
    }

    /// Notes how far the sender of a message is away.
    fn strides(&self, frame: &mut ProofContext<'a>, t: &Transfer, element: &SetElement) -> Step<()> {
        if let [index] = t.each.as_slice() {
            let values = frame.values.with(index.var.slot, "0");
            let step = frame.cx.lower(&steps(t, index)?.0, &values)?;
            frame.cx.note_stride(&step, &element.indices[0]);
        }
        Ok(())
    }

    /// The messages of a clause that may bring the contribution of a rank: how many steps it is away from the first
    /// rank of the message with index 0. Where a condition `a == b` selects the ranks of a message: by how much its
    /// sides differ.
    fn bringing(
        &self,
        round: ReductionRound<'_, 'a>,
        frame: &mut ProofContext<'a>,
        x: &CyclicTerm,
        Arrivals { recv: t, from }: Arrivals<'a>,
        piece: &SetPiece,
    ) -> Step<Vec<SetElement>> {
        let index = match t.each.as_slice() {
            [] => return Ok(vec![message_at(frame, piece, None)?]),
            [index] => index,
            _ => return Err(several_indices(t)),
        };
        let (step, down) = steps(t, index)?;
        let values = frame.values.with(index.var.slot, "0");
        let (step, nearest) = (frame.cx.lower(&step, &values)?, frame.cx.cell(&t.peer, &values)?);
        let mut elements = Vec::new();
        for part in &round.before[from].at(&nearest, BLOCK).pieces {
            for start in starts(&mut frame.cx, part, down)? {
                for m in self.windows.of(&t.peer).turns() {
                    let x = turned(&x.number, *m);
                    let way = if down { sub(&start, &x) } else { sub(&x, &start) };
                    let steps = frame.cx.quotient(&way, &step).0;
                    elements.push(message_at(frame, piece, Some(steps))?);
                }
            }
            for (of_rank, of_sender) in sides(&mut frame.cx, part, &x.number)? {
                let steps = if down { sub(&of_sender, &of_rank) } else { sub(&of_rank, &of_sender) };
                elements.push(message_at(frame, piece, Some(steps))?);
            }
        }
        Ok(elements)
    }
}

impl Message {
    /// That there is such a message, and that the rank has contributed to it.
    fn known(self) -> Term {
        and([self.exists, self.sender, self.has])
    }
}

impl ReductionRound<'_, '_> {
    /// What the rank had in a line before the round.
    fn held(&self, line: usize, wheel: Numbering) -> SymbolicSet {
        self.before[line].at(&wheel.here(), BLOCK)
    }

    fn name(&self, t: &Transfer, what: &str) -> String {
        format!("round{}-clause{}-{what}", self.n, t.site.number)
    }
}

/// Whether a set is the only block: `[0]`, or all blocks of one.
fn is_the_block(blocks: &BlockSet) -> bool {
    let [part] = blocks.parts.as_slice() else { return false };
    let one = |index: &Index| (&index.lo, &index.hi) == (&Expr::Int(0), &Expr::Int(1));
    part.filter.is_none() && part.over.len() <= 1 && part.over.iter().all(one)
}

/// The distance between the senders of a clause with an index, and whether they go down.
fn steps(t: &Transfer, index: &Index) -> Step<(Expr, bool)> {
    let unsolved = || NoEncoding::new(format!("the peer `{}`, which is not solved for its index,", t.peer));
    let (_, step) = affine(&t.peer, index.var.slot).ok_or_else(unsolved)?;
    distance(step).ok_or_else(unsolved)
}

/// From where steps are counted: the first rank of a message and, where senders go down, the last one, because the
/// ranks of a message may go up.
fn starts(cx: &mut Context<'_>, part: &SetPiece, down: bool) -> Step<Vec<Term>> {
    let mut starts = vec![first(cx, part)?.block];
    if down {
        starts.push(last(cx, part)?.block);
    }
    Ok(starts)
}

/// The sides of every equation in the condition of a comprehension: that which depends on its index, for the rank `x`,
/// and the other one.
fn sides(cx: &mut Context<'_>, piece: &SetPiece, x: &str) -> Step<Vec<(Term, Term)>> {
    let (Some(filter), [index]) = (&piece.part.filter, piece.indices.as_slice()) else { return Ok(Vec::new()) };
    let values = piece.values.with(index.var.slot, x);
    let mut equations = Vec::new();
    filter.walk(&mut |e| match e {
        Expr::Binary(Binary::Eq, a, b) if a.mentions(index.var.slot) && !b.mentions(index.var.slot) => {
            equations.push((a.clone(), b.clone()));
        }
        _ => {}
    });
    equations.into_iter().map(|(a, b)| Ok((cx.lower(&a, &values)?, cx.lower(&b, &values)?))).collect()
}

/// The message of a clause with this value of its index.
fn message_at(frame: &mut ProofContext<'_>, piece: &SetPiece, index: Option<Term>) -> Step<SetElement> {
    let block = piece.part.over.iter().map(|_| BLOCK.into());
    let indices: Vec<Term> = index.into_iter().chain(block).collect();
    piece.at(&mut frame.cx, &indices)
}

fn conditions(frame: &mut ProofContext<'_>, share: &Share<'_>) -> Step<Term> {
    let all = share.when.iter().map(|when| frame.cx.lower(when, &frame.values));
    Ok(and(all.collect::<Step<Vec<Term>>>()?))
}

fn several_indices(t: &Transfer) -> NoEncoding {
    NoEncoding::new(format!("several indices of the messages from `{}`", t.peer))
}
