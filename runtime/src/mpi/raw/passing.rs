//! Caches calls that always fall back to MPI.
//!
//! That can be said only of what never changes: communicators until one is freed, datatypes and operations that MPI
//! itself names.

use super::call::{MpiCall, Typed};
use super::datatype;
use super::operand;
use crate::mpi::attribute;

/// What was known of communicators by their handles is good as long as this is the same.
#[inline]
pub fn epoch() -> usize {
    attribute::epoch()
}

/// Whether a call that is the library's is so each time; those with lists would have to be compared.
#[cold]
pub(super) fn stays(call: &MpiCall) -> bool {
    let moved = |send: &Option<Typed>, recv: &Typed| [send.unwrap_or(*recv).datatype, recv.datatype];
    let (datatypes, op) = match call {
        MpiCall::Allgather { send, recv } | MpiCall::Alltoall { send, recv } => (moved(send, recv), None),
        MpiCall::Broadcast { data, .. } => ([data.datatype; 2], None),
        MpiCall::Allreduce { data, .. } | MpiCall::Reduce { data, .. } | MpiCall::ReduceScatterBlock { data, .. } => {
            ([data.datatype; 2], Some(data.op))
        }
        // Those with a root have arguments that mean nothing on other ranks.
        MpiCall::Gather { .. } | MpiCall::Scatter { .. } => return false,
        MpiCall::Allgatherv { .. } | MpiCall::Alltoallv { .. } | MpiCall::ReduceScatter { .. } => return false,
    };
    // Nobody is asked about others: they need not be in order.
    datatypes.iter().all(|&datatype| datatype::is_known(datatype)) && op.is_none_or(operand::is_named)
}
