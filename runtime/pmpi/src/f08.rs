//! The functions of MPICH's module `mpi_f08` that call `PMPI_…`, and so pass by ours: those without a buffer.
//!
//! (All others, and those of `mpif.h` and the module `mpi`, call `MPI_…`.) What waits lets operations go on until it need not
//! wait; then the module's own function does the rest, statuses included.

use crate::end::{MPI_Comm_disconnect, MPI_Comm_free, MPI_Finalize, begun};
use crate::progress;
use crate::start::{MPI_Request_free, MPI_Start};
use crate::symbol;
use crate::waits::until;
use mpi::ffi::{self, MPI_Comm, MPI_Request};
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::process::abort;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The module's own function.
fn module(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = cache.load(Ordering::Relaxed);
    if !found.is_null() {
        return found;
    }
    match symbol::next(name) {
        Some(function) => cache.store(function.as_ptr(), Ordering::Relaxed),
        None => missing(name),
    }
    cache.load(Ordering::Relaxed)
}

/// The program has called the function, so that it is linked with it: after this library, or nowhere that we could see.
#[cold]
fn missing(name: &CStr) -> ! {
    eprintln!(
        "roundel: there is no {name:?} after libroundel_pmpi.so; link or preload libroundel_pmpi.so before MPI's Fortran library"
    );
    abort();
}

/// Whether a request is complete, inactive or none.
fn complete(request: MPI_Request) -> bool {
    let mut done = 0;
    // SAFETY: the program's request; its status is not asked for.
    let code = unsafe { ffi::PMPI_Request_get_status(request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
    done != 0 || code != 0
}

/// Operations go on until nothing is under way, or something is true.
fn go_on(mut done: impl FnMut() -> bool) {
    until(|stop| {
        *stop = c_int::from(progress::idle() || done());
        0
    });
}

/// # Safety
/// There are so many requests.
unsafe fn all<'a>(count: *const c_int, requests: *const MPI_Request) -> &'a [MPI_Request] {
    // SAFETY: the caller promises it.
    unsafe { if *count > 0 { std::slice::from_raw_parts(requests, *count as usize) } else { &[] } }
}

/// Whether one of the requests is complete, or none is there to wait for.
fn any_complete(requests: &[MPI_Request]) -> bool {
    // SAFETY: a constant of the library.
    let null = unsafe { ffi::RSMPI_REQUEST_NULL };
    let mut real = requests.iter().filter(|request| **request != null).peekable();
    real.peek().is_none() || real.any(|request| complete(*request))
}

/// Functions that come first, and then go to the module's own.
macro_rules! before {
    ($($name:ident $text:literal ($($argument:ident: $type:ty),*) $first:expr;)*) => {$(
        /// # Safety
        /// As of the module's function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) {
            static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            if !progress::passes() {
                $first;
            }
            // SAFETY: the module's function of this name has these arguments, which are the program's.
            unsafe {
                let function: unsafe extern "C" fn($($type),*) = transmute(module(&FUNCTION, $text));
                function($($argument),*)
            }
        }
    )*};
}

type Requests = *mut MPI_Request;
type Any = *mut c_void;
type Int = *const c_int;

before! {
    mpi_wait_f08_ c"mpi_wait_f08_" (request: Requests, status: Any, error: Any)
        // SAFETY: the program's request.
        go_on(|| complete(unsafe { *request }));
    mpi_waitall_f08_ c"mpi_waitall_f08_" (count: Int, requests: Requests, statuses: Any, error: Any)
        // SAFETY: the program's requests.
        go_on(|| unsafe { all(count, requests) }.iter().all(|request| complete(*request)));
    mpi_waitany_f08_ c"mpi_waitany_f08_" (count: Int, requests: Requests, index: Any, status: Any, error: Any)
        // SAFETY: the program's requests.
        go_on(|| any_complete(unsafe { all(count, requests) }));
    mpi_waitsome_f08_ c"mpi_waitsome_f08_"
        (count: Int, requests: Requests, number: Any, indices: Any, statuses: Any, error: Any)
        // SAFETY: the program's requests.
        go_on(|| any_complete(unsafe { all(count, requests) }));
    mpi_test_f08_ c"mpi_test_f08_" (request: Requests, done: Any, status: Any, error: Any) progress::advance();
    mpi_testall_f08_ c"mpi_testall_f08_" (count: Int, requests: Requests, done: Any, statuses: Any, error: Any)
        progress::advance();
    mpi_testany_f08_ c"mpi_testany_f08_"
        (count: Int, requests: Requests, index: Any, done: Any, status: Any, error: Any)
        progress::advance();
    mpi_testsome_f08_ c"mpi_testsome_f08_"
        (count: Int, requests: Requests, number: Any, indices: Any, statuses: Any, error: Any)
        progress::advance();
    mpi_request_get_status_f08_ c"mpi_request_get_status_f08_" (request: Any, done: Any, status: Any, error: Any)
        progress::advance();
    mpi_iprobe_f08_ c"mpi_iprobe_f08_" (source: Int, tag: Int, comm: Any, found: Any, status: Any, error: Any)
        progress::advance();
    mpi_improbe_f08_ c"mpi_improbe_f08_"
        (source: Int, tag: Int, comm: Any, found: Any, message: Any, status: Any, error: Any)
        progress::advance();
    mpi_probe_f08_ c"mpi_probe_f08_" (source: Int, tag: Int, comm: *const MPI_Comm, status: Any, error: Any)
        // SAFETY: the program's arguments.
        go_on(|| unsafe { found(*source, *tag, *comm) });
    mpi_mprobe_f08_ c"mpi_mprobe_f08_"
        (source: Int, tag: Int, comm: *const MPI_Comm, message: Any, status: Any, error: Any)
        // SAFETY: the program's arguments.
        go_on(|| unsafe { found(*source, *tag, *comm) });
    mpi_barrier_f08_ c"mpi_barrier_f08_" (comm: *const MPI_Comm, error: Any)
        // SAFETY: the program's communicator.
        progress::complete(unsafe { *comm });
    mpi_comm_dup_f08_ c"mpi_comm_dup_f08_" (comm: *const MPI_Comm, made: Any, error: Any)
        // SAFETY: the program's communicator.
        progress::complete(unsafe { *comm });
    mpi_comm_split_f08_ c"mpi_comm_split_f08_" (comm: *const MPI_Comm, color: Int, key: Int, made: Any, error: Any)
        // SAFETY: the program's communicator.
        progress::complete(unsafe { *comm });
}

/// Whether there is a message.
///
/// # Safety
/// MPI is live, and so is the communicator.
unsafe fn found(source: c_int, tag: c_int, comm: MPI_Comm) -> bool {
    let mut found = 0;
    // SAFETY: the caller promises it.
    let code = unsafe { ffi::PMPI_Iprobe(source, tag, comm, &mut found, ffi::RSMPI_STATUS_IGNORE) };
    found != 0 || code != 0
}

/// A code for Fortran, which may not have asked for it.
///
/// # Safety
/// If there is an address, it is that of a variable.
unsafe fn report(code: c_int, to: *mut c_int) {
    if !to.is_null() {
        // SAFETY: the caller promises it.
        unsafe { to.write(code) };
    }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_start_f08_(request: *mut MPI_Request, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(MPI_Start(request), error) }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_startall_f08_(count: Int, requests: *mut MPI_Request, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(crate::start::MPI_Startall(*count, requests), error) }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_request_free_f08_(request: *mut MPI_Request, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(MPI_Request_free(request), error) }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_comm_free_f08_(comm: *mut MPI_Comm, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(MPI_Comm_free(comm), error) }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_comm_disconnect_f08_(comm: *mut MPI_Comm, error: *mut c_int) {
    // SAFETY: handles are the same numbers in C and Fortran.
    unsafe { report(MPI_Comm_disconnect(comm), error) }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_init_f08_(error: *mut c_int) {
    static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut code = 0;
    // SAFETY: the module's function of this name takes a code alone.
    unsafe {
        let function: unsafe extern "C" fn(*mut c_int) = transmute(module(&FUNCTION, c"mpi_init_f08_"));
        function(&mut code);
        report(begun(code), error);
    }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_init_thread_f08_(required: Int, provided: *mut c_int, error: *mut c_int) {
    static FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut code = 0;
    // SAFETY: the module's function of this name has these arguments.
    unsafe {
        let function: unsafe extern "C" fn(Int, *mut c_int, *mut c_int) =
            transmute(module(&FUNCTION, c"mpi_init_thread_f08_"));
        function(required, provided, &mut code);
        report(begun(code), error);
    }
}

/// # Safety
/// As of the module's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_finalize_f08_(error: *mut c_int) {
    // SAFETY: the program ends MPI.
    unsafe { report(MPI_Finalize(), error) }
}
