//! MPI's own collectives, served by Roundel. The library is preloaded, or linked before MPI; the program need not
//! change.
//!
//! Each function here has the name of an MPI function. Roundel serves the calls that it can; all others go to the
//! function's other name, `PMPI_…`, with unchanged arguments. See `docs/interposition.md`.

#![cfg(feature = "mpi")]

mod arguments;
mod barrier;
mod collectives;
mod end;
#[cfg(not(open_mpi))]
mod f08;
mod failure;
mod family;
#[cfg(open_mpi)]
mod fortran;
mod guard;
mod passing;
mod progress;
mod request;
mod serve;
mod symbol;
mod unload;
