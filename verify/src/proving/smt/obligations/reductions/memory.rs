//! How a round changes the lines: contributions are combined, none is counted twice, everything else stays.

use super::super::{ProofContext, Prover, Step};
use super::ReductionRound;
use super::claims::ContributorClaim;
use super::meetings::Receipt;
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SymbolicSet, other_index};
use crate::proving::smt::term::{Term, and, eq, implies, not, or};
use roundel_spec::Action;
use roundel_spec::contract::Kind;
use roundel_spec::schedule::Transfer;

impl<'a> Prover<'a> {
    /// All obligations of one round of a reduction.
    pub(in super::super) fn reduction_round(&mut self, round: ReductionRound<'_, 'a>) {
        let ReductionRound { n, l, frame, before, .. } = round;
        if !l.within.is_empty() {
            let reason = "a round of a reduction with messages and an inner collective is not encoded: make it two";
            return match l.transfers.is_empty() {
                true => self.reduced_inside(round),
                false => self.gap(Property::Contributors, reason.into()),
            };
        }
        for t in &l.transfers {
            self.clause_is_sound(t, frame);
        }
        if self.combines_several(l) {
            return self.several_combined(round);
        }
        let Some(meetings) = self.meetings(n, l) else { return };
        self.meet(n, l, frame, &meetings);
        for meeting in &meetings {
            self.sends_contributions(n, frame, meeting.send, before);
            for t in meeting.receipts.iter().flat_map(|receipt| &receipt.ways) {
                self.arrival(round, meeting.send, t);
            }
        }
        let sends: Vec<&Transfer> = meetings.iter().map(|meeting| meeting.send).collect();
        let receipts: Vec<Receipt<'a>> = meetings.into_iter().flat_map(|meeting| meeting.receipts).collect();
        for i in 0..receipts.len() {
            self.alone(n, frame, &sends, &receipts, i);
        }
        self.untouched(round, &receipts);
        if self.schedule.order.same_tree {
            self.same_trees(round, &receipts);
        }
    }

    /// A rank holds what it sends.
    pub(super) fn sends_contributions(
        &mut self,
        n: usize,
        frame: &ProofContext<'a>,
        t: &Transfer,
        before: &[ContributorClaim],
    ) {
        let sent = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
        for piece in &sent.pieces {
            self.attempt(Property::SendsHeld, |prover| {
                let mut frame = frame.clone();
                let element = piece.any(&mut frame.cx, "")?;
                frame.assume(element.condition.clone());
                let block = prover.slot(&mut frame, piece, &element)?;
                let here = prover.wheel.here();
                let held = before[t.site.line as usize].at(&here, &block);
                let goal = prover.some(&mut frame.cx, &here, &held)?;
                let line = &prover.schedule.lines[t.site.line as usize];
                let claim = format!("there is something in `{line}` when `{}` is sent", t.blocks);
                let name = format!("round{n}-clause{}", t.site.number);
                prover.prove(&frame, Property::SendsHeld, &name, &claim, goal);
                Ok(())
            });
        }
    }

    /// After an arrival, the line is what `holds` claims.
    fn arrival(&mut self, round: ReductionRound<'_, 'a>, send: &Transfer, t: &Transfer) {
        let ReductionRound { n, l, frame, before, after } = round;
        let set = SymbolicSet::of_clause(&frame.cx, t, &frame.values);
        for piece in &set.pieces {
            self.attempt(Property::Contributors, |prover| {
                let mut frame = frame.clone();
                let element = piece.any(&mut frame.cx, "")?;
                frame.assume(element.condition.clone());
                let block = prover.slot(&mut frame, piece, &element)?;
                let rank = prover.wheel.here();
                let peer = prover.other_end(l, t, &mut frame, &rank, &element)?;
                let (from, into) = (send.site.line as usize, t.site.line as usize);
                let arrives = before[from].at(&peer, &block);
                let here = before[into].at(&rank, &block);
                let result = after[into].at(&rank, &block);
                let at = Arrival { n, t, frame: &frame };
                let nothing = SymbolicSet { pieces: vec![] };
                match t.site.action {
                    Action::Copy => {
                        prover.apart(&at, &here, &here, "was empty", Property::SingleWrite)?;
                        prover.becomes(&at, &arrives, &nothing, &result)
                    }
                    Action::Replace => {
                        prover.part(&at, &here, &[&arrives], "is replaced by no less", Property::Contributors)?;
                        prover.becomes(&at, &arrives, &nothing, &result)
                    }
                    // What was there is given up.
                    Action::Overwrite => prover.becomes(&at, &arrives, &nothing, &result),
                    Action::CombineLeft { with } | Action::CombineRight { with } => {
                        let own = before[with as usize].at(&rank, &block);
                        if with as usize != into {
                            prover.kept(&at, &here, [&arrives, &own])?;
                        }
                        let mut some = frame.clone();
                        let goal = prover.some(&mut some.cx, &rank, &own)?;
                        let (line, name) = (&prover.schedule.lines[with as usize], at.name("operand"));
                        let claim = format!("there is something in `{line}` to combine with");
                        prover.prove(&some, Property::SendsHeld, &name, &claim, goal);
                        prover.apart(&at, &own, &arrives, "is counted once", Property::CountedOnce)?;
                        let left = matches!(t.site.action, Action::CombineLeft { .. });
                        let (left, right) = if left { (&arrives, &own) } else { (&own, &arrives) };
                        prover.in_order(&at, left, right)?;
                        prover.becomes(&at, &arrives, &own, &result)
                    }
                }
            });
        }
    }

    /// `result` is exactly the union of two sets.
    fn becomes(&mut self, at: &Arrival<'_, 'a>, a: &SymbolicSet, b: &SymbolicSet, result: &SymbolicSet) -> Step<()> {
        self.part(at, a, &[result], "arrives", Property::Contributors)?;
        self.part(at, b, &[result], "stays", Property::Contributors)?;
        self.part(at, result, &[a, b], "is all there is", Property::Contributors)
    }

    /// Proves that every contributor of `small` is in one of the other sets.
    fn part(
        &mut self,
        at: &Arrival<'_, 'a>,
        small: &SymbolicSet,
        large: &[&SymbolicSet],
        what: &str,
        property: Property,
    ) -> Step<()> {
        let mut frame = at.frame.clone();
        let x = self.any_rank(&mut frame, "contributor!");
        let has = self.contributes(&mut frame.cx, &x, small)?;
        if has == "false" {
            return Ok(());
        }
        frame.assume(has);
        let mut options = Vec::new();
        for set in large {
            options.push(self.contributes(&mut frame.cx, &x, set)?);
        }
        self.prove(&frame, property, &at.name(what), &at.claim(what), or(options));
        Ok(())
    }

    /// Proves that an overwritten line loses no contributor. It may be empty, which is not a contradiction.
    fn kept(&mut self, at: &Arrival<'_, 'a>, old: &SymbolicSet, result: [&SymbolicSet; 2]) -> Step<()> {
        let mut frame = at.frame.clone();
        let x = self.any_rank(&mut frame, "contributor!");
        let has = self.contributes(&mut frame.cx, &x, old)?;
        if has == "false" {
            return Ok(());
        }
        let mut options = Vec::new();
        for set in result {
            options.push(self.contributes(&mut frame.cx, &x, set)?);
        }
        let goal = implies(&has, &or(options));
        self.prove(&frame, Property::Contributors, &at.name("is not lost"), &at.claim("is not lost"), goal);
        Ok(())
    }

    /// Proves that no rank has contributed to both sets.
    fn apart(
        &mut self,
        at: &Arrival<'_, 'a>,
        a: &SymbolicSet,
        b: &SymbolicSet,
        what: &str,
        property: Property,
    ) -> Step<()> {
        let mut frame = at.frame.clone();
        let x = self.any_rank(&mut frame, "contributor!");
        let both = and([self.contributes(&mut frame.cx, &x, a)?, self.contributes(&mut frame.cx, &x, b)?]);
        self.prove(&frame, property, &at.name(what), &at.claim(what), not(&both));
        Ok(())
    }

    /// Two messages of a round do not write the same slot, and none writes what another later reads as its operand.
    /// What one message replaces, no other reads or carries at all. So every operand is the value before the round.
    fn alone(&mut self, n: usize, frame: &ProofContext<'a>, sends: &[&Transfer], receipts: &[Receipt<'a>], i: usize) {
        let (written, line) = (&receipts[i], receipts[i].line());
        for (k, other) in receipts.iter().enumerate() {
            let reads = k != i && other.operand() == Some(line);
            let read_before = written.operand().is_some() && written.comes_after(other);
            if k >= i && other.line() == line || reads && !read_before {
                let what = "writes a slot that no other message touches";
                self.differ(n, frame, &written.recv, &other.recv, k == i, what);
            }
        }
        if written.recv.site.action == Action::Replace {
            for send in sends.iter().filter(|send| send.site.line as usize == line) {
                let what = "replaces what no message of the round carries";
                self.differ(n, frame, &written.recv, send, false, what);
            }
        }
    }

    /// Elements of two clauses are different blocks, unless they are the same element.
    fn differ(&mut self, n: usize, frame: &ProofContext<'a>, a: &Transfer, b: &Transfer, same: bool, what: &str) {
        let of = |t: &Transfer| SymbolicSet::of_clause(&frame.cx, t, &frame.values);
        for (i, one) in of(a).pieces.iter().enumerate() {
            for (k, two) in of(b).pieces.iter().enumerate() {
                if same && (k < i || k == i && one.indices.is_empty()) {
                    continue;
                }
                self.attempt(Property::SingleWrite, |prover| {
                    let mut frame = frame.clone();
                    let x = one.any(&mut frame.cx, "")?;
                    frame.assume(x.condition.clone());
                    let y = two.any(&mut frame.cx, ".other")?;
                    let first = prover.slot(&mut frame, one, &x)?;
                    // The other message may not exist. This is part of the goal; otherwise the claim could be vacuous.
                    let second = prover.carries(&mut frame.cx, &first, &SymbolicSet { pieces: vec![two.clone()] });
                    let goal = if same && i == k {
                        let other = prover.same_slot(&mut frame, &first, two, &y)?;
                        or([not(&other_index(&x, &y)), not(&y.condition), not(&other)])
                    } else {
                        match second {
                            Ok(second) => not(&second),
                            Err(_) => {
                                let other = prover.same_slot(&mut frame, &first, two, &y)?;
                                or([not(&y.condition), not(&other)])
                            }
                        }
                    };
                    let name = format!("round{n}-clause{}-clause{}-{i}-{k}", a.site.number, b.site.number);
                    prover.prove(&frame, Property::SingleWrite, &name, &format!("`{}` {what}", a.blocks), goal);
                    Ok(())
                });
            }
        }
    }

    /// Slots without an arrival do not change.
    fn untouched(&mut self, round: ReductionRound<'_, 'a>, receipts: &[Receipt<'a>]) {
        let ReductionRound { n, frame, before, after, .. } = round;
        for line in 0..before.len() {
            for (small, large, way) in [(before, after, "forgotten"), (after, before, "made-up")] {
                self.attempt(Property::Contributors, |prover| {
                    let mut frame = frame.clone();
                    let (b, x) = (prover.any_block(&mut frame)?, prover.any_rank(&mut frame, "contributor!"));
                    let here = prover.wheel.here();
                    let has = prover.contributes(&mut frame.cx, &x, &small[line].at(&here, &b))?;
                    if has == "false" {
                        return Ok(());
                    }
                    frame.assume(has);
                    let mut goal = vec![prover.contributes(&mut frame.cx, &x, &large[line].at(&here, &b))?];
                    for receipt in receipts.iter().filter(|receipt| receipt.line() == line) {
                        let arriving = receipt.arriving(&frame.cx, &frame.values);
                        goal.push(prover.carries(&mut frame.cx, &b, &arriving)?);
                    }
                    let name = format!("round{n}-line{line}-{way}");
                    let line = &prover.schedule.lines[line];
                    let claim = format!("nothing of `{line}` is {} where nothing arrives", way.replace('-', " "));
                    prover.prove(&frame, Property::Contributors, &name, &claim, or(goal));
                    Ok(())
                });
            }
        }
    }

    /// After the last round, every rank has contributed to what a rank must have.
    pub(in super::super) fn complete(&mut self, frame: &ProofContext<'a>, lines: &[ContributorClaim]) -> Step<()> {
        let mut frame = frame.clone();
        let block = match self.schedule.kind {
            Kind::ReduceScatter => "rank".into(),
            Kind::Reduce => {
                let root = self.root(&mut frame)?;
                frame.assume(eq("rank", &root));
                self.any_block(&mut frame)?
            }
            _ => self.any_block(&mut frame)?,
        };
        let x = self.any_rank(&mut frame, "contributor!");
        let goal = self.contributes(&mut frame.cx, &x, &lines[0].at(&self.wheel.here(), &block))?;
        let claim = "every rank has contributed after the last round";
        self.prove(&frame, Property::Coverage, "every-contribution", claim, goal);
        Ok(())
    }

    /// That an element of a piece is a block, in `0..blocks`.
    fn same_slot(
        &self,
        frame: &mut ProofContext<'_>,
        block: &str,
        piece: &crate::proving::smt::sets::SetPiece,
        element: &crate::proving::smt::sets::SetElement,
    ) -> Step<Term> {
        let mut inner = frame.clone();
        let slot = self.slot(&mut inner, piece, element)?;
        if slot == element.block {
            return Ok(eq(&slot, block));
        }
        let turns = [-1, 0, 1].map(|m| eq(&element.block, &super::claims::turned(block, m)));
        Ok(or(turns))
    }
}

/// A message that arrives.
pub(super) struct Arrival<'f, 'a> {
    n: usize,
    t: &'f Transfer,
    pub(super) frame: &'f ProofContext<'a>,
}

impl Arrival<'_, '_> {
    pub(super) fn name(&self, what: &str) -> String {
        format!("round{}-clause{}-{}", self.n, self.t.site.number, what.replace(' ', "-"))
    }

    pub(super) fn claim(&self, what: &str) -> String {
        format!("what has contributed where `{}` arrives from `{}` {what}", self.t.blocks, self.t.peer)
    }
}
