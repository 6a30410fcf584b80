//! One rank as the others see it: the round that it posted, and how far each message of it has come.

use super::parcel::{Expected, Parcel};

/// The messages of one rank in one round.
pub(super) struct PostedRound {
    pub(super) collective: &'static str,
    pub(super) number: usize,
    pub(super) operations: Vec<MemberMessage>,
}

/// One message, as one of its two ranks posts it.
pub(super) struct MemberMessage {
    pub(super) peer: usize,
    pub(super) blocks: usize,
    pub(super) half: Half,
}

/// Which of the two ranks posts, and what it brings along.
pub(super) enum Half {
    Send(Parcel),
    Recv(Expected),
}

/// What a rank is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Runs,
    Waits,
    Ended,
}

/// How far a posted operation has come.
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

/// One rank, and the last round that it posted.
pub(super) struct Member {
    pub(super) activity: Activity,
    pub(super) collective: &'static str,
    pub(super) round: usize,
    pub(super) posted: Vec<PostedOperation>,
    /// How many of them are not complete.
    pub(super) incomplete: usize,
}

impl Member {
    /// A rank that has not called yet.
    pub(super) fn new() -> Self {
        Member { activity: Activity::Runs, collective: "", round: 0, posted: Vec::new(), incomplete: 0 }
    }

    /// Writes down what `round` is about to post.
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

    /// What the round's receives brought, in the order in which they were posted.
    pub(super) fn take_received(&mut self) -> Vec<Parcel> {
        let received = |posted: PostedOperation| match posted.progress {
            PostProgress::Received(parcel) => Some(parcel),
            _ => None,
        };
        self.posted.drain(..).filter_map(received).collect()
    }
}
