//! The steps of one process in one call, with addresses and lengths: the last form of a plan, which the engine
//! executes.
//!
//! Processes of a node share memory. Counters synchronise the accesses: each belongs to one process, which alone
//! increments it, and every process of the node may wait until it reaches a value. There is no other synchronisation.
//! A program has no branches, so the steps of every process are known in advance, and a replay of all programs
//! together finds every race, every deadlock and every wrong byte.
//!
//! - [`build`](mod@build): makes the programs of a collective
//! - [`machine`]: runs a program
//! - [`replay`](mod@replay): runs the programs of all ranks on symbolic elements, which track their origins
//! - [`shared`]: calls of the ranks of one node, with the program's own buffers, through a ring of slots

pub mod build;
pub mod machine;
pub mod replay;
pub mod shared;
mod validate;

pub use validate::{Invalid, validate};

pub use build::{BuildError, ProgramSpec, Scheme, build};
pub use machine::{Counter, Execution, StepExecutor};
pub use replay::{ProgramFault, RankElements, ReductionOrder, ReplayError, ReplayedCall, replay, replay_call};

/// A region of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryRegion {
    /// The user's input, private to this process. It is never written.
    Input,
    /// The user's output, private to this process.
    Output,
    /// Memory that all processes of the node share, with the same offsets.
    Shared,
    /// Working memory of this process.
    Scratch,
}

/// A position in memory: a byte offset in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionOffset {
    /// The region.
    pub region: MemoryRegion,
    /// The offset from its beginning.
    pub offset: usize,
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageDirection {
    /// To the peer.
    Out,
    /// From the peer.
    In,
}

/// A contiguous message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramMessage {
    /// Its direction.
    pub direction: MessageDirection,
    /// The other process, as a rank of the communicator.
    pub peer: usize,
    /// Its position.
    pub spot: RegionOffset,
    /// The number of elements.
    pub elements: usize,
}

/// Elements that are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyStep {
    /// The source.
    pub from: RegionOffset,
    /// The destination.
    pub to: RegionOffset,
    /// The number of elements.
    pub elements: usize,
}

/// Elements that are combined, one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CombineStep {
    /// The left operands.
    pub left: RegionOffset,
    /// The right operands.
    pub right: RegionOffset,
    /// The destination.
    pub into: RegionOffset,
    /// The number of elements.
    pub elements: usize,
}

/// One step of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Copies elements. Source and destination do not overlap.
    Copy(CopyStep),
    /// Combines elements, one by one; `into` may be the same as `left` or `right`, and otherwise overlaps neither.
    Combine(CombineStep),
    /// Starts a range of the program's messages.
    Post {
        /// The first message.
        first: usize,
        /// The number of messages.
        count: usize,
    },
    /// Waits until a range of the program's messages is complete.
    Complete {
        /// The first message.
        first: usize,
        /// The number of messages.
        count: usize,
    },
    /// Increments this process's own counter: a process that waits for the new value sees everything done before.
    Signal,
    /// Waits until another process of the node has incremented its counter this many times in this call. Zero means
    /// that the other process has completed all increments of earlier calls.
    Await {
        /// The process, by its number on the node.
        local: usize,
        /// The number of increments.
        times: u32,
    },
}

/// The steps of one process in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The steps.
    pub ops: Vec<Op>,
    /// The messages that the steps refer to.
    pub messages: Vec<ProgramMessage>,
    /// The bytes of the node's shared memory that all of its programs use together, without counters. Equal on the
    /// node.
    pub shared: usize,
    /// The bytes of working memory that this program uses.
    pub scratch: usize,
    /// How often each process of the node increments its counter in a call. Equal on the node.
    pub signals: Vec<u32>,
    /// The offset of the user's input in shared memory, if it lies there and not in [`MemoryRegion::Input`].
    pub input: Option<usize>,
    /// The offset of the user's output in shared memory, if it lies there and not in [`MemoryRegion::Output`].
    pub output: Option<usize>,
}
