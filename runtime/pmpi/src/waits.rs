//! Functions that wait for requests, or ask about them. While operations are under way, they go on meanwhile.
//!
//! To wait is to test until the test says yes.

use crate::progress::{self, Pause};
use crate::serve::SUCCESS;
use mpi::ffi::{self, MPI_Request, MPI_Status};
use std::ffi::c_int;

/// Tests until the test says yes or fails. Operations go on in between.
pub(crate) fn until(mut test: impl FnMut(&mut c_int) -> c_int) -> c_int {
    let mut pause = Pause::default();
    loop {
        progress::advance();
        let mut done = 0;
        let code = test(&mut done);
        if done != 0 || code != SUCCESS {
            return code;
        }
        pause.next();
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if progress::passes() {
            return ffi::PMPI_Wait(request, status);
        }
        until(|done| ffi::PMPI_Test(request, done, status))
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitall(count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if progress::passes() {
            return ffi::PMPI_Waitall(count, requests, statuses);
        }
        until(|done| ffi::PMPI_Testall(count, requests, done, statuses))
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if progress::passes() {
            return ffi::PMPI_Waitany(count, requests, index, status);
        }
        until(|done| ffi::PMPI_Testany(count, requests, index, done, status))
    }
}

/// # Safety
/// As of MPI's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitsome(
    count: c_int,
    requests: *mut MPI_Request,
    complete: *mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if progress::passes() {
            return ffi::PMPI_Waitsome(count, requests, complete, indices, statuses);
        }
        until(|done| {
            let code = ffi::PMPI_Testsome(count, requests, complete, indices, statuses);
            *done = c_int::from(*complete != 0);
            code
        })
    }
}

/// A function that asks and does not wait.
macro_rules! asking {
    ($($name:ident $library:ident ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of MPI's function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            progress::advance();
            // SAFETY: the program's arguments.
            unsafe { ffi::$library($($argument),*) }
        }
    )*};
}

asking! {
    MPI_Test PMPI_Test (request: *mut MPI_Request, done: *mut c_int, status: *mut MPI_Status);
    MPI_Testall PMPI_Testall (count: c_int, requests: *mut MPI_Request, done: *mut c_int, statuses: *mut MPI_Status);
    MPI_Testany PMPI_Testany
        (count: c_int, requests: *mut MPI_Request, index: *mut c_int, done: *mut c_int, status: *mut MPI_Status);
    MPI_Testsome PMPI_Testsome
        (count: c_int, requests: *mut MPI_Request, complete: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status);
    MPI_Request_get_status PMPI_Request_get_status (request: MPI_Request, done: *mut c_int, status: *mut MPI_Status);
}
