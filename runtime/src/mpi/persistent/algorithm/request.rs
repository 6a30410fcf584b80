//! A request: a collective that runs again and again, with its buffers.

use super::Element;
use super::planned::PlannedCall;
use crate::error::Error;
use crate::mpi::persistent::running::Scoped;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// A prepared collective that can be started any number of times. It owns its buffers, which can be read and changed
/// while it is inactive. [`algorithm`](super) makes requests.
///
/// Dropping a running request completes it first, because the other ranks need it; a rank that panics ends the job.
/// Leaking a request leaks its buffers, so that a running call never loses its memory. All ranks must make the requests
/// of a communicator in the same order; they may start them, and wait for them, in any order.
pub struct Request<'c, T: Element> {
    call: Rc<PlannedCall<T>>,
    /// The communicator must outlive the request.
    comm: PhantomData<&'c ()>,
}

impl<T: Element> Request<'_, T> {
    pub(super) fn new(call: Rc<PlannedCall<T>>) -> Self {
        Request { call, comm: PhantomData }
    }

    /// Begins a call. The other ranks must do the same.
    ///
    /// # Errors
    /// [`Error::Started`] if a call is active.
    pub fn start(&mut self) -> Result<(), Error> {
        self.call.start()
    }

    /// Progresses the call without waiting, and returns whether it is complete; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is active, [`Error::Mismatch`], and MPI's errors.
    pub fn test(&mut self) -> Result<bool, Error> {
        self.active()?;
        self.call.test()
    }

    /// Completes the call; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is active, [`Error::Mismatch`], and MPI's errors.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.active()?;
        self.call.wait()
    }

    /// Whether a call was started and not yet completed by `wait` or `test`.
    pub fn is_active(&self) -> bool {
        self.call.is_active()
    }

    /// This rank's contribution.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn input(&self) -> Result<&[T], Error> {
        self.inactive()?;
        // SAFETY: while the request is inactive, nothing else uses its buffers, and it is borrowed.
        Ok(unsafe { from_raw_parts(self.call.input.address(), self.call.input.len()) })
    }

    /// This rank's contribution to the next call.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn input_mut(&mut self) -> Result<&mut [T], Error> {
        self.inactive()?;
        // SAFETY: while the request is inactive, nothing else uses its buffers, and it is borrowed exclusively.
        Ok(unsafe { from_raw_parts_mut(self.call.input.address(), self.call.input.len()) })
    }

    /// The result of the last call; before the first call, the buffer's initial contents.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn output(&self) -> Result<&[T], Error> {
        self.inactive()?;
        // SAFETY: as in `input`.
        Ok(unsafe { from_raw_parts(self.call.output.address(), self.call.output.len()) })
    }

    /// Ends the request and returns both buffers, the input first. An active call is completed.
    ///
    /// # Errors
    /// Those of the call.
    pub fn into_buffers(mut self) -> Result<(Vec<T>, Vec<T>), Error> {
        if self.is_active() {
            self.wait()?;
        }
        Ok((self.input()?.to_vec(), self.output()?.to_vec()))
    }

    fn inactive(&self) -> Result<(), Error> {
        if self.is_active() { Err(Error::Started) } else { Ok(()) }
    }

    fn active(&self) -> Result<(), Error> {
        if self.is_active() { Ok(()) } else { Err(Error::NotStarted) }
    }
}

impl<T: Element> Drop for Request<'_, T> {
    fn drop(&mut self) {
        self.call.leave();
    }
}

impl<T: Element> fmt::Debug for Request<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("active", &self.is_active()).finish_non_exhaustive()
    }
}
