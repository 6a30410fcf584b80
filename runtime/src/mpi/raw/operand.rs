//! Operations of MPI: whether they commute, whether they take a datatype, and how they combine elements.

use super::datatype::facts;
use super::quiet;
use crate::error::Error;
use crate::mpi::code::{SUCCESS, check, failure};
use crate::mpi::execution::Combine;
use crate::mpi::limit::LIMIT;
use ::mpi::ffi;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::copy_nonoverlapping;

/// Whether an operation commutes.
///
/// # Safety
/// It must be live.
pub(super) unsafe fn commutes(op: ffi::MPI_Op) -> Result<bool, Error> {
    let mut commutes = 0;
    // SAFETY: the caller promises that the operation is live.
    check("MPI_Op_commutative", unsafe { ffi::MPI_Op_commutative(op, &mut commutes) })?;
    Ok(commutes != 0)
}

/// Operations and datatypes that MPI names and that take each other, and whether results are exact. Neither is ever
/// freed, so what is remembered stays true.
type Known = (ffi::MPI_Op, ffi::MPI_Datatype, bool);

thread_local! {
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// How many pairs a thread remembers.
const REMEMBERED: usize = 128;

/// Whether an operation is one, and takes a datatype that is one. If not, the library says so best.
#[inline]
pub(super) fn vouch(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    if known(op, datatype).is_some() { Ok(()) } else { ask(op, datatype) }
}

#[inline]
fn known(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Option<bool> {
    KNOWN.with_borrow(|list| list.iter().find(|known| (known.0, known.1) == (op, datatype)).map(|known| known.2))
}

/// Whether a reduction has the same result whatever tree is reduced: operations of MPI on integers, and on what has
/// bits or truth values. It is known only of what was [vouched](vouch) for.
#[inline]
pub(super) fn is_exact(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> bool {
    known(op, datatype).unwrap_or(false)
}

/// MPI defines bitwise operations on integers and bytes alone, and logical ones on integers and truth values.
fn exact(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> bool {
    // SAFETY: the handles are constants of the library.
    let arithmetic = unsafe { [ffi::RSMPI_SUM, ffi::RSMPI_PROD, ffi::RSMPI_MAX, ffi::RSMPI_MIN] };
    !arithmetic.contains(&op) || has_bits(datatype)
}

/// Whether elements of a datatype are integers, or bytes.
pub(in crate::mpi) fn has_bits(datatype: ffi::MPI_Datatype) -> bool {
    // SAFETY: the handle is a constant of the library.
    quiet::reduces(unsafe { ffi::RSMPI_BAND }, datatype).is_ok()
}

#[cold]
fn ask(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Result<(), Error> {
    quiet::receives(datatype)?;
    quiet::reduces(op, datatype)?;
    // SAFETY: the datatype is in order, as the library has just said.
    if is_named(op) && unsafe { facts(datatype)? }.named {
        let exact = exact(op, datatype);
        KNOWN.with_borrow_mut(|list| {
            list.truncate(REMEMBERED - 1);
            list.insert(0, (op, datatype, exact));
        });
    }
    Ok(())
}

/// Whether MPI itself names an operation; not all of those are known here.
pub(super) fn is_named(op: ffi::MPI_Op) -> bool {
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
#[derive(Debug)]
pub(super) struct Operands {
    pub(super) op: ffi::MPI_Op,
    pub(super) datatype: ffi::MPI_Datatype,
    pub(super) commutes: bool,
    pub(super) extent: usize,
    /// Where the first byte of an element lies.
    pub(super) true_lb: isize,
    /// The first code that says that something failed.
    pub(super) failed: Cell<c_int>,
}

impl Operands {
    /// What went wrong, if something did.
    pub(super) fn outcome(&self) -> Result<(), Error> {
        match self.failed.replace(SUCCESS) {
            SUCCESS => Ok(()),
            code => Err(failure("MPI_Reduce_local", code)),
        }
    }

    /// Makes `right` what `left` and `right` are together. MPI counts at most so many at a time.
    unsafe fn fold(&self, left: *const u8, right: *mut u8, elements: usize) {
        for begin in (0..elements).step_by(LIMIT) {
            let count = (elements - begin).min(LIMIT) as c_int;
            let at = begin * self.extent;
            // SAFETY: the caller promises elements at both.
            let code = unsafe {
                let (left, right) = (left.cast_mut().wrapping_add(at).cast(), right.wrapping_add(at).cast());
                ffi::MPI_Reduce_local(left, right, count, self.datatype, self.op)
            };
            if code != SUCCESS && self.failed.get() == SUCCESS {
                self.failed.set(code);
            }
        }
    }

    /// Copies elements with whatever lies between their parts.
    unsafe fn copy(&self, from: *const u8, to: *mut u8, elements: usize) {
        let (from, to) = (from.wrapping_offset(self.true_lb), to.wrapping_offset(self.true_lb));
        // SAFETY: the caller promises elements at one, space at the other, and that both are ours or without gaps.
        unsafe { copy_nonoverlapping(from, to, elements * self.extent) }
    }
}

impl Combine for Operands {
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        if elements == 0 {
            return;
        }
        let (a, b) = (left.cast_mut(), right.cast_mut());
        // SAFETY: the caller promises elements at `left` and `right`, and space at `into`. One operand has arrived in
        // memory of our own, where nobody needs it afterwards.
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
