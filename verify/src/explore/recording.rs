//! The rounds of a call, recorded, and what every rank holds in between.

use super::Refusal;
use super::ask::ExploredCall;
use super::subject::ExploredCollective;
use crate::params::Params;
use crate::report::highlight::Highlight;
use crate::report::run::PointRun;
use roundel_spec::check::{self, Point, ReductionStates};
use roundel_spec::provenance::Provenance;
use roundel_spec::{Direction, Trace, Violation, eval};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// The largest number of ranks of which every message is kept.
pub(super) const MAX_P: usize = 1024;

/// The largest number of ranks of which the rounds are checked here. Beyond, what is proved of them has to do.
const CHECKED: usize = 128;

/// The largest number of slots that the picture shows, over all ranks.
const MOST_SLOTS: usize = 1 << 22;

/// The longest time that the evaluator may take for the rounds of a text.
const PATIENCE: Duration = Duration::from_secs(20);

/// A recorded call.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) subject: ExploredCollective,
    pub(super) params: Params,
    pub(super) point: Point,
    pub(super) trace: Trace,
    /// The rounds with messages; others do not count.
    pub(super) active: Vec<usize>,
    pub(super) states: States,
    pub(super) verdict: Verdict,
}

/// What ranks hold.
#[derive(Debug)]
pub(super) enum States {
    /// The blocks of a gather, or of an all-to-all.
    Blocks(Provenance),
    /// The contributions of a reduction.
    Lines(ReductionStates),
    /// The call is too large for that.
    Unknown,
}

/// Whether the call is right.
#[derive(Debug)]
pub(super) enum Verdict {
    /// All rules hold.
    Right,
    /// A rule is violated; and what the picture marks.
    Wrong(Box<Violation>, Box<Highlight>),
    /// There are too many ranks to check it here.
    Unchecked,
}

impl Recording {
    /// Records a call.
    pub(super) fn new(subject: ExploredCollective, call: &ExploredCall) -> Result<Self, Refusal> {
        let params = Params::resolve(&subject.name, &subject.schedule, &call.set)?;
        let point = Point { placement: call.placement()?, args: params.args.clone() };
        let start = Instant::now();
        let (what, seconds) = ("evaluating the declaration", PATIENCE.as_secs());
        let trace =
            subject.trace(&point, || start.elapsed() < PATIENCE)?.ok_or(Refusal::TooSlow { what, seconds })?;
        let active = (0..trace.rounds()).filter(|&round| trace.has_messages(round)).collect();
        let states = states(&subject, &point, &trace);
        let verdict = verdict(&subject, &point, &trace);
        Ok(Recording { subject, params, point, trace, active, states, verdict })
    }

    /// The run, for pictures and words.
    pub(super) fn run(&self) -> PointRun<'_> {
        PointRun::new(&self.subject.schedule, &self.point, &self.trace)
    }

    pub(super) fn p(&self) -> usize {
        self.trace.p()
    }

    /// The round before which a step is: all rounds up to the last one of the step are over.
    pub(super) fn before(&self, step: usize) -> usize {
        step.checked_sub(1).map_or(0, |last| self.active[last] + 1)
    }

    /// The step that shows a panel of a highlight, which also counts silent rounds.
    pub(super) fn step_of_panel(&self, panel: usize) -> usize {
        self.active.iter().filter(|&&round| round < panel).count()
    }

    /// The rows of the picture.
    pub(super) fn rows(&self) -> Rows {
        match &self.states {
            States::Unknown => Rows::None,
            States::Blocks(_) if self.subject.schedule.kind.moves() => Rows::Destinations,
            States::Blocks(provenance) => Rows::Blocks { blocks: provenance.blocks() },
            States::Lines(memory) if memory.blocks() == 1 => Rows::Contributors { lines: memory.lines() },
            States::Lines(memory) => Rows::Slots { lines: memory.lines(), blocks: memory.blocks() },
        }
    }
}

/// The meaning of the rows of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// A row for each block.
    Blocks { blocks: usize },
    /// A row for each destination: from how many sources a rank holds the blocks for it.
    Destinations,
    /// A row for each contributor to a vector that is not divided, line by line.
    Contributors { lines: usize },
    /// A row for each block, line by line.
    Slots { lines: usize, blocks: usize },
    /// The picture shows no slots.
    None,
}

impl Rows {
    pub(super) fn count(self, p: usize) -> usize {
        match self {
            Rows::Blocks { blocks } => blocks,
            Rows::Destinations => p,
            Rows::Contributors { lines } => lines * p,
            Rows::Slots { lines, blocks } => lines * blocks,
            Rows::None => 0,
        }
    }
}

/// Follows the blocks as messages carry them, right or wrong.
fn states(subject: &ExploredCollective, point: &Point, trace: &Trace) -> States {
    let (kind, p) = (subject.schedule.kind, trace.p());
    let place = point.place(&subject.schedule, 0);
    let blocks =
        eval::blocks::<Infallible>(&subject.schedule, &point.args, &place).map_or(0, |blocks| blocks as usize);
    let (lines, root) = (subject.schedule.lines_in_memory(), subject.schedule.root(&point.args));
    let slots = if kind.moves() { p * p } else { p * blocks.max(1) * lines };
    if blocks == 0 || root >= p || slots > MOST_SLOTS {
        return States::Unknown;
    }
    if kind.reduces() {
        // Every slot may have a tree of its own, and every tree a bit for each rank.
        let fits = slots * p <= 1 << 28;
        let followed = || check::contributions(&subject.schedule, point, trace);
        return fits.then(followed).flatten().map_or(States::Unknown, States::Lines);
    }
    let blocks = if kind.moves() { p * p } else { blocks };
    let mut provenance = Provenance::new(kind, p, blocks, root);
    for round in 0..trace.rounds() {
        for log in &trace.ranks {
            for sent in log.directed(round, Direction::Send).filter(|sent| sent.peer < p) {
                for &block in log.blocks(sent).iter().filter(|&&block| (block as usize) < blocks) {
                    provenance.receive(sent.peer, block as usize, round);
                }
            }
        }
    }
    States::Blocks(provenance)
}

fn verdict(subject: &ExploredCollective, point: &Point, trace: &Trace) -> Verdict {
    if trace.p() > CHECKED {
        return Verdict::Unchecked;
    }
    match check::trace(&subject.schedule, point, trace) {
        Ok(_) => Verdict::Right,
        Err(violation) => {
            let run = PointRun::new(&subject.schedule, point, trace);
            let highlight = Highlight::of(&violation, trace, &run, &point.placement);
            Verdict::Wrong(Box::new(violation), Box::new(highlight))
        }
    }
}
