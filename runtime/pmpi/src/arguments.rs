//! Converts MPI's arguments to a [`MpiCall`]. `None` for invalid arguments: MPI itself reports them.
//!
//! Only significant arguments are read: a value that MPI ignores on a rank must not affect who serves a call, because
//! the other ranks do not see it.

use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Op};
use roundel::mpi::raw::{IntList, MpiCall, Reduced, Scattered, Typed, in_place};
use std::ffi::{c_int, c_void};

/// The integer type of an MPI function: C's `int`, or that of the large-count functions.
pub(crate) trait Integer: Copy {
    fn length(self) -> Option<usize>;
    fn list(first: *const Self) -> Option<IntList>;
}

impl Integer for c_int {
    #[inline]
    fn length(self) -> Option<usize> {
        usize::try_from(self).ok()
    }

    #[inline]
    fn list(first: *const Self) -> Option<IntList> {
        (!first.is_null()).then_some(IntList::Ints(first))
    }
}

impl Integer for i64 {
    #[inline]
    fn length(self) -> Option<usize> {
        usize::try_from(self).ok()
    }

    #[inline]
    fn list(first: *const Self) -> Option<IntList> {
        (!first.is_null()).then_some(IntList::Longs(first))
    }
}

impl Integer for isize {
    #[inline]
    fn length(self) -> Option<usize> {
        usize::try_from(self).ok()
    }

    #[inline]
    fn list(first: *const Self) -> Option<IntList> {
        const { assert!(size_of::<MPI_Aint>() == size_of::<i64>()) };
        i64::list(first.cast())
    }
}

type In = *const c_void;
type Out = *mut c_void;

#[inline]
fn typed<N: Integer>(address: In, count: N, datatype: MPI_Datatype) -> Option<Typed> {
    Some(Typed { address: address.cast_mut(), count: count.length()?, datatype: real(datatype)? })
}

#[inline]
fn scattered<N: Integer, D: Integer>(
    address: In,
    counts: *const N,
    displs: *const D,
    datatype: MPI_Datatype,
) -> Option<Scattered> {
    let (counts, displs) = (N::list(counts)?, D::list(displs)?);
    Some(Scattered { address: address.cast_mut(), counts, displs, datatype: real(datatype)? })
}

#[inline]
fn reduced(send: In, recv: Out, datatype: MPI_Datatype, op: MPI_Op) -> Option<Reduced> {
    let send = (!is_in_place(send)).then_some(send);
    (op != null_op()).then_some(())?;
    Some(Reduced { send, recv, datatype: real(datatype)?, op })
}

#[inline]
fn is_in_place(address: In) -> bool {
    address == in_place().cast_const()
}

#[inline]
fn real(datatype: MPI_Datatype) -> Option<MPI_Datatype> {
    // SAFETY: a constant of the library.
    (datatype != unsafe { ffi::RSMPI_DATATYPE_NULL }).then_some(datatype)
}

#[cfg(open_mpi)]
#[inline]
fn null_op() -> MPI_Op {
    MPI_Op((&raw mut ffi::ompi_mpi_op_null).cast())
}

/// The handle's value in the ABI of MPI 5.
#[cfg(abi)]
#[inline]
fn null_op() -> MPI_Op {
    MPI_Op(std::ptr::without_provenance_mut(0x20))
}

/// MPICH and its descendants share an ABI in which this handle is a number.
#[cfg(not(any(open_mpi, abi)))]
#[inline]
fn null_op() -> MPI_Op {
    MPI_Op(0x1800_0000)
}

/// A send block, or `MPI_IN_PLACE`, which makes MPI ignore the other arguments.
macro_rules! unless_in_place {
    ($address:expr, $argument:expr) => {
        if is_in_place($address) { None } else { Some($argument?) }
    };
}

#[inline]
pub(crate) fn allgather<N: Integer>(
    (send, sends, sendtype): (In, N, MPI_Datatype),
    (recv, recvs, recvtype): (Out, N, MPI_Datatype),
) -> Option<MpiCall> {
    let send = unless_in_place!(send, typed(send, sends, sendtype));
    Some(MpiCall::Allgather { send, recv: typed(recv, recvs, recvtype)? })
}

#[inline]
pub(crate) fn allgatherv<N: Integer, D: Integer>(
    (send, sends, sendtype): (In, N, MPI_Datatype),
    (recv, counts, displs, recvtype): (Out, *const N, *const D, MPI_Datatype),
) -> Option<MpiCall> {
    let send = unless_in_place!(send, typed(send, sends, sendtype));
    Some(MpiCall::Allgatherv { send, recv: scattered(recv, counts, displs, recvtype)? })
}

#[inline]
pub(crate) fn allreduce<N: Integer>(
    send: In,
    recv: Out,
    count: N,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Option<MpiCall> {
    Some(MpiCall::Allreduce { data: reduced(send, recv, datatype, op)?, count: count.length()? })
}

#[inline]
pub(crate) fn reduce_scatter<N: Integer>(
    send: In,
    recv: Out,
    counts: *const N,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Option<MpiCall> {
    Some(MpiCall::ReduceScatter { data: reduced(send, recv, datatype, op)?, counts: N::list(counts)? })
}

#[inline]
pub(crate) fn reduce_scatter_block<N: Integer>(
    send: In,
    recv: Out,
    count: N,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Option<MpiCall> {
    Some(MpiCall::ReduceScatterBlock { data: reduced(send, recv, datatype, op)?, count: count.length()? })
}

#[inline]
pub(crate) fn alltoall<N: Integer>(
    (send, sends, sendtype): (In, N, MPI_Datatype),
    (recv, recvs, recvtype): (Out, N, MPI_Datatype),
) -> Option<MpiCall> {
    let send = unless_in_place!(send, typed(send, sends, sendtype));
    Some(MpiCall::Alltoall { send, recv: typed(recv, recvs, recvtype)? })
}

#[inline]
pub(crate) fn alltoallv<N: Integer, D: Integer>(
    (send, sends, from, sendtype): (In, *const N, *const D, MPI_Datatype),
    (recv, recvs, to, recvtype): (Out, *const N, *const D, MPI_Datatype),
) -> Option<MpiCall> {
    let send = unless_in_place!(send, scattered(send, sends, from, sendtype));
    Some(MpiCall::Alltoallv { send, recv: scattered(recv, recvs, to, recvtype)? })
}

#[inline]
pub(crate) fn bcast<N: Integer>(address: Out, count: N, datatype: MPI_Datatype, root: c_int) -> Option<MpiCall> {
    Some(MpiCall::Broadcast { data: typed(address, count, datatype)?, root })
}

#[inline]
pub(crate) fn reduce<N: Integer>(
    send: In,
    recv: Out,
    count: N,
    (datatype, op, root): (MPI_Datatype, MPI_Op, c_int),
) -> Option<MpiCall> {
    Some(MpiCall::Reduce { data: reduced(send, recv, datatype, op)?, count: count.length()?, root })
}

#[inline]
pub(crate) fn gather<N: Integer>(
    (send, sends, sendtype): (In, N, MPI_Datatype),
    (recv, recvs, recvtype): (Out, N, MPI_Datatype),
    (root, comm): (c_int, MPI_Comm),
) -> Option<MpiCall> {
    let send = unless_in_place!(send, typed(send, sends, sendtype));
    let recv = on_root(root, comm, recv, recvs, recvtype)?;
    Some(MpiCall::Gather { send, recv, root })
}

#[inline]
pub(crate) fn scatter<N: Integer>(
    (send, sends, sendtype): (In, N, MPI_Datatype),
    (recv, recvs, recvtype): (Out, N, MPI_Datatype),
    (root, comm): (c_int, MPI_Comm),
) -> Option<MpiCall> {
    let recv = unless_in_place!(recv.cast_const(), typed(recv, recvs, recvtype));
    let send = on_root(root, comm, send, sends, sendtype)?;
    Some(MpiCall::Scatter { send, recv, root })
}

/// Blocks that MPI reads only on the root. All other ranks use an empty block, whatever the program passed.
fn on_root<N: Integer>(root: c_int, comm: MPI_Comm, address: In, count: N, datatype: MPI_Datatype) -> Option<Typed> {
    let mut rank = 0;
    // SAFETY: the caller has checked that MPI is live; the communicator is the program's.
    unsafe { ffi::PMPI_Comm_rank(comm, &mut rank) };
    if rank == root {
        return typed(address, count, datatype);
    }
    // SAFETY: a constant of the library.
    let datatype = unsafe { ffi::RSMPI_UINT8_T };
    Some(Typed { address: address.cast_mut(), count: 0, datatype })
}
