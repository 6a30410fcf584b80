//! The obligations of a schedule: a solver must discharge them to prove it correct for all p.
//!
//! The argument is an induction over the rounds. If `holds` is true before the first round, if every round preserves
//! it, and if it implies the contract after the last, then the contract is met for every p, because the number of
//! rounds is finite. Inside a round, all ranks are alike: an obligation is about one arbitrary rank and, for matching,
//! its peer.

mod counters;
mod end;
mod groups;
mod holdings;
mod levels;
mod loops;
mod matching;
mod moves;
mod parts;
mod reductions;
mod reverse;
mod root;
mod round;
mod sequence;
mod start;
mod width;

use super::context::{Context, NoEncoding, TermValues};
use super::numbering::{CyclicTerm, LOCAL, NODE, Numbering, P, PPN, RANK};
use super::query::{Attempt, Obligation, Property};
use super::sets::SymbolicSet;
use super::term::{Term, and};
use super::windows::Windows;
use levels::{Levels, Phases};
use reductions::{ContributorClaim, ReductionRound};
use root::AtRootZero;
use roundel_spec::expr::{Binary, Builtin, Expr};
use roundel_spec::schedule::{Loop, Metric};
use roundel_spec::{Action, Schedule};

/// A part of the proof without an obligation, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingObligation {
    /// The property that is not proved.
    pub property: Property,
    /// The reason.
    pub reason: String,
    /// The expression that is not encoded, if it is one.
    pub expression: Option<Expr>,
    /// Whether it is a `holds` that is missing.
    pub lacks_holds: bool,
}

impl MissingObligation {
    pub(crate) fn new(property: Property, reason: String) -> Self {
        MissingObligation { property, reason, expression: None, lacks_holds: false }
    }
}

/// All obligations of a schedule, and the parts that are missing.
pub struct Obligations {
    /// The obligations to discharge.
    pub all: Vec<Obligation>,
    /// The parts that are not encoded.
    pub gaps: Vec<MissingObligation>,
}

/// The obligations of a schedule.
pub fn obligations(schedule: &Schedule) -> Obligations {
    if let Some(forward) = schedule.forward() {
        return reverse::obligations(schedule, &forward);
    }
    let mut all = Obligations { all: Vec::new(), gaps: Vec::new() };
    if schedule.is_sequence() {
        all.add(&Unrolled::of(schedule), Windows::none(), Prover::sequence);
        return all;
    }
    match AtRootZero::of(schedule) {
        // Proved at root 0, and every other root is the same with other numbers.
        Some(at_zero) => {
            let [zero, any, both] = [&at_zero.schedule, schedule, &at_zero.both].map(Unrolled::of);
            all.add(&zero, Windows::seen(zero.schedule), Prover::whole);
            all.add(&any, Windows::seen(any.schedule), Prover::any_root_fits);
            all.add(&both, Windows::none(), |prover| prover.turns_with_the_root(&at_zero));
        }
        // Pairs always lie in one window.
        None if schedule.kind.moves() => all.add(&Unrolled::of(schedule), Windows::none(), Prover::whole),
        None => all.add(&Unrolled::of(schedule), Windows::seen(schedule), Prover::whole),
    }
    all
}

/// A schedule and the phases of its loops.
struct Unrolled<'a> {
    schedule: &'a Schedule,
    phases: Vec<Phases>,
}

impl<'a> Unrolled<'a> {
    fn of(schedule: &'a Schedule) -> Self {
        Unrolled { schedule, phases: levels::phases(schedule) }
    }
}

impl Obligations {
    /// Adds the obligations of one schedule; they are numbered throughout.
    fn add<'a>(&mut self, unrolled: &'a Unrolled<'_>, windows: Windows, prove: impl FnOnce(&mut Prover<'a>)) {
        let Unrolled { schedule, phases } = unrolled;
        let wheel = Numbering::of(schedule);
        let (all, gaps) = (std::mem::take(&mut self.all), std::mem::take(&mut self.gaps));
        let mut prover = Prover { schedule, wheel, windows, phases, all, gaps };
        prove(&mut prover);
        (self.all, self.gaps) = (prover.all, prover.gaps);
    }
}

/// What is known at a point of the run.
#[derive(Clone)]
struct ProofContext<'a> {
    cx: Context<'a>,
    values: TermValues,
    hypotheses: Vec<Term>,
    /// What is known of states that differ between nodes, on any of them.
    levels: Option<Levels<'a>>,
}

impl ProofContext<'_> {
    fn assume(&mut self, fact: Term) {
        self.hypotheses.push(fact);
    }

    /// Assumes a fact. One that defines a state (`D == pow(2, s)`) also replaces the state from then on, because
    /// solvers do not multiply equations.
    fn adopt(&mut self, fact: &Expr, l: &Loop) -> Step<()> {
        let formula = self.cx.assume(fact, &self.values)?;
        self.assume(formula);
        if let Expr::Binary(Binary::Eq, state, value) = fact
            && let Expr::Var(v) = &**state
            && l.states.iter().any(|known| known.var == *v)
            && !matches!(&**value, Expr::Builtin(Builtin::Min | Builtin::Max, _))
        {
            let value = self.cx.lower(value, &self.values)?;
            self.cx.also_power_of_two(fact, &value);
            self.values.set(v.slot, value);
        }
        Ok(())
    }

    /// The values at the same point on another rank.
    fn seen_at(&self, rank: &CyclicTerm) -> TermValues {
        values_at(self.cx.wheel(), &self.values, rank)
    }
}

/// Values as a rank sees them.
fn values_at(wheel: Numbering, values: &TermValues, rank: &CyclicTerm) -> TermValues {
    match wheel {
        Numbering::Ranks => values.with(RANK, rank.number.clone()),
        Numbering::Nodes => values.on_node(NODE, &rank.number).with(LOCAL, rank.seat.clone()),
    }
}

/// What is true at the beginning of a loop.
#[derive(Clone)]
struct LoopEntry<'a> {
    frame: ProofContext<'a>,
    held: SymbolicMemory,
    /// The amount used so far, for each metric with a counter.
    used: Vec<(Metric, Term)>,
}

impl LoopEntry<'_> {
    fn used(&self, metric: Metric) -> Option<Term> {
        self.used.iter().find(|(known, _)| *known == metric).map(|(_, term)| term.clone())
    }
}

/// The contents of a rank's memory.
#[derive(Clone)]
enum SymbolicMemory {
    /// A gather: blocks.
    Blocks(SymbolicSet),
    /// A reduction: contributions, line by line.
    Lines(Vec<ContributorClaim>),
}

struct Prover<'a> {
    schedule: &'a Schedule,
    wheel: Numbering,
    windows: Windows,
    /// The rounds of each loop with a literal inner index, one after the other.
    phases: &'a [Phases],
    all: Vec<Obligation>,
    gaps: Vec<MissingObligation>,
}

type Step<T> = Result<T, NoEncoding>;

impl<'a> Prover<'a> {
    fn whole(&mut self) {
        if self.schedule.kind.moves() {
            return self.all_to_all();
        }
        if let Some(reason) = self.out_of_reach() {
            return self.gap(Property::Invariant, reason);
        }
        self.domain();
        self.root_is_a_rank();
        self.divided_into_parts();
        self.rotation();
        self.split();
        let entry = self.base().and_then(|frame| self.start(frame));
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(construct) => return self.not_encoded(Property::Initialisation, construct),
        };
        for n in 0..self.schedule.loops.len() {
            entry = match self.a_loop(n, entry) {
                Ok(entry) => entry,
                Err(NoEncoding { what: reason, expression, lacks_holds }) => {
                    let property = Property::Invariant;
                    return self.gaps.push(MissingObligation { property, reason, expression, lacks_holds });
                }
            };
        }
        self.end(entry);
    }

    /// A construct that cannot be encoded, if there is one.
    fn out_of_reach(&self) -> Option<String> {
        let mut reason = None;
        if self.wheel == Numbering::Nodes && self.schedule.kind.reduces() && self.blocks_are_ranks() {
            reason = Some("a reduction of p blocks that looks at nodes is not encoded".into());
        }
        let on_nodes = self.wheel == Numbering::Nodes && self.schedule.kind.reduces();
        let unrolled = |n: usize| on_nodes && !self.phases[n].rounds.is_empty();
        if self.schedule.loops.iter().enumerate().any(|(n, l)| l.indices.len() > 1 && !unrolled(n)) {
            reason = Some("nested rounds are not encoded".into());
        }
        if self.schedule.loops.iter().any(|l| l.states.iter().any(|state| state.backward)) && !on_nodes {
            reason = Some("states that run backwards are not encoded, but for reductions on nodes".into());
        }
        reason = self.groups_out_of_reach().or(reason);
        if self.schedule.within().any(|clause| self.schedule.is_stage(clause)) {
            reason = Some("an inner collective of another kind is not encoded beside messages".into());
        } else if self.schedule.kind.reduces() && self.schedule.within().any(|clause| !clause.brings.parts.is_empty())
        {
            reason = Some("an inner reduction of some blocks is not encoded beside messages".into());
        }
        if self.schedule.transfers().any(|t| t.site.action == Action::Overwrite) && !on_nodes {
            reason = Some("lines that are given up are not encoded, but for reductions on nodes".into());
        }
        if self.wheel == Numbering::Nodes && self.schedule.kind.has_root() {
            reason = Some("collectives with a root that look at nodes are not encoded".into());
        }
        let a_block_each = matches!(&self.schedule.blocks, Expr::Var(v) if v.slot == P);
        if self.schedule.kind.has_a_block_each() && !a_block_each {
            let kind = self.schedule.kind.with_article();
            reason = Some(format!("{kind} without a block for each rank is not encoded"));
        }
        reason
    }

    fn gap(&mut self, property: Property, reason: String) {
        self.gaps.push(MissingObligation::new(property, reason));
    }

    /// Notes a construct that cannot be encoded.
    fn not_encoded(&mut self, property: Property, NoEncoding { what, expression, lacks_holds }: NoEncoding) {
        let reason = format!("{what} is not encoded");
        self.gaps.push(MissingObligation { property, reason, expression, lacks_holds });
    }

    /// Adds the obligations of `build`, or notes why they cannot be encoded.
    fn attempt(&mut self, property: Property, build: impl FnOnce(&mut Self) -> Step<()>) {
        if let Err(construct) = build(self) {
            self.not_encoded(property, construct);
        }
    }

    fn prove(&mut self, frame: &ProofContext<'_>, property: Property, name: &str, claim: &str, goal: Term) {
        if goal != "true" {
            self.push(property, name, claim, vec![Attempt::new(&frame.cx, &frame.hypotheses, goal)]);
        }
    }

    /// Proves that everything lowered since the last call has a value and fits the machine.
    fn computable(&mut self, frame: &mut ProofContext<'_>, name: &str, what: &str) {
        let defined = and(frame.cx.take_defined());
        self.prove(frame, Property::Defined, name, &format!("{what} has a value"), defined);
        self.fits(frame, name, what);
    }

    fn push(&mut self, property: Property, name: &str, claim: &str, attempts: Vec<Attempt>) {
        let name = format!("{:03}-{}-{name}", self.all.len(), property.name());
        self.all.push(Obligation::new(property, name, claim.into(), attempts));
    }
}
