//! Roundel's collectives for C and Fortran: `libroundel`, shared and static. The header is `include/roundel.h`, which
//! cbindgen makes of the functions here; `docs/c.md` says how to use it.
//!
//! Every function is a thin layer over [`engine::mpi::raw`]: it checks what can be checked of its arguments, lets no
//! panic pass, tells the communicator's error handler what went wrong, and calls the MPI library where the call is left
//! to it.
//!
//! - [`collectives`]: the table of all collectives
//! - [`algorithm`]: handles that say how a call is done
//! - [`request`]: calls that go on while the program does something else
//! - [`error`]: what went wrong, in words
#![cfg(feature = "mpi")]
#![allow(clippy::too_many_arguments, reason = "these are MPI's argument lists")]
#![allow(clippy::missing_safety_doc, reason = "the header says once for all functions what pointers must be")]

pub mod algorithm;
mod arguments;
pub mod collectives;
pub mod error;
pub mod fortran;
mod invoke;
pub mod request;
mod running;
pub mod version;
