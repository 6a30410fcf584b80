//! Lets MPI make progress while a rank waits for something that MPI does not know about.

use crate::error::Error;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use std::ffi::c_int;

/// No message has this tag. If a probe finds a message, it returns at once and MPI makes no progress.
const NEVER: c_int = 5;

/// Lets MPI progress messages. Other ranks may need them before they do what this rank waits for.
#[cold]
pub(crate) fn progress(comm: ffi::MPI_Comm) -> Result<(), Error> {
    let mut found = 0;
    // SAFETY: the communicator is live.
    let code = unsafe { ffi::MPI_Iprobe(ffi::RSMPI_ANY_SOURCE, NEVER, comm, &mut found, ffi::RSMPI_STATUS_IGNORE) };
    check("MPI_Iprobe", code)
}
