//! All-to-alls on threads, compared with the plain definition: rank d finds the block of rank s where it expects it.

use super::{Trial, TrialCall, UNTOUCHED, byte};
use roundel::algorithms::Visitor;
use roundel::threads::{self, ThreadComm};
use roundel::{Alltoall, IsAlltoall, Options};
use std::time::Duration;

/// Runs it `repeat` times with blocks of `bytes` bytes; returns the time of the slowest rank for each repetition.
pub(super) fn uniform(trial: &Trial<'_>, bytes: usize, repeat: usize) -> Result<Vec<Duration>, String> {
    let mut slowest = vec![Duration::ZERO; repeat];
    for times in threads::run_placed(trial.placement, |comm| rank(trial, comm, &|_, _| bytes, 0, repeat)) {
        slowest.iter_mut().zip(times?).for_each(|(slowest, time)| *slowest = time.max(*slowest));
    }
    Ok(slowest)
}

/// Blocks of different lengths, some of them empty, with gaps between them.
pub(super) fn varying(trial: &Trial<'_>) -> Result<(), String> {
    let length = |source: usize, destination: usize| (source * 5 + destination * 3 + 2) % 7;
    let results = threads::run_placed(trial.placement, |comm| rank(trial, comm, &length, 1, 1));
    results.into_iter().try_for_each(|times| times.map(|_| ()))
}

/// Blocks in a buffer, with gaps between them: their lengths, their displacements, and the length of the buffer.
fn spread(lengths: Vec<usize>, gap: usize) -> (Vec<usize>, Vec<usize>, usize) {
    let displs = lengths.iter().scan(gap, |at, n| Some(std::mem::replace(at, *at + n + gap))).collect();
    let len = lengths.iter().map(|n| n + gap).sum::<usize>() + gap;
    (lengths, displs, len)
}

/// The part of one rank; the length of a block is a function of its source and destination.
fn rank(
    trial: &Trial<'_>,
    comm: &ThreadComm,
    length: &dyn Fn(usize, usize) -> usize,
    gap: usize,
    repeat: usize,
) -> Result<Vec<Duration>, String> {
    let (rank, p) = (comm.rank(), trial.placement.p());
    let (send_counts, send_displs, sent) = spread((0..p).map(|d| length(rank, d)).collect(), gap);
    let (recv_counts, recv_displs, received) = spread((0..p).map(|s| length(s, rank)).collect(), gap);
    let (mut send, mut expected) = (vec![UNTOUCHED; sent], vec![UNTOUCHED; received]);
    for peer in 0..p {
        let block = |source: usize, destination: usize| {
            (0..length(source, destination)).map(move |i| byte(source * p + destination, i)).collect::<Vec<u8>>()
        };
        send[send_displs[peer]..][..send_counts[peer]].copy_from_slice(&block(rank, peer));
        expected[recv_displs[peer]..][..recv_counts[peer]].copy_from_slice(&block(peer, rank));
    }
    let mut times = Vec::with_capacity(repeat);
    for _ in 0..repeat {
        let lists = (gap > 0).then_some([&send_counts[..], &send_displs, &recv_counts, &recv_displs]);
        let options = Options { layout: trial.layout, ..Options::default() };
        let recv = vec![UNTOUCHED; received];
        let call = AlltoallTrial { comm, send: &send, recv, lists, options, result: None };
        times.push(trial.timed(rank, call, &expected)?);
    }
    Ok(times)
}

/// One call on one rank.
struct AlltoallTrial<'a> {
    comm: &'a ThreadComm,
    send: &'a [u8],
    recv: Vec<u8>,
    /// Counts and displacements for sending and receiving, if blocks have different lengths.
    lists: Option<[&'a [usize]; 4]>,
    options: Options,
    result: Option<Result<(), String>>,
}

impl TrialCall for AlltoallTrial<'_> {
    fn outcome(self) -> (Option<Result<(), String>>, Vec<u8>) {
        (self.result, self.recv)
    }
}

impl Visitor for AlltoallTrial<'_> {
    fn alltoall<C: IsAlltoall + Sync>(&mut self, _name: &'static str, collective: &C) {
        let (send, recv) = (self.send, &mut self.recv[..]);
        let outcome = match self.lists {
            None => collective.alltoall_with(self.comm, send, recv, self.options),
            Some([counts, displs, recv_counts, recv_displs]) => {
                let options = self.options;
                collective.alltoallv_with(self.comm, send, counts, displs, recv, recv_counts, recv_displs, options)
            }
        };
        self.result = Some(outcome.map_err(|error| error.to_string()));
    }
}
