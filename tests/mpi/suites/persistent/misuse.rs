//! Misused requests: typed errors, and never a hang.

use crate::job::Job;
use mpi::traits::*;
use roundel::Error;
use roundel::mpi::persistent::{Allgatherv, Allreduce, Broadcast, ReduceScatter, Settings};
use roundel::operation::Sum;

/// Start twice, wait without start, buffers while a call runs.
pub(crate) fn wrong_moments(job: &mut Job<'_>) {
    let mut request = job.good("moments", Allreduce::init(job.world, vec![1; 4], vec![0; 4], Sum));
    job.expect(request.wait() == Err(Error::NotStarted), || "a wait without a start".into());
    job.expect(request.test() == Err(Error::NotStarted), || "a test without a start".into());
    job.expect(job.good("moments", request.output()) == [0; 4], || "an output before the first call".into());
    job.good("moments", request.start());
    // Also if the call is complete already, because `wait` was not called.
    job.expect(request.start() == Err(Error::Started), || "a second start".into());
    job.expect(request.input_mut() == Err(Error::Started), || "an input while it runs".into());
    job.expect(request.output() == Err(Error::Started), || "an output while it runs".into());
    job.good("moments", request.wait());
    job.expect(request.wait() == Err(Error::NotStarted), || "a second wait".into());
    job.calls += 1;
}

/// Lengths that differ from rank to rank, or do not fit.
pub(crate) fn wrong_lengths(job: &mut Job<'_>) {
    let (p, rank) = (job.p(), job.rank());
    let refused = |outcome: Option<Error>, on: usize, what: &str| {
        let expected = match outcome {
            Some(Error::Length { .. } | Error::TooLarge { .. }) => rank == on,
            Some(Error::Disagree { .. }) => true,
            _ => false,
        };
        job.expect(expected, || format!("{what}: {outcome:?}"));
    };
    let outcome = Allreduce::init(job.world, vec![0; 3], vec![0; if rank == 0 { 4 } else { 3 }], Sum).err();
    if rank == 0 || p > 1 {
        refused(outcome, 0, "buffers of different lengths on rank 0");
    }
    if p > 1 {
        let n = if rank == 1 { 5 } else { 6 };
        refused(Allreduce::init(job.world, vec![0; n], vec![0; n], Sum).err(), p, "lengths that differ");
        let outcome = match rank {
            0 => Allreduce::init(job.world, vec![0; p], vec![0; p], Sum).err(),
            _ => Allgatherv::init(job.world, vec![0; 1], vec![0; p], &vec![1; p]).err(),
        };
        refused(outcome, p, "different collectives");
        let outcome = match rank {
            0 => Allreduce::init(job.world, vec![0u8; p], vec![0; p], Sum).err(),
            _ => Allreduce::init(job.world, vec![0u64; p], vec![0; p], Sum).err(),
        };
        refused(outcome, p, "different elements");
        let settings = if rank == 0 { Settings::default().flat() } else { Settings::default() };
        let outcome = Allreduce::init_with(job.world, vec![0; 3], vec![0; 3], Sum, &settings).err();
        refused(outcome, p, "different settings");
    }
    let counts = vec![usize::MAX / 2; p];
    let outcome = Allgatherv::init(job.world, vec![0u8; 0], vec![0; 0], &counts).err();
    job.expect(matches!(outcome, Some(Error::TooLarge { .. } | Error::Length { .. })), || {
        format!("a sum that does not fit: {outcome:?}")
    });
    let outcome = ReduceScatter::init(job.world, vec![0; 3], vec![0; 1], &[1, 1, 1, 1, 1, 1, 1][..p.min(7) - 1], Sum);
    job.expect(matches!(outcome.err(), Some(Error::Length { .. })), || "too few counts".into());
    let outcome = Broadcast::init(job.world, vec![0; 0], vec![0; 3], p).err();
    let expected = Some(Error::NoSuchRoot { root: p, p });
    job.expect(outcome == expected, || format!("a root that does not exist: {outcome:?}"));
    job.calls += 8;
}

/// Requests that are dropped or leaked while they run, also when their communicator is freed.
pub(crate) fn leaks_and_drops(job: &mut Job<'_>) {
    for leaks in [false, true] {
        for n in [1, 50_000] {
            let comm = job.world.duplicate();
            let mut request = job.good("leaks", Allreduce::init(&comm, vec![1i64; n], vec![0; n], Sum));
            job.good("leaks", request.start());
            if leaks {
                std::mem::forget(request);
            } else {
                drop(request);
            }
            // Another one on the same communicator.
            let mut request = job.good("leaks", Allreduce::init(&comm, vec![2i64; n], vec![0; n], Sum));
            job.good("leaks", request.start());
            job.good("leaks", request.wait());
            let p = job.p() as i64;
            job.expect(job.good("leaks", request.output()).iter().all(|&x| x == 2 * p), || {
                "after a leak: wrong".into()
            });
            let (input, output) = job.good("leaks", request.into_buffers());
            job.expect(input == vec![2; n] && output == vec![2 * p; n], || "buffers that do not come back".into());
            job.calls += 2;
        }
    }
}
