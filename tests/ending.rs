//! The end of a job that found something wrong.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::io::{Write, stderr};
use std::time::Duration;

/// Gives the launcher time to read the message: MPICH's loses unread output when a rank aborts.
const PATIENCE: Duration = Duration::from_millis(200);

/// Prints what is wrong on this rank, and ends all ranks.
pub fn end(comm: &SimpleCommunicator, what: &str) -> ! {
    // In one piece, so that the lines of several ranks do not mix.
    let line = format!("rank {} of {}: {what}\n", comm.rank(), comm.size());
    let _ = stderr().write_all(line.as_bytes());
    std::thread::sleep(PATIENCE);
    comm.abort(1)
}
