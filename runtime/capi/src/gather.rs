//! `MPI_Gather`: the root gets the blocks of all.

use crate::algorithm::CAlgorithm;
use crate::arguments::{ignored, is_root, typed, unless_in_place};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::MpiCall;
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// As MPI_Gather: the root gets the blocks of all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_gather(
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
        now("roundel_gather", comm, how, call, || {
            ffi::PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
        })
    }
}

/// As MPI_Igather. Completed by roundel_test() or roundel_wait().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_igather(
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
        begin("roundel_igather", comm, how, request, call, |begun| {
            ffi::PMPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, begun)
        })
    }
}

/// As MPI_Gather_init, without its info. Started by roundel_start() as often as one likes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_gather_init(
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
    let library = prepares!(PMPI_Gather_init or PMPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    // SAFETY: the caller promises arguments that MPI would take, a handle that is NULL or live, and room for a request.
    unsafe { init("roundel_gather_init", comm, how, request, call, library) }
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
    let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
    let recv = if is_root(comm, root) { typed(recvbuf, recvcount, recvtype)? } else { ignored(recvtype) };
    Ok(MpiCall::Gather { send, recv, root })
}
