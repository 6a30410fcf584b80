//! MPI's collectives by their Fortran names.
//!
//! Open MPI's Fortran functions call `PMPI_…`, so ours must have their names, too: those that compilers generate
//! (`mpi_allreduce_`), and those that its module `mpi_f08` calls (`ompi_allreduce_f`), which take the same arguments.
//! Handles and special addresses are translated, then the C function does the rest.

use crate::end::{MPI_Comm_disconnect, MPI_Comm_free, MPI_Finalize, MPI_Init, MPI_Init_thread};
use crate::failure::SUCCESS;
use crate::request::held::{MPI_Op_free, MPI_Type_free};
use crate::request::start::{MPI_Request_free, MPI_Start};
use crate::symbol;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use roundel::mpi::raw::in_place;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// An argument, as Fortran passes it.
trait Fortran: Sized {
    /// The type that Fortran passes.
    type Passed;
    /// Translates the argument to C.
    ///
    /// # Safety
    /// The argument was passed for a parameter of this type.
    unsafe fn translated(passed: Self::Passed) -> Self;
}

/// Fortran handles are integers.
macro_rules! handle {
    ($type:ty, $from:ident) => {
        impl Fortran for $type {
            type Passed = *const c_int;

            #[inline]
            unsafe fn translated(passed: *const c_int) -> Self {
                // SAFETY: the caller guarantees a handle.
                unsafe { ffi::$from(*passed) }
            }
        }
    };
}

handle!(MPI_Comm, PMPI_Comm_f2c);
handle!(MPI_Datatype, PMPI_Type_f2c);
handle!(MPI_Op, PMPI_Op_f2c);
handle!(MPI_Info, PMPI_Info_f2c);

impl Fortran for c_int {
    type Passed = *const c_int;

    #[inline]
    unsafe fn translated(passed: *const c_int) -> Self {
        // SAFETY: the caller guarantees an integer.
        unsafe { *passed }
    }
}

/// A list.
impl Fortran for *const c_int {
    type Passed = *const c_int;

    #[inline]
    unsafe fn translated(passed: *const c_int) -> Self {
        passed
    }
}

impl Fortran for *const c_void {
    type Passed = *mut c_void;

    #[inline]
    unsafe fn translated(passed: *mut c_void) -> Self {
        address(passed)
    }
}

impl Fortran for *mut c_void {
    type Passed = *mut c_void;

    #[inline]
    unsafe fn translated(passed: *mut c_void) -> Self {
        address(passed)
    }
}

/// The address of an argument. Fortran passes `MPI_IN_PLACE` and `MPI_BOTTOM` as variables, which are recognised by
/// their addresses.
#[inline]
fn address(passed: *mut c_void) -> *mut c_void {
    static IN_PLACE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    static BOTTOM: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    if passed == known(&IN_PLACE, c"mpi_fortran_in_place_") {
        in_place()
    } else if passed == known(&BOTTOM, c"mpi_fortran_bottom_") {
        null_mut()
    } else {
        passed
    }
}

/// The address of a variable, looked up once. A variable that does not exist gets an address that no program can
/// pass.
#[inline]
fn known(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = cache.load(Ordering::Relaxed);
    if found.is_null() { look_up(cache, name) } else { found }
}

#[cold]
fn look_up(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let nowhere = null_mut::<c_void>().wrapping_byte_sub(1);
    let found = symbol::any(name).map_or(nowhere, |found| found.as_ptr());
    cache.store(found, Ordering::Relaxed);
    found
}

/// Stores an error code for Fortran, whose error argument is optional.
///
/// # Safety
/// If the pointer is not null, it points to a variable.
#[inline]
unsafe fn report(code: c_int, to: *mut c_int) {
    if !to.is_null() {
        // SAFETY: the caller guarantees it.
        unsafe { to.write(code) };
    }
}

/// Calls a function that creates a request.
///
/// # Safety
/// The pointers point to variables.
unsafe fn requesting(to: *mut c_int, error: *mut c_int, call: impl FnOnce(*mut MPI_Request) -> c_int) {
    // SAFETY: constants of the library, and what the caller guarantees.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        let code = call(&mut request);
        if code == SUCCESS {
            to.write(ffi::PMPI_Request_c2f(request));
        }
        report(code, error);
    }
}

/// A blocking function.
macro_rules! blocking {
    ($c:ident $name:ident ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($argument: <$type as Fortran>::Passed,)* comm: *const c_int, error: *mut c_int,
        ) {
            // SAFETY: the program's arguments, translated.
            unsafe {
                let comm = MPI_Comm::translated(comm);
                report(ffi::$c($(<$type>::translated($argument),)* comm), error);
            }
        }
    };
}

/// A non-blocking function.
macro_rules! starting {
    ($c:ident $name:ident ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($argument: <$type as Fortran>::Passed,)* comm: *const c_int, request: *mut c_int, error: *mut c_int,
        ) {
            // SAFETY: the program's arguments, translated.
            unsafe {
                let comm = MPI_Comm::translated(comm);
                requesting(request, error, |request| {
                    ffi::$c($(<$type>::translated($argument),)* comm, request)
                });
            }
        }
    };
}

/// A function that prepares a persistent request.
#[cfg(any(persistent, extension))]
macro_rules! preparing {
    ($c:ident $name:ident ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($argument: <$type as Fortran>::Passed,)* comm: *const c_int, info: *const c_int,
            request: *mut c_int, error: *mut c_int,
        ) {
            unsafe extern "C" {
                fn $c($($argument: $type,)* comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) -> c_int;
            }
            // SAFETY: the program's arguments, translated.
            unsafe {
                let (comm, info) = (MPI_Comm::translated(comm), MPI_Info::translated(info));
                requesting(request, error, |request| {
                    $c($(<$type>::translated($argument),)* comm, info, request)
                });
            }
        }
    };
}

/// The Fortran functions of one collective: each has the compiler's symbol name and that of the module.
macro_rules! collective {
    ($arguments:tt
     $c:ident $name:ident $other:ident, $ic:ident $iname:ident $iother:ident,
     $init:ident $initname:ident $initother:ident, $x:ident $xname:ident $xother:ident) => {
        blocking!($c $name $arguments);
        blocking!($c $other $arguments);
        starting!($ic $iname $arguments);
        starting!($ic $iother $arguments);
        #[cfg(persistent)]
        const _: () = {
            preparing!($init $initname $arguments);
            preparing!($init $initother $arguments);
        };
        #[cfg(extension)]
        const _: () = {
            preparing!($x $xname $arguments);
            preparing!($x $xother $arguments);
        };
    };
}

blocking!(MPI_Barrier mpi_barrier_ ());
blocking!(MPI_Barrier ompi_barrier_f ());
starting!(MPI_Ibarrier mpi_ibarrier_ ());
starting!(MPI_Ibarrier ompi_ibarrier_f ());

type In = *const c_void;
type Out = *mut c_void;
type List = *const c_int;

collective! {
    (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, recvs: c_int, recvtype: MPI_Datatype)
    MPI_Allgather mpi_allgather_ ompi_allgather_f, MPI_Iallgather mpi_iallgather_ ompi_iallgather_f,
    MPI_Allgather_init mpi_allgather_init_ ompi_allgather_init_f,
    MPIX_Allgather_init mpix_allgather_init_ ompix_allgather_init_f
}

collective! {
    (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, counts: List, displs: List, recvtype: MPI_Datatype)
    MPI_Allgatherv mpi_allgatherv_ ompi_allgatherv_f, MPI_Iallgatherv mpi_iallgatherv_ ompi_iallgatherv_f,
    MPI_Allgatherv_init mpi_allgatherv_init_ ompi_allgatherv_init_f,
    MPIX_Allgatherv_init mpix_allgatherv_init_ ompix_allgatherv_init_f
}

collective! {
    (send: In, recv: Out, count: c_int, datatype: MPI_Datatype, op: MPI_Op)
    MPI_Allreduce mpi_allreduce_ ompi_allreduce_f, MPI_Iallreduce mpi_iallreduce_ ompi_iallreduce_f,
    MPI_Allreduce_init mpi_allreduce_init_ ompi_allreduce_init_f,
    MPIX_Allreduce_init mpix_allreduce_init_ ompix_allreduce_init_f
}

collective! {
    (send: In, recv: Out, counts: List, datatype: MPI_Datatype, op: MPI_Op)
    MPI_Reduce_scatter mpi_reduce_scatter_ ompi_reduce_scatter_f,
    MPI_Ireduce_scatter mpi_ireduce_scatter_ ompi_ireduce_scatter_f,
    MPI_Reduce_scatter_init mpi_reduce_scatter_init_ ompi_reduce_scatter_init_f,
    MPIX_Reduce_scatter_init mpix_reduce_scatter_init_ ompix_reduce_scatter_init_f
}

collective! {
    (send: In, recv: Out, count: c_int, datatype: MPI_Datatype, op: MPI_Op)
    MPI_Reduce_scatter_block mpi_reduce_scatter_block_ ompi_reduce_scatter_block_f,
    MPI_Ireduce_scatter_block mpi_ireduce_scatter_block_ ompi_ireduce_scatter_block_f,
    MPI_Reduce_scatter_block_init mpi_reduce_scatter_block_init_ ompi_reduce_scatter_block_init_f,
    MPIX_Reduce_scatter_block_init mpix_reduce_scatter_block_init_ ompix_reduce_scatter_block_init_f
}

collective! {
    (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, recvs: c_int, recvtype: MPI_Datatype)
    MPI_Alltoall mpi_alltoall_ ompi_alltoall_f, MPI_Ialltoall mpi_ialltoall_ ompi_ialltoall_f,
    MPI_Alltoall_init mpi_alltoall_init_ ompi_alltoall_init_f,
    MPIX_Alltoall_init mpix_alltoall_init_ ompix_alltoall_init_f
}

collective! {
    (send: In, sends: List, from: List, sendtype: MPI_Datatype,
     recv: Out, recvs: List, to: List, recvtype: MPI_Datatype)
    MPI_Alltoallv mpi_alltoallv_ ompi_alltoallv_f, MPI_Ialltoallv mpi_ialltoallv_ ompi_ialltoallv_f,
    MPI_Alltoallv_init mpi_alltoallv_init_ ompi_alltoallv_init_f,
    MPIX_Alltoallv_init mpix_alltoallv_init_ ompix_alltoallv_init_f
}

collective! {
    (data: Out, count: c_int, datatype: MPI_Datatype, root: c_int)
    MPI_Bcast mpi_bcast_ ompi_bcast_f, MPI_Ibcast mpi_ibcast_ ompi_ibcast_f,
    MPI_Bcast_init mpi_bcast_init_ ompi_bcast_init_f, MPIX_Bcast_init mpix_bcast_init_ ompix_bcast_init_f
}

collective! {
    (send: In, recv: Out, count: c_int, datatype: MPI_Datatype, op: MPI_Op, root: c_int)
    MPI_Reduce mpi_reduce_ ompi_reduce_f, MPI_Ireduce mpi_ireduce_ ompi_ireduce_f,
    MPI_Reduce_init mpi_reduce_init_ ompi_reduce_init_f, MPIX_Reduce_init mpix_reduce_init_ ompix_reduce_init_f
}

collective! {
    (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, recvs: c_int, recvtype: MPI_Datatype, root: c_int)
    MPI_Gather mpi_gather_ ompi_gather_f, MPI_Igather mpi_igather_ ompi_igather_f,
    MPI_Gather_init mpi_gather_init_ ompi_gather_init_f, MPIX_Gather_init mpix_gather_init_ ompix_gather_init_f
}

collective! {
    (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, recvs: c_int, recvtype: MPI_Datatype, root: c_int)
    MPI_Scatter mpi_scatter_ ompi_scatter_f, MPI_Iscatter mpi_iscatter_ ompi_iscatter_f,
    MPI_Scatter_init mpi_scatter_init_ ompi_scatter_init_f, MPIX_Scatter_init mpix_scatter_init_ ompix_scatter_init_f
}

/// Defines functions that take a handle and may change it.
macro_rules! changing {
    ($c:ident $from:ident $to:ident, $($name:ident)*) => {$(
        /// # Safety
        /// The same as for the MPI function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(handle: *mut c_int, error: *mut c_int) {
            // SAFETY: the program's handle, translated there and back.
            unsafe {
                let mut translated = ffi::$from(*handle);
                let code = $c(&mut translated);
                if code == SUCCESS {
                    handle.write(ffi::$to(translated));
                }
                report(code, error);
            }
        }
    )*};
}

changing!(MPI_Start PMPI_Request_f2c PMPI_Request_c2f, mpi_start_ ompi_start_f);
changing!(MPI_Request_free PMPI_Request_f2c PMPI_Request_c2f, mpi_request_free_ ompi_request_free_f);
changing!(MPI_Type_free PMPI_Type_f2c PMPI_Type_c2f, mpi_type_free_ ompi_type_free_f);
changing!(MPI_Op_free PMPI_Op_f2c PMPI_Op_c2f, mpi_op_free_ ompi_op_free_f);
changing!(MPI_Comm_free PMPI_Comm_f2c PMPI_Comm_c2f, mpi_comm_free_ ompi_comm_free_f);
changing!(MPI_Comm_disconnect PMPI_Comm_f2c PMPI_Comm_c2f, mpi_comm_disconnect_ ompi_comm_disconnect_f);

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_startall_(count: *const c_int, requests: *mut c_int, error: *mut c_int) {
    let mut first = SUCCESS;
    // SAFETY: the program passes `count` requests.
    unsafe {
        for i in 0..(*count).max(0) as usize {
            let mut code = SUCCESS;
            mpi_start_(requests.add(i), &mut code);
            first = if first == SUCCESS { code } else { first };
        }
        report(first, error);
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_startall_f(count: *const c_int, requests: *mut c_int, error: *mut c_int) {
    // SAFETY: the same function.
    unsafe { mpi_startall_(count, requests, error) }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_init_(error: *mut c_int) {
    // SAFETY: Fortran passes no program arguments.
    unsafe { report(MPI_Init(null_mut(), null_mut()), error) }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_init_f(error: *mut c_int) {
    // SAFETY: the same function.
    unsafe { mpi_init_(error) }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_init_thread_(required: *const c_int, provided: *mut c_int, error: *mut c_int) {
    // SAFETY: as above.
    unsafe { report(MPI_Init_thread(null_mut(), null_mut(), *required, provided), error) }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_init_thread_f(required: *const c_int, provided: *mut c_int, error: *mut c_int) {
    // SAFETY: the same function.
    unsafe { mpi_init_thread_(required, provided, error) }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpi_finalize_(error: *mut c_int) {
    // SAFETY: the program finalises MPI.
    unsafe { report(MPI_Finalize(), error) }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompi_finalize_f(error: *mut c_int) {
    // SAFETY: the same function.
    unsafe { mpi_finalize_(error) }
}
