//! Which receives can match a send.
//!
//! `combine = by_rank` stands for two receives of which exactly one happens, and arriving data may go into another line
//! under another condition; all of these belong to the same send. Receives that differ only in condition, line and side
//! are the ways of one *meeting*: it is an obligation that at most one of them happens, and matching is proved for the
//! meeting as a whole. Which receives belong together is guessed from their form and from small p. A wrong guess can
//! only make a proof fail, never succeed, because meetings keep the order of clauses, in which messages of a pair
//! match.

use super::super::{ProofContext, Prover, Step};
use crate::proving::smt::context::{Context, TermValues};
use crate::proving::smt::numbering::{CyclicTerm, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::{SetElement, SymbolicSet};
use crate::proving::smt::term::{and, eq, not, or};
use roundel_spec::Direction;
use roundel_spec::blocks::BlockSet;
use roundel_spec::expr::{Binary, Expr, Var};
use roundel_spec::schedule::{Loop, Transfer};
use roundel_spec::{Action, Line};

/// A send, and its possible receives.
pub(super) struct Meeting<'a> {
    pub(super) send: &'a Transfer,
    /// The possible receives; at most one of them happens.
    pub(super) receipts: Vec<Receipt<'a>>,
    /// A receive that stands for all of them, for matching.
    recv: Transfer,
}

/// The receives that write one line from one operand.
pub(super) struct Receipt<'a> {
    /// These receives; at most one of them happens.
    pub(super) ways: Vec<&'a Transfer>,
    /// A receive that stands for all of them.
    pub(super) recv: Transfer,
}

impl<'a> Meeting<'a> {
    fn new(send: &'a Transfer, ways: Vec<&'a Transfer>) -> Self {
        let recv = any_of(&ways);
        let mut groups: Vec<Vec<&'a Transfer>> = Vec::new();
        for t in ways {
            match groups.last_mut() {
                Some(group) if group.len() == 1 && alike(group[0], t) => group.push(t),
                _ => groups.push(vec![t]),
            }
        }
        let receipts = groups.into_iter().map(|ways| Receipt { recv: any_of(&ways), ways }).collect();
        Meeting { send, receipts, recv }
    }

    fn ways(&self) -> impl Iterator<Item = &'a Transfer> {
        self.receipts.iter().flat_map(|receipt| receipt.ways.iter().copied())
    }
}

impl Receipt<'_> {
    /// The line that is written.
    pub(super) fn line(&self) -> usize {
        self.recv.site.line as usize
    }

    /// The other operand, if arriving data is combined.
    pub(super) fn operand(&self) -> Option<usize> {
        operand(&self.recv).map(usize::from)
    }

    /// Whether it is combined after everything in `other`: clauses apply in order.
    pub(super) fn comes_after(&self, other: &Receipt<'_>) -> bool {
        let last = other.ways.iter().map(|t| t.site.number).max();
        self.ways.iter().all(|t| Some(t.site.number) > last)
    }

    /// The blocks that arrive on a rank.
    pub(super) fn arriving(&self, cx: &Context<'_>, values: &TermValues) -> SymbolicSet {
        SymbolicSet::of_clause(cx, &self.recv, values)
    }
}

/// A receive that happens if one of several does; these differ only in what they do with the message.
fn any_of(ways: &[&Transfer]) -> Transfer {
    let mut recv = ways[0].clone();
    let conditions: Option<Vec<Expr>> = ways.iter().map(|t| t.when.clone()).collect();
    recv.when = conditions.and_then(|all| all.into_iter().reduce(|a, b| Expr::binary(Binary::Or, a, b)));
    recv
}

pub(super) fn operand(t: &Transfer) -> Option<Line> {
    match t.site.action {
        Action::CombineLeft { with } | Action::CombineRight { with } => Some(with),
        Action::Copy | Action::Replace | Action::Overwrite => None,
    }
}

/// Whether two receives may be ways of one meeting. Clauses with indices of their own may not: of several messages
/// between two ranks, those of the first clause would come before those of the second.
fn same_message(a: &Transfer, b: &Transfer) -> bool {
    let guarded = a.when.is_some() && b.when.is_some();
    a.peer == b.peer && same_blocks(&a.blocks, &b.blocks) && guarded && a.each.is_empty() && b.each.is_empty()
}

/// Whether two sets have the same form, regardless of their index variables.
fn same_blocks(a: &BlockSet, b: &BlockSet) -> bool {
    let numbered = |set: &BlockSet| {
        let mut set = set.clone();
        for part in &mut set.parts {
            for i in 0..part.over.len() {
                let (slot, var) = (part.over[i].var.slot, Var { name: String::new(), slot: usize::MAX - i });
                part.over[i].var = var.clone();
                let mut one = BlockSet { parts: vec![part.clone()] };
                one.for_each_expr_mut(&mut |e| rename(e, slot, &var));
                *part = one.parts.swap_remove(0);
            }
        }
        set
    };
    numbered(a) == numbered(b)
}

fn rename(e: &mut Expr, slot: usize, var: &Var) {
    match e {
        Expr::Var(v) if v.slot == slot => *v = var.clone(),
        e => e.children_mut().into_iter().for_each(|child| rename(child, slot, var)),
    }
}

/// Whether two ways differ only in condition and side.
fn alike(a: &Transfer, b: &Transfer) -> bool {
    let combined = operand(a).is_some() && operand(a) == operand(b);
    combined && a.site.line == b.site.line && same_message(a, b)
}

/// Groups of consecutive receives: one joins the previous group if `joins` allows it for all members.
fn grouped<'a>(l: &'a Loop, joins: impl Fn(&[&Transfer], &Transfer) -> bool) -> Vec<Vec<&'a Transfer>> {
    let mut groups: Vec<Vec<&'a Transfer>> = Vec::new();
    for t in l.transfers.iter().filter(|t| t.direction == Direction::Recv) {
        match groups.last_mut() {
            Some(group) if joins(group, t) => group.push(t),
            _ => groups.push(vec![t]),
        }
    }
    groups
}

impl<'a> Prover<'a> {
    /// The meetings of a round: the k-th send with the k-th group of receives; `None` if they cannot be paired.
    pub(super) fn meetings(&mut self, n: usize, l: &'a Loop) -> Option<Vec<Meeting<'a>>> {
        let sends: Vec<&'a Transfer> = l.transfers.iter().filter(|t| t.direction == Direction::Send).collect();
        let by_side = grouped(l, |group, t| group.len() == 1 && alike(group[0], t));
        let by_line = || {
            let apart = |a: &Transfer, b: &Transfer| same_message(a, b) && !self.windows.together(a, b);
            grouped(l, |group, t| group.iter().all(|known| apart(known, t)))
        };
        let recvs = by_side.len();
        let groups = if recvs == sends.len() { by_side } else { by_line() };
        if sends.len() != groups.len() {
            let reason = format!("round {n} has {} sends and {recvs} receives, which have no pairing", sends.len());
            self.gap(Property::PeerInverse, reason);
            return None;
        }
        Some(sends.into_iter().zip(groups).map(|(send, ways)| Meeting::new(send, ways)).collect())
    }

    /// Sends and receives match, block by block, and a message is received once.
    pub(super) fn meet(&mut self, n: usize, l: &'a Loop, frame: &ProofContext<'a>, meetings: &[Meeting<'a>]) {
        for meeting in meetings {
            self.pair(n, l, meeting.send, &meeting.recv, frame);
            self.pair(n, l, &meeting.recv, meeting.send, frame);
            let ways: Vec<&Transfer> = meeting.ways().collect();
            for (i, one) in ways.iter().enumerate() {
                ways[i + 1..].iter().for_each(|other| self.one_way(n, frame, one, other));
            }
        }
    }

    /// At most one of two ways happens.
    fn one_way(&mut self, n: usize, frame: &ProofContext<'a>, one: &Transfer, other: &Transfer) {
        self.attempt(Property::PeerInverse, |prover| {
            let mut frame = frame.clone();
            let mut both = Vec::new();
            for when in [&one.when, &other.when].into_iter().flatten() {
                both.push(frame.cx.lower(when, &frame.values)?);
            }
            let name = format!("round{n}-clause{}-clause{}-one-way", one.site.number, other.site.number);
            let claim = format!("what arrives from `{}` is combined once", one.peer);
            prover.prove(&frame, Property::PeerInverse, &name, &claim, not(&and(both)));
            Ok(())
        });
    }

    /// The rank at the other end of a message, in `0..p`; the hints also hold there.
    pub(super) fn other_end(
        &self,
        l: &Loop,
        t: &Transfer,
        frame: &mut ProofContext<'_>,
        rank: &CyclicTerm,
        element: &SetElement,
    ) -> Step<CyclicTerm> {
        let values = super::super::round::bind(&frame.seen_at(rank), t, element);
        let declared = frame.cx.cell(&t.peer, &values)?;
        if self.wheel == Numbering::Nodes && declared.number == rank.number {
            // It is on the same node.
            let is_rank = self.is_rank(&mut frame.cx, &declared);
            frame.assume(is_rank);
            self.hinted(l, frame, &declared)?;
            return Ok(declared);
        }
        let peer = CyclicTerm { number: frame.cx.constant("peer!"), seat: declared.seat };
        let is_rank = self.is_rank(&mut frame.cx, &peer);
        frame.assume(is_rank);
        let turns = self.windows.of(&t.peer).turns();
        frame.assume(or(turns.iter().map(|m| eq(&declared.number, &self.wheel.turned(&peer.number, *m)))));
        frame.meet_node(&peer)?;
        self.hinted(l, frame, &peer)?;
        Ok(peer)
    }

    /// Hints were proved for an arbitrary rank, so they also hold for this one.
    pub(super) fn hinted(&self, l: &Loop, frame: &mut ProofContext<'_>, rank: &CyclicTerm) -> Step<()> {
        for hint in &l.hints {
            let hint = frame.cx.lower(hint, &frame.seen_at(rank))?;
            frame.assume(hint);
        }
        Ok(())
    }
}
