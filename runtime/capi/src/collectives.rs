//! The collectives: one table, from which the functions here, the header and the Fortran module are generated
//! (`tests/header.rs`).

use crate::algorithm::CAlgorithm;
use crate::arguments::{self, ignored, is_root, list, reduced, scattered, typed, unless_in_place};
use crate::error::ApiFailure;
use crate::invoke::{begin, init, now};
use crate::request::{CRequest, prepares};
use engine::mpi::raw::{ArgumentWord, CallKey, MpiCall, ends, lists};
use mpi::ffi;
use std::ffi::{c_int, c_void};

/// Each entry: what the collective does; its blocking, non-blocking and persistent function with MPI's names; the
/// arguments that MPI's functions have before the communicator; and the call that they make.
macro_rules! collectives {
    ($(
        $what:literal
        $now:ident as $mpi:ident, $begin:ident as $nonblocking:ident, $init:ident as $persistent:ident
        ($($argument:ident: $type:ty),*; $comm:ident)
        $call:block
    )*) => {$(
        #[doc = $what]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $now($($argument: $type,)* $comm: ffi::MPI_Comm, how: *const CAlgorithm) -> c_int {
            let call = || -> Result<MpiCall, ApiFailure> { $call };
            let (words, lists) = ([$($argument.word()),*], lists([$($argument.list()),*]));
            let key = CallKey::new($now as *const () as usize, $comm, words, lists);
            let addresses = ends([$($argument.address()),*]);
            // SAFETY: the caller promises arguments that MPI would accept, and a handle that is NULL or live.
            unsafe { now(stringify!($now), &key, addresses, how, call, || ffi::$mpi($($argument,)* $comm)) }
        }

        #[doc = $what]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $begin(
            $($argument: $type,)*
            $comm: ffi::MPI_Comm,
            how: *const CAlgorithm,
            request: *mut *mut CRequest,
        ) -> c_int {
            let call = || -> Result<MpiCall, ApiFailure> { $call };
            // SAFETY: the caller promises arguments that MPI would accept, a handle that is NULL or live, and room for
            // a request.
            unsafe {
                begin(stringify!($begin), $comm, how, request, call, |begun| {
                    ffi::$nonblocking($($argument,)* $comm, begun)
                })
            }
        }

        #[doc = $what]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $init(
            $($argument: $type,)*
            $comm: ffi::MPI_Comm,
            how: *const CAlgorithm,
            request: *mut *mut CRequest,
        ) -> c_int {
            let call = || -> Result<MpiCall, ApiFailure> { $call };
            let library = prepares!($persistent or $nonblocking($($argument,)* $comm));
            // SAFETY: as for the non-blocking function.
            unsafe { init(stringify!($init), $comm, how, request, call, library) }
        }
    )*};
}

collectives! {
    "every rank gets the blocks of all"
    roundel_allgather as PMPI_Allgather,
    roundel_iallgather as PMPI_Iallgather,
    roundel_allgather_init as PMPI_Allgather_init
    (sendbuf: *const c_void, sendcount: c_int, sendtype: ffi::MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int,
     recvtype: ffi::MPI_Datatype; comm)
    {
        let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
        Ok(MpiCall::Allgather { send, recv: typed(recvbuf, recvcount, recvtype)? })
    }

    "every rank gets the blocks of all, which have lengths of their own"
    roundel_allgatherv as PMPI_Allgatherv,
    roundel_iallgatherv as PMPI_Iallgatherv,
    roundel_allgatherv_init as PMPI_Allgatherv_init
    (sendbuf: *const c_void, sendcount: c_int, sendtype: ffi::MPI_Datatype, recvbuf: *mut c_void,
     recvcounts: *const c_int, displs: *const c_int, recvtype: ffi::MPI_Datatype; comm)
    {
        let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
        Ok(MpiCall::Allgatherv { send, recv: scattered(recvbuf, recvcounts, displs, recvtype)? })
    }

    "every rank has a block for every other"
    roundel_alltoall as PMPI_Alltoall,
    roundel_ialltoall as PMPI_Ialltoall,
    roundel_alltoall_init as PMPI_Alltoall_init
    (sendbuf: *const c_void, sendcount: c_int, sendtype: ffi::MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int,
     recvtype: ffi::MPI_Datatype; comm)
    {
        let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
        Ok(MpiCall::Alltoall { send, recv: typed(recvbuf, recvcount, recvtype)? })
    }

    "every rank has a block for every other, with a length of its own"
    roundel_alltoallv as PMPI_Alltoallv,
    roundel_ialltoallv as PMPI_Ialltoallv,
    roundel_alltoallv_init as PMPI_Alltoallv_init
    (sendbuf: *const c_void, sendcounts: *const c_int, sdispls: *const c_int, sendtype: ffi::MPI_Datatype,
     recvbuf: *mut c_void, recvcounts: *const c_int, rdispls: *const c_int, recvtype: ffi::MPI_Datatype; comm)
    {
        let send = unless_in_place(sendbuf, || scattered(sendbuf, sendcounts, sdispls, sendtype))?;
        Ok(MpiCall::Alltoallv { send, recv: scattered(recvbuf, recvcounts, rdispls, recvtype)? })
    }

    "every rank gets the reduction of what all bring"
    roundel_allreduce as PMPI_Allreduce,
    roundel_iallreduce as PMPI_Iallreduce,
    roundel_allreduce_init as PMPI_Allreduce_init
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: ffi::MPI_Datatype, op: ffi::MPI_Op; comm)
    {
        let data = reduced(sendbuf, recvbuf, datatype, op)?;
        Ok(MpiCall::Allreduce { data, count: arguments::count("the count", count)? })
    }

    "every rank gets its block of the reduction"
    roundel_reduce_scatter_block as PMPI_Reduce_scatter_block,
    roundel_ireduce_scatter_block as PMPI_Ireduce_scatter_block,
    roundel_reduce_scatter_block_init as PMPI_Reduce_scatter_block_init
    (sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: c_int, datatype: ffi::MPI_Datatype,
     op: ffi::MPI_Op; comm)
    {
        let data = reduced(sendbuf, recvbuf, datatype, op)?;
        Ok(MpiCall::ReduceScatterBlock { data, count: arguments::count("the count", recvcount)? })
    }

    "every rank gets its block of the reduction, with a length of its own"
    roundel_reduce_scatter as PMPI_Reduce_scatter,
    roundel_ireduce_scatter as PMPI_Ireduce_scatter,
    roundel_reduce_scatter_init as PMPI_Reduce_scatter_init
    (sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const c_int, datatype: ffi::MPI_Datatype,
     op: ffi::MPI_Op; comm)
    {
        let counts = list("the list of counts", recvcounts)?;
        Ok(MpiCall::ReduceScatter { data: reduced(sendbuf, recvbuf, datatype, op)?, counts })
    }

    "every rank gets what the root has"
    roundel_bcast as PMPI_Bcast,
    roundel_ibcast as PMPI_Ibcast,
    roundel_bcast_init as PMPI_Bcast_init
    (buffer: *mut c_void, count: c_int, datatype: ffi::MPI_Datatype, root: c_int; comm)
    {
        Ok(MpiCall::Broadcast { data: typed(buffer, count, datatype)?, root })
    }

    "the root gets the reduction of what all bring"
    roundel_reduce as PMPI_Reduce,
    roundel_ireduce as PMPI_Ireduce,
    roundel_reduce_init as PMPI_Reduce_init
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int, datatype: ffi::MPI_Datatype, op: ffi::MPI_Op,
     root: c_int; comm)
    {
        // Other ranks ignore the receive buffer, which need not exist there.
        let is_root = is_root(comm, root);
        if !is_root {
            arguments::buffer("the send buffer of a rank that is not the root", sendbuf.cast_mut())?;
        }
        let recvbuf = if is_root { recvbuf } else { std::ptr::null_mut() };
        let data = reduced(sendbuf, recvbuf, datatype, op)?;
        Ok(MpiCall::Reduce { data, count: arguments::count("the count", count)?, root })
    }

    "the root gets the blocks of all"
    roundel_gather as PMPI_Gather,
    roundel_igather as PMPI_Igather,
    roundel_gather_init as PMPI_Gather_init
    (sendbuf: *const c_void, sendcount: c_int, sendtype: ffi::MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int,
     recvtype: ffi::MPI_Datatype, root: c_int; comm)
    {
        let send = unless_in_place(sendbuf, || typed(sendbuf, sendcount, sendtype))?;
        let recv = if is_root(comm, root) { typed(recvbuf, recvcount, recvtype)? } else { ignored(recvtype) };
        Ok(MpiCall::Gather { send, recv, root })
    }

    "every rank gets its block of what the root has"
    roundel_scatter as PMPI_Scatter,
    roundel_iscatter as PMPI_Iscatter,
    roundel_scatter_init as PMPI_Scatter_init
    (sendbuf: *const c_void, sendcount: c_int, sendtype: ffi::MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int,
     recvtype: ffi::MPI_Datatype, root: c_int; comm)
    {
        let recv = unless_in_place(recvbuf, || typed(recvbuf, recvcount, recvtype))?;
        let send = if is_root(comm, root) { typed(sendbuf, sendcount, sendtype)? } else { ignored(sendtype) };
        Ok(MpiCall::Scatter { send, recv, root })
    }
}
