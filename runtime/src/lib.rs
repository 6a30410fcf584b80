//! Roundel: MPI collectives that are declared once, checked at compile time, proved, and run on threads or on MPI.
//!
//! A collective is a struct whose attributes define peers and blocks as functions of rank and step. The derive
//! rejects an incorrect one and generates the code that runs:
//!
//! ```
//! use roundel::{Allgather, Collective, threads};
//!
//! /// Every rank sends its block to every other rank, one distance after the other.
//! #[derive(Collective)]
//! #[collective(allgather)]
//! #[round(s in 1..p)]
//! #[send(to = rank + s, blocks = [rank])]
//! #[recv(from = rank - s, blocks = [rank - s])]
//! #[holds(blocks = [rank - k; k in 0..s], blocks_sent = s - 1)]
//! #[bound(rounds = p - 1, each blocks_sent = p - 1)]
//! struct Direct;
//!
//! let results = threads::run(4, |comm| {
//!     let mut all = [0; 4];
//!     Direct.allgather(comm, &[comm.rank() as i32], &mut all).map(|()| all)
//! });
//! assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3])));
//! ```
//!
//! - [`Collective`](macro@Collective): the derive, and the reference of the language
//! - [`Allgather`], [`Allreduce`], [`ReduceScatter`], [`Alltoall`], [`Broadcast`], [`ReduceTo`], [`GatherTo`],
//!   [`ScatterFrom`]: the calls, on every [`Transport`]; [`AllowUnproved`] lets those through that no proof covers
//! - [`operation`]: the operations of reductions
//! - [`algorithms`]: the catalogue
//! - [`choice`]: which algorithm is fastest on a machine: all-to-alls and their radix, plans with ports, rules
//! - [`profile`]: the speed of a machine
//! - `selection` (feature `profile`): the algorithm of a call, by a file of rules, the environment, or by default
//! - [`plan`]: the steps of all ranks in one call, as data
//! - [`trace`]: the messages that a run posted
//! - [`threads`]: one thread per rank, for tests and programs without MPI
//! - [`transport`]: for authors of a transport
//! - `mpi` (feature `mpi`): every communicator of the `mpi` crate is a transport; also persistent collectives, and
//!   calls with MPI's own arguments
//! - [`Error`]: the errors of calls, detected before any message is sent where that is possible
//!
//! The documented interface follows semantic versioning, and so do the clauses of the language. Before 1.0 a new
//! minor version may break either, and the changelog lists the changes. Hidden items (for generated code) have no
//! guarantee, so `roundel`, `roundel-macros` and `roundel-spec` always have the same version. Proof records are
//! generated again if a version reads them differently.

extern crate self as roundel;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod algorithms;
mod allgather;
mod alltoall;
mod any_collective;
mod call;
pub mod choice;
mod error;
pub mod operation;
pub mod plan;
mod policy;
#[doc(hidden)]
pub mod program;
mod rank_rounds;
mod reduce;
mod requests;
mod rooted;
#[doc(hidden)]
pub mod runs;
pub mod transport;
mod unproved;

#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;
pub mod trace;

pub use allgather::{Allgather, IsAllgather};
pub use alltoall::{Alltoall, IsAlltoall};
#[doc(hidden)]
pub use call::geometry;
#[doc(hidden)]
pub use choice::clock;
pub use choice::profile;
#[cfg(feature = "profile")]
pub use choice::selection;
pub use error::Error;
pub use policy::{Policy, Wire};
pub use reduce::{Allreduce, IsAllreduce, IsReduceScatter, ReduceScatter};
pub use rooted::{Broadcast, GatherTo, IsBroadcast, IsGather, IsReduce, IsScatter, ReduceTo, ScatterFrom};
#[doc(inline)]
pub use roundel_macros::Collective;
pub use roundel_spec::{Collective, Place, Refusal, Sink, arith};
pub use transport::{Layout, Options, Transport};
pub use unproved::{AllowUnproved, Unproved};

/// The former name of [`choice::alltoalls`].
#[deprecated(note = "use `roundel::choice::alltoalls`")]
pub mod choose {
    pub use crate::choice::alltoalls::*;
}

/// The examples of the documentation, as tests.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/language.md")]
    struct Language;

    #[doc = include_str!("../../docs/rust.md")]
    struct Rust;
}
