//! Error handlers, for suites in which messages are too long on purpose.

use mpi::ffi;
use std::mem::MaybeUninit;

/// The world's error handler. MPICH 4.0 calls it for every message that is too long, on any communicator.
pub(crate) struct Handler(ffi::MPI_Errhandler);

impl Handler {
    pub(crate) fn of_world() -> Self {
        let mut handler = MaybeUninit::uninit();
        // SAFETY: the world is live while the suite runs, and MPI sets the handler.
        unsafe {
            ffi::MPI_Comm_get_errhandler(ffi::RSMPI_COMM_WORLD, handler.as_mut_ptr());
            Handler(handler.assume_init())
        }
    }

    pub(crate) fn returning() -> Self {
        // SAFETY: the handler is a constant of the library.
        Handler(unsafe { ffi::RSMPI_ERRORS_RETURN })
    }

    pub(crate) fn set(&self) {
        // SAFETY: the world is live while the suite runs, and the handler is never freed.
        unsafe { ffi::MPI_Comm_set_errhandler(ffi::RSMPI_COMM_WORLD, self.0) };
    }
}
