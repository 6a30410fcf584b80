//! Operations of MPI: whether they commute, whether they take a datatype, and how they combine elements.

use super::datatype::Facts;
use crate::error::Error;
use crate::mpi::code::{SUCCESS, check, failure};
use crate::mpi::limit::LIMIT;
use crate::mpi::replay::Combine;
use ::mpi::ffi;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::ptr::copy_nonoverlapping;
use std::sync::{Mutex, PoisonError};

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

/// Operations and the datatypes that they were asked about; none stands for all that MPI does not name. An operation of the
/// program takes all, and one that MPI names is never freed, so what is remembered stays true.
type Known = (ffi::MPI_Op, Option<ffi::MPI_Datatype>, bool);

thread_local! {
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

/// How many pairs a thread remembers.
const REMEMBERED: usize = 128;

/// Whether an operation takes a datatype. If not, the library says so best.
///
/// # Safety
/// Both must be live.
pub(super) unsafe fn takes(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype, facts: &Facts) -> Result<bool, Error> {
    let class = facts.named.then_some(datatype);
    let known = |list: &Vec<Known>| list.iter().find(|pair| (pair.0, pair.1) == (op, class)).map(|pair| pair.2);
    if let Some(takes) = KNOWN.with_borrow(known) {
        return Ok(takes);
    }
    let takes = first(op, class, datatype)?;
    KNOWN.with_borrow_mut(|list| {
        list.truncate(REMEMBERED - 1);
        list.insert(0, (op, class, takes));
    });
    Ok(takes)
}

/// What threads have asked for. One thread asks at a time, because error handlers are those of the process.
static ASKED: Mutex<Vec<Asked>> = Mutex::new(Vec::new());

struct Asked(Known);

// SAFETY: handles are numbers, or addresses that MPI looks after.
unsafe impl Send for Asked {}

/// The answer that another thread has had, or that of the library.
#[cold]
fn first(op: ffi::MPI_Op, class: Option<ffi::MPI_Datatype>, datatype: ffi::MPI_Datatype) -> Result<bool, Error> {
    let mut known = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Asked((.., takes))) = known.iter().find(|Asked(pair)| (pair.0, pair.1) == (op, class)) {
        return Ok(*takes);
    }
    let takes = asked(op, datatype)?;
    known.truncate(REMEMBERED - 1);
    known.insert(0, Asked((op, class, takes)));
    Ok(takes)
}

/// Asks the library by reducing nothing. It would report a failure to the handlers of these two communicators.
fn asked(op: ffi::MPI_Op, datatype: ffi::MPI_Datatype) -> Result<bool, Error> {
    // SAFETY: the handles are constants of the library.
    let (world, own) = unsafe { (ffi::RSMPI_COMM_WORLD, ffi::RSMPI_COMM_SELF) };
    let quiet = [Quiet::new(world)?, Quiet::new(own)?];
    let (mut left, mut right) = (0u128, 0u128);
    // SAFETY: no element is read or written.
    let code = unsafe { ffi::MPI_Reduce_local((&raw mut left).cast(), (&raw mut right).cast(), 0, datatype, op) };
    drop(quiet);
    Ok(code == SUCCESS)
}

/// A communicator whose errors only come back as return codes, until this is dropped.
struct Quiet {
    comm: ffi::MPI_Comm,
    handler: ffi::MPI_Errhandler,
}

impl Quiet {
    fn new(comm: ffi::MPI_Comm) -> Result<Self, Error> {
        // SAFETY: the communicator is one that always lives.
        unsafe {
            let mut handler = ffi::RSMPI_ERRORS_RETURN;
            check("MPI_Comm_get_errhandler", ffi::MPI_Comm_get_errhandler(comm, &mut handler))?;
            check("MPI_Comm_set_errhandler", ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
            Ok(Quiet { comm, handler })
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: the communicator always lives, and the handler is the one that was asked for.
        unsafe {
            ffi::MPI_Comm_set_errhandler(self.comm, self.handler);
            ffi::MPI_Errhandler_free(&mut self.handler);
        }
    }
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
        // SAFETY: the caller promises elements at `left` and `right`, and space at `into`. One operand has arrived in memory of our
        // own, where nobody needs it afterwards.
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
