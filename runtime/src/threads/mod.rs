//! Ranks as threads of one process: collectives run, and are debugged, without an MPI library.
//!
//! [`run`] starts one thread for each rank and hands each a [`ThreadComm`], on which every collective of this crate
//! runs as it does on MPI. Messages are rendezvous: a send completes only when its receive has been posted, so that
//! a schedule which relies on the buffers of some MPI library does not pass here by luck. Messages from one rank to
//! another keep their order.
//!
//! ```
//! use roundel::{Allgather, Error, algorithms::Sparbit, threads};
//!
//! // Rank 2 forgets to call.
//! let results = threads::run(3, |comm| match comm.rank() {
//!     2 => Ok(()),
//!     rank => Sparbit.allgather(comm, &[rank], &mut [0; 3]),
//! });
//! let Err(Error::Deadlock { report }) = &results[0] else { panic!("{results:?}") };
//! assert!(report.contains("rank 2 has finished"), "{report}");
//! ```
//!
//! Calls can be prepared and run beside the rank's other work: see [`persistent`].
//!
//! # When something goes wrong
//!
//! Nothing hangs, and nothing waits for a time limit. The world knows at every moment which ranks still run. When
//! the last of them blocks or ends while another waits, no rank can ever go on, and every rank that waits returns
//! [`Error::Deadlock`](crate::Error::Deadlock) with a report of who waits for whom. (A rank that blocks on something
//! else, say a lock of the caller's own, counts as running; so does one that tests a request again and again.) When a
//! message does not fit its receive, or when a rank panics, the rank itself learns why, and the others get
//! [`Error::PeerFailed`](crate::Error::PeerFailed).
//!
//! After any of these **the whole world is broken**: messages of the failed call may be left behind, so every later
//! call on it returns an error at once. After an error the contents of a call's receive blocks are unspecified;
//! elements outside the blocks are untouched even then.

mod agreement;
mod alltoall;
mod comm;
mod hub;
mod launch;
mod member;
mod parcel;
pub mod persistent;
mod queues;
mod report;
mod request;
mod rotation;
mod sink;
mod world;

pub use comm::ThreadComm;
pub use launch::{run, run_placed};
pub use roundel_spec::Placement;
