//! One rank as the others see it: the round that it posted, and the progress of each message.

use super::parcel::{Expected, Parcel};

/// The messages of one rank in one round.
pub(super) struct PostedRound {
    pub(super) collective: &'static str,
    pub(super) number: usize,
    pub(super) operations: Vec<MemberMessage>,
}

/// One message, as posted by one of its two ranks.
pub(super) struct MemberMessage {
    pub(super) peer: usize,
    pub(super) blocks: usize,
    pub(super) half: Half,
}

/// Which of the two ranks posts the message, with its data.
pub(super) enum Half {
    Send(Parcel),
    Recv(Expected),
}

/// The state of a rank.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Runs,
    Waits,
    Ended,
}

/// The state of a posted operation.
pub(super) enum PostProgress {
    WaitsToSend,
    WaitsToReceive,
    Sent,
    Received(Parcel),
}

/// A posted operation.
pub(super) struct PostedOperation {
    pub(super) peer: usize,
    pub(super) blocks: usize,
    pub(super) progress: PostProgress,
}

/// One rank, with the last round that it posted.
pub(super) struct Member {
    pub(super) activity: Activity,
    pub(super) collective: &'static str,
    pub(super) round: usize,
    pub(super) posted: Vec<PostedOperation>,
    /// The number of incomplete operations.
    pub(super) incomplete: usize,
}

impl Member {
    /// A rank that has made no call yet.
    pub(super) fn new() -> Self {
        Member { activity: Activity::Runs, collective: "", round: 0, posted: Vec::new(), incomplete: 0 }
    }

    /// Stores the operations that `round` is about to post.
    pub(super) fn begin(&mut self, round: &PostedRound) {
        let posted = |operation: &MemberMessage| PostedOperation {
            peer: operation.peer,
            blocks: operation.blocks,
            progress: match operation.half {
                Half::Send(_) => PostProgress::WaitsToSend,
                Half::Recv(_) => PostProgress::WaitsToReceive,
            },
        };
        self.collective = round.collective;
        self.round = round.number;
        self.posted = round.operations.iter().map(posted).collect();
        self.incomplete = self.posted.len();
    }

    /// The received messages of the round, in the order in which they were posted.
    pub(super) fn take_received(&mut self) -> Vec<Parcel> {
        let received = |posted: PostedOperation| match posted.progress {
            PostProgress::Received(parcel) => Some(parcel),
            _ => None,
        };
        self.posted.drain(..).filter_map(received).collect()
    }
}
