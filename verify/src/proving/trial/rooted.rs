//! Broadcast, reduce, gather and scatter on threads, compared with the plain definition.

use super::{Trial, TrialCall, UNTOUCHED, block, byte};
use roundel::algorithms::Visitor;
use roundel::operation::commutative;
use roundel::threads::{self, ThreadComm};
use roundel::{Broadcast, Error, GatherTo, IsBroadcast, IsGather, IsReduce, IsScatter};
use roundel::{ReduceTo, ScatterFrom};
use roundel_spec::Kind;
use std::time::Duration;

/// Runs it `repeat` times with vectors or blocks of `bytes` bytes; returns the time of the slowest rank for each
/// repetition.
pub(super) fn uniform(trial: &Trial<'_>, bytes: usize, repeat: usize) -> Result<Vec<Duration>, String> {
    let mut slowest = vec![Duration::ZERO; repeat];
    for times in threads::run_placed(trial.placement, |comm| rank(trial, comm, bytes, repeat)) {
        slowest.iter_mut().zip(times?).for_each(|(slowest, time)| *slowest = time.max(*slowest));
    }
    Ok(slowest)
}

/// Several lengths, including zero.
pub(super) fn varying(trial: &Trial<'_>) -> Result<(), String> {
    let p = trial.placement.p();
    [0, 1, p + 3].into_iter().try_for_each(|bytes| uniform(trial, bytes, 1).map(|_| ()))
}

fn rank(trial: &Trial<'_>, comm: &ThreadComm, bytes: usize, repeat: usize) -> Result<Vec<Duration>, String> {
    let (schedule, rank, p) = (trial.performer.schedule(), comm.rank(), trial.placement.p());
    let root = schedule.root(trial.args);
    let all = || (0..p).flat_map(|rank| block(rank, bytes)).collect::<Vec<u8>>();
    let sum = |i: usize| (0..p).fold(0u8, |sum, rank| sum.wrapping_add(byte(rank, i)));
    let nothing = Vec::new;
    // The input of a rank, and its expected result.
    let (send, expected) = match schedule.kind {
        Kind::Broadcast => (block(rank, bytes), block(root, bytes)),
        Kind::Gather => (block(rank, bytes), if rank == root { all() } else { nothing() }),
        Kind::Scatter => (if rank == root { all() } else { nothing() }, block(rank, bytes)),
        _ => (block(rank, bytes), if rank == root { (0..bytes).map(sum).collect() } else { nothing() }),
    };
    let mut times = Vec::with_capacity(repeat);
    for _ in 0..repeat {
        let recv = if schedule.kind == Kind::Broadcast { send.clone() } else { vec![UNTOUCHED; expected.len()] };
        times.push(trial.timed(rank, RootedTrial { comm, send: &send, recv, result: None }, &expected)?);
    }
    Ok(times)
}

/// One call on one rank.
struct RootedTrial<'a> {
    comm: &'a ThreadComm,
    send: &'a [u8],
    recv: Vec<u8>,
    result: Option<Result<(), String>>,
}

impl TrialCall for RootedTrial<'_> {
    fn outcome(self) -> (Option<Result<(), String>>, Vec<u8>) {
        (self.result, self.recv)
    }
}

impl RootedTrial<'_> {
    fn ended(&mut self, outcome: Result<(), Error>) {
        self.result = Some(outcome.map_err(|error| error.to_string()));
    }
}

impl Visitor for RootedTrial<'_> {
    fn broadcast<C: IsBroadcast + Sync>(&mut self, _name: &'static str, collective: &C) {
        let outcome = collective.broadcast(self.comm, &mut self.recv);
        self.ended(outcome);
    }

    fn reduce<C: IsReduce + Sync>(&mut self, _name: &'static str, collective: &C) {
        let sum = commutative(|a: &u8, b: &u8| a.wrapping_add(*b));
        let outcome = collective.reduce(self.comm, self.send, &mut self.recv, &sum);
        self.ended(outcome);
    }

    fn gather<C: IsGather + Sync>(&mut self, _name: &'static str, collective: &C) {
        let outcome = collective.gather(self.comm, self.send, &mut self.recv);
        self.ended(outcome);
    }

    fn scatter<C: IsScatter + Sync>(&mut self, _name: &'static str, collective: &C) {
        let outcome = collective.scatter(self.comm, self.send, &mut self.recv);
        self.ended(outcome);
    }
}
