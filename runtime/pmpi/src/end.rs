//! Interposes MPI_Init, MPI_Finalize and the functions that free communicators.

use crate::family;
use crate::guard;
use crate::progress;
use crate::request;
use crate::serve::{SUCCESS, guarded};
use mpi::ffi::{self, MPI_Comm};
use roundel::mpi::raw;
use std::ffi::{c_char, c_int};

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Init(count: *mut c_int, arguments: *mut *mut *mut c_char) -> c_int {
    family::check();
    // SAFETY: the arguments are the program's.
    begun(unsafe { ffi::PMPI_Init(count, arguments) })
}

/// # Safety
/// As of MPI's function.
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

/// Makes the world known, while all ranks are here: its first collective may be a non-blocking one, which must not wait
/// for them. An error comes again at the first call, and is raised there.
pub(crate) fn begun(code: c_int) -> c_int {
    if code == SUCCESS && guard::live() {
        raw::watch_libraries();
        raw::begin_requests(progress::available());
        // SAFETY: MPI is live, and the program has not called anything else.
        let _ = guarded(|| unsafe { raw::adopt() });
    }
    code
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Comm_free(comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the arguments are the program's.
    unsafe {
        completed(comm);
        ffi::PMPI_Comm_free(comm)
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Comm_disconnect(comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the arguments are the program's.
    unsafe {
        completed(comm);
        ffi::PMPI_Comm_disconnect(comm)
    }
}

/// A communicator is about to be freed.
///
/// # Safety
/// If there is an address, there is a communicator.
unsafe fn completed(comm: *mut MPI_Comm) {
    if !comm.is_null() {
        // SAFETY: the caller promises it.
        let comm = unsafe { *comm };
        progress::complete(comm);
        request::orphan(comm);
        guard::frees(comm);
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Finalize() -> c_int {
    if guard::live() {
        progress::complete_all();
        request::end();
        guard::ends();
    }
    // SAFETY: the program ends MPI.
    unsafe { ffi::PMPI_Finalize() }
}
