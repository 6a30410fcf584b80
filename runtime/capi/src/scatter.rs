//! `MPI_Scatter`: every rank gets its block of what the root has.

use crate::algorithm::CAlgorithm;
use crate::arguments::{ignored, is_root, typed, unless_in_place};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Scatter: every rank gets its block of what the root has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_scatter(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    // SAFETY: the caller promises arguments that MPI would take, and a handle that is NULL or live.
    unsafe {
        now("roundel_scatter", comm, how, call, || {
            ffi::PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
        })
    }
}

/// As MPI_Iscatter. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_iscatter(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe {
        begin("roundel_iscatter", comm, how, request, call, |begun| {
            ffi::PMPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, begun)
        })
    }
}

/// As MPI_Scatter_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_scatter_init(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
    how: *const CAlgorithm,
    request: *mut *mut CRequest,
) -> c_int {
    let call = || call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    let library = prepares!(PMPI_Scatter_init or PMPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_scatter_init", comm, how, request, call, library) }
}

fn call(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: ffi::MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: ffi::MPI_Datatype,
    root: c_int,
    comm: ffi::MPI_Comm,
) -> Result<MpiCall, ApiFailure> {
    let recv = unless_in_place(recvbuf, || typed(recvbuf, recvcount, recvtype))?;
    let send = if is_root(comm, root) { typed(sendbuf, sendcount, sendtype)? } else { ignored(sendtype) };
    Ok(MpiCall::Scatter { send, recv, root })
}
