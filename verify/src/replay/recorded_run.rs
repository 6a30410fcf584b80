//! Runs recorded rounds of one point on threads: real messages and real buffers, compared with the plain definition.
//!
//! A wrong schedule has no generated code, so its recorded rounds are handed to the transport instead. Every rank
//! starts with its own block, or with its contribution to every block; its result is compared with the definition. The
//! transport itself detects a rank that waits forever.

use crate::replayed::ReplayedTrace;
use roundel::operation::commutative;
use roundel::transport::{
    AllgatherCall, AlltoallCall, BlockStorage, Division, ReductionCall, RootedCall, RootedLayout, Uniform,
};
use roundel::{Error, Options, Transport, threads};
use roundel_spec::check::Point;
use roundel_spec::contract::{ends, pair};
use roundel_spec::{Kind, Schedule, Trace, eval};
use std::convert::Infallible;
use std::sync::Arc;

/// The outcome of a run on threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every rank has the result of the definition.
    Right,
    /// All ranks ended, but one has a wrong result.
    WrongData(String),
    /// The transport found that ranks wait forever, or that a message does not match.
    Failed(String),
}

/// Runs recorded rounds of a schedule on threads.
pub fn run(schedule: &Schedule, trace: &Trace, point: &Point) -> Ended {
    match (schedule.kind.reduces(), schedule.lines.len()) {
        (false, _) if schedule.kind.has_root() => spread(schedule, trace, point),
        (false, _) if schedule.kind.moves() => shuffle(trace, point),
        (false, _) => gather(schedule.kind, trace, point),
        (true, 0 | 1) => reduce::<1>(schedule, trace, point),
        (true, 2..=8) => reduce::<8>(schedule, trace, point),
        (true, _) => reduce::<256>(schedule, trace, point),
    }
}

fn gather(kind: Kind, trace: &Trace, point: &Point) -> Ended {
    let (p, recorded) = (trace.p(), Arc::new(trace.clone()));
    let results = threads::run_placed(&point.placement, |comm| {
        let mut slots: Vec<Option<usize>> = vec![None; p];
        let geometry = Uniform { count: 1 };
        let own = [Some(comm.rank())];
        let call = AllgatherCall { send: Some(&own), recv: &mut slots, geometry, options: Options::default() };
        comm.gather(&ReplayedTrace::<1>::of(&recorded, p as i64), call).map(|()| slots)
    });
    if let Some(failed) = failure(&results) {
        return failed;
    }
    for (rank, slots) in results.iter().flatten().enumerate() {
        for (block, found) in slots.iter().enumerate() {
            if kind.must_hold(rank, block, 0, p) && *found != Some(block) {
                let found = found.map_or("nothing".into(), |other| format!("block {other}"));
                return Ended::WrongData(format!("rank {rank} ends with {found} in slot {block}"));
            }
        }
    }
    Ended::Right
}

/// An all-to-all: every rank starts with one block for each rank, and a block's value is its number.
fn shuffle(trace: &Trace, point: &Point) -> Ended {
    let (p, recorded) = (trace.p(), Arc::new(trace.clone()));
    let results = threads::run_placed(&point.placement, |comm| {
        let own: Vec<Option<usize>> = (0..p).map(|destination| Some(pair(comm.rank(), destination, p))).collect();
        let mut slots = vec![None; p];
        let call = AlltoallCall { send: Some(&own), recv: &mut slots, options: Options::default() };
        comm.shuffle(&ReplayedTrace::<1>::of(&recorded, (p * p) as i64), call).map(|()| slots)
    });
    if let Some(failed) = failure(&results) {
        return failed;
    }
    for (rank, slots) in results.iter().flatten().enumerate() {
        for (source, found) in slots.iter().enumerate() {
            if *found != Some(pair(source, rank, p)) {
                let name = |&block: &usize| format!("what {} has for {}", ends(block, p).0, ends(block, p).1);
                let found = found.as_ref().map_or("nothing".into(), name);
                return Ended::WrongData(format!("rank {rank} ends with {found} in slot {source}"));
            }
        }
    }
    Ended::Right
}

/// A broadcast, gather or scatter: every rank starts with the blocks that its role gives it.
fn spread(schedule: &Schedule, trace: &Trace, point: &Point) -> Ended {
    let (kind, root, recorded) = (schedule.kind, schedule.root(&point.args), Arc::new(trace.clone()));
    let blocks = match eval::blocks::<Infallible>(schedule, &point.args, &point.placement.place(0)) {
        Ok(blocks) => blocks,
        Err(_) => return Ended::Failed("the number of blocks has no value".into()),
    };
    let results = threads::run_placed(&point.placement, |comm| {
        let own = |block| kind.initially_holds(comm.rank(), block, root, comm.size()).then_some(block);
        let mut slots: Vec<Option<usize>> = (0..blocks as usize).map(own).collect();
        let layout = RootedLayout { total: slots.len(), input_at: 0, storage: BlockStorage::Output };
        let call = RootedCall { input: None, output: &mut slots, layout };
        comm.spread(&ReplayedTrace::<1>::of(&recorded, blocks), call).map(|()| slots)
    });
    if let Some(failed) = failure(&results) {
        return failed;
    }
    for (rank, slots) in results.iter().flatten().enumerate() {
        for (block, found) in slots.iter().enumerate() {
            if kind.must_hold(rank, block, root, trace.p()) && *found != Some(block) {
                let found = found.map_or("nothing".into(), |other| format!("block {other}"));
                return Ended::WrongData(format!("rank {rank} ends with {found} in slot {block}"));
            }
        }
    }
    Ended::Right
}

/// A contribution: its rank and its block.
type Contribution = (usize, usize);

/// Reduces lists of contributions by concatenation, so that the result shows what was reduced, and in which order.
fn reduce<const LINES: usize>(schedule: &Schedule, trace: &Trace, point: &Point) -> Ended {
    let (p, recorded) = (trace.p(), Arc::new(trace.clone()));
    let blocks = match eval::blocks::<Infallible>(schedule, &point.args, &point.placement.place(0)) {
        Ok(blocks) => blocks,
        Err(_) => return Ended::Failed("the number of blocks has no value".into()),
    };
    // Declared commutative, so that the transport does not refuse it; the result shows whether the order is correct.
    let append = commutative(|a: &Vec<Contribution>, b: &Vec<Contribution>| [a.as_slice(), b].concat());
    let results = threads::run_placed(&point.placement, |comm| {
        let own = |block| vec![(comm.rank(), block)];
        let mut slots: Vec<Vec<Contribution>> = (0..blocks as usize).map(own).collect();
        let call = ReductionCall { input: None, output: &mut slots, division: Division::Even, op: &append };
        comm.reduce(&ReplayedTrace::<LINES>::of(&recorded, blocks), call).map(|()| slots)
    });
    if let Some(failed) = failure(&results) {
        return failed;
    }
    let root = schedule.root(&point.args);
    for (rank, slots) in results.iter().flatten().enumerate() {
        for (block, found) in
            slots.iter().enumerate().filter(|(block, _)| schedule.kind.must_hold(rank, *block, root, p))
        {
            let expected: Vec<Contribution> = (0..p).map(|rank| (rank, block)).collect();
            let mut compared = found.clone();
            if !schedule.claimed_order().rank_order {
                compared.sort_unstable();
            }
            if compared != expected {
                let from: Vec<usize> = found.iter().map(|(rank, _)| *rank).collect();
                let text = format!("rank {rank} ends with the contributions of ranks {from:?} in slot {block}");
                return Ended::WrongData(text);
            }
        }
    }
    Ended::Right
}

/// Prefers the error of the rank that knows the cause; other ranks only know that it failed.
fn failure<R>(results: &[Result<R, Error>]) -> Option<Ended> {
    let failures = || results.iter().filter_map(|result| result.as_ref().err());
    let own = |error: &&Error| !matches!(error, Error::PeerFailed { .. });
    failures().find(own).or_else(|| failures().next()).map(|error| Ended::Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundel_spec::check::{self, Points};
    use roundel_spec::{Action, Direction};

    /// The outcome for a collective with `p` ranks after a change.
    fn changed(name: &str, p: usize, change: impl FnOnce(&mut Schedule)) -> Ended {
        let mut schedule = (crate::catalogue::find(name).expect("in the catalogue").schedule)();
        change(&mut schedule);
        let admitted = |point: &Point| check::in_domain(&schedule, point).unwrap_or(false);
        let point = Points::new(&schedule, p..=p).iter().find(admitted).expect("a point");
        let trace = check::record_schedule(&schedule, &point).expect("has values");
        run(&schedule, &trace, &point)
    }

    #[test]
    fn the_transport_and_the_definition_judge() {
        let ring = |p, change: fn(&mut Schedule)| changed("allgather/ring", p, change);
        assert_eq!(ring(4, |_| {}), Ended::Right);
        let no_rounds = |schedule: &mut Schedule| schedule.loops.clear();
        assert_eq!(ring(2, no_rounds), Ended::WrongData("rank 0 ends with nothing in slot 1".into()));
        let no_receives = |schedule: &mut Schedule| {
            schedule.loops[0].transfers.retain(|t| t.direction == Direction::Send);
        };
        assert!(matches!(ring(3, no_receives), Ended::Failed(reason) if reason.contains("deadlock")));
        assert_eq!(ring(1, no_receives), Ended::Right);
    }

    #[test]
    fn reductions_are_judged_too() {
        for entry in roundel::algorithms::catalogue() {
            assert_eq!(changed(entry.name, 4, |_| {}), Ended::Right, "{}", entry.name);
        }
        let no_fold = |schedule: &mut Schedule| schedule.loops.remove(0).transfers.clear();
        assert_eq!(
            changed("allreduce/recursive-doubling", 3, no_fold),
            Ended::WrongData("rank 0 ends with the contributions of ranks [1, 2] in slot 0".into())
        );
        let swapped = |schedule: &mut Schedule| {
            schedule.loops[0].transfers[1].site.action = Action::CombineLeft { with: 0 };
        };
        assert_eq!(
            changed("allreduce/reduce-broadcast", 2, swapped),
            Ended::WrongData("rank 0 ends with the contributions of ranks [1, 0] in slot 0".into())
        );
        let copied = |schedule: &mut Schedule| schedule.loops[0].transfers[1].site.action = Action::Replace;
        assert!(matches!(changed("reduce-scatter/pairwise", 3, copied), Ended::WrongData(_)));
    }
}
