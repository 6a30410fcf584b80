//! Collectives inside nodes, by their contract.
//!
//! An allgather inside a node, to which every member contributes blocks that it holds, makes every member hold the
//! contributions of all members, and changes nothing else. Nothing more is assumed about it; its own proof shows that
//! it does so. The contributions of the others arrive like blocks of messages, one for each value of `local` except the
//! own one, and must be new in the same way. Groups other than nodes are not encoded: their clauses must be proved not
//! to run, and so must clauses that were not observed to run with nodes of equal size.

use super::{ProofContext, Prover, Step};
use crate::proving::smt::context::TermValues;
use crate::proving::smt::numbering::{LOCAL, Numbering, PPN};
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
        if self.schedule.kind.reduces() || self.wheel == Numbering::Ranks {
            Some("collectives inside of groups are not encoded, but for gathers inside of nodes".into())
        } else if all().any(|within| within.members.is_some()) {
            Some("inner collectives of some members of a node are not encoded".into())
        } else if self.schedule.loops.iter().any(|l| on_nodes(l) > 1) {
            Some("several collectives inside of nodes in one round are not encoded".into())
        } else {
            None
        }
    }

    /// Whether a clause runs inside nodes; any other must be proved not to run.
    fn encoded(&self, clause: &Within) -> bool {
        clause.group == Group::Node && self.windows.runs(clause)
    }

    /// The contributions of the other members of the node to the inner collective of a round.
    pub(super) fn brought(&self, l: &Loop, values: &TermValues) -> SymbolicSet {
        let none = SymbolicSet { pieces: vec![] };
        let mine = Var { name: "mine".into(), slot: self.schedule.slots };
        l.within.iter().filter(|clause| self.encoded(clause)).fold(none, |all, clause| {
            let member = Var { name: "local".into(), slot: LOCAL };
            let other = Expr::binary(Binary::Ne, Expr::Var(member.clone()), Expr::Var(mine.clone()));
            let guard = match &clause.when {
                Some(when) => Expr::binary(Binary::And, other, when.clone()),
                None => other,
            };
            let members = [Index { var: member, lo: 0.into(), hi: Expr::var("ppn", PPN) }];
            all.union(SymbolicSet::new(&clause.brings, &members, Some(&guard), values))
        })
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
        let claim = format!("`{when}` is never true on nodes of equal size");
        // A trivially true goal adds nothing; a trivially false one cannot be proved.
        self.prove(&frame, Property::Defined, &name, &claim, goal);
        Ok(())
    }

    /// One member of the node: it contributes blocks that it holds, all expressions have values, and it takes part if
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
            let other = frame.cx.constant("member!");
            frame.assume(within(&other, "0", "ppn"));
            let mine = frame.cx.lower(when, &frame.values)?;
            let theirs = frame.cx.lower(when, &frame.values.with(LOCAL, other))?;
            let claim = format!("`{when}` is the same for all members of a node");
            prover.prove(&frame, Property::PeerInverse, &format!("{name}-together"), &claim, eq(&mine, &theirs));
            Ok(())
        });
    }
}
