//! Interposes MPI_Init, MPI_Finalize and the functions that free communicators.

use crate::failure::{SUCCESS, guarded};
use crate::family;
use crate::guard;
use crate::progress;
use crate::progress::background;
use crate::request;
use mpi::ffi::{self, MPI_Comm};
use roundel::mpi::raw;
use std::ffi::{c_char, c_int};

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Init(count: *mut c_int, arguments: *mut *mut *mut c_char) -> c_int {
    family::check();
    // SAFETY: the arguments are the program's.
    begun(unsafe { ffi::PMPI_Init(count, arguments) })
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Init_thread(
    count: *mut c_int,
    arguments: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    family::check();
    // SAFETY: the arguments are the program's.
    begun(unsafe { ffi::PMPI_Init_thread(count, arguments, required, provided) })
}

/// Sets up the world communicator while all ranks are here: its first collective may be a non-blocking one, which
/// must not wait for other ranks. An error occurs again at the first call, and is raised there.
pub(crate) fn begun(code: c_int) -> c_int {
    if code == SUCCESS && guard::live() {
        raw::watch_libraries();
        raw::begin_requests(background::available());
        raw::begin_shared_requests(cfg!(open_mpi));
        // SAFETY: MPI is live, and the program has not called anything else.
        let _ = guarded(|| unsafe { raw::adopt() });
    }
    code
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Comm_free(comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the arguments are the program's.
    unsafe {
        completed(comm);
        ffi::PMPI_Comm_free(comm)
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Comm_disconnect(comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the arguments are the program's.
    unsafe {
        completed(comm);
        ffi::PMPI_Comm_disconnect(comm)
    }
}

/// Prepares for a communicator being freed.
///
/// # Safety
/// If the pointer is not null, it points to a communicator.
unsafe fn completed(comm: *mut MPI_Comm) {
    if !comm.is_null() {
        // SAFETY: the caller guarantees it.
        let comm = unsafe { *comm };
        progress::complete(comm);
        request::orphan(comm);
        guard::frees(comm);
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Finalize() -> c_int {
    if guard::live() {
        progress::complete_all();
        request::end();
        guard::ends();
    }
    // SAFETY: the program finalises MPI.
    unsafe { ffi::PMPI_Finalize() }
}
