//! Aborts a job that cannot go on: a rank that panics in the middle of a collective would leave the others waiting
//! for ever.

use crate::mpi::process::say::say;
use ::mpi::ffi;
use std::fmt::Display;
use std::time::Duration;

/// Waits until the launcher has read this rank's output. MPICH's launcher drops unread output when the job is
/// aborted.
#[cold]
pub(crate) fn let_it_be_read() {
    std::thread::sleep(Duration::from_millis(200));
}

/// Prints the reason and ends all ranks.
#[cold]
pub(crate) fn end_the_job(reason: impl Display) -> ! {
    say(format_args!("{reason}; ending the MPI job"));
    let_it_be_read();
    // SAFETY: the world is live while collectives run.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    std::process::abort()
}
