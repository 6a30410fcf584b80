//! One rank's share of a plan: rounds without a branch.
//!
//! Memory is a table of slots, a block in a line. Line 0 is what the user gave and is only read; line 1 is the result;
//! all others are working memory. What arrives is only written; what is to be combined is combined afterwards, by a
//! step of its own. So a part says everything that happens, and nothing of it depends on the data.

use roundel_spec::Kind;

/// The line that holds what the user gave. It is never written.
pub const INPUT: u32 = 0;
/// The line that holds the result in the end.
pub const OUTPUT: u32 = 1;
/// The first line of working memory.
pub const SCRATCH: u32 = 2;

/// A place for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// Which line.
    pub line: u32,
    /// Which block.
    pub block: u32,
}

/// A message, as one of its two ranks sees it: the blocks travel in the order of the slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlotMessage {
    /// The other rank.
    pub peer: usize,
    /// What is read or written here.
    pub slots: Vec<Slot>,
}

/// Something that a rank does by itself, with one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Local {
    /// Copies a block.
    Copy {
        /// From here.
        from: Slot,
        /// To there.
        to: Slot,
    },
    /// Combines two blocks; `into` may be one of them.
    Combine {
        /// The left operand.
        left: Slot,
        /// The right operand.
        right: Slot,
        /// Where the result goes.
        into: Slot,
    },
}

/// One round of one rank: all messages travel at the same time, and then the rank works by itself, one step after the
/// other.
///
/// No slot is written by a message while another message of the round reads or writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Turn {
    /// What leaves.
    pub sends: Vec<SlotMessage>,
    /// What arrives.
    pub receives: Vec<SlotMessage>,
    /// What happens then.
    pub locals: Vec<Local>,
}

/// What one rank does in one call. With the feature `serde` it is its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct RankPlan {
    /// What the whole promises.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// Which of them this is.
    pub rank: usize,
    /// The root, where there is one, and 0 elsewhere.
    pub root: usize,
    /// The number of blocks of a line.
    pub blocks: usize,
    /// The number of lines, input and output included.
    pub lines: usize,
    /// The rounds. All ranks have equally many; in some of them a rank may have nothing to do.
    pub turns: Vec<Turn>,
}

impl Turn {
    /// Whether nothing happens.
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
    /// What is read: one slot or two.
    pub fn reads(&self) -> impl Iterator<Item = Slot> + use<> {
        let (first, second) = match *self {
            Local::Copy { from, .. } => (from, None),
            Local::Combine { left, right, .. } => (left, Some(right)),
        };
        std::iter::once(first).chain(second)
    }

    /// What is written.
    pub fn writes(&self) -> Slot {
        match *self {
            Local::Copy { to, .. } => to,
            Local::Combine { into, .. } => into,
        }
    }

    /// All slots that are named, to be changed.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        let (first, second, third) = match self {
            Local::Copy { from, to } => (from, to, None),
            Local::Combine { left, right, into } => (left, right, Some(into)),
        };
        [first, second].into_iter().chain(third)
    }
}
