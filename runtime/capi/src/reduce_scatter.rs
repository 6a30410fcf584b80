//! `MPI_Reduce_scatter`: every rank gets its block of the reduction, with a length of its own.

use crate::algorithm::CAlgorithm;
use crate::arguments::{list, reduced};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Reduce_scatter: every rank gets its block of the reduction, with a length of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_reduce_scatter(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, recvbuf, recvcounts, datatype, op);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_reduce_scatter", comm, how, call, || {
            ffi::PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm)
        })
    }
}

/// As MPI_Ireduce_scatter. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_ireduce_scatter(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, recvcounts, datatype, op);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_ireduce_scatter", comm, how, request, call, |begun| {
            ffi::PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, begun)
        })
    }
}

/// As MPI_Reduce_scatter_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_reduce_scatter_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, recvcounts, datatype, op);
    let library =
        prepares!(PMPI_Reduce_scatter_init or PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_reduce_scatter_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
) -> Result<MpiCall, ApiFailure> {
    let counts = list("the list of counts", recvcounts)?;
    Ok(MpiCall::ReduceScatter { data: reduced(sendbuf, recvbuf, datatype, op)?, counts })
}
