//! Wrong calls return the right error, and leave the communicator usable.

use super::entries::{collective, visit_all};
use super::job::Effort;
use crate::data::samples;
use crate::handler::Handler;
use crate::job::Job;
use mpi::topology::SimpleCommunicator;
use roundel::algorithms::{Bruck, Ring, Visitor};
use roundel::{Allgather, Collective, Error, IsAllgather, Place, Refusal, Sink};
use roundel_spec::{Arguments, Schedule};
use std::cell::RefCell;

/// Only the last rank calls: it would wait forever if its error came after the first message.
pub(crate) fn wrong_arguments(job: &mut Job<'_>) {
    let (rank, p, world) = (job.rank(), job.p(), job.world);
    if rank != p - 1 {
        return;
    }
    let mut recv = vec![0i32; 2 * p + 1];
    let counts = vec![2; p];
    let displs: Vec<usize> = (0..p).map(|b| 2 * b).collect();
    let long: Vec<usize> = (0..p).map(|b| 2 * b + 2).collect();
    let same = vec![0; p];
    let send = [7, 8];
    let length = |outcome: Result<(), Error>, what: &str, expected: usize, found: usize| {
        let as_expected = matches!(&outcome, Err(Error::Length { what: w, expected: e, found: f, .. })
            if *w == what && *e == expected && *f == found);
        job.expect(as_expected, || format!("{what}, {expected}, {found}: {outcome:?}"));
    };
    length(Ring.allgather(world, &send, &mut recv), "the receive buffer", 2 * p, 2 * p + 1);
    length(Ring.allgather(world, &send, &mut recv[..2 * p - 1]), "the receive buffer", 2 * p, 2 * p - 1);
    length(Ring.allgatherv(world, &send, &mut recv, &counts[1..], &displs), "counts", p, p - 1);
    length(Ring.allgatherv(world, &send, &mut recv, &counts, &displs[1..]), "displacements", p, p - 1);
    length(Ring.allgatherv(world, &send[1..], &mut recv, &counts, &displs), "the send buffer", 2, 1);
    length(Ring.allgatherv(world, &send, &mut recv, &counts, &long), "the receive buffer", 2 * p + 2, 2 * p + 1);
    if p > 1 {
        let outcome = Ring.allgatherv(world, &send, &mut recv, &counts, &same);
        job.expect(outcome == Err(Error::Overlap { first: 0, second: 1 }), || format!("overlap: {outcome:?}"));
    }
}

/// The last rank passes longer blocks than the others. No rank hangs, it and some other rank report an error, and the
/// next call is right.
///
/// Blocks are short here. Open MPI 4.1 writes a message of more than a few kilobytes past the end of a shorter receive
/// buffer before it reports the truncation, unless single copies are off: see [`very_different_counts`].
pub(crate) fn different_counts(job: &mut Job<'_>) {
    disagree(job, 3);
}

/// The same with messages that do not fit into any library's own buffers.
pub(crate) fn very_different_counts(job: &mut Job<'_>) {
    disagree(job, 20_000);
}

fn disagree(job: &mut Job<'_>, n: usize) {
    if job.p() > 1 {
        let before = Handler::of_world();
        if mpi::environment::library_version().is_ok_and(|version| version.contains("MPICH")) {
            Handler::returning().set();
        }
        visit_all(&mut Disagreement { job, n });
        before.set();
    }
}

struct Disagreement<'a, 'job> {
    job: &'a mut Job<'job>,
    n: usize,
}

impl Visitor for Disagreement<'_, '_> {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let (world, job, n) = (self.job.world, &mut *self.job, self.n);
        let (rank, p) = (job.rank(), job.p());
        let effort = if p <= 3 { Effort::Full } else { Effort::Light };
        for options in job.options(world, collective, effort) {
            let mine = if rank == p - 1 { n + 1 } else { n };
            let mut recv = vec![0u64; mine * p];
            let outcome = collective.allgather_with(world, &samples(mine, rank, 0), &mut recv, options);
            let mismatch = matches!(&outcome, Err(Error::Mismatch { rank: r, expected, found, .. })
                if *r == rank && expected != found);
            job.expect(outcome == Ok(()) || mismatch, || format!("{name}, different counts: {outcome:?}"));
            job.expect(rank != p - 1 || mismatch, || {
                format!("{name}, {n}, {options:?}: messages too short: {outcome:?}")
            });
            let elsewhere = job.anywhere(mismatch && rank != p - 1);
            job.expect(elsewhere, || format!("{name}, {n}, {options:?}: nobody noticed messages that were too long"));

            let mut recv = vec![0u64; n * p];
            let outcome = collective.allgather_with(world, &samples(n, rank, 1), &mut recv, options);
            let expected: Vec<u64> = (0..p).flat_map(|r| samples::<u64>(n, r, 1)).collect();
            job.expect(outcome == Ok(()) && recv == expected, || format!("{name}, after a mismatch: {outcome:?}"));
            job.calls += 2;
        }
    }
}

/// A message that no C `int` can count: all ranks refuse, even those that would not send or receive it.
pub(crate) fn too_large(job: &mut Job<'_>) {
    let half = 1 << 30;
    if job.p() >= 2 {
        refuse(job, &Ring, |b| if b == 1 { 2 * half } else { 0 });
    }
    if job.p() >= 4 {
        // Only rank 1 sends blocks 1 and 2 in one message.
        refuse(job, &Bruck, |b| if b == 1 || b == 2 { half } else { 0 });
    }
}

/// Expects that an allgatherv of 2^31 elements in all is refused.
fn refuse(job: &mut Job<'_>, collective: &impl Allgather, count: impl Fn(usize) -> usize) {
    let counts: Vec<usize> = (0..job.p()).map(count).collect();
    let displs: Vec<usize> = (0..job.p()).map(|b| counts[..b].iter().sum()).collect();
    let send = vec![0u8; counts[job.rank()]];
    let mut recv = vec![0u8; counts.iter().sum()];
    let outcome = collective.allgatherv(job.world, &send, &mut recv, &counts, &displs);
    let expected = Error::TooLarge { what: "a message", elements: 1 << 31, limit: i32::MAX as usize };
    job.expect(outcome == Err(expected), || format!("a message of 2^31 elements: {outcome:?}"));
}

/// A collective that calls another one on the same communicator, in the middle of a round.
struct Reentrant {
    comm: SimpleCommunicator,
    outcome: RefCell<Option<Result<(), Error>>>,
}

impl Collective for Reentrant {
    collective!(Reentrant, false);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let mut recv = vec![0; at.p as usize];
        *self.outcome.borrow_mut() = Some(Ring.allgather(&self.comm, &[1], &mut recv));
        Ring.rounds(at, sink)
    }
}

impl IsAllgather for Reentrant {}

/// A communicator runs one collective at a time.
pub(crate) fn busy(job: &mut Job<'_>) {
    let collective = Reentrant { comm: SimpleCommunicator::world(), outcome: RefCell::new(None) };
    let mut recv = vec![0; job.p()];
    let outer = collective.allgather(job.world, &[job.rank()], &mut recv);
    let inner = collective.outcome.take();
    job.expect(inner == Some(Err(Error::Busy)), || format!("a call inside a call: {inner:?}"));
    job.expect(outer == Ok(()) && recv.iter().copied().eq(0..job.p()), || format!("the call around it: {outer:?}"));
}
