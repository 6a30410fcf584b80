//! Blocking messages. While operations are under way, each is its non-blocking form, and operations go on until it is complete:
//! another rank may send what is waited for only after an operation in which this rank has its part.

use crate::progress;
use crate::serve::SUCCESS;
use crate::waits::until;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
use std::ffi::{c_int, c_void};

type In = *const c_void;
type Out = *mut c_void;

/// Completes what a non-blocking function has begun.
///
/// # Safety
/// The status is one, or none is asked for.
unsafe fn finished(status: *mut MPI_Status, begin: impl FnOnce(*mut MPI_Request) -> c_int) -> c_int {
    // SAFETY: a constant of the library, the request that was just made, and what the caller promises.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        let code = begin(&mut request);
        if code != SUCCESS {
            return code;
        }
        until(|done| ffi::PMPI_Test(&mut request, done, status))
    }
}

/// Functions that are their non-blocking form and a wait; with a status, or without.
macro_rules! messages {
    (sends $($name:ident $library:ident $begin:ident ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of MPI's function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            // SAFETY: the program's arguments.
            unsafe {
                if progress::passes() {
                    return ffi::$library($($argument),*);
                }
                finished(ffi::RSMPI_STATUS_IGNORE, |request| ffi::$begin($($argument,)* request))
            }
        }
    )*};
    (receives $($name:ident $library:ident $begin:ident ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of MPI's function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* status: *mut MPI_Status) -> c_int {
            // SAFETY: the program's arguments.
            unsafe {
                if progress::passes() {
                    return ffi::$library($($argument,)* status);
                }
                finished(status, |request| ffi::$begin($($argument,)* request))
            }
        }
    )*};
    // A receive and a send, of which the receive has the status.
    (both $($name:ident $library:ident $send:ident $recv:ident $count:ty;)*) => {$(
        /// # Safety
        /// As of MPI's function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            send: In, sends: $count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
            recv: Out, recvs: $count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
            comm: MPI_Comm, status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the program's arguments.
            unsafe {
                if progress::passes() {
                    return ffi::$library(
                        send, sends, sendtype, dest, sendtag, recv, recvs, recvtype, source, recvtag, comm, status,
                    );
                }
                finished(status, |request| {
                    let code = ffi::$recv(recv, recvs, recvtype, source, recvtag, comm, request);
                    if code != SUCCESS {
                        return code;
                    }
                    finished(ffi::RSMPI_STATUS_IGNORE, |request| {
                        ffi::$send(send, sends, sendtype, dest, sendtag, comm, request)
                    })
                })
            }
        }
    )*};
}

messages! { sends
    MPI_Send PMPI_Send PMPI_Isend
        (data: In, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm);
    MPI_Ssend PMPI_Ssend PMPI_Issend
        (data: In, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm);
    MPI_Rsend PMPI_Rsend PMPI_Irsend
        (data: In, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm);
}

messages! { receives
    MPI_Recv PMPI_Recv PMPI_Irecv
        (data: Out, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm);
    MPI_Mrecv PMPI_Mrecv PMPI_Imrecv (data: Out, count: c_int, datatype: MPI_Datatype, message: *mut MPI_Message);
}

messages! { both
    MPI_Sendrecv PMPI_Sendrecv PMPI_Isend PMPI_Irecv c_int;
}

/// What MPI 4 has besides: large counts, and a non-blocking form of the exchange in one buffer.
#[cfg(large)]
mod four {
    use super::*;
    use mpi::ffi::MPI_Count;

    messages! { sends
        MPI_Send_c PMPI_Send_c PMPI_Isend_c
            (data: In, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm);
        MPI_Ssend_c PMPI_Ssend_c PMPI_Issend_c
            (data: In, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm);
        MPI_Rsend_c PMPI_Rsend_c PMPI_Irsend_c
            (data: In, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm);
    }

    messages! { receives
        MPI_Recv_c PMPI_Recv_c PMPI_Irecv_c
            (data: Out, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm);
        MPI_Mrecv_c PMPI_Mrecv_c PMPI_Imrecv_c
            (data: Out, count: MPI_Count, datatype: MPI_Datatype, message: *mut MPI_Message);
        MPI_Sendrecv_replace PMPI_Sendrecv_replace PMPI_Isendrecv_replace
            (data: Out, count: c_int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int,
             comm: MPI_Comm);
        MPI_Sendrecv_replace_c PMPI_Sendrecv_replace_c PMPI_Isendrecv_replace_c
            (data: Out, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int,
             recvtag: c_int, comm: MPI_Comm);
    }

    messages! { both
        MPI_Sendrecv_c PMPI_Sendrecv_c PMPI_Isend_c PMPI_Irecv_c MPI_Count;
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Probe(source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if progress::passes() {
            return ffi::PMPI_Probe(source, tag, comm, status);
        }
        until(|found| ffi::PMPI_Iprobe(source, tag, comm, found, status))
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Mprobe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if progress::passes() {
            return ffi::PMPI_Mprobe(source, tag, comm, message, status);
        }
        until(|found| ffi::PMPI_Improbe(source, tag, comm, found, message, status))
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Iprobe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    found: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    progress::advance();
    // SAFETY: the program's arguments.
    unsafe { ffi::PMPI_Iprobe(source, tag, comm, found, status) }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Improbe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    found: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    progress::advance();
    // SAFETY: the program's arguments.
    unsafe { ffi::PMPI_Improbe(source, tag, comm, found, message, status) }
}
