//! Progress while the program waits in MPI.

/// Whether this MPI lets operations progress in the background.
pub(crate) fn available() -> bool {
    #[cfg(open_mpi)]
    return crate::progress::hook::registered();
    #[cfg(not(open_mpi))]
    return crate::progress::ucx::registered();
}
