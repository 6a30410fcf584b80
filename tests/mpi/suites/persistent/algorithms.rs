//! Requests that run an algorithm that the program names, of the catalogue or its own.

use crate::job::Job;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{
    BinomialBroadcast, BinomialGather, BinomialReduce, BinomialScatter, Bruck, Hierarchical, KBruck, ModifiedBruck,
    PairwiseReduceScatter, RecursiveDoublingAllreduce, Ring, RingAllreduce, Sparbit, SpreadOut,
};
use roundel::mpi::persistent::algorithm::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Broadcast, Gather, Reduce, ReduceScatter, Request, Scatter,
};
use roundel::mpi::persistent::{Allreduce as PlannedAllreduce, progress};
use roundel::mpi::place;
use roundel::operation::{Sum, ordered};
use roundel::{Allgather as _, Collective, Error};
use std::cell::Cell;

/// An allgather of one's own: a ring downwards.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 16)]
#[round(s in 0..p - 1)]
#[send(to = rank - 1, blocks = [rank + s])]
#[recv(from = rank + 1, blocks = [rank + 1 + s])]
struct Downwards;

/// An allreduce of one's own: what is reduced so far goes up to the last rank, and the result comes down.
#[derive(Collective)]
#[collective(allreduce)]
#[check(p <= 16)]
#[order(same_tree, rank_order)]
#[round(s in 0..p - 1)]
#[send(when = rank == s, to = rank + 1)]
#[recv(when = rank == s + 1, from = rank - 1, combine = left)]
#[round(s in 0..p - 1)]
#[send(when = rank == p - 1 - s, to = rank - 1)]
#[recv(when = rank == p - 2 - s, from = rank + 1, replaces = acc)]
struct UpAndDown;

/// The element `i` of a rank's input.
fn element(step: usize, rank: usize, i: usize) -> i64 {
    (1000 * step + 10 * rank + i) as i64
}

/// Three calls of a request, each with other contents.
fn three(job: &mut Job<'_>, what: &str, made: Result<Request<'_, i64>, Error>, expected: impl Fn(usize) -> Vec<i64>) {
    let rank = job.rank();
    let mut request = job.good(what, made);
    for step in 0..3 {
        let input = job.good(what, request.input_mut());
        input.iter_mut().enumerate().for_each(|(i, to)| *to = element(step, rank, i));
        job.good(what, request.start());
        if step == 1 {
            while !job.good(what, request.test()) {
                std::thread::yield_now();
            }
        } else {
            job.good(what, request.wait());
        }
        let (seen, expected) = (job.good(what, request.output()), expected(step));
        job.expect(seen == expected, || format!("{what}, call {step}: {seen:?} instead of {expected:?}"));
        job.calls += 1;
    }
}

/// Every kind gives what its definition says.
pub(crate) fn every_kind(job: &mut Job<'_>) {
    let (world, p, rank) = (job.world, job.p(), job.rank());
    let all = |step: usize| (0..p).map(|from| element(step, from, 0)).collect::<Vec<_>>();
    let sum = |step: usize, i: usize| (0..p).map(|from| element(step, from, i)).sum::<i64>();
    three(job, "own allgather", Allgather::init(world, Downwards, vec![0], vec![0; p]), all);
    three(job, "allgather", Allgather::init(world, KBruck { radix: 3 }, vec![0], vec![0; p]), all);
    let counts: Vec<usize> = (0..p).map(|from| from * 3 % 4).collect();
    let blocks = |step: usize| -> Vec<i64> {
        (0..p).flat_map(|from| (0..counts[from]).map(move |i| element(step, from, i))).collect()
    };
    let (input, output) = (vec![0; counts[rank]], vec![0; counts.iter().sum()]);
    three(job, "own allgatherv", Allgatherv::init(world, Downwards, input, output, &counts), blocks);
    let sums = |step: usize| vec![sum(step, 0), sum(step, 1), sum(step, 2)];
    three(job, "own allreduce", Allreduce::init(world, UpAndDown, vec![0; 3], vec![0; 3], Sum), sums);
    let tree = RecursiveDoublingAllreduce;
    three(job, "allreduce", Allreduce::init(world, tree, vec![0; 3], vec![0; 3], Sum), sums);
    let made = ReduceScatter::init(world, PairwiseReduceScatter, vec![0; 2 * p], vec![0; 2], &vec![2; p], Sum);
    three(job, "reduce_scatter", made, |step| vec![sum(step, 2 * rank), sum(step, 2 * rank + 1)]);
    let bruck = ModifiedBruck { radix: 2 };
    let made = Alltoall::init(world, bruck, vec![0; p], vec![0; p]);
    three(job, "alltoall", made, |step| (0..p).map(|from| element(step, from, rank)).collect());
    let leaving: Vec<usize> = (0..p).map(|to| usize::from(to >= rank)).collect();
    let arriving: Vec<usize> = (0..p).map(|from| usize::from(rank >= from)).collect();
    let (send, recv) = ((vec![0; p - rank], &leaving[..]), (vec![0; rank + 1], &arriving[..]));
    let made = Alltoallv::init(world, SpreadOut, send, recv);
    three(job, "alltoallv", made, |step| (0..=rank).map(|from| element(step, from, rank - from)).collect());
}

/// Every kind with a root, and every root.
pub(crate) fn every_root(job: &mut Job<'_>) {
    let (world, p, rank) = (job.world, job.p(), job.rank());
    for top in 0..p {
        let root = top as i64;
        let at = |len: usize| vec![0; if rank == top { len } else { 0 }];
        let there = |values: Vec<i64>| if rank == top { values } else { Vec::new() };
        let made = Broadcast::init(world, BinomialBroadcast { root }, at(2), vec![0; 2]);
        three(job, "broadcast", made, |step| vec![element(step, top, 0), element(step, top, 1)]);
        let made = Reduce::init(world, BinomialReduce { root }, vec![0; 1], at(1), Sum);
        three(job, "reduce", made, |step| there(vec![(0..p).map(|from| element(step, from, 0)).sum()]));
        let made = Gather::init(world, BinomialGather { root }, vec![0], at(p));
        three(job, "gather", made, |step| there((0..p).map(|from| element(step, from, 0)).collect()));
        let made = Scatter::init(world, BinomialScatter { root }, at(p), vec![0]);
        three(job, "scatter", made, |step| vec![element(step, top, rank)]);
    }
}

/// An operation that does not commute, of a type that is the request's own; ranks on nodes; long vectors.
pub(crate) fn other_calls(job: &mut Job<'_>) {
    let (world, p, rank) = (job.world, job.p(), job.rank());
    let calls = Cell::new(0);
    let last = ordered(move |_: &i64, right: &i64| {
        calls.set(calls.get() + 1);
        *right
    });
    let made = Allreduce::init(world, UpAndDown, vec![0; 2], vec![0; 2], last);
    three(job, "the last rank's", made, |step| vec![element(step, p - 1, 0), element(step, p - 1, 1)]);
    let comm = world.duplicate();
    job.good("nodes", place(&comm, &[rank % 2]));
    let all = |step: usize| (0..p).map(|from| element(step, from, 0)).collect::<Vec<_>>();
    three(job, "nodes", Allgather::init(&comm, <Hierarchical>::default(), vec![0], vec![0; p]), all);
    let long = 50_000;
    let made = Allreduce::init(world, RecursiveDoublingAllreduce, vec![0; long], vec![0; long], Sum);
    three(job, "a long vector", made, |step| {
        (0..long).map(|i| (0..p).map(|from| element(step, from, i)).sum()).collect()
    });
}

/// Requests of both interfaces beside a call that blocks: each rank starts them, and waits for them, in its own order.
pub(crate) fn in_any_order(job: &mut Job<'_>) {
    let (world, p, rank, what) = (job.world, job.p(), job.rank(), "in any order");
    let made = |i: usize| job.good(what, Allgather::init(world, Downwards, vec![element(i, rank, 0)], vec![0; p]));
    let mut requests: Vec<_> = (0..4).map(made).collect();
    for _ in 0..3 {
        for i in 0..4 {
            job.good(what, requests[(i + rank) % 4].start());
        }
        let mut planned = job.good(what, PlannedAllreduce::start(world, vec![1; 5], vec![0; 5], Sum));
        let mut once = job.good(what, Allgather::start(world, Bruck, vec![rank], vec![0; p]));
        let mut meanwhile = vec![0; p];
        job.good(what, Sparbit.allgather(world, &[rank], &mut meanwhile));
        for i in 0..4 {
            job.good(what, requests[(i + 3 * rank) % 4].wait());
        }
        job.good(what, once.wait());
        job.good(what, planned.wait());
        let ranks: Vec<usize> = (0..p).collect();
        job.expect(meanwhile == ranks, || format!("{what}: {meanwhile:?} by the call that blocks"));
        job.expect(job.good(what, once.output()) == ranks, || format!("{what}: a wrong call that does not block"));
        job.expect(job.good(what, planned.output()) == [p; 5], || format!("{what}: a wrong sum"));
        for (i, request) in requests.iter().enumerate() {
            let expected: Vec<i64> = (0..p).map(|from| element(i, from, 0)).collect();
            job.expect(job.good(what, request.output()) == expected, || format!("{what}: request {i} is wrong"));
        }
        job.calls += 7;
    }
}

/// The error that every rank gets, each its own.
fn refused(job: &mut Job<'_>, what: &str, made: Result<Request<'_, i64>, Error>, is: impl Fn(&Error) -> bool) {
    match made.err() {
        Some(error) => job.expect(is(&error), || format!("{what}: {error}")),
        None => job.fail(&format!("{what}: no error")),
    }
    job.calls += 1;
}

/// Misuse gives typed errors, on all ranks, and a later request runs.
pub(crate) fn misuse(job: &mut Job<'_>) {
    let (world, p, rank): (&SimpleCommunicator, _, _) = (job.world, job.p(), job.rank());
    let disagree = |what: &'static str| move |error: &Error| *error == Error::Disagree { what };
    let elsewhere = disagree("whether the call is possible; another rank says why not");
    let long = vec![0; if rank == 0 { p + 1 } else { p }];
    refused(job, "a length", Allgather::init(world, Ring, vec![0], long), |error| match rank {
        0 => matches!(error, Error::Length { .. }),
        _ => elsewhere(error),
    });
    if p > 1 {
        let made = match rank {
            0 => Allgather::start(world, Ring, vec![0], vec![0; p]),
            _ => Allgather::start(world, Bruck, vec![0], vec![0; p]),
        };
        refused(job, "two collectives", made, disagree("the collective"));
        let radix = if rank == 0 { 2 } else { 3 };
        let made = Allgather::init(world, KBruck { radix }, vec![0], vec![0; p]);
        refused(job, "two radices", made, disagree("the parameters of the collective"));
        let len = 1 + rank / (p - 1);
        let made = Allreduce::init(world, UpAndDown, vec![0; len], vec![0; len], Sum);
        refused(job, "two lengths", made, disagree("the lengths"));
    }
    let op = ordered(|left: &i64, _: &i64| *left);
    let made = Allreduce::init(world, RingAllreduce, vec![0; p], vec![0; p], op);
    refused(job, "an operation that does not commute", made, |error| matches!(error, Error::NeedsOrder { .. }));
    let root = p as i64;
    let made = Broadcast::init(world, BinomialBroadcast { root }, Vec::new(), vec![0; 1]);
    refused(job, "a root that is no rank", made, |error| matches!(error, Error::OutsideDomain { .. }));
    // With two or three ranks, every block goes directly to where it belongs.
    if p > 3 {
        let counts = vec![1; p];
        let buffer = || (vec![0; p], &counts[..]);
        let made = Alltoallv::init(world, ModifiedBruck { radix: 2 }, buffer(), buffer());
        refused(job, "blocks through others", made, |error| matches!(error, Error::NotStraight { .. }));
    }
    let mut request = job.good("moments", Allgather::init(world, Downwards, vec![rank], vec![0; p]));
    job.expect(request.wait() == Err(Error::NotStarted), || "a wait without a start".into());
    job.expect(request.test() == Err(Error::NotStarted), || "a test without a start".into());
    job.good("moments", request.start());
    job.expect(request.start() == Err(Error::Started), || "a second start".into());
    job.expect(request.input_mut() == Err(Error::Started), || "an input while it runs".into());
    job.expect(request.output() == Err(Error::Started), || "an output while it runs".into());
    let (input, output) = job.good("moments", request.into_buffers());
    job.expect(input == [rank] && output == (0..p).collect::<Vec<_>>(), || "buffers that do not come back".into());
}

/// Requests that are dropped or leaked while they run, also when their communicator is freed.
pub(crate) fn leaks_and_drops(job: &mut Job<'_>) {
    let p = job.p();
    for leaks in [false, true] {
        let comm = job.world.duplicate();
        let input = vec![1; 20_000];
        let request =
            job.good("leaks", Allreduce::start(&comm, RecursiveDoublingAllreduce, input.clone(), input, Sum));
        if leaks {
            std::mem::forget(request);
        } else {
            drop(request);
        }
        let mut request = job.good("leaks", Allreduce::start(&comm, UpAndDown, vec![2], vec![0], Sum));
        job.good("leaks", request.wait());
        job.expect(job.good("leaks", request.output()) == [2 * p], || "after a leak: wrong".into());
        // What was leaked still has messages, which must end before MPI does.
        for _ in 0..20 {
            progress();
            job.world.barrier();
        }
        job.calls += 2;
    }
}
