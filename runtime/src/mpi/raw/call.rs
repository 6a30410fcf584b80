//! The arguments of MPI's collectives, as a C program passes them.

use ::mpi::ffi;
use roundel_spec::Kind;
use std::ffi::{c_int, c_void};

/// So many elements of a datatype at an address.
#[derive(Clone, Copy, Debug)]
pub struct Typed {
    /// Where they begin, as MPI counts: the datatype's lower bound may put them elsewhere.
    pub address: *mut c_void,
    /// How many there are. In a gather, for each rank.
    pub count: usize,
    /// What they are.
    pub datatype: ffi::MPI_Datatype,
}

/// Blocks of a datatype, with a count and a displacement each.
#[derive(Clone, Copy, Debug)]
pub struct Scattered {
    /// From where displacements are counted, in extents of the datatype.
    pub address: *mut c_void,
    /// How long the block of each rank is.
    pub counts: IntList,
    /// Where it begins.
    pub displs: IntList,
    /// What the elements are.
    pub datatype: ffi::MPI_Datatype,
}

/// A list of C's integers, one for each rank.
#[derive(Clone, Copy, Debug)]
pub enum IntList {
    /// Of MPI's usual functions.
    Ints(*const c_int),
    /// Of those for large counts, whose names end in `_c`.
    Longs(*const i64),
}

impl IntList {
    /// The entry of a rank.
    ///
    /// # Safety
    /// The list must have it.
    pub unsafe fn get(self, rank: usize) -> i64 {
        // SAFETY: the caller promises that there is such an entry.
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
    /// What this rank brings; none for `MPI_IN_PLACE`.
    pub send: Option<*const c_void>,
    /// Where the result goes.
    pub recv: *mut c_void,
    /// What the elements are.
    pub datatype: ffi::MPI_Datatype,
    /// What they are reduced with.
    pub op: ffi::MPI_Op,
}

/// A collective call with MPI's own arguments. `None` is `MPI_IN_PLACE`.
#[derive(Clone, Copy, Debug)]
pub enum MpiCall {
    /// `MPI_Allgather`.
    Allgather {
        /// This rank's block.
        send: Option<Typed>,
        /// All blocks; the count is that of one.
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
        /// How many elements they have.
        count: usize,
    },
    /// `MPI_Reduce_scatter`.
    ReduceScatter {
        /// The buffers.
        data: Reduced,
        /// How many elements each rank gets.
        counts: IntList,
    },
    /// `MPI_Reduce_scatter_block`.
    ReduceScatterBlock {
        /// The buffers.
        data: Reduced,
        /// How many elements a rank gets.
        count: usize,
    },
    /// `MPI_Alltoall`.
    Alltoall {
        /// What this rank has for the others; the count is that of one block.
        send: Option<Typed>,
        /// What the others have for it.
        recv: Typed,
    },
    /// `MPI_Alltoallv`.
    Alltoallv {
        /// What this rank has for the others.
        send: Option<Scattered>,
        /// What the others have for it.
        recv: Scattered,
    },
    /// `MPI_Bcast`.
    Broadcast {
        /// The data.
        data: Typed,
        /// Whose data it is.
        root: c_int,
    },
    /// `MPI_Reduce`.
    Reduce {
        /// The buffers; the one for the result means something on the root alone.
        data: Reduced,
        /// How many elements they have.
        count: usize,
        /// Who gets the result.
        root: c_int,
    },
    /// `MPI_Gather`.
    Gather {
        /// This rank's block; in place on the root alone.
        send: Option<Typed>,
        /// All blocks, on the root alone.
        recv: Typed,
        /// Who gets them.
        root: c_int,
    },
    /// `MPI_Scatter`.
    Scatter {
        /// All blocks, on the root alone.
        send: Typed,
        /// This rank's block; in place on the root alone.
        recv: Option<Typed>,
        /// Who has them.
        root: c_int,
    },
}

impl MpiCall {
    /// Which collective it is.
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
