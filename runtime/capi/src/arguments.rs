//! Checks MPI's arguments as far as possible without asking the library.

use crate::error::ApiFailure;
use engine::mpi::raw::{IntList, Reduced, Scattered, Typed, in_place};
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// Elements at an address.
pub(crate) fn typed(
    address: *const c_void,
    elements: c_int,
    datatype: ffi::MPI_Datatype,
) -> Result<Typed, ApiFailure> {
    let address = address.cast_mut();
    buffer("a buffer", address)?;
    Ok(Typed { address, count: count("a count", elements)?, datatype: known(datatype)? })
}

/// A buffer that this rank ignores, whatever the program passed.
pub(crate) fn ignored(datatype: ffi::MPI_Datatype) -> Typed {
    Typed { address: std::ptr::null_mut(), count: 0, datatype }
}

/// The elements, or `None` for MPI_IN_PLACE.
pub(crate) fn unless_in_place<T>(
    address: *const c_void,
    elements: impl FnOnce() -> Result<T, ApiFailure>,
) -> Result<Option<T>, ApiFailure> {
    if address.cast_mut() == in_place() { Ok(None) } else { elements().map(Some) }
}

/// Blocks at displacements.
pub(crate) fn scattered(
    address: *const c_void,
    counts: *const c_int,
    displs: *const c_int,
    datatype: ffi::MPI_Datatype,
) -> Result<Scattered, ApiFailure> {
    let address = address.cast_mut();
    buffer("a buffer", address)?;
    let (counts, displs) = (list("the list of counts", counts)?, list("the list of displacements", displs)?);
    Ok(Scattered { address, counts, displs, datatype: known(datatype)? })
}

/// The buffers of a reduction.
pub(crate) fn reduced(
    send: *const c_void,
    recv: *mut c_void,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
) -> Result<Reduced, ApiFailure> {
    buffer("the receive buffer", recv)?;
    let send = unless_in_place(send, || Ok(send))?;
    Ok(Reduced { send, recv, datatype: known(datatype)?, op })
}

/// A number of elements.
pub(crate) fn count(what: &'static str, found: c_int) -> Result<usize, ApiFailure> {
    usize::try_from(found).map_err(|_| ApiFailure::Negative { what, found })
}

/// A list that must have one entry for each rank.
pub(crate) fn list(what: &'static str, list: *const c_int) -> Result<IntList, ApiFailure> {
    if list.is_null() { Err(ApiFailure::Null { what }) } else { Ok(IntList::Ints(list)) }
}

/// Whether this rank is the root. `comm` is live.
pub(crate) fn is_root(comm: ffi::MPI_Comm, root: c_int) -> bool {
    let mut rank = -1;
    // SAFETY: the caller has a live communicator.
    unsafe { ffi::MPI_Comm_rank(comm, &mut rank) };
    rank == root
}

/// Rejects MPI_IN_PLACE where it has no meaning.
pub(crate) fn buffer(what: &'static str, address: *mut c_void) -> Result<(), ApiFailure> {
    if address == in_place() { Err(ApiFailure::InPlace { what }) } else { Ok(()) }
}

fn known(datatype: ffi::MPI_Datatype) -> Result<ffi::MPI_Datatype, ApiFailure> {
    // SAFETY: a constant.
    let none = unsafe { ffi::RSMPI_DATATYPE_NULL };
    if datatype == none { Err(ApiFailure::NoDatatype { what: "a datatype" }) } else { Ok(datatype) }
}
