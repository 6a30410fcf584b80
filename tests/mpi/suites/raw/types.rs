//! Datatypes and operations of a program.

use mpi::ffi;
use std::ffi::{c_int, c_void};
use std::slice;

/// A datatype, with an operation on its elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    pub(crate) handle: ffi::MPI_Datatype,
    /// How far apart elements are, in bytes.
    pub(crate) extent: usize,
    pub(crate) op: ffi::MPI_Op,
}

/// What the calls are made with.
pub(crate) struct Types {
    /// Numbers, and their sum.
    pub(crate) numbers: Type,
    /// Two numbers with a gap behind them: an affine map. Composition does not commute.
    pub(crate) maps: Type,
}

/// Bytes from one map to the next, and the numbers before the gap.
const MAP: usize = 24;

impl Types {
    pub(crate) fn new() -> Self {
        // SAFETY: constants of the library, and handles that are made here; the function has MPI's signature.
        unsafe {
            let (number, sum) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_SUM);
            let (mut pair, mut map, mut op) = (number, number, sum);
            ffi::MPI_Type_contiguous(2, number, &mut pair);
            ffi::MPI_Type_create_resized(pair, 0, MAP as ffi::MPI_Aint, &mut map);
            ffi::MPI_Type_commit(&mut map);
            ffi::MPI_Type_free(&mut pair);
            ffi::MPI_Op_create(Some(compose), 0, &mut op);
            Types {
                numbers: Type { name: "numbers", handle: number, extent: 8, op: sum },
                maps: Type { name: "maps", handle: map, extent: MAP, op },
            }
        }
    }

    pub(crate) fn all(&self) -> [Type; 2] {
        [self.numbers, self.maps]
    }

    pub(crate) fn free(mut self) {
        // SAFETY: both were made here, and no call uses them any more.
        unsafe {
            ffi::MPI_Op_free(&mut self.maps.op);
            ffi::MPI_Type_free(&mut self.maps.handle);
        }
    }
}

/// `right` becomes the map that applies `right` first and then `left`. Numbers wrap around, so that it is associative.
unsafe extern "C" fn compose(
    left: *mut c_void,
    right: *mut c_void,
    len: *mut c_int,
    _datatype: *mut ffi::MPI_Datatype,
) {
    // SAFETY: MPI passes so many elements at both; each is two aligned numbers.
    unsafe {
        for i in 0..*len as usize {
            let left = slice::from_raw_parts(left.cast::<u8>().add(i * MAP).cast::<u64>(), 2);
            let right = slice::from_raw_parts_mut(right.cast::<u8>().add(i * MAP).cast::<u64>(), 2);
            right[1] = left[0].wrapping_mul(right[1]).wrapping_add(left[1]);
            right[0] = left[0].wrapping_mul(right[0]);
        }
    }
}
