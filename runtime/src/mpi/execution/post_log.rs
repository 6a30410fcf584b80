//! The messages that a rank posts, while they are recorded.

use crate::trace::{PostedMessage, RankTrace};
use ::mpi::ffi;
use std::ffi::c_int;

/// The messages posted since the recording began.
#[derive(Default)]
pub(crate) struct PostLog {
    pub(crate) record: RankTrace,
    /// The number of calls so far, and the number of rounds that this rank has completed in the last one.
    calls: usize,
    passed: usize,
}

impl PostLog {
    /// Notes the beginning of a call.
    pub(crate) fn begin(&mut self) {
        self.calls += 1;
        self.passed = 0;
    }

    /// The number of messages sent and received so far.
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.record.sent.len(), self.record.received.len())
    }

    /// The messages sent and received since a mark.
    pub(crate) fn since(&self, (sent, received): (usize, usize)) -> (&[PostedMessage], &[PostedMessage]) {
        (&self.record.sent[sent..], &self.record.received[received..])
    }

    /// Records a message from `rank` to `peer`; `numbers` are those of the rank's rounds.
    pub(crate) fn sends(&mut self, numbers: &[usize], rank: usize, peer: c_int, bytes: usize) {
        let message = self.message(numbers, rank, peer as usize, bytes);
        self.record.sent.push(message);
    }

    /// Records a receive of `rank` from `peer`.
    pub(crate) fn receives(&mut self, numbers: &[usize], rank: usize, peer: c_int, bytes: usize) {
        let message = self.message(numbers, peer as usize, rank, bytes);
        self.record.received.push(message);
    }

    fn message(&self, numbers: &[usize], from: usize, to: usize, bytes: usize) -> PostedMessage {
        let round = numbers.get(self.passed).copied().unwrap_or(usize::MAX);
        // The placement is looked up when the recording ends.
        PostedMessage { call: self.calls - 1, round, from, to, bytes, nonlocal: false }
    }

    /// Notes that the messages of a round are complete.
    pub(crate) fn end_round(&mut self) {
        self.passed += 1;
    }
}

/// The number of bytes that `count` elements of a datatype have according to MPI.
pub(crate) fn bytes(count: usize, datatype: ffi::MPI_Datatype) -> usize {
    let mut size: c_int = 0;
    // SAFETY: the datatype is live: a message of it was just posted.
    unsafe { ffi::MPI_Type_size(datatype, &mut size) };
    count * size as usize
}
