//! `MPI_Reduce`: the root gets the reduction of what all bring.

use crate::algorithm::CAlgorithm;
use crate::arguments::{self, is_root, reduced};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Reduce: the root gets the reduction of what all bring.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_reduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, recvbuf, count, datatype, op, root, comm);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_reduce", comm, how, call, || ffi::PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm))
    }
}

/// As MPI_Ireduce. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_ireduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, count, datatype, op, root, comm);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_ireduce", comm, how, request, call, |begun| {
            ffi::PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, begun)
        })
    }
}

/// As MPI_Reduce_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_reduce_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, count, datatype, op, root, comm);
    let library = prepares!(PMPI_Reduce_init or PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_reduce_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    root: c_int,
    comm: ffi::MPI_Comm,
) -> Result<MpiCall, ApiFailure> {
    // The receive buffer means nothing on the others, and nothing lies there.
    let is_root = is_root(comm, root);
    if !is_root {
        arguments::buffer("the send buffer of a rank that is not the root", sendbuf.cast_mut())?;
    }
    let recvbuf = if is_root { recvbuf } else { std::ptr::null_mut() };
    let data = reduced(sendbuf, recvbuf, datatype, op)?;
    Ok(MpiCall::Reduce { data, count: arguments::count("the count", count)?, root })
}
