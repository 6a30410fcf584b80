//! Roundel: MPI collectives that are declared once, checked at compile time, and run on threads or on MPI.

extern crate self as roundel;

pub mod algorithms;
mod allgather;
mod error;
#[doc(hidden)]
pub mod generated;
pub mod geometry;
mod policy;
pub mod runs;
mod transport;
mod unproved;

#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;

pub use allgather::{Allgather, IsAllgather};
pub use error::Error;
pub use policy::{Policy, Wire};
pub use roundel_macros::Collective;
pub use roundel_spec::{Collective, Place, Refusal, Sink, arith};
pub use transport::{Gather, Layout, Options, Transport};
pub use unproved::{AllowUnproved, Unproved};
