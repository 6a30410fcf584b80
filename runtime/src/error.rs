//! The errors of calls. Every message tells how to fix the problem.

use roundel_spec::Refusal;

/// Why a collective call failed. All errors before [`Error::Mismatch`] are detected before any message is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The call lies outside the domain that the collective declares.
    #[error("{name} does not serve this call: {refusal}")]
    OutsideDomain {
        /// The collective.
        name: String,
        /// The clause that is false.
        refusal: Refusal,
    },
    /// A buffer has the wrong length.
    #[error("{what} has {found} elements but needs {expected}: {reason}")]
    Length {
        /// The argument.
        what: &'static str,
        /// The required length.
        expected: usize,
        /// The actual length.
        found: usize,
        /// The rule that is violated.
        reason: &'static str,
    },
    /// Two blocks of a receive buffer overlap.
    #[error("blocks {first} and {second} overlap in the receive buffer; give each its own displacement")]
    Overlap {
        /// One block.
        first: usize,
        /// Another.
        second: usize,
    },
    /// A number of elements is too large, or overflows.
    #[error("{what} is {elements} elements, more than {limit}: split the call into smaller ones")]
    TooLarge {
        /// The quantity.
        what: &'static str,
        /// Its size.
        elements: usize,
        /// The largest size served.
        limit: usize,
    },
    /// The collective does not declare the requested layout.
    #[error("{name} declares no rotated layout; use `Layout::Declared`, or add `rotated(…)` to its `layout` clause")]
    NoSuchLayout {
        /// The collective.
        name: String,
    },
    /// The operation does not commute, and the collective does not keep the order of ranks.
    #[error(
        "{name} does not keep the order of ranks, and this operation does not commute; use one with `rank_order`"
    )]
    NeedsOrder {
        /// The collective.
        name: String,
    },
    /// Another call is active on the same communicator.
    #[error("a collective is already running on this communicator; give each thread a communicator of its own")]
    Busy,
    /// Collectives have already run on the communicator, so its placement is fixed.
    #[error(
        "the ranks of this communicator have their places already; say them before its first collective, or duplicate \
         it"
    )]
    Placed,
    /// Ranks give placement paths of different lengths.
    #[error(
        "ranks say where they sit with {least} to {most} numbers; all must give as many (node, socket and so on)"
    )]
    PlaceDepth {
        /// The shortest path.
        least: usize,
        /// The longest path.
        most: usize,
    },
    /// A rank gives a placement path with a number that is too large.
    #[error(
        "a rank says where it sits with a number above {limit}, or with too many; number nodes and their parts from 0"
    )]
    PlaceTooLarge {
        /// The largest valid number.
        limit: usize,
    },
    /// The messages of the communicator are being recorded.
    #[error("the messages of this communicator are being recorded already; record them once, or duplicate it")]
    Traced,
    /// The persistent collective cannot be built.
    #[error("no program can be made for this call: {0}")]
    Program(#[from] crate::program::build::BuildError),
    /// The ports do not make this collective.
    #[error(transparent)]
    Ports(#[from] crate::plan::ports::GroupsError),
    /// No algorithm can be selected for the call.
    #[error(transparent)]
    Select(#[from] crate::choice::ports::Error),
    /// The ports are for another number of nodes.
    #[error("`{ports}` are ports for {found} nodes, and there are {nodes}")]
    PortsOfOthers {
        /// The ports.
        ports: String,
        /// The number of nodes that the ports are for.
        found: usize,
        /// The actual number of nodes.
        nodes: usize,
    },
    /// The collective has no plan.
    #[error("{name} cannot be planned for these nodes; leave the choice to the profile")]
    NoPlan {
        /// The collective.
        name: &'static str,
    },
    /// The plan failed the check before its execution.
    #[error("the plan for this call is wrong, which is a fault of this library; please report it: {reason}")]
    InvalidPlan {
        /// The reason.
        reason: String,
    },
    /// There are more nodes than all plans were checked for, and too many to check when a request is created.
    #[error(
        "plans of {nodes} nodes are not proved: all of up to {proved} are, and larger ones are checked when they are \
         made, but this one is too large for that; use `Settings::unproved` to run it all the same"
    )]
    Unproved {
        /// The number of nodes.
        nodes: usize,
        /// The largest number of nodes for which all plans are proved.
        proved: usize,
    },
    /// An invalid order of nodes.
    #[error(transparent)]
    InvalidOrder(#[from] crate::plan::order::InvalidOrder),
    /// The algorithm is for another collective.
    #[error("{name} is no algorithm for {kind}; `roundel list` shows which are")]
    OtherKind {
        /// The algorithm.
        name: String,
        /// The collective that was called.
        kind: roundel_spec::Kind,
    },
    /// The elements of the datatype overlap, so that they cannot be divided.
    #[error(
        "elements of this datatype lie among each other, so that they cannot be divided; leave this call to the library"
    )]
    Entangled,
    /// `MPI_IN_PLACE` where a buffer is required.
    #[error("MPI_IN_PLACE stands where this rank needs a buffer: give the address of one")]
    Misplaced,
    /// Device memory could not be copied.
    #[error("{runtime} cannot copy device memory: error {code}; set ROUNDEL_DEVICE=library")]
    Device {
        /// The runtime whose memory it is.
        runtime: &'static str,
        /// The runtime's error code.
        code: i32,
    },
    /// A non-blocking call sends blocks of any lengths through other ranks.
    #[error(
        "{name} sends blocks of any lengths through other ranks, which takes calls that block; use \
         `alltoall/spread-out` or `alltoall/pairwise`"
    )]
    NotStraight {
        /// The algorithm.
        name: String,
    },
    /// Settings are invalid, on this rank or another.
    #[error("{reason}")]
    Settings {
        /// The reason.
        reason: String,
    },
    /// Ranks would reduce with different trees.
    #[error(
        "{name}: ranks would reduce different trees, and their results could differ in the last bits; leave the \
         choice to the profile"
    )]
    NotReproducible {
        /// The requested algorithm.
        name: String,
    },
    /// The profile cannot be used.
    #[error("the profile {file} cannot be used: {reason}")]
    Profile {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
    /// The root is not a rank.
    #[error("there is no rank {root} among {p}: give a root below {p}")]
    NoSuchRoot {
        /// The root.
        root: usize,
        /// The number of ranks.
        p: usize,
    },
    /// The communicator is an intercommunicator, which no collective supports.
    #[error("this is an intercommunicator; merge it into an intracommunicator first")]
    Intercommunicator,
    /// Ranks disagree. This is detected before any of them starts.
    #[error("ranks disagree about {what}: all ranks must make the same call")]
    Disagree {
        /// The subject of the disagreement.
        what: &'static str,
    },
    /// Ranks that are placed on one node cannot share memory.
    #[error(
        "ranks of one node cannot share memory; say with `mpi::place` which ranks sit together, or use `Settings::flat`"
    )]
    NotShared,
    /// The ranks of a node cannot share memory.
    #[error(
        "no memory for all ranks of this node: {reason}; make room in /dev/shm, or leave the calls to the library"
    )]
    NoSharedMemory {
        /// The reason.
        reason: String,
    },
    /// The kernel did not let a rank read another's memory in the middle of a call.
    #[error(
        "rank {rank} cannot read the memory of rank {from}: {reason}; if its buffer is no ordinary memory, leave the \
         call to the library"
    )]
    Unreadable {
        /// This rank.
        rank: usize,
        /// The other rank.
        from: usize,
        /// The kernel's reason.
        reason: String,
    },
    /// A persistent request is running.
    #[error("this request is running: wait for it first")]
    Started,
    /// A persistent request is not running.
    #[error("this request is not running: start it first")]
    NotStarted,
    /// A message has another size than this rank expected: the ranks disagree about the call.
    #[error(
        "rank {rank} received {found} elements from rank {from} where it expected {expected}: \
         all ranks must call the same collective with the same counts"
    )]
    Mismatch {
        /// This rank.
        rank: usize,
        /// The sender.
        from: usize,
        /// The number of elements that this rank expected.
        expected: usize,
        /// The number of elements that arrived. If the message was too long and MPI does not report its length, a
        /// lower bound.
        found: usize,
    },
    /// A block of an alltoallv has another length than its destination expected.
    #[error(
        "rank {from} sent {found} elements to rank {rank}, which expected {expected}: the send count of rank \
         {from} for rank {rank} must equal the receive count of rank {rank} for rank {from}"
    )]
    BlockMismatch {
        /// This rank, the destination of the block.
        rank: usize,
        /// The source of the block.
        from: usize,
        /// The number of elements that this rank expected.
        expected: usize,
        /// The number of elements that arrived. If MPI truncated the message, a lower bound.
        found: usize,
    },
    /// A message has another element type than this rank expected (threads only).
    #[error(
        "rank {rank} received elements of type {found} from rank {from} where it expected {expected}: \
         all ranks must call with the same element type"
    )]
    WrongType {
        /// This rank.
        rank: usize,
        /// The sender.
        from: usize,
        /// The element type of this rank's call.
        expected: &'static str,
        /// The element type of the sender's call.
        found: &'static str,
    },
    /// All ranks wait for each other (threads only).
    #[error("deadlock: no rank can go on; all ranks must make the same calls in the same order\n{report}")]
    Deadlock {
        /// The ranks that wait and the ranks they wait for: one line for each, in the order of ranks.
        report: String,
    },
    /// Another rank failed, so that this call cannot complete (threads only).
    #[error("rank {rank} failed: {reason}")]
    PeerFailed {
        /// The rank that failed.
        rank: usize,
        /// The reason.
        reason: String,
    },
    /// The MPI library reported an error.
    #[error("{call} failed: {message}")]
    Mpi {
        /// The MPI function.
        call: &'static str,
        /// The error's class, such as `MPI_ERR_TYPE`.
        class: i32,
        /// The library's own error text.
        message: String,
    },
}
