//! Interposes the functions that start and free persistent requests, some of which are Roundel's.

use crate::failure::SUCCESS;
use crate::request;
use mpi::ffi::{self, MPI_Request};
use std::ffi::c_int;

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Start(request: *mut MPI_Request) -> c_int {
    // SAFETY: as MPI requires, this points to a request.
    let ours = if request.is_null() { None } else { request::find(unsafe { *request }) };
    // SAFETY: the arguments are the program's.
    unsafe {
        match ours {
            Some(job) => request::restart(request, &job),
            None => ffi::PMPI_Start(request),
        }
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Startall(count: c_int, requests: *mut MPI_Request) -> c_int {
    // SAFETY: as MPI requires, this points to `count` requests.
    unsafe {
        if !request::any_persistent() || requests.is_null() || count < 0 {
            return ffi::PMPI_Startall(count, requests);
        }
        let codes = (0..count as usize).map(|i| MPI_Start(requests.add(i)));
        codes.fold(SUCCESS, |first, code| if first == SUCCESS { code } else { first })
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Request_free(request: *mut MPI_Request) -> c_int {
    // SAFETY: as MPI requires, this points to a request.
    unsafe {
        if !request.is_null() {
            request::forget(*request);
        }
        ffi::PMPI_Request_free(request)
    }
}
