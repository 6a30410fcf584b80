//! MPI_Barrier, as an allreduce of one byte: no rank has the result before all ranks have contributed, whatever the
//! algorithm. So every proved allreduce is a proved barrier.

use crate::arguments;
use crate::passing::{CallKey, all};
use crate::serve::{self, RepeatOutcome};
use mpi::ffi::{self, MPI_Comm};
use std::ffi::{c_int, c_void};

/// The contribution of every rank.
static NOTHING: u8 = 0;

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Barrier(comm: MPI_Comm) -> c_int {
    let mut result = NOTHING;
    let (send, recv): (*const c_void, *mut c_void) = ((&raw const NOTHING).cast(), (&raw mut result).cast());
    let key = CallKey { function: MPI_Barrier as *const () as usize, comm, words: [], lists: [None, None] };
    // SAFETY: the program's communicator; the buffers live until the end of the call.
    unsafe {
        if all(comm) || key.is_last() {
            return ffi::PMPI_Barrier(comm);
        }
        match serve::repeated("MPI_Barrier", &key, [send.cast_mut(), recv]) {
            Some(RepeatOutcome::Code(code)) => code,
            Some(RepeatOutcome::Library) => ffi::PMPI_Barrier(comm),
            None => {
                let call = || arguments::allreduce(send, recv, 1 as c_int, ffi::RSMPI_UINT8_T, ffi::RSMPI_BOR);
                serve::blocking("MPI_Barrier", &key, call).unwrap_or_else(|| ffi::PMPI_Barrier(comm))
            }
        }
    }
}
