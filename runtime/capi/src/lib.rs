//! Roundel's collectives for C and Fortran: `libroundel`, shared and static. The header is `include/roundel.h`, which
//! cbindgen generates from the functions here; `docs/c.md` explains how to use it.
//!
//! Every function is a thin layer over [`engine::mpi::raw`]: it checks its arguments as far as possible, catches
//! panics, reports errors to the communicator's error handler, and calls the MPI library for calls that are left to it.
//!
//! - [`collectives`]: the table of all collectives
//! - [`algorithm`]: handles that determine how a call runs
//! - [`request`]: non-blocking and persistent calls
//! - [`error`]: errors and their messages
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
