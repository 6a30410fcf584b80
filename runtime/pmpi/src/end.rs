//! The ends of communicators and of MPI.

use crate::guard;
use crate::progress;
use crate::request;
use mpi::ffi::{self, MPI_Comm};
use std::ffi::c_int;

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Comm_free(comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the arguments are the program's.
    unsafe {
        completed(comm);
        ffi::PMPI_Comm_free(comm)
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Comm_disconnect(comm: *mut MPI_Comm) -> c_int {
    // SAFETY: the arguments are the program's.
    unsafe {
        completed(comm);
        ffi::PMPI_Comm_disconnect(comm)
    }
}

/// # Safety
/// If there is an address, there is a communicator.
unsafe fn completed(comm: *mut MPI_Comm) {
    if !comm.is_null() {
        // SAFETY: the caller promises it.
        progress::complete(unsafe { *comm });
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPI_Finalize() -> c_int {
    if guard::live() {
        progress::complete_all();
        request::end();
        guard::ends();
    }
    // SAFETY: the program ends MPI.
    unsafe { ffi::PMPI_Finalize() }
}
