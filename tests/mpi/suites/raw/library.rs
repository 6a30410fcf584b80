//! The same calls by MPI's own functions.

use mpi::ffi;
use roundel::mpi::raw::{IntList, MpiCall, Reduced, Scattered, Typed, in_place};
use std::ffi::{c_int, c_void};

/// The address, the number of elements and the datatype of a buffer.
fn sent(send: Option<Typed>, recv: ffi::MPI_Datatype) -> (*const c_void, c_int, ffi::MPI_Datatype) {
    match send {
        Some(Typed { address, count, datatype }) => (address, count as c_int, datatype),
        None => (in_place(), 0, recv),
    }
}

fn ints(list: IntList) -> *const c_int {
    if let IntList::Ints(ints) = list { ints } else { std::ptr::null() }
}

fn given(data: &Reduced) -> *const c_void {
    data.send.unwrap_or(in_place())
}

/// Has the library do a call.
///
/// # Safety
/// As of MPI's own function.
pub(crate) unsafe fn run(comm: ffi::MPI_Comm, call: &MpiCall) -> c_int {
    // SAFETY: the caller promises what MPI asks for.
    unsafe {
        match *call {
            MpiCall::Allgather { send, recv: Typed { address, count, datatype } } => {
                let (from, n, of) = sent(send, datatype);
                ffi::MPI_Allgather(from, n, of, address, count as c_int, datatype, comm)
            }
            MpiCall::Allgatherv { send, recv: Scattered { address, counts, displs, datatype } } => {
                let (from, n, of) = sent(send, datatype);
                ffi::MPI_Allgatherv(from, n, of, address, ints(counts), ints(displs), datatype, comm)
            }
            MpiCall::Alltoall { send, recv: Typed { address, count, datatype } } => {
                let (from, n, of) = sent(send, datatype);
                ffi::MPI_Alltoall(from, n, of, address, count as c_int, datatype, comm)
            }
            MpiCall::Alltoallv { send, recv } => {
                let (from, leaving) = match send {
                    Some(send) => (send.address.cast_const(), send),
                    None => (in_place().cast_const(), recv),
                };
                ffi::MPI_Alltoallv(
                    from,
                    ints(leaving.counts),
                    ints(leaving.displs),
                    leaving.datatype,
                    recv.address,
                    ints(recv.counts),
                    ints(recv.displs),
                    recv.datatype,
                    comm,
                )
            }
            MpiCall::Allreduce { data, count } => {
                ffi::MPI_Allreduce(given(&data), data.recv, count as c_int, data.datatype, data.op, comm)
            }
            MpiCall::ReduceScatter { data, counts } => {
                ffi::MPI_Reduce_scatter(given(&data), data.recv, ints(counts), data.datatype, data.op, comm)
            }
            MpiCall::ReduceScatterBlock { data, count } => {
                ffi::MPI_Reduce_scatter_block(given(&data), data.recv, count as c_int, data.datatype, data.op, comm)
            }
            MpiCall::Reduce { data, count, root } => {
                ffi::MPI_Reduce(given(&data), data.recv, count as c_int, data.datatype, data.op, root, comm)
            }
            MpiCall::Broadcast { data: Typed { address, count, datatype }, root } => {
                ffi::MPI_Bcast(address, count as c_int, datatype, root, comm)
            }
            MpiCall::Gather { send, recv: Typed { address, count, datatype }, root } => {
                let (from, n, of) = sent(send, datatype);
                ffi::MPI_Gather(from, n, of, address, count as c_int, datatype, root, comm)
            }
            MpiCall::Scatter { send: Typed { address, count, datatype }, recv, root } => {
                let (to, n, of) = sent(recv, datatype);
                ffi::MPI_Scatter(address, count as c_int, datatype, to.cast_mut(), n, of, root, comm)
            }
        }
    }
}
