//! Queries MPI about handles without invoking an error handler.
//!
//! A program may pass an invalid datatype or operation. Then MPI must report it, on the program's communicator and in
//! the function that the program called. To find out, Roundel lets MPI prepare a message or reduce nothing, on a
//! communicator of this process alone whose errors are returned as codes: the program's error handlers are not
//! invoked.

use crate::error::Error;
use crate::mpi::process::code::{SUCCESS, check};
use crate::mpi::process::lock::making;
use ::mpi::ffi;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The communicator, as a number, or [`NONE`].
static OWN: AtomicUsize = AtomicUsize::new(NONE);
const NONE: usize = 0;

/// The communicator; the first call creates it. Local.
#[inline]
pub(crate) fn own() -> Result<ffi::MPI_Comm, Error> {
    match OWN.load(Ordering::Acquire) {
        NONE => make(),
        known => Ok(handle(known)),
    }
}

/// A handle is a number, or an address that MPI manages.
#[allow(clippy::unnecessary_cast, reason = "it is another type in each library")]
fn handle(number: usize) -> ffi::MPI_Comm {
    ffi::MPI_Comm(number as _)
}

/// Creates the communicator by a split: a duplicate would copy the program's attributes.
#[cold]
fn make() -> Result<ffi::MPI_Comm, Error> {
    let _making = making();
    let known = OWN.load(Ordering::Acquire);
    if known != NONE {
        return Ok(handle(known));
    }
    // SAFETY: MPI is live; all of these calls are local.
    let comm = unsafe {
        let mut comm = ffi::RSMPI_COMM_NULL;
        check("MPI_Comm_split", ffi::PMPI_Comm_split(ffi::RSMPI_COMM_SELF, 0, 0, &mut comm))?;
        check("MPI_Comm_set_errhandler", ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
        comm
    };
    OWN.store(comm.0 as usize, Ordering::Release);
    Ok(comm)
}

/// Frees the communicator when MPI is finalised.
pub(crate) fn end() -> Result<(), Error> {
    match OWN.swap(NONE, Ordering::AcqRel) {
        NONE => Ok(()),
        // SAFETY: it is ours, and is not used again.
        known => check("MPI_Comm_free", unsafe { ffi::PMPI_Comm_free(&mut handle(known)) }),
    }
}

/// Whether elements of a datatype can be sent: it is valid and committed. This prepares a message of one element and
/// never starts it. (MPICH does not check the datatype of a message to MPI_PROC_NULL or of no elements, and its
/// unpacking divides by the size.)
pub(crate) fn sends(datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    let (own, byte) = (own()?, 0u8);
    // SAFETY: a constant of the library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    // SAFETY: nothing is sent.
    unsafe {
        let code = ffi::PMPI_Send_init((&raw const byte).cast(), 1, datatype, 0, 0, own, &mut request);
        check("MPI_Send_init", code)?;
        check("MPI_Request_free", ffi::PMPI_Request_free(&mut request))
    }
}

/// Whether elements of a datatype can be received.
pub(crate) fn receives(datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    let (own, mut byte) = (own()?, 0u8);
    // SAFETY: a constant of the library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    // SAFETY: nothing is received.
    unsafe {
        let code = ffi::PMPI_Recv_init((&raw mut byte).cast(), 1, datatype, 0, 0, own, &mut request);
        check("MPI_Recv_init", code)?;
        check("MPI_Request_free", ffi::PMPI_Request_free(&mut request))
    }
}

/// Whether an operation is valid and takes elements of a datatype.
pub(crate) fn reduces(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    let own = own()?;
    let (left, mut right) = (0u128, 0u128);
    // SAFETY: no element is read or written, and the communicator has no other process.
    let code =
        unsafe { ffi::PMPI_Allreduce((&raw const left).cast(), (&raw mut right).cast(), 0, datatype, op, own) };
    check("MPI_Allreduce", code)
}

/// Whether a communicator is still valid, although its handle was freed. MPI can only be asked through error handlers
/// that all threads share, so only one thread asks at a time.
///
/// # Safety
/// MPI is initialised and not finalised.
#[cold]
pub unsafe fn is_live(comm: ffi::MPI_Comm) -> bool {
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the handles are constants of the library; any handle may be tested while errors are returned as codes.
    unsafe {
        let _quiet = [Silenced::new(ffi::RSMPI_COMM_WORLD), Silenced::new(ffi::RSMPI_COMM_SELF)];
        let mut inter: c_int = 0;
        ffi::PMPI_Comm_test_inter(comm, &mut inter) == SUCCESS
    }
}

/// A communicator whose errors are only returned as codes, until this is dropped.
struct Silenced {
    comm: ffi::MPI_Comm,
    handler: ffi::MPI_Errhandler,
}

impl Silenced {
    unsafe fn new(comm: ffi::MPI_Comm) -> Self {
        // SAFETY: the communicator is predefined and always live.
        unsafe {
            let mut handler = ffi::RSMPI_ERRORS_RETURN;
            ffi::PMPI_Comm_get_errhandler(comm, &mut handler);
            ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN);
            Silenced { comm, handler }
        }
    }
}

impl Drop for Silenced {
    fn drop(&mut self) {
        // SAFETY: the communicator is always live, and the handler is its original one.
        unsafe {
            ffi::PMPI_Comm_set_errhandler(self.comm, self.handler);
            ffi::PMPI_Errhandler_free(&mut self.handler);
        }
    }
}
