//! `MPI_Allgatherv`: every rank gets the blocks of all, which have lengths of their own.

use crate::algorithm::CAlgorithm;
use crate::arguments::{scattered, typed, unless_in_place};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Allgatherv: every rank gets the blocks of all, which have lengths of their own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_allgatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_allgatherv", comm, how, call, || {
            ffi::PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
        })
    }
}

/// As MPI_Iallgatherv. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_iallgatherv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_iallgatherv", comm, how, request, call, |begun| {
            ffi::PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, begun)
        })
    }
}

/// As MPI_Allgatherv_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_allgatherv_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype);
    let library = prepares!(PMPI_Allgatherv_init or PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_allgatherv_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const c_int,
    displs: *const c_int,
    recvtype: ffi::MPI_Datatype,
) -> Result<MpiCall, ApiFailure> {
    let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
    Ok(MpiCall::Allgatherv { send, recv: scattered(recvbuf, recvcounts, displs, recvtype)? })
}
