//! `MPI_Bcast`: every rank gets what the root has.

use crate::algorithm::CAlgorithm;
use crate::arguments::typed;
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Bcast: every rank gets what the root has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_bcast(
    buffer: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(buffer, count, datatype, root);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe { now("roundel_bcast", comm, how, call, || ffi::PMPI_Bcast(buffer, count, datatype, root, comm)) }
}

/// As MPI_Ibcast. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_ibcast(
    buffer: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(buffer, count, datatype, root);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_ibcast", comm, how, request, call, |begun| {
            ffi::PMPI_Ibcast(buffer, count, datatype, root, comm, begun)
        })
    }
}

/// As MPI_Bcast_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_bcast_init(
    buffer: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(buffer, count, datatype, root);
    let library = prepares!(PMPI_Bcast_init or PMPI_Ibcast(buffer, count, datatype, root, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_bcast_init", comm, how, request, call, library) }
}

fn call(buffer: *mut c_void, count: c_int, datatype: ffi::MPI_Datatype, root: c_int) -> Result<MpiCall, ApiFailure> {
    Ok(MpiCall::Broadcast { data: typed(buffer, count, datatype)?, root })
}
