//! Wrong calls return the right error, and leave the communicator usable.

use crate::handler::Handler;
use crate::job::Job;
use crate::shuffles::{Bruck, Pairwise, SpreadOut, Visit, visit_all};
use roundel::{Alltoall, Error, IsAlltoall};

/// Only the last rank calls: it would wait forever if its error came after the first message.
pub(crate) fn wrong_arguments(job: &mut Job<'_>) {
    let (rank, p, world) = (job.rank(), job.p(), job.world);
    if rank != p - 1 {
        return;
    }
    let send = vec![7i32; 2 * p + 1];
    let mut recv = send.clone();
    let (counts, displs): (Vec<usize>, Vec<usize>) = (0..p).map(|b| (2, 2 * b)).unzip();
    let mut more = counts.clone();
    more[rank] = 3;
    let length = |outcome: Result<(), Error>, what: &str, expected: usize, found: usize| {
        let as_expected = matches!(&outcome, Err(Error::Length { what: w, expected: e, found: f, .. })
            if *w == what && *e == expected && *f == found);
        job.expect(as_expected, || format!("{what}, {expected}, {found}: {outcome:?}"));
    };
    let whole = 2 * p;
    length(Pairwise.alltoall(world, &send, &mut recv[..whole]), "the send buffer", whole, whole + 1);
    if p > 1 {
        length(Pairwise.alltoall_in_place(world, &mut recv), "the receive buffer", 3 * p, whole + 1);
    }
    let outcome = SpreadOut.alltoallv(world, &send, &counts[1..], &displs, &mut recv, &counts, &displs);
    length(outcome, "send counts", p, p - 1);
    let outcome = SpreadOut.alltoallv(world, &send, &counts, &displs, &mut recv, &counts, &displs[1..]);
    length(outcome, "receive displacements", p, p - 1);
    let outcome = SpreadOut.alltoallv(world, &send, &more, &displs, &mut recv, &counts, &displs);
    length(outcome, "the block of this rank for itself", 2, 3);
    let outcome = SpreadOut.alltoallv_in_place(world, &mut recv[..whole - 1], &counts, &displs);
    length(outcome, "the receive buffer", whole, whole - 1);
    if p > 1 {
        let outcome = SpreadOut.alltoallv(world, &send, &counts, &displs, &mut recv, &counts, &vec![0; p]);
        job.expect(outcome == Err(Error::Overlap { first: 0, second: 1 }), || format!("overlap: {outcome:?}"));
    }
}

/// Ranks that disagree about counts. No rank hangs, and the next call is right.
pub(crate) fn counts_differ(job: &mut Job<'_>, n: usize) {
    if job.p() < 2 {
        return;
    }
    let before = Handler::of_world();
    if mpi::environment::library_version().is_ok_and(|version| version.contains("MPICH")) {
        Handler::returning().set();
    }
    let p = job.p();
    visit_all(p, &mut OneExpectsOther { job, n });
    visit_all(p, &mut LastHasLonger { job, n });
    before.set();
}

/// Rank 1 expects one element more from another rank than that one sends, or one less; only rank 1 gets an error.
struct OneExpectsOther<'a, 'job> {
    job: &'a mut Job<'job>,
    n: usize,
}

impl Visit for OneExpectsOther<'_, '_> {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let (job, n) = (&mut *self.job, self.n);
        let (rank, p, world) = (job.rank(), job.p(), job.world);
        let (counts, displs): (Vec<usize>, Vec<usize>) = (0..p).map(|b| (n, (n + 1) * b)).unzip();
        let send: Vec<u64> = (0..p * (n + 1)).map(|i| (rank << 32 | i) as u64).collect();
        let others: Vec<usize> = (0..p).filter(|&from| from != 1).collect();
        let some = if p <= 3 { &others[..] } else { &others[others.len() - 2..] };
        for (&from, expects) in some.iter().flat_map(|from| [(from, n + 1), (from, n - 1)]) {
            let mut received = counts.clone();
            if rank == 1 {
                received[from] = expects;
            }
            let mut recv = vec![9u64; p * (n + 1)];
            let outcome = collective.alltoallv(world, &send, &counts, &displs, &mut recv, &received, &displs);
            job.calls += 1;
            let as_expected = match &outcome {
                Err(Error::BlockMismatch { rank: 1, from: f, expected, found }) => {
                    rank == 1 && *f == from && *expected == expects && *found == n
                }
                outcome => rank != 1 && *outcome == Ok(()),
            };
            job.expect(as_expected, || format!("{name}, {n}, {expects} expected of {from}: {outcome:?}"));
            for s in (0..p).filter(|&s| rank != 1 || s != from) {
                let block = &recv[displs[s]..displs[s] + n];
                let right = block.iter().enumerate().all(|(i, &x)| x == (s << 32 | (rank * (n + 1) + i)) as u64);
                job.expect(right, || format!("{name}, {n}: the block of rank {s} is wrong"));
            }
            // What follows the block is not touched.
            let gap = displs[from] + expects.min(n);
            job.expect(rank != 1 || recv[gap] == 9, || format!("{name}, {n}: something was written behind a block"));
        }
        afterwards(job, name, &collective);
    }
}

/// The last rank passes longer blocks than the others.
struct LastHasLonger<'a, 'job> {
    job: &'a mut Job<'job>,
    n: usize,
}

impl Visit for LastHasLonger<'_, '_> {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let (job, n) = (&mut *self.job, self.n);
        let (rank, p, world) = (job.rank(), job.p(), job.world);
        for options in job.alltoall_options(&collective) {
            let n = if rank == p - 1 { n + 1 } else { n };
            let outcome = collective.alltoall_with(world, &vec![0u64; n * p], &mut vec![0; n * p], options);
            job.calls += 1;
            let mismatch = matches!(&outcome, Err(Error::Mismatch { rank: r, .. }) if *r == rank);
            job.expect(outcome == Ok(()) || mismatch, || format!("{name}, longer blocks: {outcome:?}"));
            job.expect(rank != p - 1 || mismatch, || format!("{name}, {options:?}: {outcome:?}"));
            let elsewhere = job.anywhere(mismatch && rank != p - 1);
            job.expect(elsewhere, || format!("{name}, {options:?}: nobody noticed messages that were too long"));
        }
        afterwards(job, name, &collective);
    }
}

/// The communicator still works.
fn afterwards<C: IsAlltoall>(job: &mut Job<'_>, name: &str, collective: &C) {
    let (rank, p, world) = (job.rank(), job.p(), job.world);
    let mut data: Vec<usize> = (0..p).map(|to| rank * p + to).collect();
    let displs: Vec<usize> = (0..p).collect();
    let outcome = collective.alltoall_in_place(world, &mut data);
    let right = data.iter().enumerate().all(|(from, &x)| x == from * p + rank);
    job.expect(outcome == Ok(()) && right, || format!("{name}, after a mismatch: {outcome:?}"));
    let outcome = collective.alltoallv_in_place(world, &mut data, &vec![1; p], &displs);
    let right = data.iter().enumerate().all(|(to, &x)| x == rank * p + to);
    job.expect(outcome == Ok(()) && right, || format!("{name}, after a mismatch: {outcome:?}"));
    job.calls += 2;
}

/// A message that no C `int` can count is refused by all ranks.
pub(crate) fn too_large(job: &mut Job<'_>) {
    if job.p() != 4 && job.p() != 5 {
        return;
    }
    // Two blocks in a message.
    let (len, limit) = (job.p() << 30, i32::MAX as usize);
    let outcome = Bruck::<false>::plain(2).alltoall_in_place(job.world, &mut vec![0u8; len]);
    let expected = Error::TooLarge { what: "a message", elements: 1 << 31, limit };
    job.expect(outcome == Err(expected), || format!("a message of 2^31 elements: {outcome:?}"));
}
