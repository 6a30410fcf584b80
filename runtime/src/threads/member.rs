//! One rank, or one of its requests, as the others see it: the round that it posted, and the progress of each message.

use super::parcel::{Expected, Parcel};
use std::sync::{Arc, Condvar};

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
    /// Of a request: no call is under way.
    Idle,
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

/// The channel of a rank's own calls. Every request has another one, so that its messages meet only its own.
pub(super) const OWN_CALLS: usize = 0;

/// One rank or one of its requests, with the last round that it posted.
pub(super) struct Member {
    pub(super) rank: usize,
    pub(super) channel: usize,
    pub(super) activity: Activity,
    /// The request that this rank waits for.
    pub(super) awaited: Option<usize>,
    /// Only the affected members wake up.
    pub(super) bell: Arc<Condvar>,
    pub(super) collective: &'static str,
    pub(super) round: usize,
    pub(super) posted: Vec<PostedOperation>,
    /// The number of incomplete operations.
    pub(super) incomplete: usize,
}

impl Member {
    /// A rank that has made no call yet.
    pub(super) fn of_rank(rank: usize) -> Self {
        Member {
            rank,
            channel: OWN_CALLS,
            activity: Activity::Runs,
            awaited: None,
            bell: Arc::new(Condvar::new()),
            collective: "",
            round: 0,
            posted: Vec::new(),
            incomplete: 0,
        }
    }

    /// A request of a rank that has not been started yet.
    pub(super) fn of_request(rank: usize, channel: usize) -> Self {
        Member { channel, activity: Activity::Idle, ..Member::of_rank(rank) }
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
