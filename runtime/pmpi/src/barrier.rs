//! Barriers, as allreduces of one byte: no rank has the result before all ranks have contributed, whatever the
//! algorithm. So every proved allreduce is a proved barrier. Persistent barriers are left to the library, which is
//! faster with two ranks.

use crate::arguments;
use crate::failure::SUCCESS;
use crate::passing::all;
use crate::serve;
use mpi::ffi::{self, MPI_Comm, MPI_Request};
use roundel::mpi::raw::{self, CallKey, LastCall, MpiCall, Repeated, lists};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// The contribution of every rank.
static NOTHING: u8 = 0;

/// Where barriers that have been started write their results, which nobody reads. Each has a byte of its own until as
/// many others have been started: by then it has almost certainly been completed; if not, both write zero.
static RESULTS: [AtomicU8; 1 << 14] = [const { AtomicU8::new(0) }; 1 << 14];

/// The number of barriers that have been started.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// The call whose result goes to an address.
fn barrier(result: *mut c_void) -> Option<MpiCall> {
    // SAFETY: constants of the library.
    let (byte, or) = unsafe { (ffi::RSMPI_UINT8_T, ffi::RSMPI_BOR) };
    arguments::allreduce((&raw const NOTHING).cast(), result, 1 as c_int, byte, or)
}

/// The call of a barrier that is completed later.
fn later() -> Option<MpiCall> {
    let place = STARTED.fetch_add(1, Ordering::Relaxed) % RESULTS.len();
    barrier(RESULTS[place].as_ptr().cast())
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Barrier(comm: MPI_Comm) -> c_int {
    let mut result = NOTHING;
    let (send, recv): (*const c_void, *mut c_void) = ((&raw const NOTHING).cast(), (&raw mut result).cast());
    static LAST: LastCall = LastCall::new();
    let key = CallKey::new(MPI_Barrier as *const () as usize, comm, [], lists([]));
    // SAFETY: the program's communicator; the buffers live until the end of the call.
    unsafe {
        let outcome = match LAST.find(comm, &[]) {
            Some(known) if known.passes() => Repeated::Library,
            Some(known) => raw::repeat_known(known, send.cast_mut(), recv),
            None if all(comm) => Repeated::Library,
            None => raw::repeat(&key, send.cast_mut(), recv),
        };
        match outcome {
            Repeated::Done => SUCCESS,
            Repeated::Library => ffi::PMPI_Barrier(comm),
            Repeated::Failed(error) => serve::failed("MPI_Barrier", comm, *error),
            Repeated::Unknown => {
                let served = serve::blocking("MPI_Barrier", &key, &LAST, || barrier(recv));
                served.unwrap_or_else(|| ffi::PMPI_Barrier(comm))
            }
        }
    }
}

/// # Safety
/// The same as for the MPI function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Ibarrier(comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
    static LAST: LastCall = LastCall::new();
    // SAFETY: the program's arguments, and the library's function for them.
    unsafe {
        if LAST.find(comm, &[]).is_some() || all(comm) {
            return ffi::PMPI_Ibarrier(comm, request);
        }
        let key = CallKey::new(MPI_Ibarrier as *const () as usize, comm, [], lists([]));
        let served = serve::starting("MPI_Ibarrier", &key, &LAST, request, later);
        served.unwrap_or_else(|| ffi::PMPI_Ibarrier(comm, request))
    }
}
