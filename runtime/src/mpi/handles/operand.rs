//! MPI's operations: whether they commute, whether they accept a datatype, and how they combine elements.

use crate::error::Error;
use crate::mpi::execution::Combine;
use crate::mpi::handles::datatype::facts;
use crate::mpi::handles::native::{NativeCombine, native};
use crate::mpi::handles::quiet;
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::process::code::{SUCCESS, check, failure};
use ::mpi::ffi;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::copy_nonoverlapping;

/// Whether an operation commutes.
///
/// # Safety
/// It must be live.
pub(crate) unsafe fn commutes(op: ffi::MPI_Op) -> Result<bool, Error> {
    let mut commutes = 0;
    // SAFETY: the caller guarantees that the operation is live.
    check("MPI_Op_commutative", unsafe { ffi::MPI_Op_commutative(op, &mut commutes) })?;
    Ok(commutes != 0)
}

/// A predefined operation and a predefined datatype that are valid together. Neither is ever freed, so the cache stays
/// valid.
#[derive(Clone, Copy)]
struct Known {
    op: ffi::MPI_Op,
    datatype: ffi::MPI_Datatype,
    /// Whether results are exact.
    exact: bool,
    native: Option<NativeCombine>,
}

thread_local! {
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// The number of pairs that a thread caches.
const REMEMBERED: usize = 128;

/// Checks that the operation and the datatype are valid together. The error is MPI's own.
#[inline]
pub(crate) fn vouch(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    if known(op, datatype).is_some() { Ok(()) } else { ask(op, datatype) }
}

#[inline]
fn known(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Option<Known> {
    KNOWN.with_borrow(|list| list.iter().find(|known| (known.op, known.datatype) == (op, datatype)).copied())
}

/// The function that combines elements without calling MPI, if there is one. Known only after [`vouch`].
#[inline]
pub(crate) fn native_combine(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Option<NativeCombine> {
    known(op, datatype).and_then(|known| known.native)
}

/// Whether a reduction has the same result for every tree: MPI's operations on integers, bits and truth values. Known
/// only after [`vouch`].
#[inline]
pub(crate) fn is_exact(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> bool {
    known(op, datatype).is_some_and(|known| known.exact)
}

/// MPI defines bitwise operations only on integers and bytes, and logical ones only on integers and truth values.
fn exact(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> bool {
    // SAFETY: the handles are constants of the library.
    let arithmetic = unsafe { [ffi::RSMPI_SUM, ffi::RSMPI_PROD, ffi::RSMPI_MAX, ffi::RSMPI_MIN] };
    !arithmetic.contains(&op) || has_bits(datatype)
}

/// Whether elements of a datatype are integers, or bytes.
pub(crate) fn has_bits(datatype: ffi::MPI_Datatype) -> bool {
    // SAFETY: the handle is a constant of the library.
    quiet::reduces(unsafe { ffi::RSMPI_BAND }, datatype).is_ok()
}

#[cold]
fn ask(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    quiet::receives(datatype)?;
    quiet::reduces(op, datatype)?;
    // SAFETY: MPI has just accepted the datatype as valid.
    if is_named(op) && unsafe { facts(datatype)? }.named {
        let known = Known { op, datatype, exact: exact(op, datatype), native: native(op, datatype) };
        KNOWN.with_borrow_mut(|list| {
            list.truncate(REMEMBERED - 1);
            list.insert(0, known);
        });
    }
    Ok(())
}

/// Whether an operation is predefined by MPI; some of those are not known here.
pub(crate) fn is_named(op: ffi::MPI_Op) -> bool {
    // SAFETY: the handles are constants of the library.
    let named = unsafe {
        use ffi::{RSMPI_BAND, RSMPI_BOR, RSMPI_BXOR, RSMPI_LAND, RSMPI_LOR, RSMPI_LXOR};
        use ffi::{RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_SUM};
        [
            RSMPI_SUM, RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_LAND, RSMPI_LOR, RSMPI_LXOR, RSMPI_BAND, RSMPI_BOR,
            RSMPI_BXOR,
        ]
    };
    named.contains(&op)
}

/// An operation on elements of a datatype.
#[derive(Clone, Debug)]
pub(crate) struct Operands {
    pub(crate) op: ffi::MPI_Op,
    pub(crate) datatype: ffi::MPI_Datatype,
    pub(crate) commutes: bool,
    pub(crate) extent: usize,
    /// The offset of the first byte of an element.
    pub(crate) true_lb: isize,
    /// Combines elements without calling MPI.
    pub(crate) native: Option<NativeCombine>,
    /// The first error code of the operation.
    pub(crate) failed: Cell<c_int>,
}

impl Operands {
    /// Returns the error of the operation, if there was one.
    #[inline]
    pub(crate) fn outcome(&self) -> Result<(), Error> {
        if self.failed.get() == SUCCESS { Ok(()) } else { self.fail() }
    }

    #[cold]
    fn fail(&self) -> Result<(), Error> {
        Err(failure("MPI_Reduce_local", self.failed.replace(SUCCESS)))
    }

    /// Combines `left` into `right`. MPI counts a limited number of elements at a time.
    unsafe fn fold(&self, left: *const u8, right: *mut u8, elements: usize) {
        for begin in (0..elements).step_by(LIMIT) {
            let count = (elements - begin).min(LIMIT) as c_int;
            let at = begin * self.extent;
            // SAFETY: the caller guarantees elements at both addresses.
            let code = unsafe {
                let (left, right) = (left.cast_mut().wrapping_add(at).cast(), right.wrapping_add(at).cast());
                ffi::MPI_Reduce_local(left, right, count, self.datatype, self.op)
            };
            if code != SUCCESS && self.failed.get() == SUCCESS {
                self.failed.set(code);
            }
        }
    }

    /// Copies elements together with the gaps between their parts.
    unsafe fn copy(&self, from: *const u8, to: *mut u8, elements: usize) {
        let (from, to) = (from.wrapping_offset(self.true_lb), to.wrapping_offset(self.true_lb));
        // SAFETY: the caller guarantees elements at one address, space at the other, and that both are ours or
        // without gaps.
        unsafe { copy_nonoverlapping(from, to, elements * self.extent) }
    }
}

impl Combine for Operands {
    #[inline(always)]
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        // SAFETY: the caller guarantees elements at `left` and `right`, and space at `into`.
        unsafe {
            match self.native {
                Some(native) => native(left, right, into, elements),
                None => self.by_mpi(left, right, into, elements),
            }
        }
    }
}

impl Operands {
    /// Combines elements with MPI's function.
    ///
    /// # Safety
    /// The same as for [`Combine::combine`].
    unsafe fn by_mpi(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        if elements == 0 {
            return;
        }
        let (a, b) = (left.cast_mut(), right.cast_mut());
        // SAFETY: the caller guarantees elements at `left` and `right`, and space at `into`. One operand has arrived
        // in Roundel's own memory, and is not needed afterwards.
        unsafe {
            if into == b {
                self.fold(left, b, elements);
            } else if into == a && self.commutes {
                self.fold(right, a, elements);
            } else if into == a {
                self.fold(left, b, elements);
                self.copy(right, a, elements);
            } else {
                self.copy(right, into, elements);
                self.fold(left, into, elements);
            }
        }
    }
}
