//! What can go wrong in a call. Every message says what to do about it.

use roundel_spec::Refusal;

/// Why a collective call failed. Everything up to [`Error::Mismatch`] is found before any message is sent.
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
    #[error("{what} has {found} elements but needs {expected}: {why}")]
    Length {
        /// Which argument.
        what: &'static str,
        /// What it needs.
        expected: usize,
        /// What it has.
        found: usize,
        /// The rule.
        why: &'static str,
    },
    /// Two blocks of a receive buffer overlap.
    #[error("blocks {first} and {second} overlap in the receive buffer; give each its own displacement")]
    Overlap {
        /// One block.
        first: usize,
        /// Another.
        second: usize,
    },
    /// Counts and displacements whose sum does not fit.
    #[error("{what} is {elements} elements, more than {limit}: split the call into smaller ones")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        elements: usize,
        /// The largest size served.
        limit: usize,
    },
    /// The collective does not declare the layout that was asked for.
    #[error("{name} declares no rotated layout; use `Layout::Declared`, or add `rotated(…)` to its `layout` clause")]
    NoSuchLayout {
        /// The collective.
        name: String,
    },
    /// An operation that does not commute, on a collective that does not keep the order of ranks.
    #[error(
        "{name} does not keep the order of ranks, and this operation does not commute; use one with `rank_order`"
    )]
    NeedsOrder {
        /// The collective.
        name: String,
    },
    /// Another call is under way on the same communicator.
    #[error("a collective is already running on this communicator; give each thread a communicator of its own")]
    Busy,
    /// Collectives have run on the communicator, with places that cannot change any more.
    #[error(
        "the ranks of this communicator have their places already; say them before its first collective, or duplicate it"
    )]
    Placed,
    /// Ranks say where they sit with different numbers of parts.
    #[error(
        "ranks say where they sit with {least} to {most} numbers; all must give as many (node, socket and so on)"
    )]
    PlaceDepth {
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// A rank says where it sits with a number that is too large.
    #[error(
        "a rank says where it sits with a number above {limit}, or with too many; number nodes and their parts from 0"
    )]
    PlaceTooLarge {
        /// The largest number.
        limit: usize,
    },
    /// The messages of the communicator are being recorded.
    #[error("the messages of this communicator are being recorded already; record them once, or duplicate it")]
    Traced,
    /// A persistent collective that cannot be done.
    #[error("no program can be made for this call: {0}")]
    Program(#[from] crate::program::build::BuildError),
    /// Ports that make no such collective.
    #[error(transparent)]
    Ports(#[from] crate::plan::ports::GroupsError),
    /// A call for which nothing can be selected.
    #[error(transparent)]
    Select(#[from] crate::select::Error),
    /// Ports for another number of nodes.
    #[error("`{ports}` are ports for {found} nodes, and there are {nodes}")]
    PortsOfOthers {
        /// The ports.
        ports: String,
        /// How many nodes they are for.
        found: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A collective without a plan.
    #[error("{name} cannot be planned for these nodes; leave the choice to the profile")]
    NoPlan {
        /// Which one.
        name: &'static str,
    },
    /// A plan that was checked before it ran, and is wrong.
    #[error("the plan for this call is wrong, which is a fault of this library; please report it: {reason}")]
    InvalidPlan {
        /// What is wrong.
        reason: String,
    },
    /// More nodes than have been checked, and too many to check when a request is made.
    #[error(
        "plans of {nodes} nodes are not proved: all of up to {proved} are, and larger ones are checked when they are made, but this one is \
         too large for that; use `Settings::unproved` to run it all the same"
    )]
    Unproved {
        /// How many nodes there are.
        nodes: usize,
        /// Up to how many all plans are proved.
        proved: usize,
    },
    /// An invalid order of nodes.
    #[error(transparent)]
    NoOrder(#[from] crate::plan::order::InvalidOrder),
    /// An algorithm of another collective.
    #[error("{name} is no algorithm for {kind}; `roundel list` shows which are")]
    OtherKind {
        /// The algorithm.
        name: String,
        /// What was called.
        kind: roundel_spec::Kind,
    },
    /// Elements of a datatype that cannot be told apart by their places.
    #[error(
        "elements of this datatype lie among each other, so that they cannot be divided; leave this call to the library"
    )]
    Entangled,
    /// `MPI_IN_PLACE` where there must be a buffer.
    #[error("MPI_IN_PLACE stands where this rank needs a buffer: give the address of one")]
    Misplaced,
    /// Device memory could not be copied.
    #[error("{runtime} cannot copy device memory: error {code}; set ROUNDEL_DEVICE=library")]
    Device {
        /// Whose memory it is.
        runtime: &'static str,
        /// What it says.
        code: i32,
    },
    /// A call that does not block, with blocks of any lengths that make a detour.
    #[error(
        "{name} sends blocks of any lengths through other ranks, which takes calls that block; use `alltoall/spread-out` or \
         `alltoall/pairwise`"
    )]
    NotStraight {
        /// The algorithm.
        name: String,
    },
    /// Settings that make no sense, on this rank or another.
    #[error("{reason}")]
    Settings {
        /// What is wrong with them.
        reason: String,
    },
    /// Ranks would reduce different trees.
    #[error(
        "{name}: ranks would reduce different trees, and their results could differ in the last bits; leave the choice to the profile"
    )]
    NotReproducible {
        /// What was asked for.
        name: String,
    },
    /// A profile that cannot be used.
    #[error("the profile {file} cannot be used: {reason}")]
    Profile {
        /// Where it was read.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A root that is no rank.
    #[error("there is no rank {root} among {p}: give a root below {p}")]
    NoSuchRoot {
        /// What was given.
        root: usize,
        /// How many ranks there are.
        p: usize,
    },
    /// A communicator with two groups, for which no collective is declared.
    #[error("this is an intercommunicator; merge it into an intracommunicator first")]
    Intercommunicator,
    /// Ranks want different things, which was found before any of them began.
    #[error("ranks disagree about {what}: all ranks must make the same call")]
    Disagree {
        /// About what.
        what: &'static str,
    },
    /// Ranks that are said to sit on one node cannot share memory.
    #[error(
        "ranks of one node cannot share memory; say with `mpi::place` which ranks sit together, or use `Settings::flat`"
    )]
    NotShared,
    /// A persistent request is running.
    #[error("this request is running: wait for it first")]
    Started,
    /// A persistent request is not running.
    #[error("this request is not running: start it first")]
    NotStarted,
    /// A message had another size than this rank expected: the ranks do not agree about the call.
    #[error(
        "rank {rank} received {found} elements from rank {from} where it expected {expected}: \
         all ranks must call the same collective with the same counts"
    )]
    Mismatch {
        /// This rank.
        rank: usize,
        /// The sender.
        from: usize,
        /// What this rank expected.
        expected: usize,
        /// What arrived; of a message that was too long, the least that it can have been if the library does not say.
        found: usize,
    },
    /// A block of an alltoallv has another length than its destination expected.
    #[error(
        "rank {from} sent {found} elements to rank {rank}, which expected {expected}: the send count of rank \
         {from} for rank {rank} must equal the receive count of rank {rank} for rank {from}"
    )]
    BlockMismatch {
        /// This rank, for which the block is.
        rank: usize,
        /// The rank whose block it is.
        from: usize,
        /// What this rank expected.
        expected: usize,
        /// What arrived; if MPI found that too long, the least that it can have been.
        found: usize,
    },
    /// A message had another element type than this rank expected (threads only).
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
    /// No rank can go on (threads only).
    #[error("deadlock: no rank can go on; all ranks must make the same calls in the same order\n{report}")]
    Deadlock {
        /// Who waits for whom: a line for each rank that waits, in the order of ranks.
        report: String,
    },
    /// Another rank failed, so that this call cannot complete (threads only).
    #[error("rank {rank} failed: {reason}")]
    PeerFailed {
        /// The rank that failed.
        rank: usize,
        /// Why.
        reason: String,
    },
    /// The MPI library reported an error.
    #[error("{call} failed: {message}")]
    Mpi {
        /// The MPI function.
        call: &'static str,
        /// The error's class, such as `MPI_ERR_TYPE`.
        class: i32,
        /// The library's own text.
        message: String,
    },
}
