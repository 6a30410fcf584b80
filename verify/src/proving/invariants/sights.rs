//! What is seen at small p: the values of all variables, what a rank holds and what it has used, before every round and
//! after the last one of each loop.

use roundel_spec::Schedule;
use roundel_spec::Violation;
use roundel_spec::check::bounds::{RankProgress, RoundCount, Usage};
use roundel_spec::check::{self, CheckInput, Passed, Point, Points};
use roundel_spec::eval::{self, Env, Halt, Walker};
use roundel_spec::schedule::{Loop, Metric, ROOT};
use std::collections::BTreeSet;
use std::convert::Infallible;

/// The largest p that is looked at; with one block per pair of ranks, or contributions to many blocks, fewer.
const LARGEST: usize = 33;
const LARGEST_OF_MANY: usize = 12;

/// Up to this p every rank is looked at, beyond it a few.
const EVERY_RANK: usize = 9;

/// As many combinations of parameters as fit into so many pairs of ranks, at each p.
const SHARE: u64 = 600;

/// The largest root that is looked at: where there is one root there are others like it.
const FEW_ROOTS: i64 = 2;

/// One rank between two rounds.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// The number of the point.
    pub(super) point: usize,
    pub(super) rank: usize,
    /// The indices and states of the loop, by slot.
    pub(super) values: Vec<(usize, i64)>,
    /// Whether a round follows; otherwise the loop has ended.
    pub(super) inside: bool,
    pub(super) held: Held,
    used: Usage,
    rounds: RoundCount,
}

/// What a rank holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// Blocks of a gather or an all-to-all.
    Blocks(BTreeSet<usize>),
    /// The contributors to each block of each line.
    Lines(Vec<Vec<BTreeSet<usize>>>),
}

impl Sight {
    pub(super) fn used(&self, metric: Metric) -> i64 {
        self.used.get(metric, self.rounds)
    }
}

/// Everything that is seen of a collective.
pub(super) struct Sights {
    pub(super) points: Vec<Point>,
    /// For each loop, all sights, small p first.
    pub(super) of_loops: Vec<Vec<Sight>>,
}

impl Sights {
    /// Looks at a schedule.
    ///
    /// # Errors
    /// Returns the violation if the schedule is wrong at a small p.
    pub(super) fn of(schedule: &Schedule) -> Result<Self, Box<Violation>> {
        let many = schedule.kind.moves() || schedule.kind.reduces() && schedule.kind.has_a_block_each();
        let largest = if many || schedule.kind.is_divided() { LARGEST_OF_MANY } else { LARGEST };
        let mut all = Sights { points: Vec::new(), of_loops: vec![Vec::new(); schedule.loops.len()] };
        for point in Points::new(&few_roots(schedule), 1..=largest).thinned(SHARE).iter() {
            let p = point.placement.p();
            if p > EVERY_RANK && !matches!(p, 11 | 12 | 16 | 17 | 25 | 32 | 33) {
                continue;
            }
            if check::in_domain(schedule, &point)? {
                all.look(schedule, point)?;
            }
        }
        Ok(all)
    }

    fn look(&mut self, schedule: &Schedule, point: Point) -> Result<(), Box<Violation>> {
        let trace = check::record_schedule(schedule, &point)?;
        let passed = check::trace(schedule, &point, &trace)?;
        let scene = CheckInput { schedule, point: &point, trace: &trace };
        let each = RoundCount::each(&scene);
        let p = trace.p();
        for rank in (0..p).filter(|&rank| p <= EVERY_RANK || rank < 4 || rank + 2 > p || rank == p / 2) {
            let mut env = Env::new(schedule, &point.args, &point.place(schedule, rank));
            let mut watcher = Watcher {
                scene: &scene,
                passed: &passed,
                rank,
                progress: RankProgress::new(&scene, rank, &each),
                number: self.points.len(),
                seen: &mut self.of_loops,
            };
            // The schedule has passed its check, so that every expression has a value.
            let _ = eval::walk(&mut env, &mut watcher);
        }
        self.points.push(point);
        Ok(())
    }

    /// The values of a rank between two rounds.
    pub(super) fn env<'a>(&'a self, schedule: &'a Schedule, sight: &Sight) -> Env<'a> {
        let point = &self.points[sight.point];
        let mut env = Env::new(schedule, &point.args, &point.place(schedule, sight.rank));
        sight.values.iter().for_each(|&(slot, value)| env.set(slot, value));
        env
    }

    /// The number of ranks.
    pub(super) fn p(&self, sight: &Sight) -> i64 {
        self.points[sight.point].placement.p() as i64
    }
}

/// The same schedule with limits that let roots be ranks.
fn few_roots(schedule: &Schedule) -> Schedule {
    let mut few = schedule.clone();
    let roots = schedule.numbers.iter().map(|number| schedule.kind.has_root() && number.var.name == ROOT);
    few.limits.numbers.iter_mut().zip(roots).filter(|(_, root)| *root).for_each(|(limit, _)| *limit = FEW_ROOTS);
    few
}

struct Watcher<'a, 'b> {
    scene: &'a CheckInput<'b>,
    passed: &'a Passed,
    rank: usize,
    progress: RankProgress<'a, 'b>,
    number: usize,
    seen: &'a mut [Vec<Sight>],
}

impl Watcher<'_, '_> {
    fn note(&mut self, env: &Env<'_>, n: usize, l: &Loop, inside: bool) {
        let values = l.own_slots().into_iter().map(|slot| (slot, env.get(slot))).collect();
        let held = match &self.passed.reduction {
            None => Held::Blocks(self.passed.provenance.held(self.rank, self.progress.round)),
            Some(states) => {
                let of = |line| {
                    let block = |block| states.contributors(self.progress.round, self.rank, line, block).0;
                    (0..states.blocks()).map(block).collect()
                };
                Held::Lines((0..self.scene.schedule.lines.len()).map(|line| of(line as u8)).collect())
            }
        };
        let (point, rank) = (self.number, self.rank);
        let RankProgress { used, rounds, .. } = self.progress;
        self.seen[n].push(Sight { point, rank, values, inside, held, used, rounds });
    }
}

impl Walker for Watcher<'_, '_> {
    type Stop = Infallible;

    fn round(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Infallible>> {
        // Before a round without an index there is nothing to say: `holds` is about what is true after it.
        if !l.indices.is_empty() {
            self.note(env, n, l, true);
        }
        self.progress.advance();
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Infallible>> {
        self.note(env, n, l, false);
        Ok(())
    }
}
