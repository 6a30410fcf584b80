//! The functions of MPICH's module `mpi_f08` that call `PMPI_…` and so bypass ours: those without a buffer.
//!
//! (All others, and those of `mpif.h` and the module `mpi`, call `MPI_…`.)

use crate::barrier::{MPI_Barrier, MPI_Ibarrier};
use crate::end::{MPI_Comm_disconnect, MPI_Comm_free, MPI_Finalize, begun};
use crate::request::held::{MPI_Op_free, MPI_Type_free};
use crate::request::start::{MPI_Request_free, MPI_Start};
use crate::symbol;
use mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request};
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The function that the `mpi_f08` module defines itself.
fn module(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = cache.load(Ordering::Relaxed);
    if !found.is_null() {
        return found;
    }
    match symbol::next(name) {
        Some(function) => cache.store(function.as_ptr(), Ordering::Relaxed),
        None => symbol::missing(name),
    }
    cache.load(Ordering::Relaxed)
}

/// Stores an error code for Fortran, whose error argument is optional.
///
/// # Safety
/// If the pointer is not null, it points to a variable.
unsafe fn report(code: c_int, to: *mut c_int) {
    if !to.is_null() {
        // SAFETY: the caller guarantees it.
        unsafe { to.write(code) };
    }
}

/// Defines functions that take a handle and may change it.
macro_rules! changing {
    ($($name:ident $c:ident($handle:ty))*) => {$(
        /// # Safety
        /// The same as for the `mpi_f08` function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(handle: *mut $handle, error: *mut c_int) {
            // SAFETY: handles are the same numbers in C and Fortran.
            unsafe { report($c(handle), error) }
        }
    )*};
}

changing! {
    mpi_start_f08_ MPI_Start(MPI_Request)
    mpi_request_free_f08_ MPI_Request_free(MPI_Request)
    mpi_op_free_f08_ MPI_Op_free(MPI_Op)
    mpi_type_free_f08_ MPI_Type_free(MPI_Datatype)
    mpi_comm_free_f08_ MPI_Comm_free(MPI_Comm)
    mpi_comm_disconnect_f08_ MPI_Comm_disconnect(MPI_Comm)
}

/// # Safety
/// The same as for the `mpi_f08` function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_startall_f08_(count: *const c_int, requests: *mut MPI_Request, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(crate::request::start::MPI_Startall(*count, requests), error) }
}

/// # Safety
/// The same as for the `mpi_f08` function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_init_f08_(error: *mut c_int) {
    crate::family::check();
    static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut code = 0;
    // SAFETY: the module's function of this name takes only an error code.
    unsafe {
        let function: unsafe extern "C" fn(*mut c_int) = transmute(module(&FUNCTION, c"mpi_init_f08_"));
        function(&mut code);
        report(begun(code), error);
    }
}

/// # Safety
/// The same as for the `mpi_f08` function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_init_thread_f08_(required: *const c_int, provided: *mut c_int, error: *mut c_int) {
    crate::family::check();
    static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut code = 0;
    // SAFETY: the module's function of this name has these arguments.
    unsafe {
        let function: unsafe extern "C" fn(*const c_int, *mut c_int, *mut c_int) =
            transmute(module(&FUNCTION, c"mpi_init_thread_f08_"));
        function(required, provided, &mut code);
        report(begun(code), error);
    }
}

/// # Safety
/// The same as for the `mpi_f08` function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_barrier_f08_(comm: *const MPI_Comm, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(MPI_Barrier(*comm), error) }
}

/// # Safety
/// The same as for the `mpi_f08` function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_ibarrier_f08_(comm: *const MPI_Comm, request: *mut MPI_Request, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(MPI_Ibarrier(*comm, request), error) }
}

/// # Safety
/// The same as for the `mpi_f08` function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_finalize_f08_(error: *mut c_int) {
    // SAFETY: the program finalises MPI.
    unsafe { report(MPI_Finalize(), error) }
}
