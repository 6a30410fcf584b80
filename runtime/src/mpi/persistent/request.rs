//! A request: buffers that belong to a collective which runs again and again.

use super::Element;
use super::buffer::UserBuffer;
use super::engine::Engine;
use super::running::Scoped;
use crate::error::Error;
use crate::operation::Operation;
use std::marker::PhantomData;
use std::rc::Rc;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// A collective that was initialised and can be started any number of times. It owns its buffers; they can be seen and
/// changed while it is inactive.
///
/// A request that is dropped while it runs is completed first, because the other ranks need it. One that is leaked
/// leaks its buffers, so that nothing that runs loses its memory.
///
/// All ranks must start the requests of a communicator in the same order, and may wait for them in any order.
pub struct Request<'c, T: Element, O: Operation<T> + 'static> {
    pub(super) engine: Rc<Engine<T, O>>,
    pub(super) input: UserBuffer<T>,
    pub(super) output: UserBuffer<T>,
    pub(super) description: String,
    /// The communicator, and what is borrowed, must outlive the request.
    pub(super) borrows: PhantomData<&'c mut ()>,
}

impl<T: Element, O: Operation<T> + 'static> Request<'_, T, O> {
    /// Begins a call. The other ranks must do the same.
    ///
    /// # Errors
    /// [`Error::Started`] if a call is under way.
    pub fn start(&mut self) -> Result<(), Error> {
        self.engine.start()
    }

    /// Moves the call on, without waiting, and says whether it is complete; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is under way, and what MPI says.
    pub fn test(&mut self) -> Result<bool, Error> {
        self.active()?;
        self.engine.test()
    }

    /// Completes the call; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is under way, and what MPI says.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.active()?;
        self.engine.wait()
    }

    /// Whether a call was started and not yet completed by `wait` or `test`.
    pub fn is_active(&self) -> bool {
        self.engine.is_active()
    }

    /// How a call is done: the ports between nodes, how many ranks of a node communicate, and how a node shares its
    /// memory.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What this rank contributes.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is under way.
    pub fn input(&self) -> Result<&[T], Error> {
        let address = self.input_address()?;
        // SAFETY: the memory was filled when the request was made. Other ranks may read it, and nobody writes it, while
        // the request is inactive and borrowed.
        Ok(unsafe { from_raw_parts(address, self.input.len()) })
    }

    /// What this rank contributes to the next call.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is under way.
    pub fn input_mut(&mut self) -> Result<&mut [T], Error> {
        let address = self.input_address()?;
        // SAFETY: as in `input`; a call is complete when no other rank reads this rank's input any more, and the next
        // one reads it only after this rank has started it.
        Ok(unsafe { from_raw_parts_mut(address, self.input.len()) })
    }

    /// The result of the last call; before the first one, what was given.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is under way.
    pub fn output(&self) -> Result<&[T], Error> {
        self.inactive()?;
        let address = match self.engine.last().output {
            Some(offset) if self.engine.completed() > 0 => self.engine.shared(offset).cast::<T>(),
            _ => self.output.address(),
        };
        // SAFETY: the last call has filled it, or the user. Other ranks of the node may be in the next call already,
        // which writes elsewhere, and in the one after it only when this rank has started the next one.
        Ok(unsafe { from_raw_parts(address, self.output.len()) })
    }

    /// Ends the request and gives back both buffers, the input first. A call that is under way is completed.
    ///
    /// # Errors
    /// What MPI says about the call.
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
