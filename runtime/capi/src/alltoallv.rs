//! `MPI_Alltoallv`: every rank has a block for every other, with a length of its own.

use crate::algorithm::CAlgorithm;
use crate::arguments::{scattered, unless_in_place};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Alltoallv: every rank has a block for every other, with a length of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_alltoallv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_alltoallv", comm, how, call, || {
            ffi::PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
        })
    }
}

/// As MPI_Ialltoallv. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_ialltoallv(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_ialltoallv", comm, how, request, call, |begun| {
            ffi::PMPI_Ialltoallv(
                sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, begun,
            )
        })
    }
}

/// As MPI_Alltoallv_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_alltoallv_init(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
    let library = prepares!(PMPI_Alltoallv_init or PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_alltoallv_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    sendcounts: *const c_int,
    sdispls: *const c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    rdispls: *const c_int,
    recvtype: ffi::MPI_Datatype,
) -> Result<MpiCall, ApiFailure> {
    let send = unless_in_place(sendbuf, || scattered(sendbuf, sendcounts, sdispls, sendtype))?;
    Ok(MpiCall::Alltoallv { send, recv: scattered(recvbuf, recvcounts, rdispls, recvtype)? })
}
