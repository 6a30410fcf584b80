//! What ranks send in their rounds, in the order in which they are walked: rank by rank.

use super::network::NetworkLevels;
use super::rounds::RankMessage;
use roundel_spec::{Action, Direction};

/// A message on its way: 16 bytes, because there are tens of millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The rank that stands for its receiver.
    pub to: u32,
    /// How much larger the number of the receiver is, modulo p.
    pub distance: u32,
    /// The number of its blocks, and in the lowest byte the level.
    packed: u64,
}

impl SentMessage {
    fn new(to: usize, distance: usize, blocks: usize, level: u8) -> Self {
        SentMessage { to: to as u32, distance: distance as u32, packed: (blocks as u64) << 8 | u64::from(level) }
    }

    /// The level of the network that it crosses.
    pub fn level(&self) -> u8 {
        self.packed as u8
    }

    /// Its bytes, if a block has so many.
    pub fn bytes(&self, block: f64) -> f64 {
        (self.packed >> 8) as f64 * block
    }
}

/// The ranks that are followed: all, or those that stand for all.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    /// The number of ranks.
    pub p: usize,
    /// The number of ranks that are followed, the first ones: rank r is like rank r + followed.
    pub followed: usize,
    /// The bytes of a block.
    pub block: f64,
}

/// A turn is one round of one rank. These are the turns of some ranks, one after another.
#[derive(Clone, Debug, Default)]
pub struct RankTurns {
    sends: Vec<SentMessage>,
    /// For each turn, the end of its messages.
    ends: Vec<u32>,
    /// For each turn, the bytes it combines.
    combined: Vec<f64>,
}

/// The memory of a message, and of a turn.
const MESSAGE: u64 = size_of::<SentMessage>() as u64;
const TURN: u64 = (size_of::<u32>() + size_of::<f64>()) as u64;

/// The memory of so many messages and turns, in bytes.
pub fn memory(messages: u64, turns: u64) -> u64 {
    messages.saturating_mul(MESSAGE).saturating_add(turns.saturating_mul(TURN))
}

impl RankTurns {
    /// No turns, and room for so many messages and turns.
    pub fn with_capacity(messages: usize, turns: usize) -> Self {
        RankTurns {
            sends: Vec::with_capacity(messages),
            ends: Vec::with_capacity(turns),
            combined: Vec::with_capacity(turns),
        }
    }

    /// The number of messages.
    pub fn messages(&self) -> usize {
        self.sends.len()
    }

    /// The number of turns.
    pub fn number(&self) -> usize {
        self.ends.len()
    }

    /// What is sent in a turn, and the bytes that are combined afterwards.
    pub fn turn(&self, number: usize) -> (&[SentMessage], f64) {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        (&self.sends[start as usize..self.ends[number] as usize], self.combined[number])
    }

    /// Adds a turn.
    pub fn push(&mut self, (sends, combined): (&[SentMessage], f64)) {
        self.sends.extend_from_slice(sends);
        self.end_turn(combined);
    }

    /// Adds a message to the current turn.
    pub fn message(&mut self, rank: usize, message: &RankMessage<'_>, ranks: Followed, network: &NetworkLevels<'_>) {
        let Followed { p, followed, .. } = ranks;
        let (ahead, level) = ((message.peer + p - rank) % p, network.level(rank, message.peer));
        self.sends.push(SentMessage::new(message.peer % followed, ahead, message.count, level));
    }

    /// The current turn ends.
    pub fn end_turn(&mut self, combined: f64) {
        self.ends.push(self.sends.len() as u32);
        self.combined.push(combined);
    }

    /// Without room for more.
    pub fn shrunk(mut self) -> Self {
        self.sends.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.combined.shrink_to_fit();
        self
    }
}

/// The blocks that a message makes its receiver combine.
pub fn combined(message: &RankMessage<'_>) -> usize {
    let combines = matches!(message.site.action, Action::CombineLeft { .. } | Action::CombineRight { .. });
    if combines && message.direction == Direction::Recv { message.count } else { 0 }
}
