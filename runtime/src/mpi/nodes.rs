//! Which ranks share a node.

use super::code::check;
use crate::error::Error;
use ::mpi::ffi;
use roundel_spec::Placement;
use std::ffi::{c_int, c_void};

/// Asks MPI which ranks share memory. Collective over `comm`.
pub(super) fn placement(comm: ffi::MPI_Comm, rank: c_int, p: c_int) -> Result<Placement, Error> {
    let leader = leader(comm, rank)?;
    let mut leaders = vec![0i32; p as usize];
    let from: *const i32 = &leader;
    // SAFETY: `leaders` has room for one number from each of the p ranks.
    let code = unsafe {
        let int = ffi::RSMPI_INT32_T;
        ffi::MPI_Allgather(from.cast(), 1, int, leaders.as_mut_ptr().cast(), 1, int, comm)
    };
    check("MPI_Allgather", code)?;
    Ok(Placement::from_nodes(leaders.into_iter().map(|leader| leader as usize).collect()))
}

/// The placement that all ranks together say: each its own path, from the node downwards. Collective over `comm`.
pub(super) fn given(comm: ffi::MPI_Comm, p: c_int, path: &[usize]) -> Result<Placement, Error> {
    let own: Vec<i32> = path.iter().map(|&part| i32::try_from(part)).collect::<Result<_, _>>().unwrap_or_default();
    // A part that does not fit is told to all, so that all refuse.
    let deep = if own.len() == path.len() { own.len() as i32 } else { i32::MAX };
    let mut depth = 0;
    let (from, to): (*const i32, *mut i32) = (&deep, &mut depth);
    // SAFETY: one number of each rank.
    let code = unsafe {
        let (int, max) = (ffi::RSMPI_INT32_T, ffi::RSMPI_MAX);
        ffi::MPI_Allreduce(from.cast(), to.cast(), 1, int, max, comm)
    };
    check("MPI_Allreduce", code)?;
    if depth == i32::MAX {
        return Err(Error::TooLarge {
            what: "a part of a rank's place",
            elements: usize::MAX,
            limit: i32::MAX as usize,
        });
    }
    let mut padded = own;
    padded.resize(depth as usize, -1);
    let mut all = vec![0i32; p as usize * depth as usize];
    // SAFETY: every rank sends `depth` numbers, and `all` has room for those of all p.
    let code = unsafe {
        let int = ffi::RSMPI_INT32_T;
        ffi::MPI_Allgather(padded.as_ptr().cast(), depth, int, all.as_mut_ptr().cast(), depth, int, comm)
    };
    check("MPI_Allgather", code)?;
    let path = |rank: usize| {
        let parts = &all[rank * depth as usize..][..depth as usize];
        parts.iter().take_while(|part| **part >= 0).map(|&part| part as usize).collect()
    };
    Ok(Placement::from_levels(&(0..p as usize).map(path).collect::<Vec<Vec<usize>>>()))
}

/// The lowest rank on this rank's node.
fn leader(comm: ffi::MPI_Comm, rank: c_int) -> Result<i32, Error> {
    // SAFETY: the null handle is a constant of the library.
    let mut node = unsafe { ffi::RSMPI_COMM_NULL };
    // SAFETY: `comm` is a live communicator, and all of its ranks call this.
    let code =
        unsafe { ffi::MPI_Comm_split_type(comm, ffi::RSMPI_COMM_TYPE_SHARED, rank, ffi::RSMPI_INFO_NULL, &mut node) };
    check("MPI_Comm_split_type", code)?;
    let mut leader = rank;
    let number: *mut i32 = &mut leader;
    // SAFETY: `node` was made above, and all of its ranks call both functions.
    let (sent, freed) = unsafe {
        let sent = ffi::MPI_Bcast(number.cast::<c_void>(), 1, ffi::RSMPI_INT32_T, 0, node);
        (sent, ffi::MPI_Comm_free(&mut node))
    };
    check("MPI_Bcast", sent)?;
    check("MPI_Comm_free", freed)?;
    Ok(leader)
}
