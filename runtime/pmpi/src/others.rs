//! Collectives that Roundel does not serve. Before the library waits for other ranks, the operations of the same communicator are
//! completed: the others may wait for this rank's part in them.

use crate::progress;
use mpi::ffi::{self, MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Win};
use std::ffi::{c_int, c_void};

type In = *const c_void;
type Out = *mut c_void;
type List = *const c_int;

macro_rules! after_operations {
    ($($name:ident $library:ident of $comm:ident ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As of MPI's function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            progress::complete($comm);
            // SAFETY: the program's arguments.
            unsafe { ffi::$library($($argument),*) }
        }
    )*};
}

after_operations! {
    MPI_Barrier PMPI_Barrier of comm (comm: MPI_Comm);
    MPI_Gatherv PMPI_Gatherv of comm
        (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, counts: List, displs: List,
         recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm);
    MPI_Scatterv PMPI_Scatterv of comm
        (send: In, counts: List, displs: List, sendtype: MPI_Datatype, recv: Out, recvs: c_int,
         recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm);
    MPI_Scan PMPI_Scan of comm
        (send: In, recv: Out, count: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm);
    MPI_Exscan PMPI_Exscan of comm
        (send: In, recv: Out, count: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm);
    MPI_Alltoallw PMPI_Alltoallw of comm
        (send: In, sends: List, from: List, sendtypes: *const MPI_Datatype, recv: Out, recvs: List, to: List,
         recvtypes: *const MPI_Datatype, comm: MPI_Comm);
    MPI_Neighbor_allgather PMPI_Neighbor_allgather of comm
        (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, recvs: c_int, recvtype: MPI_Datatype,
         comm: MPI_Comm);
    MPI_Neighbor_alltoall PMPI_Neighbor_alltoall of comm
        (send: In, sends: c_int, sendtype: MPI_Datatype, recv: Out, recvs: c_int, recvtype: MPI_Datatype,
         comm: MPI_Comm);
    MPI_Comm_dup PMPI_Comm_dup of comm (comm: MPI_Comm, made: *mut MPI_Comm);
    MPI_Comm_dup_with_info PMPI_Comm_dup_with_info of comm (comm: MPI_Comm, info: MPI_Info, made: *mut MPI_Comm);
    MPI_Comm_split PMPI_Comm_split of comm (comm: MPI_Comm, color: c_int, key: c_int, made: *mut MPI_Comm);
    MPI_Comm_split_type PMPI_Comm_split_type of comm
        (comm: MPI_Comm, by: c_int, key: c_int, info: MPI_Info, made: *mut MPI_Comm);
    MPI_Comm_create PMPI_Comm_create of comm (comm: MPI_Comm, group: MPI_Group, made: *mut MPI_Comm);
    MPI_Cart_create PMPI_Cart_create of comm
        (comm: MPI_Comm, dims: c_int, sizes: List, periods: List, reorder: c_int, made: *mut MPI_Comm);
    MPI_Cart_sub PMPI_Cart_sub of comm (comm: MPI_Comm, remain: List, made: *mut MPI_Comm);
    MPI_Win_create PMPI_Win_create of comm
        (base: Out, size: MPI_Aint, unit: c_int, info: MPI_Info, comm: MPI_Comm, win: *mut MPI_Win);
    MPI_Win_allocate PMPI_Win_allocate of comm
        (size: MPI_Aint, unit: c_int, info: MPI_Info, comm: MPI_Comm, base: Out, win: *mut MPI_Win);
    MPI_Win_allocate_shared PMPI_Win_allocate_shared of comm
        (size: MPI_Aint, unit: c_int, info: MPI_Info, comm: MPI_Comm, base: Out, win: *mut MPI_Win);
}
