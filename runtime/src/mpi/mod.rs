//! Collectives on real MPI.
//!
//! Every communicator of the `mpi` crate is a [`Transport`]. Its messages travel on a duplicate of the communicator,
//! so that they never mix with the user's. The first call creates the duplicate and all working memory, and caches
//! them on the user's communicator; they are freed with it, and later calls allocate nothing.
//!
//! Layers, from the lowest; each imports only those before it:
//!
//! - `process`: MPI's return codes, locks, progress, messages to the user
//! - `comm`: our duplicate of a communicator, which ranks share a node, agreement of ranks
//! - `lowering`: from a rank's rounds to a plan, a list of copies and messages
//! - `execution`: the loop that executes the steps of a plan, and the log of what it posts
//! - `handles`: properties of MPI's datatypes and operations
//! - `arguments`: calls with MPI's own arguments, and their shape
//! - `journal`, `cache`: records of calls, and data kept from one call to the next
//! - `state`: the state cached on a communicator, and exclusive access to it
//! - `calls`, [`raw`], [`persistent`], `tune`: the interfaces, for Rust calls, calls with MPI's own arguments,
//!   collectives that are prepared once and started many times, and the measurement of a profile
//!
//! Invariant: Rust code does not access, move or free a buffer while a request uses it.
//!
//! Ranks that disagree about a call get [`Error::Mismatch`], as far as the MPI library allows. Open MPI 4.1 writes a
//! message of more than a few kilobytes past the end of a shorter receive buffer before it reports the truncation
//! (`btl_vader_single_copy_mechanism=none` helps within a node). MPICH 4.0 ends the job if the round has several
//! messages each way, unless `MPI_COMM_WORLD` returns errors. In an alltoallv, this only affects blocks that travel
//! directly from their source to their destination: the length of all others is known before they are received, and a
//! block that does not fit is not written anywhere. Different counts of more than 2^31 elements may leave messages
//! behind, because the two ranks disagree about the number of messages.

mod arguments;
mod cache;
mod calls;
mod comm;
mod execution;
mod handles;
mod journal;
mod lowering;
pub mod persistent;
mod process;
pub mod raw;
mod state;
mod tune;

pub use self::calls::{cut_messages, place, trace};
pub use self::tune::{BUDGET, tune};

#[cfg(doc)]
use crate::error::Error;
#[cfg(doc)]
use crate::transport::Transport;
