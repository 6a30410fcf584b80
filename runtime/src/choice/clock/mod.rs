//! Estimates the time of a plan from a profile. Nothing is sent.
//!
//! A round takes as long as its longest message, given the number of simultaneous messages; the time to combine and
//! copy bytes is added. Parallel paths are rounded up to the slowest one, as in Jocksch et al. (section 3), so the
//! rounds of one rank stand for all. `roundel simulate` follows every rank with the same times of rounds; for machines
//! that nobody has measured, it takes the times of single messages from [`LogGps`].

mod loggps;
mod node;

pub use loggps::{Departure, LogGps, RankClock, Wire};
pub(crate) use node::NodeShare;

use crate::choice::profile::Profile;
use crate::plan::part::{Local, RankPlan, Slot, SlotMessage, Turn};

/// The properties of a round that determine its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundCost {
    /// The number of messages that travel at once, in each direction.
    pub ports: usize,
    /// The bytes of the longest message.
    pub longest: u64,
    /// The bytes that are sent.
    pub sent: u64,
    /// The bytes that are combined afterwards.
    pub combined: u64,
    /// The bytes that are copied afterwards.
    pub copied: u64,
}

/// Computes times from a profile.
#[derive(Clone, Copy, Debug)]
pub struct Clock<'a> {
    profile: &'a Profile,
    lanes: usize,
}

impl<'a> Clock<'a> {
    /// A clock for one sending process on every node.
    pub const fn new(profile: &'a Profile) -> Self {
        Clock { profile, lanes: 1 }
    }

    /// A clock for `lanes` sending processes on every node.
    pub const fn with_lanes(profile: &'a Profile, lanes: usize) -> Self {
        Clock { profile, lanes }
    }

    /// The time of a round between nodes, in seconds.
    pub fn round(&self, round: &RoundCost) -> f64 {
        self.messages(round) + self.local(round)
    }

    /// The time of a round inside a node and between nodes at once, in seconds: that of the slower messages.
    pub fn mixed(&self, inside: &RoundCost, between: &RoundCost) -> f64 {
        let messages = self.profile.inside.seconds(inside.longest, inside.ports);
        messages.max(self.messages(between)) + self.local(inside) + self.local(between)
    }

    /// The time of the messages between nodes.
    fn messages(&self, round: &RoundCost) -> f64 {
        self.profile.round(round.longest, round.ports, self.lanes)
    }

    /// The time after the messages.
    fn local(&self, round: &RoundCost) -> f64 {
        let node = &self.profile.node;
        round.combined as f64 / node.combine + round.copied as f64 / node.copy
    }

    /// The time of consecutive rounds, in seconds.
    pub fn rounds(&self, rounds: &[RoundCost]) -> f64 {
        // The sum of an empty iterator would be a negative zero.
        rounds.iter().fold(0.0, |sum, round| sum + self.round(round))
    }

    /// The time of a rank's part of a plan, in seconds, for blocks of these lengths in bytes. A block without a
    /// length is empty.
    pub fn part(&self, part: &RankPlan, lengths: &[usize]) -> f64 {
        self.rounds(&rounds_of(part, lengths))
    }
}

/// The rounds of a part, for blocks of these lengths in bytes.
pub fn rounds_of(part: &RankPlan, lengths: &[usize]) -> Vec<RoundCost> {
    let bytes = |slot: &Slot| lengths.get(slot.block as usize).map_or(0, |&length| length as u64);
    part.turns.iter().map(|turn| round_of(turn, bytes)).collect()
}

fn round_of(turn: &Turn, bytes: impl Fn(&Slot) -> u64) -> RoundCost {
    let length = |message: &SlotMessage| message.slots.iter().map(&bytes).sum::<u64>();
    let longest = turn.sends.iter().chain(&turn.receives).map(length).max();
    let (mut combined, mut copied) = (0, 0);
    for local in &turn.locals {
        match local {
            Local::Copy { to, .. } => copied += bytes(to),
            Local::Combine { into, .. } => combined += bytes(into),
        }
    }
    let (ports, sent) = (turn.sends.len().max(turn.receives.len()), turn.sends.iter().map(length).sum());
    RoundCost { ports, longest: longest.unwrap_or(0), sent, combined, copied }
}

/// The rounds of parallel paths, with the maximum of each value.
pub fn slowest(paths: impl IntoIterator<Item = Vec<RoundCost>>) -> Vec<RoundCost> {
    paths.into_iter().reduce(|one, other| rounded_up(&one, &other)).unwrap_or_default()
}

fn rounded_up(one: &[RoundCost], other: &[RoundCost]) -> Vec<RoundCost> {
    let round = |rounds: &[RoundCost], i: usize| rounds.get(i).copied().unwrap_or_default();
    let up = |(a, b): (RoundCost, RoundCost)| RoundCost {
        ports: a.ports.max(b.ports),
        longest: a.longest.max(b.longest),
        sent: a.sent.max(b.sent),
        combined: a.combined.max(b.combined),
        copied: a.copied.max(b.copied),
    };
    (0..one.len().max(other.len())).map(|i| up((round(one, i), round(other, i)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundel_spec::Kind;

    fn message(peer: usize, blocks: &[u32]) -> SlotMessage {
        SlotMessage { peer, slots: blocks.iter().map(|&block| Slot { line: 0, block }).collect() }
    }

    fn part(turns: Vec<Turn>) -> RankPlan {
        RankPlan { kind: Kind::Allreduce, p: 3, rank: 0, root: 0, blocks: 3, lines: 2, turns }
    }

    #[test]
    fn a_part_is_counted() {
        let (a, b) = (Slot { line: 0, block: 0 }, Slot { line: 1, block: 2 });
        let turn = Turn {
            sends: vec![message(1, &[0, 1]), message(2, &[2])],
            receives: vec![message(1, &[2, 1])],
            locals: vec![Local::Combine { left: a, right: b, into: b }, Local::Copy { from: b, to: a }],
        };
        let rounds = rounds_of(&part(vec![turn, Turn::default()]), &[10, 20, 700]);
        let expected = RoundCost { ports: 2, longest: 720, sent: 730, combined: 700, copied: 10 };
        assert_eq!(rounds, [expected, RoundCost::default()]);
        let profile = Profile::default();
        let (clock, node) = (Clock::new(&profile), &profile.node);
        let by_hand = profile.between.seconds(720, 2) + 700.0 / node.combine + 10.0 / node.copy;
        assert_eq!((clock.rounds(&rounds), clock.rounds(&[])), (by_hand, 0.0));
    }

    #[test]
    fn a_round_inside_and_between_takes_as_long_as_the_slower_messages() {
        let profile = Profile::default();
        let clock = Clock::with_lanes(&profile, 3);
        let inside = RoundCost { ports: 2, longest: 1 << 20, ..RoundCost::default() };
        let between = RoundCost { ports: 1, longest: 8, combined: 4000, ..RoundCost::default() };
        let (slow, none) = (profile.inside.seconds(1 << 20, 2), RoundCost::default());
        assert_eq!(clock.mixed(&inside, &between), slow + 4000.0 / profile.node.combine);
        assert_eq!(clock.mixed(&none, &between), clock.round(&between));
        assert_eq!(clock.mixed(&none, &none), 0.0);
    }

    #[test]
    fn a_block_without_a_length_is_empty() {
        let turn = Turn { sends: vec![message(1, &[0, 9])], ..Turn::default() };
        assert_eq!(rounds_of(&part(vec![turn]), &[4])[0].longest, 4);
    }

    #[test]
    fn the_slowest_path_counts() {
        let one = RoundCost { ports: 1, longest: 9, sent: 9, ..RoundCost::default() };
        let other = RoundCost { ports: 2, longest: 5, sent: 10, combined: 5, ..RoundCost::default() };
        let both = RoundCost { ports: 2, longest: 9, sent: 10, combined: 5, copied: 0 };
        assert_eq!(slowest([vec![one], vec![other, one]]), [both, one]);
        assert_eq!(slowest([]), []);
    }
}
