//! What is known before the first round: parameters in their domains, `requires`, every rank's own block.

use super::reductions::ContributorClaim;
use super::{LoopEntry, P, ProofContext, Prover, RANK, Step, SymbolicMemory};
use crate::proving::smt::context::{Context, TermValues};
use crate::proving::smt::numbering::{LANES, LOCAL, NODE, NODES, Numbering};
use crate::proving::smt::query::Property;
use crate::proving::smt::sets::SymbolicSet;
use crate::proving::smt::term::{Term, eq, ge, int, le, within};
use roundel_spec::blocks::{BlockSet, Comprehension};
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Layout, Metric};

impl<'a> Prover<'a> {
    /// Every clause of `requires` has a value if the clauses before it are true.
    pub(super) fn domain(&mut self) {
        self.attempt(Property::Defined, |prover| {
            let mut frame = prover.parameters();
            for (i, clause) in prover.schedule.requires.iter().enumerate() {
                let formula = frame.cx.assume(clause, &frame.values)?;
                prover.computable(&mut frame, &format!("requires{i}"), &format!("`{clause}`"));
                frame.assume(formula);
            }
            Ok(())
        });
    }

    /// The rotation of a layout has a value.
    pub(super) fn rotation(&mut self) {
        for layout in &self.schedule.layouts {
            let Layout::Rotated(by) = layout else { continue };
            self.attempt(Property::Defined, |prover| {
                let mut frame = prover.base()?;
                frame.cx.lower(by, &frame.values)?;
                prover.computable(&mut frame, "rotation", &format!("`{layout}`"));
                Ok(())
            });
        }
    }

    /// p, rank, parameters in their domains, `requires`.
    pub(super) fn base(&self) -> Step<ProofContext<'a>> {
        let mut frame = self.parameters();
        for clause in &self.schedule.requires {
            let clause = frame.cx.assume(clause, &frame.values)?;
            frame.assume(clause);
        }
        frame.cx.settle();
        Ok(frame)
    }

    /// p, rank, parameters in their domains.
    pub(super) fn parameters(&self) -> ProofContext<'a> {
        let schedule = self.schedule;
        let mut cx = Context::new(schedule);
        // Two more variables than the schedule has: the seat and the node of this rank, beside those of another one.
        let mut values = TermValues::new(schedule.slots + 2);
        let mut hypotheses = match self.wheel {
            Numbering::Ranks => ranks(&mut cx, &mut values),
            Numbering::Nodes => {
                values.set(schedule.slots, "local");
                values.set(schedule.slots + 1, "node");
                seats(&mut cx, &mut values)
            }
        };
        for number in &schedule.numbers {
            let name = cx.constant(&number.var.name);
            hypotheses.push(ge(&name, &int(number.domain.lo)));
            number.domain.hi.iter().for_each(|hi| hypotheses.push(le(&name, &int(*hi))));
            values.set(number.var.slot, name);
        }
        ProofContext { cx, values, hypotheses, levels: None }
    }

    /// Before the first round every rank holds its own block, or its own contribution to all blocks; in a broadcast and
    /// a scatter the root has everything.
    pub(super) fn start(&self, frame: ProofContext<'a>) -> Step<LoopEntry<'a>> {
        let one = |part| BlockSet { parts: vec![part] };
        let own = one(Comprehension { item: Expr::var("rank", RANK), over: vec![], filter: None });
        let held = if self.schedule.kind.reduces() {
            // The first line has the rank's own contribution, the others are empty.
            let ranks = |line| if line == 0 { own.clone() } else { BlockSet::default() };
            let lines = 0..self.schedule.lines.len();
            SymbolicMemory::Lines(
                lines.map(|line| ContributorClaim::everywhere(ranks(line), &frame.values, self.wheel)).collect(),
            )
        } else {
            let held = if self.starts_at_root() { one(self.everything_of_root()) } else { own };
            SymbolicMemory::Blocks(SymbolicSet::new(&held, &[], None, &frame.values))
        };
        let used = Metric::ALL.into_iter().map(|metric| (metric, "0".to_string())).collect();
        Ok(LoopEntry { frame, held, used })
    }
}

/// One of p ranks.
fn ranks(cx: &mut Context<'_>, values: &mut TermValues) -> Vec<Term> {
    values.set(P, cx.constant("p"));
    values.set(RANK, cx.constant("rank"));
    vec![ge("p", "1"), within("rank", "0", "p")]
}

/// A seat on one of several nodes, each with as many seats as it likes; `lanes` are as many as the smallest has. The
/// facts about p follow from its being the sum of the sizes; a rank has no number here.
fn seats(cx: &mut Context<'_>, values: &mut TermValues) -> Vec<Term> {
    for (slot, name) in [(P, "p"), (NODE, "node"), (NODES, "nodes"), (LOCAL, "local"), (LANES, "lanes")] {
        values.set(slot, cx.constant(name));
    }
    let product = cx.product("nodes", "lanes");
    let (ppn, smallest) = (cx.node_size("node"), cx.constant("smallest!"));
    let least = cx.node_size(&smallest);
    let world = [ge("nodes", "1"), ge("lanes", "1"), le(&product, "p"), le("nodes", "p"), le("lanes", "p")];
    let seat = [within("node", "0", "nodes"), within("local", "0", &ppn)];
    let smallest = [within(&smallest, "0", "nodes"), eq(&least, "lanes")];
    world.into_iter().chain(seat).chain(smallest).collect()
}
