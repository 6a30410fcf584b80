//! The checks: the exact rules for a correct schedule, at one point and over a range.
//!
//! One file per rule, in the order in which they are applied:
//!
//! 1. [`domain`]: peers of real messages are other ranks (the evaluator checks that every expression has a value)
//! 2. [`matching`]: each send matches exactly one receive of the same round with the same blocks in the same order
//! 3. [`flow`]: a rank holds what it sends, and no slot is written twice
//! 4. [`coverage`]: the contract holds at the end
//! 5. [`bounds`]: rounds, messages and blocks, local and inter-node, stay within the declared bounds
//! 6. [`invariant`]: `holds` is true before every round and after the last
//!
//! Why one tag suffices on a real network: messages between two ranks keep their order, and by rule 2 the messages of a
//! pair in every round match one by one, *in order*. So the k-th message that a rank sends to another is the k-th that
//! the other receives, however far the two have drifted apart; messages of different rounds or ports cannot be
//! confused. If only their order within a round is wrong, the error says so ([`Problem::Confused`]).
//!
//! The checks read a [`Trace`]. It comes from the generated code if there is any; the derive, which has no code yet,
//! uses the evaluator.

// The size of a violation does not matter: it is created once, and then the check ends.
#![allow(clippy::result_large_err)]

pub mod arguments;
pub mod bounds;
pub mod budget;
pub mod coverage;
pub mod domain;
pub mod flow;
pub mod invariant;
pub mod matching;
pub mod points;
pub mod range;
pub mod reduce;
pub mod tight;
pub mod violation;

use crate::check::violation::{Case, Problem, Violation};
use crate::meaning::collective::Collective;
use crate::meaning::eval::{self, Halt};
use crate::meaning::group::{renumber, rounds_of};
use crate::meaning::place::Placement;
use crate::meaning::sink::{Sink, infallible};
use crate::schedule::arguments::Arguments;
use crate::schedule::contract::Kind;
use crate::schedule::{Schedule, SchedulePart};
use crate::trace::provenance::Provenance;
use crate::trace::record::{Recorder, Trace};
pub use bounds::Census;
pub use points::{Checked, Point, Points};
pub use reduce::ReductionStates;
use std::convert::Infallible;
pub use tight::{LooseBound, loose_bounds};

/// The input of the rules, for one point.
#[derive(Debug)]
pub struct CheckInput<'a> {
    /// The declaration.
    pub schedule: &'a Schedule,
    /// The placement of the ranks, and the parameters.
    pub point: &'a Point,
    /// What the ranks do.
    pub trace: &'a Trace,
}

impl CheckInput<'_> {
    /// The root; 0 for collectives without one.
    pub fn root(&self) -> usize {
        self.schedule.root(&self.point.args)
    }

    /// A violation at this point.
    pub fn violation(&self, spot: SchedulePart, round: Option<usize>, problem: Problem) -> Violation {
        Violation { spot, other: None, case: self.point.case(self.schedule), round, problem }
    }
}

/// The result of a successful check of one point.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The cost of the run.
    pub census: Census,
    /// Since when each rank holds each block; empty for reductions.
    pub provenance: Provenance,
    /// What each rank holds, for reductions.
    pub reduction: Option<ReductionStates>,
}

/// Applies all rules to the trace of one point.
pub fn trace(schedule: &Schedule, point: &Point, trace: &Trace) -> Result<Passed, Violation> {
    let scene = CheckInput { schedule, point, trace };
    let passed = if schedule.kind.reduces() { reduction(&scene) } else { gather(&scene) }?;
    // `holds`, and all that a proof rests on, is about the forward collective.
    schedule.forward().map_or(Ok(None), |forward| at_point(&forward, point)).map(|_| passed)
}

fn gather(scene: &CheckInput<'_>) -> Result<Passed, Violation> {
    let provenance = gathered(scene)?;
    let census = bounds::check(scene)?;
    invariant::check(scene, invariant::Memory::Blocks(&provenance))?;
    Ok(Passed { census, provenance, reduction: None })
}

/// What every rank holds, if the run keeps the contract.
fn gathered(scene: &CheckInput<'_>) -> Result<Provenance, Violation> {
    let blocks = number_of_blocks(scene)?;
    let mut provenance = Provenance::new(scene.schedule.kind, scene.trace.p(), blocks, scene.root());
    for round in 0..scene.trace.rounds() {
        flow::forget(scene, round, &mut provenance);
        domain::check(scene, round)?;
        matching::check(scene, round)?;
        flow::check(scene, round, &mut provenance)?;
    }
    flow::forget(scene, scene.trace.rounds(), &mut provenance);
    coverage::check(scene, &provenance)?;
    Ok(provenance)
}

fn reduction(scene: &CheckInput<'_>) -> Result<Passed, Violation> {
    let reduction = reduced(scene)?;
    let census = bounds::check(scene)?;
    invariant::check(scene, invariant::Memory::Lines(&reduction))?;
    Ok(Passed { census, provenance: Provenance::new(Kind::Allgather, 0, 0, 0), reduction: Some(reduction) })
}

/// What every rank has reduced, if the run keeps the contract.
fn reduced(scene: &CheckInput<'_>) -> Result<ReductionStates, Violation> {
    let blocks = number_of_blocks(scene)?;
    for round in 0..scene.trace.rounds() {
        domain::check(scene, round)?;
        matching::check(scene, round)?;
    }
    let reduction = reduce::follow(scene, blocks)?;
    reduce::check_end(scene, &reduction)?;
    Ok(reduction)
}

/// The number of blocks at this point; also checks that the root is a rank. If every rank ends with a block of its own,
/// there must be one block per rank.
fn number_of_blocks(scene: &CheckInput<'_>) -> Result<usize, Violation> {
    let (place, p) = (scene.point.place(scene.schedule, 0), scene.trace.p());
    if scene.root() >= p {
        let problem = Problem::NoSuchRoot { root: scene.root() };
        return Err(scene.violation(domain_of(scene.schedule), None, problem));
    }
    let blocks = eval::blocks::<std::convert::Infallible>(scene.schedule, &scene.point.args, &place);
    match blocks.map_err(|halt| fault(scene.schedule, scene.point, 0, halt))? as usize {
        found if scene.schedule.kind.has_a_block_each() && found != p => {
            Err(scene.violation(SchedulePart::Blocks, None, Problem::NotABlockEach { found }))
        }
        blocks => Ok(blocks),
    }
}

/// What every rank of a reduction holds in a run, up to the first fault; `None` for gathers.
pub fn contributions(schedule: &Schedule, point: &Point, trace: &Trace) -> Option<ReductionStates> {
    let scene = CheckInput { schedule, point, trace };
    let blocks = schedule.kind.reduces().then(|| number_of_blocks(&scene).ok()).flatten()?;
    Some(reduce::follow_to_fault(&scene, blocks))
}

/// Records the ranks' rounds at one point with the evaluator.
pub fn record_schedule(schedule: &Schedule, point: &Point) -> Result<Trace, Violation> {
    let mut ranks = Vec::with_capacity(point.placement.p());
    for rank in 0..point.placement.p() {
        let mut recorder = Recorder::default();
        infallible(rounds_of_schedule(schedule, point, rank, &mut recorder)?);
        ranks.push(recorder.finish());
    }
    Ok(Trace::lockstep(ranks))
}

/// Hands the rounds of one rank to a sink, by the evaluator and without those of other ranks: real ranks and blocks,
/// as [`rounds_of`] does with generated code. The inner result is that of the sink.
pub fn rounds_of_schedule<S: Sink>(
    schedule: &Schedule,
    point: &Point,
    rank: usize,
    sink: &mut S,
) -> Result<Result<(), S::Error>, Violation> {
    let place = point.place(schedule, rank);
    eval::rotation(schedule, &point.args, &place).map_err(|halt| fault(schedule, point, rank, halt))?;
    if !point.is_renumbered(schedule) {
        return match eval::rounds(schedule, &point.args, &place, sink) {
            Err(Halt::Stopped(error)) => Ok(Err(error)),
            walked => walked.map(Ok).map_err(|halt| fault(schedule, point, rank, halt)),
        };
    }
    let wrong = |halt: Halt<Infallible>| fault(schedule, point, rank, halt);
    let around = eval::blocks(schedule, &point.args, &place).map_err(wrong)?;
    let mut seen = Recorder::default();
    eval::rounds(schedule, &point.args, &place, &mut seen).map_err(wrong)?;
    Ok(renumber(&seen.finish(), &point.placement, schedule.kind, around, sink))
}

/// Records the ranks' rounds with the generated code.
pub fn record_code<C: Collective>(collective: &C, placement: &Placement) -> Trace {
    let record = |rank| {
        let mut recorder = Recorder::default();
        infallible(rounds_of(collective, placement, rank, &mut recorder));
        recorder.finish()
    };
    Trace::lockstep((0..placement.p()).map(record).collect())
}

fn fault<E>(schedule: &Schedule, point: &Point, rank: usize, halt: Halt<E>) -> Violation {
    let (spot, problem) = match halt {
        Halt::Fault(spot, fault) => (spot, Problem::Fault { rank, fault }),
        Halt::Stopped(_) => (SchedulePart::Declaration, Problem::NothingChecked { up_to: point.placement.p() }),
    };
    Violation { spot, other: None, case: point.case(schedule), round: None, problem }
}

/// Whether a point lies in the declared domain.
pub fn in_domain(schedule: &Schedule, point: &Point) -> Result<bool, Violation> {
    eval::admits(schedule, &point.args, &point.place(schedule, 0))
        .map(|outside| outside.is_none())
        .map_err(|halt| fault(schedule, point, 0, halt))
}

/// Checks a schedule at one point, by interpretation; `None` when the point lies outside the domain.
pub fn at_point(schedule: &Schedule, point: &Point) -> Result<Option<Passed>, Violation> {
    if !in_domain(schedule, point)? {
        return Ok(None);
    }
    trace(schedule, point, &record_schedule(schedule, point)?).map(Some)
}

/// Checks a schedule at every point by interpretation, the smallest first. Returns the number of points in the domain;
/// a range without any is a violation too, because nothing would have been checked.
pub fn over(schedule: &Schedule, points: &Points) -> Result<usize, Violation> {
    let mut checked = 0;
    for point in points.iter() {
        checked += at_point(schedule, &point)?.is_some() as usize;
    }
    if checked == 0 {
        let problem = Problem::NothingChecked { up_to: points.max_p() };
        let (spot, case) = (domain_of(schedule), Case::default());
        return Err(Violation { spot, other: None, case, round: None, problem });
    }
    Ok(checked)
}

/// The first clause that narrows the domain.
fn domain_of(schedule: &Schedule) -> SchedulePart {
    let ends = schedule.loops.iter().position(|l| !l.ends_with.is_empty());
    match (schedule.requires.is_empty(), ends) {
        (false, _) => SchedulePart::Requires(0),
        (true, Some(n)) => SchedulePart::EndsWith(n, 0),
        (true, None) => SchedulePart::Declaration,
    }
}

/// Runs the derive's check: every point within the declaration's own limits.
pub fn at_compile_time(schedule: &Schedule) -> Result<Checked, Violation> {
    let points = Points::within_limits(schedule);
    over(schedule, &points).map(|cases| points.checked(schedule, cases))
}

/// The arguments of a schedule as text, by name.
pub fn named(schedule: &Schedule, args: &Arguments) -> Vec<(String, String)> {
    let numbers = schedule.numbers.iter().zip(&args.numbers).map(|(n, v)| (n.var.name.clone(), v.to_string()));
    let lists = schedule.lists.iter().zip(&args.lists).map(|(l, v)| (l.var.name.clone(), format!("{v:?}")));
    numbers.chain(lists).collect()
}
