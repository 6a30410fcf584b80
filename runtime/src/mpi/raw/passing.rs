//! Caches calls that always fall back to MPI.
//!
//! This is possible only for what never changes: communicators until one is freed, and predefined datatypes and
//! operations.

use crate::mpi::arguments::call::{MpiCall, Typed};
use crate::mpi::handles::datatype;
use crate::mpi::handles::operand;
use crate::mpi::state::attribute;

/// Everything cached by communicator handle is valid as long as this does not change.
#[inline]
pub fn epoch() -> usize {
    attribute::epoch()
}

/// Whether MPI serves all calls with these arguments if it serves this one. Calls with lists are excluded, because
/// the lists would have to be compared.
#[cold]
pub(super) fn stays(call: &MpiCall) -> bool {
    let moved = |send: &Option<Typed>, recv: &Typed| [send.unwrap_or(*recv).datatype, recv.datatype];
    let (datatypes, op) = match call {
        MpiCall::Allgather { send, recv } | MpiCall::Alltoall { send, recv } => (moved(send, recv), None),
        MpiCall::Broadcast { data, .. } => ([data.datatype; 2], None),
        MpiCall::Allreduce { data, .. } | MpiCall::Reduce { data, .. } | MpiCall::ReduceScatterBlock { data, .. } => {
            ([data.datatype; 2], Some(data.op))
        }
        // Some arguments of calls with a root are ignored on other ranks.
        MpiCall::Gather { .. } | MpiCall::Scatter { .. } => return false,
        MpiCall::Allgatherv { .. } | MpiCall::Alltoallv { .. } | MpiCall::ReduceScatter { .. } => return false,
    };
    // Others are not queried: they may be invalid.
    datatypes.iter().all(|&datatype| datatype::is_known(datatype)) && op.is_none_or(operand::is_named)
}
