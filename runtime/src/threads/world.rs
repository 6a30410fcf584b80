//! The state that all ranks share, as plain data: who waits, what has been posted, what has failed.
//!
//! Matching is eager: of two halves that belong together, the second one to be posted completes both. Hence a waiting
//! rank has at least one half whose counterpart has not been posted, only a running rank can post it, and the world
//! is deadlocked exactly when some rank waits and none runs. One counter decides that.

use super::member::{Activity, Half, Member, PostProgress, PostedRound};
use super::parcel::{Expected, Parcel};
use super::queues::Queues;
use super::report::report;
use crate::error::Error;

/// A posted operation: the `index`th of the current round of `rank`.
#[derive(Clone, Copy)]
struct Ticket {
    rank: usize,
    index: usize,
}

/// Why the world is broken.
struct Broken {
    /// The rank with the error.
    at: usize,
    /// The error on that rank.
    there: Error,
    /// The error on all others.
    elsewhere: Error,
}

/// All ranks and all messages between them.
pub(super) struct ThreadWorld {
    members: Vec<Member>,
    sends: Queues<(Ticket, Parcel)>,
    recvs: Queues<(Ticket, Expected)>,
    running: usize,
    broken: Option<Broken>,
    /// Ranks that no longer need to wait, until they are woken.
    released: Vec<usize>,
}

impl ThreadWorld {
    pub(super) fn new(p: usize) -> Self {
        ThreadWorld {
            members: (0..p).map(|_| Member::new()).collect(),
            sends: Queues::new(),
            recvs: Queues::new(),
            running: p,
            broken: None,
            released: Vec::new(),
        }
    }

    /// The error of a broken world, as `rank` sees it.
    pub(super) fn error(&self, rank: usize) -> Option<Error> {
        let broken = self.broken.as_ref()?;
        Some(if rank == broken.at { broken.there.clone() } else { broken.elsewhere.clone() })
    }

    /// Posts the round of `rank`, which then waits unless the round is already complete.
    pub(super) fn post(&mut self, rank: usize, round: PostedRound) -> Result<(), Error> {
        if let Some(error) = self.error(rank) {
            return Err(error);
        }
        self.members[rank].begin(&round);
        for (index, operation) in round.operations.into_iter().enumerate() {
            let (ticket, peer) = (Ticket { rank, index }, operation.peer);
            match operation.half {
                Half::Send(parcel) => match self.recvs.pop((rank, peer)) {
                    Some((receiver, expected)) => self.deliver(ticket, parcel, receiver, expected),
                    None => self.sends.push((rank, peer), (ticket, parcel)),
                },
                Half::Recv(expected) => match self.sends.pop((peer, rank)) {
                    Some((sender, parcel)) => self.deliver(sender, parcel, ticket, expected),
                    None => self.recvs.push((peer, rank), (ticket, expected)),
                },
            }
        }
        if self.members[rank].incomplete > 0 {
            self.stop(rank, Activity::Waits);
        }
        Ok(())
    }

    /// The outcome of the posted round of `rank`; `None` while it waits. A complete round succeeds even if the world
    /// has broken since.
    pub(super) fn outcome(&mut self, rank: usize) -> Option<Result<Vec<Parcel>, Error>> {
        if self.members[rank].incomplete == 0 {
            return Some(Ok(self.members[rank].take_received()));
        }
        self.error(rank).map(Err)
    }

    /// Notes that the rank will not call again.
    pub(super) fn finish(&mut self, rank: usize) {
        self.stop(rank, Activity::Ended);
    }

    /// Notes that the rank has panicked, or never started.
    pub(super) fn fail(&mut self, rank: usize, reason: String) {
        self.members[rank].activity = Activity::Ended;
        let error = Error::PeerFailed { rank, reason };
        self.break_down(Broken { at: rank, there: error.clone(), elsewhere: error });
    }

    /// The ranks to wake.
    pub(super) fn take_released(&mut self) -> impl Iterator<Item = usize> {
        self.released.drain(..)
    }

    /// Completes a matching send and receive, if they agree.
    fn deliver(&mut self, sender: Ticket, parcel: Parcel, receiver: Ticket, expected: Expected) {
        match expected.accepts(&parcel, sender.rank, receiver.rank) {
            Ok(()) => {
                self.complete(sender, PostProgress::Sent);
                self.complete(receiver, PostProgress::Received(parcel));
            }
            Err(error) => {
                let elsewhere = Error::PeerFailed { rank: receiver.rank, reason: error.to_string() };
                self.break_down(Broken { at: receiver.rank, there: error, elsewhere });
            }
        }
    }

    /// Completes an operation; a rank that waited only for it runs again.
    fn complete(&mut self, ticket: Ticket, progress: PostProgress) {
        let member = &mut self.members[ticket.rank];
        member.posted[ticket.index].progress = progress;
        member.incomplete -= 1;
        if member.incomplete == 0 && member.activity == Activity::Waits {
            member.activity = Activity::Runs;
            self.running += 1;
            self.released.push(ticket.rank);
        }
    }

    /// Notes that a running rank waits or ends. If it was the last running one, and some rank waits, that is a
    /// deadlock.
    fn stop(&mut self, rank: usize, activity: Activity) {
        if self.broken.is_some() {
            return;
        }
        self.members[rank].activity = activity;
        self.running -= 1;
        if self.running == 0 && self.members.iter().any(|member| member.activity == Activity::Waits) {
            let error = Error::Deadlock { report: report(&self.members) };
            self.break_down(Broken { at: rank, there: error.clone(), elsewhere: error });
        }
    }

    /// Breaks the world: all calls fail from now on, and no rank waits any more. The first cause counts.
    fn break_down(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
        self.released.extend(0..self.members.len());
    }
}
