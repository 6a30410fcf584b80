//! One rank's share of a plan: rounds without branches.
//!
//! Memory is a table of slots, each for a block of a line. Line 0 is the user's input and is only read; line 1 is the
//! result; all others are working memory. Receiving only writes; combining is a separate step afterwards. So a part
//! describes everything that happens, and none of it depends on the data.

use roundel_spec::Kind;

/// The line that holds the user's input. It is never written.
pub const INPUT: u32 = 0;
/// The line that holds the result at the end.
pub const OUTPUT: u32 = 1;
/// The first line of working memory.
pub const SCRATCH: u32 = 2;

/// A place for one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// The line.
    pub line: u32,
    /// The block.
    pub block: u32,
}

/// A message from the point of view of one of its two ranks: the blocks travel in the order of the slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlotMessage {
    /// The other rank.
    pub peer: usize,
    /// The slots that are read or written here.
    pub slots: Vec<Slot>,
}

/// A local step of a rank, with one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Local {
    /// Copies a block.
    Copy {
        /// The source.
        from: Slot,
        /// The destination.
        to: Slot,
    },
    /// Combines two blocks; `into` may be one of them.
    Combine {
        /// The left operand.
        left: Slot,
        /// The right operand.
        right: Slot,
        /// The destination.
        into: Slot,
    },
}

/// One round of one rank: all messages travel at the same time, and then the local steps run one after the other.
///
/// No slot is written by a message while another message of the round reads or writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Turn {
    /// The messages to send.
    pub sends: Vec<SlotMessage>,
    /// The messages to receive.
    pub receives: Vec<SlotMessage>,
    /// The local steps after the messages.
    pub locals: Vec<Local>,
}

/// The steps of one rank in one call. With the feature `serde` it is serialised as its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct RankPlan {
    /// The collective.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// This rank.
    pub rank: usize,
    /// The root, or 0 for collectives without one.
    pub root: usize,
    /// The number of blocks in a line.
    pub blocks: usize,
    /// The number of lines, input and output included.
    pub lines: usize,
    /// The rounds. All ranks have the same number of rounds, some of which may be empty.
    pub turns: Vec<Turn>,
}

impl Turn {
    /// Whether the turn is empty.
    pub fn is_empty(&self) -> bool {
        self.sends.is_empty() && self.receives.is_empty() && self.locals.is_empty()
    }
}

impl Slot {
    /// A block of a line.
    pub const fn new(line: u32, block: u32) -> Self {
        Slot { line, block }
    }
}

impl SlotMessage {
    /// A message to or from a rank.
    pub fn new(peer: usize, slots: Vec<Slot>) -> Self {
        SlotMessage { peer, slots }
    }
}

impl Local {
    /// The slots that are read: one or two.
    pub fn reads(&self) -> impl Iterator<Item = Slot> + use<> {
        let (first, second) = match *self {
            Local::Copy { from, .. } => (from, None),
            Local::Combine { left, right, .. } => (left, Some(right)),
        };
        std::iter::once(first).chain(second)
    }

    /// The slot that is written.
    pub fn writes(&self) -> Slot {
        match *self {
            Local::Copy { to, .. } => to,
            Local::Combine { into, .. } => into,
        }
    }

    /// All slots, mutably.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        let (first, second, third) = match self {
            Local::Copy { from, to } => (from, to, None),
            Local::Combine { left, right, into } => (left, right, Some(into)),
        };
        [first, second].into_iter().chain(third)
    }
}
