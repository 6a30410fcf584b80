//! A request: a collective that runs again and again, with its buffers.

use super::Element;
use super::buffer::UserBuffer;
use super::engine::Engine;
use super::running::Scoped;
use crate::error::Error;
use crate::operation::Operation;
use std::marker::PhantomData;
use std::rc::Rc;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// An initialised collective that can be started any number of times. It owns its buffers, which can be read and
/// changed while it is inactive.
///
/// Dropping a running request completes it first, because the other ranks need it. Leaking a request leaks its
/// buffers, so that a running call never loses its memory.
///
/// All ranks must start the requests of a communicator in the same order, and may wait for them in any order.
pub struct Request<'c, T: Element, O: Operation<T> + 'static> {
    pub(super) engine: Rc<Engine<T, O>>,
    pub(super) input: UserBuffer<T>,
    pub(super) output: UserBuffer<T>,
    pub(super) description: String,
    /// The communicator and the borrowed buffers must outlive the request.
    pub(super) borrows: PhantomData<&'c mut ()>,
}

impl<T: Element, O: Operation<T> + 'static> Request<'_, T, O> {
    /// Begins a call. The other ranks must do the same.
    ///
    /// # Errors
    /// [`Error::Started`] if a call is active.
    pub fn start(&mut self) -> Result<(), Error> {
        self.engine.start()
    }

    /// Progresses the call without waiting, and returns whether it is complete; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is active, and MPI's errors.
    pub fn test(&mut self) -> Result<bool, Error> {
        self.active()?;
        self.engine.test()
    }

    /// Completes the call; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is active, and MPI's errors.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.active()?;
        self.engine.wait()
    }

    /// Whether a call was started and not yet completed by `wait` or `test`.
    pub fn is_active(&self) -> bool {
        self.engine.is_active()
    }

    /// How a call runs: the ports between nodes, how many ranks of a node communicate, and how a node shares its
    /// memory.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// This rank's contribution.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn input(&self) -> Result<&[T], Error> {
        let address = self.input_address()?;
        // SAFETY: the memory was filled when the request was made. While the request is inactive and borrowed, other
        // ranks may read it, and no rank writes it.
        Ok(unsafe { from_raw_parts(address, self.input.len()) })
    }

    /// This rank's contribution to the next call.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn input_mut(&mut self) -> Result<&mut [T], Error> {
        let address = self.input_address()?;
        // SAFETY: as in `input`; when a call is complete, no other rank reads this rank's input any more, and the
        // next call reads it only after this rank has started it.
        Ok(unsafe { from_raw_parts_mut(address, self.input.len()) })
    }

    /// The result of the last call; before the first call, the buffer's initial contents.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn output(&self) -> Result<&[T], Error> {
        self.inactive()?;
        let address = match self.engine.last().output {
            Some(offset) if self.engine.completed() > 0 => self.engine.shared(offset).cast::<T>(),
            _ => self.output.address(),
        };
        // SAFETY: the last call or the user has filled it. Other ranks of the node may already be in the next call,
        // which writes elsewhere. They reach the call after that only once this rank has started the next one.
        Ok(unsafe { from_raw_parts(address, self.output.len()) })
    }

    /// Ends the request and returns both buffers, the input first. An active call is completed.
    ///
    /// # Errors
    /// MPI's errors in the call.
    pub fn into_buffers(self) -> Result<(Vec<T>, Vec<T>), Error> {
        if self.engine.is_active() {
            self.engine.wait()?;
        }
        Ok((self.input()?.to_vec(), self.output()?.to_vec()))
    }

    fn input_address(&self) -> Result<*mut T, Error> {
        self.inactive()?;
        let shared = self.engine.last().input.map(|offset| self.engine.shared(offset).cast());
        Ok(shared.unwrap_or(self.input.address()))
    }

    fn inactive(&self) -> Result<(), Error> {
        if self.engine.is_active() { Err(Error::Started) } else { Ok(()) }
    }

    fn active(&self) -> Result<(), Error> {
        if self.engine.is_active() { Ok(()) } else { Err(Error::NotStarted) }
    }
}

impl<T: Element, O: Operation<T> + 'static> Drop for Request<'_, T, O> {
    fn drop(&mut self) {
        self.engine.leave();
    }
}
