//! `MPI_Allreduce`: every rank gets the reduction of what all bring.

use crate::algorithm::CAlgorithm;
use crate::arguments::{self, reduced};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Allreduce: every rank gets the reduction of what all bring.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_allreduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, recvbuf, count, datatype, op);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_allreduce", comm, how, call, || ffi::PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm))
    }
}

/// As MPI_Iallreduce. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_iallreduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, count, datatype, op);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_iallreduce", comm, how, request, call, |begun| {
            ffi::PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, begun)
        })
    }
}

/// As MPI_Allreduce_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_allreduce_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, count, datatype, op);
    let library = prepares!(PMPI_Allreduce_init or PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_allreduce_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
) -> Result<MpiCall, ApiFailure> {
    Ok(MpiCall::Allreduce {
        data: reduced(sendbuf, recvbuf, datatype, op)?,
        count: arguments::count("the count", count)?,
    })
}
