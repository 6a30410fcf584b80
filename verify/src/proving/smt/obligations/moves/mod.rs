//! All-to-alls: blocks are pairs of source and destination, and a message moves its blocks.
//!
//! Here a block is identified by its source `s` and its offset `o`, the distance from source to destination: `0 <= s, o
//! < p`, and the destination is `s + o` around p. Blocks and such pairs correspond one to one. A comprehension by
//! offset, `[a(j) -> a(j) + j; j in lo..hi, filter]`, has the block `(s, o)` where `lo <= o < hi`, the filter is true
//! at `o` and `a(o)` is `s` around p: a formula without a quantifier, exact in both directions. That its items have
//! this form, that offsets lie in `0..p` and sources in `[-p, 2p)` are obligations ([`sets`]). Sets of other forms are
//! not encoded.
//!
//! Let H be the formula of `holds` at a state. The induction is sound: before the first round a rank holds the blocks
//! that come from it, as H says ([`rounds`]). If every rank holds H before a round, then it holds what it sends, it
//! sends every block once, every message meets its receive with the same blocks in the same order ([`matching`]), and
//! what arrives was not held ([`flow`]); so a rank holds afterwards what it held and did not send, and what arrived,
//! and that is H at the next state. The next state of nested rounds is the next inner index or, after the last, the
//! next outer one with the first inner one, where the states of the outer index advance; every inner range has a round,
//! so there is no other transition. No block gets lost: it leaves one rank in a message that another receives. So after
//! the last round a rank holds H at the last state, which has all blocks for it (coverage).
//!
//! Costs are counted in [`counts`], by an induction over the number of blocks; [`scratch`] bounds what a rank keeps for
//! others.

mod active;
mod counts;
mod flow;
mod matching;
mod node_costs;
mod nodes;
mod rounds;
mod scratch;
mod seats;
mod sets;

use super::{P, ProofContext, Prover, RANK, Step};
use crate::proving::smt::context::{NoEncoding, TermValues};
use crate::proving::smt::numbering::Numbering;
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, not, or, within};
use roundel_spec::Action;
use roundel_spec::blocks::{BlockSet, Comprehension, Index};
use roundel_spec::expr::{Binary, Builtin, Expr, Var};
use roundel_spec::schedule::Metric;
use sets::MovedSet;

/// What a rank holds at a point of the run: a set, with the values of its variables there.
#[derive(Clone)]
struct HeldSet {
    parts: Vec<MovedSet>,
}

/// What is true where a loop of an all-to-all begins.
struct MovesEntry<'a> {
    frame: ProofContext<'a>,
    held: HeldSet,
    /// The totals so far, for each metric for which they are known.
    used: Vec<(Metric, Term)>,
}

impl MovesEntry<'_> {
    fn used(&self, metric: Metric) -> Option<Term> {
        self.used.iter().find(|(known, _)| *known == metric).map(|(_, term)| term.clone())
    }
}

/// A block: its source and its offset.
#[derive(Clone)]
struct SymbolicBlock {
    source: Term,
    offset: Term,
}

impl SymbolicBlock {
    /// Any block.
    fn any(frame: &mut ProofContext<'_>) -> Self {
        let source = frame.cx.constant("source!");
        let offset = frame.cx.constant("offset!");
        frame.assume(within(&source, "0", "p"));
        frame.assume(within(&offset, "0", "p"));
        SymbolicBlock { source, offset }
    }

    /// The claim that it is for a rank in `0..p`.
    fn is_for(&self, rank: &str) -> Term {
        let end = add(&self.source, &self.offset);
        or([eq(&end, rank), eq(&end, &add(rank, "p"))])
    }

    /// The claim that it neither comes from the rank nor is for it.
    fn in_transit(&self) -> Term {
        and([not(&eq(&self.source, "rank")), not(&self.is_for("rank"))])
    }
}

impl<'a> Prover<'a> {
    /// The obligations of an all-to-all.
    pub(super) fn all_to_all(&mut self) {
        if let Some(reason) = self.moves_out_of_reach() {
            return self.gap(Property::Invariant, reason);
        }
        if self.wheel == Numbering::Nodes {
            return match self.placed_out_of_reach() {
                Some(reason) => self.gap(Property::Invariant, reason),
                None => self.all_to_all_on_nodes(),
            };
        }
        self.domain();
        self.divided_into_parts();
        self.rotation();
        let mut entry = match self.base().and_then(|frame| self.all_from_here(frame)) {
            Ok(entry) => entry,
            Err(construct) => return self.not_encoded(Property::Initialisation, construct),
        };
        for n in 0..self.schedule.loops.len() {
            entry = match self.moving_loop(n, entry) {
                Ok(entry) => entry,
                Err(construct) => {
                    let construct = NoEncoding { what: format!("round {n}: {}", construct.what), ..construct };
                    return self.not_encoded(Property::Invariant, construct);
                }
            };
        }
        self.delivered(&entry);
        self.total_bounds(&entry);
    }

    /// Constructs that the encoding does not support.
    fn moves_out_of_reach(&self) -> Option<String> {
        let schedule = self.schedule;
        if schedule.within().next().is_some() && self.wheel == Numbering::Ranks {
            return Some("all-to-alls inside of groups are not encoded, but for nodes and lanes".into());
        }
        if schedule.loops.iter().any(|l| l.indices.len() > 2) {
            return Some("rounds with more than two indices are not encoded".into());
        }
        if schedule.loops.iter().any(|l| l.states.iter().any(|state| state.backward)) {
            return Some("states that run backwards are not encoded".into());
        }
        if schedule.transfers().any(|t| t.site.action == Action::Overwrite) {
            return Some("lines that are given up are not encoded".into());
        }
        let p = |e: &Expr| matches!(e, Expr::Var(v) if v.slot == P);
        let a_block_each = matches!(&schedule.blocks, Expr::Binary(Binary::Mul, a, b) if p(a) && p(b));
        (!a_block_each).then(|| "an all-to-all without a block for each pair of ranks is not encoded".into())
    }

    /// Before the first round every rank holds the blocks that come from it.
    fn all_from_here(&self, frame: ProofContext<'a>) -> Step<MovesEntry<'a>> {
        // A variable that does not occur in the schedule.
        let j = Var { name: "j".into(), slot: self.schedule.slots };
        let rank = || Expr::var("rank", RANK);
        let end = Expr::binary(Binary::Add, rank(), Expr::Var(j.clone()));
        let item = Expr::Builtin(Builtin::Pair, vec![rank(), end]);
        let all = Index { var: j, lo: Expr::Int(0), hi: Expr::var("p", P) };
        let set = BlockSet { parts: vec![Comprehension { item, over: vec![all], filter: None }] };
        let held = HeldSet::new(&set, &frame.values)?;
        let used = Metric::ALL.into_iter().map(|metric| (metric, "0".to_string())).collect();
        Ok(MovesEntry { frame, held, used })
    }

    /// After the last round a rank holds all blocks for it.
    fn delivered(&mut self, entry: &MovesEntry<'a>) {
        self.attempt(Property::Coverage, |prover| {
            let mut frame = entry.frame.clone();
            let block = SymbolicBlock::any(&mut frame);
            frame.assume(block.is_for("rank"));
            let goal = entry.held.has(&mut frame.cx, &block)?;
            let claim = "every block for the rank is held after the last round";
            prover.prove(&frame, Property::Coverage, "every-block", claim, goal);
            Ok(())
        });
    }
}

impl HeldSet {
    fn new(set: &BlockSet, values: &TermValues) -> Step<Self> {
        Ok(HeldSet { parts: MovedSet::all(set, &[], None, values)? })
    }

    /// The claim that a block is held.
    fn has(&self, cx: &mut super::Context<'_>, block: &SymbolicBlock) -> Step<Term> {
        sets::any_has(&self.parts, cx, block)
    }
}
