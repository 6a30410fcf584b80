//! `MPI_Alltoall`: every rank has a block for every other.

use crate::algorithm::CAlgorithm;
use crate::arguments::{typed, unless_in_place};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Alltoall: every rank has a block for every other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_alltoall(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_alltoall", comm, how, call, || {
            ffi::PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
        })
    }
}

/// As MPI_Ialltoall. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_ialltoall(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_ialltoall", comm, how, request, call, |begun| {
            ffi::PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, begun)
        })
    }
}

/// As MPI_Alltoall_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_alltoall_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
    let library = prepares!(PMPI_Alltoall_init or PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_alltoall_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
) -> Result<MpiCall, ApiFailure> {
    let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
    Ok(MpiCall::Alltoall { send, recv: typed(recvbuf, recvcount, recvtype)? })
}
