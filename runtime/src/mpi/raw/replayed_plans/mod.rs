//! Replays the messages of all ranks together, as plans describe them: addresses, lengths and scratch.
//!
//! The checks of a schedule know blocks; a plan has offsets, copies and pieces of messages. Here each plan becomes a
//! [`Program`], and the replay of programs judges it: whatever is sent was written, nothing is overwritten that is
//! still needed, messages have the lengths that their receivers expect, nobody waits forever, and every element of the
//! result is right. A message in pieces is copied to memory of its own before it is sent, and from there after it has
//! arrived; that pieces of one round do not overlap is checked when it becomes one.

mod lowered;

use self::lowered::Lowered;
use super::planning::Planning;
use crate::algorithms::{Entry, catalogue};
use crate::any_collective::SharedCollective;
use crate::call::rooted::{BlockStorage, RootedLayout};
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape, Lists};
use crate::mpi::lowering::areas::Area;
use crate::mpi::lowering::plan::{MessagePlan, PlanStep};
use crate::program::{Program, RankElements, ReplayedCall, replay_call};
use crate::transport::{Layout, RankPlacement};
use ::mpi::ffi;
use roundel_spec::check::{Point, Points};
use roundel_spec::{Kind, Placement, Schedule};
use std::ops::Range;

/// The most ranks.
const RANKS: usize = 16;
/// The most cases of an algorithm.
const CASES: u64 = 150;
/// Bytes of an element: with the second size, pieces are too long to be packed.
const SIZES: [usize; 2] = [4, 1 << 17];

/// A call of all ranks.
#[derive(Clone, Debug)]
struct Call {
    kind: Kind,
    root: usize,
    size: usize,
    /// The lengths of all blocks; of a vector, their sum is its length.
    counts: Vec<usize>,
    in_place: bool,
    /// Whether the lengths are given as a list.
    listed: bool,
}

impl Call {
    fn p(&self) -> usize {
        self.counts.len()
    }

    fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Where blocks begin. Those of a list lie in the opposite order where MPI allows it.
    fn begins(&self) -> Vec<usize> {
        let turned = self.listed && self.kind == Kind::Allgather;
        let begin = |block: usize| -> usize {
            if turned { self.counts[block + 1..].iter().sum() } else { self.counts[..block].iter().sum() }
        };
        (0..self.p()).map(begin).collect()
    }

    /// Whether this rank's input lies in its output.
    fn is_in_place(&self, rank: usize) -> bool {
        match self.kind {
            Kind::Broadcast => false,
            Kind::Reduce | Kind::Gather | Kind::Scatter => self.in_place && rank == self.root,
            _ => self.in_place,
        }
    }

    /// The call as a rank makes it.
    fn shape(&self, rank: usize) -> CallShape {
        let (own, total, is_root) = (self.counts[rank], self.total(), rank == self.root);
        let storage = |result_at: usize, output: bool| match output {
            true => BlockStorage::Output,
            false => BlockStorage::Scratch { result_at },
        };
        let rooted = |input_at, storage| BlockLayout::Rooted(RootedLayout { total, input_at, storage });
        let (before, elsewhere) = (rank * own, self.kind == Kind::Reduce && !is_root);
        let in_place = self.is_in_place(rank);
        let (blocks, send, recv) = match self.kind {
            Kind::Allgather if self.listed => (BlockLayout::Listed, own, total),
            Kind::Allgather => (BlockLayout::Equal(own), own, total),
            Kind::Alltoall => (BlockLayout::Equal(own), total, total),
            Kind::Allreduce | Kind::Reduce => {
                (BlockLayout::Vector { elsewhere }, total, if elsewhere { 0 } else { total })
            }
            Kind::ReduceScatter if self.listed => (BlockLayout::ListedParts, total, own),
            Kind::ReduceScatter => (BlockLayout::Parts, total, own),
            Kind::Broadcast => (rooted(0, storage(0, true)), 0, total),
            Kind::Gather => (rooted(before, storage(0, is_root)), own, if is_root { total } else { 0 }),
            Kind::Scatter => (rooted(0, storage(before, in_place)), total, own),
        };
        let absent = in_place || self.kind == Kind::Broadcast || self.kind == Kind::Scatter && !is_root;
        let recv = if in_place { recv.max(send) } else { recv };
        CallShape {
            kind: self.kind,
            root: self.root as i64,
            blocks,
            // SAFETY: the handle is a constant of the library.
            datatype: unsafe { ffi::RSMPI_UINT8_T },
            size: self.size,
            send: (!absent).then_some(send),
            recv,
            commutes: true,
            exact: true,
            bytes: 0,
        }
    }

    /// What a rank gives and gets. An element has a number for its place in the whole, or, where ranks give different
    /// elements for one place, also for its rank.
    fn elements(&self, rank: usize) -> RankElements {
        let (total, is_root, begins) = (self.total(), rank == self.root, self.begins());
        let block = |block: usize| begins[block]..begins[block] + self.counts[block];
        let (all, none) = (|| 0..total, 0..0);
        let of_rank = |source: usize, part: Range<usize>| part.map(move |i| source * total + i);
        let (given, got): (Vec<usize>, Vec<usize>) = match self.kind {
            Kind::Allgather => (block(rank).collect(), all().collect()),
            Kind::Alltoall => (
                of_rank(rank, all()).collect(),
                (0..self.p()).flat_map(|source| of_rank(source, block(rank))).collect(),
            ),
            Kind::Allreduce => (all().collect(), all().collect()),
            Kind::ReduceScatter => (all().collect(), block(rank).collect()),
            Kind::Reduce => (all().collect(), if is_root { all() } else { none }.collect()),
            Kind::Broadcast => (if is_root { all() } else { none }.collect(), all().collect()),
            Kind::Gather => (block(rank).collect(), if is_root { all() } else { none }.collect()),
            // In place, the root's result is what it has.
            Kind::Scatter if self.is_in_place(rank) => (all().collect(), all().collect()),
            Kind::Scatter => (if is_root { all() } else { none }.collect(), block(rank).collect()),
        };
        let begin = match self.kind {
            Kind::Allgather | Kind::Gather => begins[rank],
            _ => 0,
        };
        let in_place = self.is_in_place(rank) || self.kind == Kind::Broadcast && is_root;
        RankElements { given, got, in_place: in_place.then_some(begin) }
    }

    /// The plan of a rank.
    fn plan(&self, collective: &SharedCollective, here: RankPlacement<'_>) -> Result<MessagePlan, Error> {
        let (mut plan, shape) = (MessagePlan::default(), self.shape(here.rank));
        let mut lists = Lists::default();
        if self.listed {
            (lists.counts, lists.displs) = (self.counts.clone(), self.begins());
        }
        let layout = Layout::default();
        Planning { here, shape: &shape, lists: &lists, plan: &mut plan, layout, recorded: false }.plan(collective)?;
        Ok(plan)
    }

    /// Replays two calls; `None` if the algorithm does not serve it. `change` changes the plans.
    fn replay(
        &self,
        collective: &SharedCollective,
        placement: &Placement,
        change: &impl Fn(&mut MessagePlan),
    ) -> Option<Result<(), String>> {
        let plan = |rank| {
            let mut plan = self.plan(collective, RankPlacement { placement, rank }).ok()?;
            change(&mut plan);
            Some((Lowered::new(self.size, &plan), plan))
        };
        let plans: Vec<(Lowered, MessagePlan)> = (0..self.p()).map(plan).collect::<Option<_>>()?;
        let ppn = |rank| placement.place(rank).ppn as usize;
        let programs = plans.into_iter().enumerate().map(|(rank, (lowered, plan))| lowered.program(&plan, ppn(rank)));
        let programs: Result<Vec<Program>, String> = programs.collect();
        Some(programs.and_then(|programs| self.judge(placement, &programs)))
    }

    /// Replays the programs of all ranks.
    fn judge(&self, placement: &Placement, programs: &[Program]) -> Result<(), String> {
        let programs: Vec<[Program; 2]> = programs.iter().map(|program| [program.clone(), program.clone()]).collect();
        let elements: Vec<RankElements> = (0..self.p()).map(|rank| self.elements(rank)).collect();
        let job = ReplayedCall { reduces: self.kind.reduces(), placement, size: self.size, elements: &elements };
        replay_call(&job, &programs, 2).map(drop).map_err(|fault| fault.to_string())
    }
}

/// Calls of an algorithm: in place or not, with short and long elements, with blocks of equal and of other lengths.
fn calls(kind: Kind, p: usize, root: usize) -> Vec<Call> {
    let mut calls = Vec::new();
    for (size, in_place) in SIZES.into_iter().flat_map(|size| [(size, false), (size, true)]) {
        let equal = Call { kind, root, size, counts: vec![2; p], in_place, listed: false };
        if matches!(kind, Kind::Allgather | Kind::ReduceScatter) {
            let counts = (0..p).map(|rank| rank * 5 % 3).collect();
            calls.push(Call { counts, listed: true, ..equal.clone() });
        }
        // MPI knows no broadcast in place.
        if !(in_place && kind == Kind::Broadcast) {
            calls.push(equal);
        }
    }
    calls
}

/// Points of an algorithm, with the first, an inner and the last root.
fn points(schedule: &Schedule) -> Vec<(Point, usize)> {
    let mut points: Vec<(Point, usize)> = Vec::new();
    for point in Points::new(schedule, 1..=RANKS).thinned(CASES).iter() {
        let p = point.placement.p();
        let roots = if schedule.kind.has_root() { vec![0, p / 3, p - 1] } else { vec![0] };
        for root in roots {
            let mut point = point.clone();
            if let Some(at) = schedule.root_parameter() {
                point.args.numbers[at] = root as i64;
            }
            let same =
                |(known, _): &(Point, usize)| (&known.placement, &known.args) == (&point.placement, &point.args);
            if !points.iter().any(same) {
                points.push((point, root));
            }
        }
    }
    points
}

/// Replays cases of an entry, with changed plans. Returns how many served a call, and those that were refused.
fn sweep(entry: &Entry, change: &impl Fn(&mut MessagePlan)) -> (usize, Vec<String>) {
    let schedule = (entry.schedule)();
    let (mut served, mut refused) = (0, Vec::new());
    for (point, root) in points(&schedule) {
        let Some(collective) = entry.with_arguments(&point.args) else { continue };
        for call in calls(schedule.kind, point.placement.p(), root) {
            let Some(outcome) = call.replay(&*collective, &point.placement, change) else { continue };
            served += 1;
            if let Err(fault) = outcome {
                refused.push(format!("{} {:?} {call:?}: {fault}", entry.name, point));
            }
        }
    }
    (served, refused)
}

#[test]
fn messages_of_every_algorithm_are_right() {
    for entry in catalogue() {
        let (served, refused) = sweep(entry, &|_| ());
        assert!(refused.is_empty(), "{}", refused.join("\n"));
        assert!(served > 10, "{}: {served}", entry.name);
    }
}

/// What is wrong with a plan is found: steps are left out, and positions are altered.
#[test]
fn altered_messages_are_found() {
    let found = |name: &str, change: &dyn Fn(&mut MessagePlan)| {
        let entry = catalogue().iter().find(|entry| entry.name == name).expect("in the catalogue");
        assert!(!sweep(entry, &|plan: &mut MessagePlan| change(plan)).1.is_empty(), "{name}");
    };
    found("allgather/ring", &|plan| plan.steps.truncate(1));
    found("allgather/sparbit", &|plan| plan.lengths.iter_mut().for_each(|length| *length = 1));
    found("allgather/bruck", &|plan| {
        plan.steps.iter_mut().for_each(|step| {
            if let PlanStep::Exchange(exchange) = step {
                exchange.into.spot.offset = 0;
            }
        });
    });
    found("alltoall/modified-bruck", &|plan| {
        plan.pieces.iter_mut().for_each(|piece| piece.to.offset = 0);
    });
    found("allreduce/recursive-doubling", &|plan| {
        plan.steps.retain(|step| !matches!(step, PlanStep::CombineOne(_) | PlanStep::Combine { .. }));
    });
    found("alltoall/modified-bruck", &|plan| plan.areas.iter_mut().for_each(|area| *area = Area::Scratch));
    found("broadcast/binomial", &|plan| plan.steps.retain(|step| !matches!(step, PlanStep::Receive(_))));
}
