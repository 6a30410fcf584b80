//! Calls that go to the library each time: whoever knows one again need not ask.
//!
//! That can be said only of what never changes: communicators until one is freed, datatypes and operations that MPI itself names.

use super::call::{Call, Typed};
use super::datatype::facts;
use crate::mpi::attribute;
use ::mpi::ffi;

/// What was known of communicators by their handles is good as long as this is the same.
#[inline]
pub fn epoch() -> usize {
    attribute::epoch()
}

/// Whether a call that is the library's is so each time; those with lists would have to be compared.
///
/// # Safety
/// The datatypes of the call are live.
#[cold]
pub(super) unsafe fn stays(call: &Call) -> bool {
    let moved = |send: &Option<Typed>, recv: &Typed| [send.unwrap_or(*recv).datatype, recv.datatype];
    let (datatypes, op) = match call {
        Call::Allgather { send, recv } | Call::Alltoall { send, recv } => (moved(send, recv), None),
        Call::Broadcast { data, .. } => ([data.datatype; 2], None),
        Call::Allreduce { data, .. } | Call::Reduce { data, .. } | Call::ReduceScatterBlock { data, .. } => {
            ([data.datatype; 2], Some(data.op))
        }
        // Those with a root have arguments that mean nothing on other ranks.
        Call::Gather { .. } | Call::Scatter { .. } => return false,
        Call::Allgatherv { .. } | Call::Alltoallv { .. } | Call::ReduceScatter { .. } => return false,
    };
    // SAFETY: the caller promises live datatypes.
    let named = |&datatype: &_| unsafe { facts(datatype) }.is_ok_and(|facts| facts.named);
    datatypes.iter().all(named) && op.is_none_or(is_named)
}

/// Whether MPI itself names an operation; not all of those are known here.
fn is_named(op: ffi::MPI_Op) -> bool {
    // SAFETY: the handles are constants of the library.
    let named = unsafe {
        use ffi::{RSMPI_BAND, RSMPI_BOR, RSMPI_BXOR, RSMPI_LAND, RSMPI_LOR, RSMPI_LXOR};
        use ffi::{RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_SUM};
        [
            RSMPI_SUM, RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_LAND, RSMPI_LOR, RSMPI_LXOR, RSMPI_BAND, RSMPI_BOR,
            RSMPI_BXOR,
        ]
    };
    named.contains(&op)
}
