//! The faults that a replay finds.

use std::fmt;

use crate::program::{MemoryRegion, RegionOffset};

/// The location of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSite {
    /// The call, from 0 on.
    pub call: usize,
    /// The rank.
    pub rank: usize,
    /// The step; `None` for the user's accesses between calls, or a program as a whole.
    pub op: Option<usize>,
}

impl fmt::Display for FaultSite {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "call {}, rank {}", self.call, self.rank)?;
        self.op.map_or(Ok(()), |op| write!(f, ", step {op}"))
    }
}

impl fmt::Display for RegionOffset {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let region = match self.region {
            MemoryRegion::Input => "input",
            MemoryRegion::Output => "output",
            MemoryRegion::Shared => "shared memory",
            MemoryRegion::Scratch => "working memory",
        };
        write!(f, "byte {} of {region}", self.offset)
    }
}

/// A fault in programs, and its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{site}: {fault}")]
pub struct ReplayError {
    /// The location.
    pub site: FaultSite,
    /// The fault.
    pub fault: ProgramFault,
}

/// A fault in programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramFault {
    /// A data race: two processes access shared memory without an order, and one of them writes.
    #[error("{spot} may be touched by rank {with} at the same time; let one of them wait for the other")]
    Race {
        /// The position.
        spot: RegionOffset,
        /// The other process.
        with: usize,
    },
    /// A step accesses memory of an active message.
    #[error("{spot} belongs to a message of rank {owner} that is under way; complete it first")]
    UnderWay {
        /// The position.
        spot: RegionOffset,
        /// The rank that owns the message.
        owner: usize,
    },
    /// Memory is read that was never written.
    #[error("{spot} is read but nothing has been written there; write it first")]
    Unwritten {
        /// The position.
        spot: RegionOffset,
    },
    /// The user's input is written.
    #[error("{spot} is written; write the result elsewhere")]
    WritesInput {
        /// The position.
        spot: RegionOffset,
    },
    /// Memory is accessed outside its region.
    #[error("{elements} elements from {spot} on do not fit into its {bytes} bytes; make the region larger")]
    Outside {
        /// The position.
        spot: RegionOffset,
        /// The number of elements.
        elements: usize,
        /// The size of the region.
        bytes: usize,
    },
    /// An offset is not a multiple of the element size.
    #[error("{spot} is not the beginning of an element; use multiples of its size")]
    Misplaced {
        /// The position.
        spot: RegionOffset,
    },
    /// The source and destination of a step overlap.
    #[error("{from} and {to} overlap within {elements} elements; move them apart")]
    Overlap {
        /// One end.
        from: RegionOffset,
        /// The other end.
        to: RegionOffset,
        /// The number of elements.
        elements: usize,
    },
    /// A contribution is counted twice.
    #[error("the contribution of rank {contributor} is combined twice into {spot}; combine it once")]
    Twice {
        /// The position.
        spot: RegionOffset,
        /// The rank whose contribution it is.
        contributor: usize,
    },
    /// Elements that do not belong together are combined.
    #[error(
        "element {} of call {} and element {} of call {} are combined into {spot}", left.1, left.0, right.1, right.0
    )]
    Mixed {
        /// The position.
        spot: RegionOffset,
        /// Call and index of the left operand.
        left: (usize, usize),
        /// Call and index of the right operand.
        right: (usize, usize),
    },
    /// The program does not have the message.
    #[error("there is no message {message}; name one of the program's messages")]
    NoSuchMessage {
        /// Its number.
        message: usize,
    },
    /// The peer of a message does not exist.
    #[error("message {message} names rank {peer}; name another rank that exists")]
    NoSuchPeer {
        /// Its number.
        message: usize,
        /// The peer.
        peer: usize,
    },
    /// A message is started twice.
    #[error("message {message} is started while it is under way; complete it first")]
    PostedTwice {
        /// Its number.
        message: usize,
    },
    /// A message is waited for that was not started.
    #[error("message {message} was not started; post it first")]
    NotPosted {
        /// Its number.
        message: usize,
    },
    /// A message is still active when the call ends.
    #[error("message {message} is under way at the end; complete it")]
    LeftOpen {
        /// Its number.
        message: usize,
    },
    /// The two ends of a message differ in length.
    #[error("a message of {sent} elements meets a receive of {received} between this rank and rank {peer}")]
    Lengths {
        /// The other end.
        peer: usize,
        /// The number of elements sent.
        sent: usize,
        /// The number of elements received.
        received: usize,
    },
    /// Some sends have no receives, or the reverse.
    #[error("{sent} messages were sent to rank {peer}, which received {received}")]
    Unmatched {
        /// The other end.
        peer: usize,
        /// The number of sends.
        sent: usize,
        /// The number of receives.
        received: usize,
    },
    /// A step waits for a process that the node does not have.
    #[error("there is no process {local} on this node; wait for another one")]
    NoSuchProcess {
        /// Its number on the node.
        local: usize,
    },
    /// A counter is not incremented as often as the program declares.
    #[error("the counter was raised {found} times but the program says {declared}")]
    Signals {
        /// The declared number.
        declared: u32,
        /// The actual number.
        found: u32,
    },
    /// The programs of a node disagree.
    #[error("programs of this node say different things about {what}; build them from the same job")]
    Disagree {
        /// The subject of the disagreement.
        what: &'static str,
    },
    /// All processes wait: a deadlock.
    #[error("nobody can go on: this wait never ends")]
    Stuck,
    /// An element of the result is wrong.
    #[error("element {index} of the result is wrong: {what}")]
    Wrong {
        /// The index of the element.
        index: usize,
        /// How it is wrong.
        what: &'static str,
    },
}
