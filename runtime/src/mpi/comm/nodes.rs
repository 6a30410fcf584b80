//! Finds the ranks that share a node.

use crate::error::Error;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use roundel_spec::Placement;
use std::ffi::c_int;

/// Asks MPI which ranks share memory. Collective over `comm`.
pub(crate) fn placement(comm: ffi::MPI_Comm, rank: c_int, p: c_int) -> Result<Placement, Error> {
    let leader = leader(comm, rank)?;
    let mut leaders = vec![0i32; p as usize];
    let from: *const i32 = &leader;
    // SAFETY: `leaders` has room for one number from each of the p ranks.
    let code = unsafe {
        let int = ffi::RSMPI_INT32_T;
        ffi::PMPI_Allgather(from.cast(), 1, int, leaders.as_mut_ptr().cast(), 1, int, comm)
    };
    check("MPI_Allgather", code)?;
    Ok(Placement::from_nodes(leaders.into_iter().map(|leader| leader as usize).collect()))
}

/// The placement that the ranks specify: each gives its own path, from the node downwards. Collective over `comm`.
pub(crate) fn given(comm: ffi::MPI_Comm, p: c_int, path: &[usize]) -> Result<Placement, Error> {
    let own: Vec<i32> = path.iter().map(|&part| i32::try_from(part)).collect::<Result<_, _>>().unwrap_or_default();
    // A number that does not fit is reported to all ranks, so that all return the error.
    let fits = own.len() == path.len() && path.len() < i32::MAX as usize;
    let depth = same_depth(comm, if fits { own.len() as i32 } else { i32::MAX })?;
    let mut all = vec![0i32; p as usize * depth as usize];
    // SAFETY: every rank sends `depth` numbers, and `all` has room for those of all p.
    let code = unsafe {
        let int = ffi::RSMPI_INT32_T;
        ffi::PMPI_Allgather(own.as_ptr().cast(), depth, int, all.as_mut_ptr().cast(), depth, int, comm)
    };
    check("MPI_Allgather", code)?;
    let path = |rank: usize| {
        let parts = &all[rank * depth as usize..][..depth as usize];
        parts.iter().map(|&part| part as usize).collect()
    };
    Ok(Placement::from_levels(&(0..p as usize).map(path).collect::<Vec<Vec<usize>>>()))
}

/// The common length of the paths of all ranks, or the same error on all ranks. Collective over `comm`.
fn same_depth(comm: ffi::MPI_Comm, own: i32) -> Result<i32, Error> {
    let (least_and_most, mut found) = ([-own, own], [0; 2]);
    let (from, to): (*const i32, *mut i32) = (least_and_most.as_ptr(), found.as_mut_ptr());
    // SAFETY: both lists have two numbers.
    let code = unsafe {
        let (int, max) = (ffi::RSMPI_INT32_T, ffi::RSMPI_MAX);
        ffi::PMPI_Allreduce(from.cast(), to.cast(), 2, int, max, comm)
    };
    check("MPI_Allreduce", code)?;
    match (-found[0], found[1]) {
        (_, i32::MAX) => Err(Error::PlaceTooLarge { limit: i32::MAX as usize }),
        (least, most) if least < most => Err(Error::PlaceDepth { least: least as usize, most: most as usize }),
        (depth, _) => Ok(depth),
    }
}

/// The lowest rank on this rank's node.
fn leader(comm: ffi::MPI_Comm, rank: c_int) -> Result<i32, Error> {
    // SAFETY: the null handle is a constant of the library.
    let mut node = unsafe { ffi::RSMPI_COMM_NULL };
    // SAFETY: `comm` is a live communicator, and all of its ranks call this.
    let code =
        unsafe { ffi::MPI_Comm_split_type(comm, ffi::RSMPI_COMM_TYPE_SHARED, rank, ffi::RSMPI_INFO_NULL, &mut node) };
    check("MPI_Comm_split_type", code)?;
    // Ranks are ordered by the key, so the first one is the lowest.
    let first = ranks_in(node, 1, comm);
    // SAFETY: `node` was made above, and all of its ranks free it.
    check("MPI_Comm_free", unsafe { ffi::MPI_Comm_free(&mut node) })?;
    Ok(first?[0])
}

/// The numbers in `within` of the first `n` ranks of `of`; negative for ranks that are not in it. Local.
pub(crate) fn ranks_in(of: ffi::MPI_Comm, n: c_int, within: ffi::MPI_Comm) -> Result<Vec<c_int>, Error> {
    let (ranks, mut found): (Vec<c_int>, _) = ((0..n).collect(), vec![0; n as usize]);
    // SAFETY: both communicators are live, both lists have `n` entries, and both groups are freed once.
    let codes = unsafe {
        let (mut one, mut other) = (ffi::RSMPI_GROUP_NULL, ffi::RSMPI_GROUP_NULL);
        check("MPI_Comm_group", ffi::MPI_Comm_group(of, &mut one))?;
        check("MPI_Comm_group", ffi::MPI_Comm_group(within, &mut other))?;
        let translated = ffi::MPI_Group_translate_ranks(one, n, ranks.as_ptr().cast_mut(), other, found.as_mut_ptr());
        [translated, ffi::MPI_Group_free(&mut one), ffi::MPI_Group_free(&mut other)]
    };
    codes.into_iter().try_for_each(|code| check("MPI_Group_translate_ranks", code))?;
    Ok(found)
}
