//! `MPI_Reduce_scatter_block`: every rank gets its block of the reduction.

use crate::algorithm::CAlgorithm;
use crate::arguments::{count, reduced};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Reduce_scatter_block: every rank gets its block of the reduction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_reduce_scatter_block(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, recvbuf, recvcount, datatype, op);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_reduce_scatter_block", comm, how, call, || {
            ffi::PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm)
        })
    }
}

/// As MPI_Ireduce_scatter_block. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_ireduce_scatter_block(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, recvcount, datatype, op);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_ireduce_scatter_block", comm, how, request, call, |begun| {
            ffi::PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, begun)
        })
    }
}

/// As MPI_Reduce_scatter_block_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_reduce_scatter_block_init(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, recvbuf, recvcount, datatype, op);
    let library = prepares!(PMPI_Reduce_scatter_block_init or PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_reduce_scatter_block_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: c_int,
    datatype: ffi::MPI_Datatype,
    op: ffi::MPI_Op,
) -> Result<MpiCall, ApiFailure> {
    let count = count("the count", recvcount)?;
    Ok(MpiCall::ReduceScatterBlock { data: reduced(sendbuf, recvbuf, datatype, op)?, count })
}
