//! Calls that go on while the program does something else.

use crate::error::Error;

/// A call that may be started many times, and is not under way unless it was started.
///
/// It belongs to the thread that drives it. It must be [complete](Operation::progress) before it is dropped.
#[derive(Debug)]
pub struct Operation {
    active: bool,
}

impl Operation {
    /// Starts it. Nothing waits for other ranks here.
    ///
    /// # Safety
    /// The memory of the call is live, and nobody else uses it until it is complete.
    ///
    /// # Errors
    /// [`Error::Busy`] if it is under way already.
    pub unsafe fn start(&mut self) -> Result<(), Error> {
        if self.active {
            return Err(Error::Busy);
        }
        self.active = true;
        Ok(())
    }

    /// Goes on as far as it can without waiting; true if it is complete, or was not started.
    ///
    /// # Errors
    /// What went wrong; then it is complete, too.
    pub fn progress(&mut self) -> Result<bool, Error> {
        self.active = false;
        Ok(true)
    }

    /// Whether it was started and is not complete.
    pub fn is_active(&self) -> bool {
        self.active
    }
}
