//! The arguments of MPI's collectives, as a C program passes them.

use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::{c_int, c_void};

/// A number of elements of a datatype at an address.
#[derive(Clone, Copy, Debug)]
pub struct Typed {
    /// The address as MPI takes it: the datatype's lower bound may shift the data.
    pub address: *mut c_void,
    /// The number of elements; in a gather, the number from each rank.
    pub count: usize,
    /// The datatype of the elements.
    pub datatype: ffi::MPI_Datatype,
}

/// Blocks of a datatype with individual counts and displacements.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// The origin of the displacements, which are in extents of the datatype.
    pub address: *mut c_void,
    /// The length of each rank's block.
    pub counts: IntList,
    /// The displacement of each rank's block.
    pub displs: IntList,
    /// The datatype of the elements.
    pub datatype: ffi::MPI_Datatype,
}

/// A list of C integers, one for each rank.
#[derive(Clone, Copy, Debug)]
pub enum IntList {
    /// The integers of MPI's usual functions.
    Ints(*const c_int),
    /// The integers of the large-count functions, whose names end in `_c`.
    Longs(*const i64),
}

impl IntList {
    /// The entry of a rank.
    ///
    /// # Safety
    /// The list has an entry for this rank.
    pub unsafe fn get(self, rank: usize) -> i64 {
        // SAFETY: the caller guarantees that the entry exists.
        unsafe {
            match self {
                IntList::Ints(list) => i64::from(*list.add(rank)),
                IntList::Longs(list) => *list.add(rank),
            }
        }
    }
}

/// The buffers of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Reduced {
    /// This rank's contribution; `None` for `MPI_IN_PLACE`.
    pub send: Option<*const c_void>,
    /// The buffer for the result.
    pub recv: *mut c_void,
    /// The datatype of the elements.
    pub datatype: ffi::MPI_Datatype,
    /// The operation.
    pub op: ffi::MPI_Op,
}

/// A collective call with MPI's own arguments. `None` is `MPI_IN_PLACE`.
#[derive(Clone, Copy, Debug)]
pub enum MpiCall {
    /// `MPI_Allgather`.
    Allgather {
        /// This rank's block.
        send: Option<Typed>,
        /// All blocks; the count is that of one block.
        recv: Typed,
    },
    /// `MPI_Allgatherv`.
    Allgatherv {
        /// This rank's block.
        send: Option<Typed>,
        /// All blocks.
        recv: Scattered,
    },
    /// `MPI_Allreduce`.
    Allreduce {
        /// The buffers.
        data: Reduced,
        /// The number of elements.
        count: usize,
    },
    /// `MPI_Reduce_scatter`.
    ReduceScatter {
        /// The buffers.
        data: Reduced,
        /// The number of elements for each rank.
        counts: IntList,
    },
    /// `MPI_Reduce_scatter_block`.
    ReduceScatterBlock {
        /// The buffers.
        data: Reduced,
        /// The number of elements for each rank.
        count: usize,
    },
    /// `MPI_Alltoall`.
    Alltoall {
        /// This rank's blocks for the others; the count is that of one block.
        send: Option<Typed>,
        /// The blocks from the others.
        recv: Typed,
    },
    /// `MPI_Alltoallv`.
    Alltoallv {
        /// This rank's blocks for the others.
        send: Option<Scattered>,
        /// The blocks from the others.
        recv: Scattered,
    },
    /// `MPI_Bcast`.
    Broadcast {
        /// The data.
        data: Typed,
        /// The rank that has the data.
        root: c_int,
    },
    /// `MPI_Reduce`.
    Reduce {
        /// The buffers. Only the root uses the receive buffer.
        data: Reduced,
        /// The number of elements.
        count: usize,
        /// The rank that gets the result.
        root: c_int,
    },
    /// `MPI_Gather`.
    Gather {
        /// This rank's block; in place only on the root.
        send: Option<Typed>,
        /// All blocks, only on the root.
        recv: Typed,
        /// The rank that gets the blocks.
        root: c_int,
    },
    /// `MPI_Scatter`.
    Scatter {
        /// All blocks, only on the root.
        send: Typed,
        /// This rank's block; in place only on the root.
        recv: Option<Typed>,
        /// The rank that has the blocks.
        root: c_int,
    },
}

impl MpiCall {
    /// The collective.
    pub const fn kind(&self) -> Kind {
        match self {
            MpiCall::Allgather { .. } | MpiCall::Allgatherv { .. } => Kind::Allgather,
            MpiCall::Allreduce { .. } => Kind::Allreduce,
            MpiCall::ReduceScatter { .. } | MpiCall::ReduceScatterBlock { .. } => Kind::ReduceScatter,
            MpiCall::Alltoall { .. } | MpiCall::Alltoallv { .. } => Kind::Alltoall,
            MpiCall::Broadcast { .. } => Kind::Broadcast,
            MpiCall::Reduce { .. } => Kind::Reduce,
            MpiCall::Gather { .. } => Kind::Gather,
            MpiCall::Scatter { .. } => Kind::Scatter,
        }
    }
}

/// `MPI_IN_PLACE` as C programs pass it. The headers define it as a macro, which the bindings lack.
#[inline]
pub fn in_place() -> *mut c_void {
    // Handles are addresses in Open MPI, and numbers in MPICH and its descendants.
    let number: isize = if size_of::<ffi::MPI_Comm>() == size_of::<usize>() { 1 } else { -1 };
    std::ptr::without_provenance_mut(number as usize)
}
