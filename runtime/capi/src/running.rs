//! What this thread has started and is not complete. Whoever waits for one of them lets all of them go on: another rank
//! may wait for any.

use crate::error::SUCCESS;
use engine::Error;
use engine::mpi::raw::PendingCall;
use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::rc::Rc;

thread_local! {
    // Never dropped: what a program has not waited for must not be touched after the end of MPI.
    static RUNNING: RefCell<ManuallyDrop<Vec<Rc<RunningCall>>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// An operation that is started and goes on.
pub(crate) struct RunningCall {
    operation: RefCell<PendingCall>,
    failure: RefCell<Option<Error>>,
}

impl RunningCall {
    /// An operation that is not started.
    pub(crate) fn new(operation: PendingCall) -> Rc<Self> {
        Rc::new(RunningCall { operation: RefCell::new(operation), failure: RefCell::new(None) })
    }

    /// Starts it, and lets it go as far as it can.
    pub(crate) fn start(self: &Rc<Self>) -> Result<(), Error> {
        // SAFETY: whoever starts a request promises that its memory is live, and left alone until it is complete.
        unsafe { self.operation.borrow_mut().start() }?;
        RUNNING.with_borrow_mut(|running| running.push(self.clone()));
        progress();
        Ok(())
    }

    /// The code that says how it went, once it is complete.
    pub(crate) fn end(&self) -> Option<Result<c_int, Error>> {
        if self.operation.borrow().is_active() {
            return None;
        }
        Some(self.failure.take().map_or(Ok(SUCCESS), Err))
    }

    /// Goes on; false once it is complete.
    fn goes_on(&self) -> bool {
        let progress = self.operation.borrow_mut().progress();
        progress.map(|complete| !complete).unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            false
        })
    }
}

/// Lets everything go on that this thread has started.
pub(crate) fn progress() {
    RUNNING.with_borrow_mut(|running| running.retain(|one| one.goes_on()));
}

/// Whether this thread has started something that is not complete.
pub(crate) fn is_anything() -> bool {
    RUNNING.with_borrow(|running| !running.is_empty())
}
