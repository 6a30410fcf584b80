//! The faults that a replay finds.

use std::fmt;

use crate::program::{MemoryRegion, RegionOffset};

/// Where something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSite {
    /// In which call, from 0 on.
    pub call: usize,
    /// On which rank.
    pub rank: usize,
    /// At which of its steps; `None` is what the user does between calls, or a program as a whole.
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

/// Programs that do not do what they should, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{site}: {fault}")]
pub struct ReplayError {
    /// Where.
    pub site: FaultSite,
    /// What is wrong.
    pub fault: ProgramFault,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramFault {
    /// Two processes touch shared memory, one of them writes, and nothing says who comes first.
    #[error("{spot} may be touched by rank {with} at the same time; let one of them wait for the other")]
    Race {
        /// Where.
        spot: RegionOffset,
        /// The other one.
        with: usize,
    },
    /// Memory of a message that is under way.
    #[error("{spot} belongs to a message of rank {owner} that is under way; complete it first")]
    UnderWay {
        /// Where.
        spot: RegionOffset,
        /// Whose message.
        owner: usize,
    },
    /// Memory that has never been written is read.
    #[error("{spot} is read but nothing has been written there; write it first")]
    Unwritten {
        /// Where.
        spot: RegionOffset,
    },
    /// The user's input is written.
    #[error("{spot} is written; write the result elsewhere")]
    WritesInput {
        /// Where.
        spot: RegionOffset,
    },
    /// Memory that is not there.
    #[error("{elements} elements from {spot} on do not fit into its {bytes} bytes; make the region larger")]
    Outside {
        /// Where.
        spot: RegionOffset,
        /// How many elements.
        elements: usize,
        /// How large the region is.
        bytes: usize,
    },
    /// An offset between two elements.
    #[error("{spot} is not the beginning of an element; use multiples of its size")]
    Misplaced {
        /// Where.
        spot: RegionOffset,
    },
    /// The ends of a step overlap.
    #[error("{from} and {to} overlap within {elements} elements; move them apart")]
    Overlap {
        /// One end.
        from: RegionOffset,
        /// The other end.
        to: RegionOffset,
        /// How many elements are moved.
        elements: usize,
    },
    /// A contribution is there twice.
    #[error("the contribution of rank {contributor} is combined twice into {spot}; combine it once")]
    Twice {
        /// Where.
        spot: RegionOffset,
        /// Whose contribution.
        contributor: usize,
    },
    /// Elements that do not belong together are combined.
    #[error("element {} of call {} and element {} of call {} are combined into {spot}", left.1, left.0, right.1, right.0)]
    Mixed {
        /// Where.
        spot: RegionOffset,
        /// Call and index of the left operand.
        left: (usize, usize),
        /// Call and index of the right operand.
        right: (usize, usize),
    },
    /// A message that the program does not have.
    #[error("there is no message {message}; name one of the program's messages")]
    NoSuchMessage {
        /// Its number.
        message: usize,
    },
    /// A message to nobody.
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
    /// A message that was not started is to be complete.
    #[error("message {message} was not started; post it first")]
    NotPosted {
        /// Its number.
        message: usize,
    },
    /// A message is under way when the call ends.
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
        /// How many are sent.
        sent: usize,
        /// How many are received.
        received: usize,
    },
    /// Messages have been sent that nobody receives, or the reverse.
    #[error("{sent} messages were sent to rank {peer}, which received {received}")]
    Unmatched {
        /// The other end.
        peer: usize,
        /// How many were sent.
        sent: usize,
        /// How many were received.
        received: usize,
    },
    /// A wait for a process that the node does not have.
    #[error("there is no process {local} on this node; wait for another one")]
    NoSuchProcess {
        /// Its number on the node.
        local: usize,
    },
    /// A counter is raised more or less often than the program says.
    #[error("the counter was raised {found} times but the program says {declared}")]
    Signals {
        /// What the program says.
        declared: u32,
        /// What it does.
        found: u32,
    },
    /// Programs of a node do not agree.
    #[error("programs of this node say different things about {what}; build them from the same job")]
    Disagree {
        /// About what.
        what: &'static str,
    },
    /// Nobody can go on.
    #[error("nobody can go on: this wait never ends")]
    Stuck,
    /// An element of the result is not what was promised.
    #[error("element {index} of the result is wrong: {what}")]
    Wrong {
        /// Which element.
        index: usize,
        /// How it is wrong.
        what: &'static str,
    },
}
