//! Calls whose messages are recorded on all ranks and compared with the schedule on the first.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::trace::{PostedMessage, RankTrace};
use roundel::{Collective, Error};
use roundel_spec::Placement;
use roundel_tests::ending::end;
use roundel_tests::messages::{Difference, differences, promised};

/// Runs `body`, records its messages and hands the records of all ranks to the first one; the others get none.
pub(crate) fn record(comm: &SimpleCommunicator, body: impl FnOnce() -> Result<(), Error>) -> Vec<RankTrace> {
    match roundel::mpi::trace(comm, body) {
        Ok((Ok(()), record)) => gather(comm, &record),
        Ok((Err(error), _)) | Err(error) => end(comm, &error.to_string()),
    }
}

/// Compares what `calls` calls of a collective posted with its schedule, on the first rank.
pub(crate) fn judge<C: Collective>(
    (collective, placement): (&C, &Placement),
    calls: usize,
    bytes: impl Fn(usize) -> usize,
    records: &[RankTrace],
) -> Vec<Difference> {
    differences(&vec![promised(collective, placement, bytes); calls], records)
}

/// The number of words that encode a message, and whether it was sent.
const WORDS: usize = 8;

fn words((message, sent): (&PostedMessage, bool)) -> [u64; WORDS] {
    let PostedMessage { call, round, from, to, bytes, nonlocal } = *message;
    // The last one distinguishes a message from padding of the buffer.
    [call as u64, round as u64, from as u64, to as u64, bytes as u64, nonlocal.into(), sent.into(), 1]
}

fn message(words: &[u64]) -> PostedMessage {
    let number = |i: usize| words[i] as usize;
    let (call, round, from, to, bytes) = (number(0), number(1), number(2), number(3), number(4));
    PostedMessage { call, round, from, to, bytes, nonlocal: words[5] == 1 }
}

fn gather(comm: &SimpleCommunicator, record: &RankTrace) -> Vec<RankTrace> {
    let all = record.sent.iter().map(|sent| (sent, true)).chain(record.received.iter().map(|sent| (sent, false)));
    let mut own: Vec<u64> = all.flat_map(words).collect();
    let mut longest = 0;
    comm.all_reduce_into(&own.len(), &mut longest, SystemOperation::max());
    own.resize(longest.max(WORDS), 0);
    if comm.rank() != 0 {
        comm.process_at_rank(0).gather_into(&own[..]);
        return Vec::new();
    }
    let mut everything = vec![0; own.len() * comm.size() as usize];
    comm.process_at_rank(0).gather_into_root(&own[..], &mut everything[..]);
    everything.chunks(own.len()).map(read).collect()
}

fn read(words: &[u64]) -> RankTrace {
    let with = |sent: u64| {
        let real = words.chunks(WORDS).filter(|words| words[7] == 1 && words[6] == sent);
        real.map(message).collect()
    };
    RankTrace { sent: with(1), received: with(0) }
}
