//! Collectives inside nodes, or among all ranks, by their contract.
//!
//! An allgather inside a node, to which every member contributes blocks that it holds, makes every member hold the
//! contributions of all members, and changes nothing else. Nothing more is assumed about it; its own proof shows that
//! it does so. The contributions of the others arrive like blocks of messages, one for each member except the rank
//! itself, and must be new in the same way. Other groups are not encoded: their clauses must be proved not to run, and
//! so must clauses that were not observed to run.

use super::{ProofContext, Prover, Step};
use crate::proving::smt::context::TermValues;
use crate::proving::smt::numbering::{CyclicTerm, LOCAL, NODE, NODES, Numbering, PPN};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::SymbolicSet;
use crate::proving::smt::term::{Term, and, eq, not, within};
use roundel_spec::blocks::Index;
use roundel_spec::expr::{Binary, Expr, Var};
use roundel_spec::schedule::{Group, Loop, Within};

impl<'a> Prover<'a> {
    /// Why inner collectives cannot be encoded, if so.
    pub(super) fn groups_out_of_reach(&self) -> Option<String> {
        let all = || self.schedule.within();
        all().next()?;
        let on_nodes = |l: &Loop| l.within.iter().filter(|within| within.group == Group::Node).count();
        if self.wheel == Numbering::Ranks {
            Some("collectives inside of groups are not encoded, but for those that look at nodes".into())
        } else if self.schedule.kind.reduces() {
            None
        } else if all().any(|within| within.members.is_some()) {
            Some("inner collectives of some members of a node are not encoded".into())
        } else if self.schedule.loops.iter().any(|l| on_nodes(l) > 1) {
            Some("several collectives inside of nodes in one round are not encoded".into())
        } else {
            None
        }
    }

    /// Whether a clause runs inside nodes or among all; any other must be proved not to run.
    fn encoded(&self, clause: &Within) -> bool {
        matches!(clause.group, Group::Node | Group::All) && self.windows.runs(clause)
    }

    /// The contributions of the other members of the group to the inner collectives of a round.
    pub(super) fn brought(&self, l: &Loop, values: &TermValues) -> SymbolicSet {
        let none = SymbolicSet { pieces: vec![] };
        l.within.iter().filter(|clause| self.encoded(clause)).fold(none, |all, clause| {
            let (members, other) = self.others(&clause.group);
            let guard = match &clause.when {
                Some(when) => Expr::binary(Binary::And, other, when.clone()),
                None => other,
            };
            all.union(SymbolicSet::new(&clause.brings, &members, Some(&guard), values))
        })
    }

    /// The members of a group, by node and seat, and that one is not the rank itself.
    fn others(&self, group: &Group) -> (Vec<Index>, Expr) {
        let own = |name: &str, extra: usize| Expr::var(name, self.schedule.slots + extra);
        let seat = Var { name: "local".into(), slot: LOCAL };
        let node = Var { name: "node".into(), slot: NODE };
        let seats = Index { var: seat.clone(), lo: 0.into(), hi: Expr::var("ppn", PPN) };
        let other_seat = Expr::binary(Binary::Ne, Expr::Var(seat), own("local", 0));
        if *group == Group::Node {
            return (vec![seats], other_seat);
        }
        let other_node = Expr::binary(Binary::Ne, Expr::Var(node.clone()), own("node", 1));
        let nodes = Index { var: node, lo: 0.into(), hi: Expr::var("nodes", NODES) };
        (vec![nodes, seats], Expr::binary(Binary::Or, other_node, other_seat))
    }

    /// Runs the inner collectives of a round, after its messages have arrived. Returns all new blocks.
    pub(super) fn gathered(
        &mut self,
        n: usize,
        l: &'a Loop,
        frame: &ProofContext<'a>,
        before: &SymbolicSet,
        arrived: SymbolicSet,
        at_hand: &[Term],
    ) -> SymbolicSet {
        if l.within.is_empty() {
            return arrived;
        }
        let held = before.clone().union(arrived.clone());
        for clause in &l.within {
            if self.encoded(clause) {
                self.member(n, clause, frame, &held, at_hand);
            } else {
                self.attempt(Property::Defined, |prover| prover.never(n, clause, frame));
            }
        }
        let brought = self.brought(l, &frame.values);
        self.fresh(n, frame, &brought, &held);
        self.once(n, frame, &brought);
        arrived.union(brought)
    }

    /// Proves that a clause does not run.
    fn never(&mut self, n: usize, clause: &Within, frame: &ProofContext<'a>) -> Step<()> {
        let mut frame = frame.clone();
        frame.cx.settle();
        let when = clause.when.clone().unwrap_or(Expr::Bool(true));
        let runs = frame.cx.lower(&when, &frame.values)?;
        let goal = and(frame.cx.take_defined().into_iter().chain([not(&runs)]));
        let name = format!("round{n}-clause{}-never", clause.site.number);
        let claim = format!("`{when}` is never true");
        // A trivially true goal adds nothing; a trivially false one cannot be proved.
        self.prove(&frame, Property::Defined, &name, &claim, goal);
        Ok(())
    }

    /// Any member of the rank's group.
    pub(super) fn any_member(&self, frame: &mut ProofContext<'_>, group: &Group) -> CyclicTerm {
        let number = match group {
            Group::Node => "node".into(),
            _ => {
                let node = frame.cx.constant("node!");
                frame.assume(within(&node, "0", "nodes"));
                node
            }
        };
        let member = CyclicTerm { number, seat: frame.cx.constant("member!") };
        let seated = self.seated(&mut frame.cx, &member);
        frame.assume(seated);
        member
    }

    /// One member of a group: it contributes blocks that it holds, all expressions have values, and it takes part if
    /// the others do.
    fn member(&mut self, n: usize, clause: &Within, frame: &ProofContext<'a>, held: &SymbolicSet, at_hand: &[Term]) {
        let name = format!("round{n}-clause{}", clause.site.number);
        let own = SymbolicSet::new(&clause.brings, &[], clause.when.as_ref(), &frame.values);
        let claim = format!("`{}` is held when it is brought", clause.brings);
        self.subset(frame, &own, held, at_hand, Property::SendsHeld, &name, &claim);
        self.attempt(Property::Defined, |prover| {
            for piece in &own.pieces {
                let mut inner = frame.clone();
                inner.cx.settle();
                let element = piece.any(&mut inner.cx, "")?;
                let defined = and(inner.cx.take_defined());
                prover.prove(&inner, Property::Defined, &name, &format!("`{}` has a value", clause.brings), defined);
                inner.assume(element.condition.clone());
                let (window, inside) = prover.block_range(&mut inner, piece, &element)?;
                let claim = format!("`{}` lies in {window}", piece.part);
                prover.prove(&inner, Property::WrapRange, &name, &claim, inside);
            }
            Ok(())
        });
        let Some(when) = &clause.when else { return };
        self.attempt(Property::PeerInverse, |prover| {
            let mut frame = frame.clone();
            let member = prover.any_member(&mut frame, &clause.group);
            let mine = frame.cx.lower(when, &frame.values)?;
            let theirs = frame.cx.lower(when, &frame.seen_at(&member))?;
            let claim = format!("`{when}` is the same for all members of the group");
            prover.prove(&frame, Property::PeerInverse, &format!("{name}-together"), &claim, eq(&mine, &theirs));
            Ok(())
        });
    }
}
