//! Caches calls that always fall back to MPI.
//!
//! This works only for handles that stay valid: communicators until one is freed, and predefined datatypes and
//! operations.

use super::PreparedCall;
use crate::mpi::arguments::call::{MpiCall, Reduced, Typed};
use crate::mpi::handles::datatype;
use crate::mpi::handles::operand;
use crate::mpi::state::attribute;
use std::ffi::c_int;

/// Everything cached by communicator handle is valid as long as this does not change.
#[inline]
pub fn epoch() -> usize {
    attribute::epoch()
}

/// Whether MPI serves all calls with these arguments if it was chosen for this one. Lists are not compared, and only
/// for an alltoallv do they not matter.
#[cold]
pub(super) fn stays(call: &MpiCall, rank: usize) -> bool {
    match call {
        MpiCall::Alltoallv { .. } => lasts(call, rank),
        MpiCall::Allgatherv { .. } | MpiCall::ReduceScatter { .. } => false,
        _ => lasts(call, rank),
    }
}

/// The answer for a non-blocking call that MPI serves: whether it also serves later calls with these arguments.
#[cold]
pub(super) fn passes(call: &MpiCall, rank: usize) -> PreparedCall {
    match lasts(call, rank) {
        true => PreparedCall::Passes { by_lists: !stays(call, rank) },
        false => PreparedCall::Library,
    }
}

/// Whether all datatypes and operations of a call that are used on a rank are predefined, so that they are never freed.
/// Others are not queried: they may be invalid.
pub(super) fn lasts(call: &MpiCall, rank: usize) -> bool {
    let known = |datatype| datatype::is_known(datatype);
    let typed = |typed: &Typed| known(typed.datatype);
    let reduced = |data: &Reduced| known(data.datatype) && operand::is_named(data.op);
    let is_root = |root: c_int| root as i64 == rank as i64;
    match call {
        MpiCall::Allgather { send, recv } | MpiCall::Alltoall { send, recv } => send.iter().all(typed) && typed(recv),
        MpiCall::Allgatherv { send, recv } => send.iter().all(typed) && known(recv.datatype),
        MpiCall::Alltoallv { send, recv } => send.iter().all(|send| known(send.datatype)) && known(recv.datatype),
        MpiCall::Broadcast { data, .. } => typed(data),
        MpiCall::Allreduce { data, .. }
        | MpiCall::Reduce { data, .. }
        | MpiCall::ReduceScatter { data, .. }
        | MpiCall::ReduceScatterBlock { data, .. } => reduced(data),
        MpiCall::Gather { send, recv, root } => send.iter().all(typed) && (!is_root(*root) || typed(recv)),
        MpiCall::Scatter { send, recv, root } => recv.iter().all(typed) && (!is_root(*root) || typed(send)),
    }
}
