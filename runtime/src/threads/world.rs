//! The state that all ranks share, as plain data: who waits, what has been posted, what has failed.
//!
//! Members are the ranks, and their requests while a call of them is under way. Matching is eager: of two halves that
//! belong together, the second one to be posted completes both. Hence a waiting member has at least one half whose
//! counterpart has not been posted, or waits for a request that does; only a running member can post it, and the world
//! is deadlocked exactly when some member waits and none runs. One counter decides that.

use super::member::{Activity, Half, Member, PostProgress, PostedRound};
use super::parcel::{Expected, Parcel};
use super::queues::Queues;
use super::report::report;
use crate::error::Error;
use std::sync::{Arc, Condvar};

/// A posted operation: the `index`th of the current round of a member.
#[derive(Clone, Copy)]
struct Ticket {
    member: usize,
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
    /// The number of ranks.
    p: usize,
    /// The ranks, then requests.
    members: Vec<Member>,
    /// Places of requests that are no more.
    free: Vec<usize>,
    sends: Queues<(Ticket, Parcel)>,
    recvs: Queues<(Ticket, Expected)>,
    running: usize,
    broken: Option<Broken>,
    /// Members that no longer need to wait, until they are woken.
    released: Vec<usize>,
}

impl ThreadWorld {
    pub(super) fn new(p: usize) -> Self {
        ThreadWorld {
            p,
            members: (0..p).map(Member::of_rank).collect(),
            free: Vec::new(),
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

    /// Posts the round of a member, which then waits unless the round is already complete.
    pub(super) fn post(&mut self, member: usize, round: PostedRound) -> Result<(), Error> {
        let Member { rank, channel, .. } = self.members[member];
        if let Some(error) = self.error(rank) {
            return Err(error);
        }
        self.members[member].begin(&round);
        for (index, operation) in round.operations.into_iter().enumerate() {
            let (ticket, peer) = (Ticket { member, index }, operation.peer);
            let (there, here) = ((channel, rank, peer), (channel, peer, rank));
            match operation.half {
                Half::Send(parcel) => match self.recvs.pop(there) {
                    Some((receiver, expected)) => self.deliver(ticket, parcel, receiver, expected),
                    None => self.sends.push(there, (ticket, parcel)),
                },
                Half::Recv(expected) => match self.sends.pop(here) {
                    Some((sender, parcel)) => self.deliver(sender, parcel, ticket, expected),
                    None => self.recvs.push(here, (ticket, expected)),
                },
            }
        }
        if self.members[member].incomplete > 0 {
            self.stop(member, Activity::Waits);
        }
        Ok(())
    }

    /// The outcome of the posted round of a member; `None` while it waits. A complete round succeeds even if the world
    /// has broken since.
    pub(super) fn outcome(&mut self, member: usize) -> Option<Result<Vec<Parcel>, Error>> {
        if self.members[member].incomplete == 0 {
            return Some(Ok(self.members[member].take_received()));
        }
        self.error(self.members[member].rank).map(Err)
    }

    /// What wakes a member.
    pub(super) fn bell(&self, member: usize) -> Arc<Condvar> {
        Arc::clone(&self.members[member].bell)
    }

    /// Adds a request of a rank.
    pub(super) fn open(&mut self, rank: usize, channel: usize) -> usize {
        let request = Member::of_request(rank, channel);
        match self.free.pop() {
            Some(place) => {
                self.members[place] = request;
                place
            }
            None => {
                self.members.push(request);
                self.members.len() - 1
            }
        }
    }

    /// Forgets a request that is not under way.
    pub(super) fn close(&mut self, request: usize) {
        if self.is_idle(request) {
            self.free.push(request);
        }
    }

    /// Notes that a call of a request begins.
    pub(super) fn start(&mut self, request: usize) -> Result<(), Error> {
        if let Some(error) = self.error(self.members[request].rank) {
            return Err(error);
        }
        self.members[request].activity = Activity::Runs;
        self.running += 1;
        Ok(())
    }

    /// Whether no call of a request is under way.
    pub(super) fn is_idle(&self, request: usize) -> bool {
        self.members[request].activity == Activity::Idle
    }

    /// Notes that a rank waits until the call of its request has ended.
    pub(super) fn wait_for(&mut self, rank: usize, request: usize) {
        if !self.is_idle(request) {
            self.members[rank].awaited = Some(request);
            self.stop(rank, Activity::Waits);
        }
    }

    /// Notes that the call of a request has ended. Its rank goes on, if it waits for that.
    pub(super) fn end(&mut self, request: usize) {
        let rank = self.members[request].rank;
        if self.members[rank].awaited == Some(request) {
            self.members[rank].awaited = None;
            self.members[rank].activity = Activity::Runs;
            self.running += 1;
            self.released.push(rank);
        }
        self.stop(request, Activity::Idle);
        // Also in a broken world.
        self.members[request].activity = Activity::Idle;
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

    /// The members to wake.
    pub(super) fn take_released(&mut self) -> impl Iterator<Item = usize> {
        self.released.drain(..)
    }

    /// Completes a matching send and receive, if they agree.
    fn deliver(&mut self, sender: Ticket, parcel: Parcel, receiver: Ticket, expected: Expected) {
        let (from, rank) = (self.members[sender.member].rank, self.members[receiver.member].rank);
        match expected.accepts(&parcel, from, rank) {
            Ok(()) => {
                self.complete(sender, PostProgress::Sent);
                self.complete(receiver, PostProgress::Received(parcel));
            }
            Err(error) => {
                let elsewhere = Error::PeerFailed { rank, reason: error.to_string() };
                self.break_down(Broken { at: rank, there: error, elsewhere });
            }
        }
    }

    /// Completes an operation; a member that waited only for it runs again.
    fn complete(&mut self, ticket: Ticket, progress: PostProgress) {
        let member = &mut self.members[ticket.member];
        member.posted[ticket.index].progress = progress;
        member.incomplete -= 1;
        if member.incomplete == 0 && member.activity == Activity::Waits {
            member.activity = Activity::Runs;
            self.running += 1;
            self.released.push(ticket.member);
        }
    }

    /// Notes that a running member waits or ends. If it was the last running one, and some member waits, that is a
    /// deadlock.
    fn stop(&mut self, member: usize, activity: Activity) {
        if self.broken.is_some() {
            return;
        }
        self.members[member].activity = activity;
        self.running -= 1;
        if self.running == 0 && self.members.iter().any(|member| member.activity == Activity::Waits) {
            let error = Error::Deadlock { report: report(&self.members, self.p) };
            let at = self.members[member].rank;
            self.break_down(Broken { at, there: error.clone(), elsewhere: error });
        }
    }

    /// Breaks the world: all calls fail from now on, and no member waits for a message any more. The first cause
    /// counts.
    fn break_down(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
        self.released.extend(0..self.members.len());
    }
}
