//! MPI's own collectives, served by Roundel. The library is preloaded or linked before MPI, and the program is not
//! changed.
//!
//! Each function here has the name of one of MPI's. What Roundel serves, it does; everything else goes to the
//! function's other name, `PMPI_…`, with the very arguments it came with. See `docs/interposition.md`.

#![cfg(feature = "mpi")]

mod arguments;
mod collectives;
mod end;
#[cfg(not(open_mpi))]
mod f08;
mod family;
#[cfg(open_mpi)]
mod fortran;
mod guard;
mod held;
#[cfg(open_mpi)]
mod hook;
mod passing;
mod progress;
mod request;
mod serve;
mod start;
mod symbol;
#[cfg(not(open_mpi))]
mod ucx;
mod unload;
