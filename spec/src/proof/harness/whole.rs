//! The whole schedule of one rank: every block arrives exactly once, and the bounds hold.
//!
//! p is a constant (a loop runs through the values), the rank is arbitrary. The blocks held are a bit mask; a stripe of
//! blocks is a constant pattern, rotated to its first block.

use super::{Probe, Stop, Verdict, WHOLE, claim, cover, pick};
use crate::meaning::place::Place;
use crate::meaning::sink::Sink;
use crate::meaning::stripes::{Blocks, Stripe};
use crate::schedule::Metric;
use crate::schedule::message::Site;

/// What one rank used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankUsage {
    /// Rounds with a message of this rank.
    pub rounds: i64,
    /// Messages sent.
    pub messages_sent: i64,
    /// Messages received.
    pub messages_received: i64,
    /// Blocks sent.
    pub blocks_sent: i64,
    /// Blocks received.
    pub blocks_received: i64,
}

impl RankUsage {
    /// The value of a metric; `None` for one that is not counted.
    pub fn of(&self, metric: Metric) -> Option<i64> {
        match metric {
            Metric::Rounds => Some(self.rounds),
            Metric::MessagesSent => Some(self.messages_sent),
            Metric::MessagesReceived => Some(self.messages_received),
            Metric::BlocksSent => Some(self.blocks_sent),
            Metric::BlocksReceived => Some(self.blocks_received),
            _ => None,
        }
    }
}

/// Takes the rounds of one rank and stops at the first that breaks a rule.
#[derive(Clone, Debug)]
pub struct Coverage {
    p: u32,
    rank: i64,
    held: u32,
    before: u32,
    busy: bool,
    used: RankUsage,
}

impl Coverage {
    /// A rank that holds its own block. Supports at most 32 ranks.
    pub fn new(at: &Place) -> Self {
        Coverage {
            p: at.p as u32,
            rank: at.rank,
            held: 1 << at.rank,
            before: 0,
            busy: false,
            used: RankUsage::default(),
        }
    }

    fn all(&self) -> u32 {
        u32::MAX >> (32 - self.p)
    }

    /// The blocks of a stripe as bits; claims that none occurs twice.
    fn bits(&self, stripe: &Stripe) -> Result<u32, Stop> {
        let (step, count) = (stripe.step() as u32, stripe.len() as u32);
        claim!(count <= self.p, "a message has no more blocks than there are");
        let (mut pattern, mut at, mut i) = (0u32, 0, 0);
        while i < count {
            claim!(pattern & (1 << at) == 0, "a message carries a block once");
            pattern |= 1 << at;
            at += step;
            if at >= self.p {
                at -= self.p;
            }
            i += 1;
        }
        let first = stripe.first() as u32;
        claim!(first < self.p, "blocks lie in 0..p");
        let (pattern, first) = (pattern as u64, first);
        Ok(((pattern << first) | (pattern << first) >> self.p) as u32 & self.all())
    }

    fn peer(&self, peer: usize) -> Verdict {
        claim!((peer as u32) < self.p && peer as i64 != self.rank, "the peer is another rank");
        Ok(())
    }

    /// Claims that every block has arrived after the last round.
    ///
    /// # Errors
    /// Returns an error if a block is missing.
    pub fn finish(&self) -> Result<RankUsage, Stop> {
        claim!(self.held == self.all(), "every block arrives");
        Ok(self.used)
    }
}

impl Sink for Coverage {
    type Error = Stop;

    fn begin_round(&mut self) -> Verdict {
        self.before = self.held;
        self.busy = false;
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Verdict {
        self.busy = true;
        self.peer(to)?;
        self.used.messages_sent += 1;
        blocks.try_each_stripe(|stripe| {
            let bits = self.bits(&stripe)?;
            claim!(bits & !self.before == 0, "what is sent is held");
            self.used.blocks_sent += stripe.len() as i64;
            Ok(())
        })
    }

    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Verdict {
        self.busy = true;
        self.peer(from)?;
        self.used.messages_received += 1;
        blocks.try_each_stripe(|stripe| {
            let bits = self.bits(&stripe)?;
            claim!(bits & self.held == 0, "what arrives is new");
            self.held |= bits;
            self.used.blocks_received += stripe.len() as i64;
            Ok(())
        })
    }

    fn end_round(&mut self) -> Verdict {
        self.used.rounds += self.busy as i64;
        Ok(())
    }
}

/// Checks all rounds of any rank, for every p in `lo..=hi`.
pub fn whole<C: Probe>(lo: i64, hi: i64) -> Verdict {
    let rank = pick(0, WHOLE, WHOLE - 1)?;
    let collective = C::sample()?;
    let mut p = lo;
    while p <= hi {
        let at = Place::flat(rank, p);
        if rank < p && collective.admits(&at).is_ok() {
            let mut coverage = Coverage::new(&at);
            collective.rounds(&at, &mut coverage)?;
            let used = coverage.finish()?;
            collective.bounds(&at, &used)?;
            cover!(used.messages_sent > 0, "there is a message");
        }
        p += 1;
    }
    Ok(())
}
