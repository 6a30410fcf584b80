//! What one process does in one call, with addresses and lengths: the last form of a plan, which the engine takes step
//! by step.
//!
//! Processes of a node share memory. Who may touch what of it, and when, is said by counters: each belongs to one
//! process, which alone raises it, and everybody on the node may wait until it has a value. There is no other
//! synchronisation. A program has no branches, so what every process does is known in advance, and a replay of all
//! programs together finds every race, every wait that nobody ends and every byte that is wrong.
//!
//! - [`build`](mod@build): makes the programs of a collective
//! - [`machine`]: what runs a program
//! - [`replay`](mod@replay): runs the programs of all ranks on elements that know where they come from

pub mod build;
pub mod machine;
pub mod replay;
mod validate;

pub use validate::{Invalid, validate};

pub use build::{BuildError, ProgramSpec, Scheme, build};
pub use machine::{Counter, Execution, StepExecutor};
pub use replay::{ProgramFault, ReductionOrder, ReplayError, replay};

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryRegion {
    /// The user's input, which only this process sees. It is never written.
    Input,
    /// The user's output, which only this process sees.
    Output,
    /// Memory that all processes of the node share, at the same offsets.
    Shared,
    /// Working memory of this process.
    Scratch,
}

/// A place in memory: bytes from the beginning of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionOffset {
    /// Which memory.
    pub region: MemoryRegion,
    /// How far from its beginning.
    pub offset: usize,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageDirection {
    /// To the peer.
    Out,
    /// From the peer.
    In,
}

/// A message in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramMessage {
    /// Which way it goes.
    pub way: MessageDirection,
    /// The other process, a rank of the communicator.
    pub peer: usize,
    /// Where it lies.
    pub spot: RegionOffset,
    /// How many elements it has.
    pub elements: usize,
}

/// What a process does next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Copies elements. The two ends do not overlap.
    Copy {
        /// From here.
        from: RegionOffset,
        /// To there.
        to: RegionOffset,
        /// How many.
        elements: usize,
    },
    /// Combines elements, one by one; `into` may be the same as `left` or `right`, and otherwise overlaps neither.
    Combine {
        /// The left operands.
        left: RegionOffset,
        /// The right operands.
        right: RegionOffset,
        /// Where the results go.
        into: RegionOffset,
        /// How many.
        elements: usize,
    },
    /// Starts these of the program's messages.
    Post {
        /// The first one.
        first: usize,
        /// How many.
        count: usize,
    },
    /// Waits until these of the program's messages are complete.
    Complete {
        /// The first one.
        first: usize,
        /// How many.
        count: usize,
    },
    /// Raises this process's own counter by one: what it did before is seen by whoever waits for the new value.
    Signal,
    /// Waits until the counter of another process of the node has been raised so many times in this call. Zero times
    /// means that the other process has raised it as often as it does in all calls before this one.
    Await {
        /// The process, by its number on the node.
        local: usize,
        /// How many times.
        times: u32,
    },
}

/// What one process does in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Step by step.
    pub ops: Vec<Op>,
    /// The messages that the steps name.
    pub messages: Vec<ProgramMessage>,
    /// How many bytes of the node's shared memory all of its programs use together, counters not included. Equal on the
    /// node.
    pub shared: usize,
    /// How many bytes of working memory this program uses.
    pub scratch: usize,
    /// How many times each process of the node raises its counter in a call. Equal on the node.
    pub signals: Vec<u32>,
    /// Where in shared memory the user's input lies, if it lies there and not in [`MemoryRegion::Input`].
    pub input: Option<usize>,
    /// Where in shared memory the user's output lies, if it lies there and not in [`MemoryRegion::Output`].
    pub output: Option<usize>,
}
