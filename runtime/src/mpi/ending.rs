//! The end of a job that cannot go on: a rank that panics in the middle of a collective would leave the others waiting for ever.

use ::mpi::ffi;
use std::fmt::Display;
use std::time::Duration;

/// What a rank has written reaches its launcher in the meantime. MPICH's forgets what it has not read when the job is aborted.
const PATIENCE: Duration = Duration::from_millis(200);

/// Says why, and ends all ranks.
#[cold]
pub(super) fn end_the_job(why: impl Display) -> ! {
    eprintln!("roundel: {why}; ending the MPI job");
    std::thread::sleep(PATIENCE);
    // SAFETY: the world is live while collectives run.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, 1) };
    std::process::abort()
}
