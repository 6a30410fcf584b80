//! Further functions for Fortran: conversions to C's handles, and `MPI_IN_PLACE`, which is a macro in C.

use engine::mpi::raw;
use mpi::ffi;
use std::ffi::c_void;

/// The C handle of a Fortran communicator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_comm_f2c(comm: ffi::RSMPI_Fint) -> ffi::MPI_Comm {
    // SAFETY: MPI converts any integer; an invalid one becomes an invalid handle.
    unsafe { ffi::RSMPI_Comm_f2c(comm) }
}

/// The C handle of a Fortran datatype.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_type_f2c(datatype: ffi::RSMPI_Fint) -> ffi::MPI_Datatype {
    // SAFETY: MPI converts any integer; an invalid one becomes an invalid handle.
    unsafe { ffi::RSMPI_Type_f2c(datatype) }
}

/// The C handle of a Fortran operation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_op_f2c(op: ffi::RSMPI_Fint) -> ffi::MPI_Op {
    // SAFETY: MPI converts any integer; an invalid one becomes an invalid handle.
    unsafe { ffi::RSMPI_Op_f2c(op) }
}

/// C's `MPI_IN_PLACE`.
#[unsafe(no_mangle)]
pub extern "C" fn roundel_in_place() -> *mut c_void {
    raw::in_place()
}
