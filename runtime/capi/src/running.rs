//! The calls that this thread has started and that are not complete. Waiting for one of them progresses all of them:
//! another rank may wait for any.

use crate::error::SUCCESS;
use engine::Error;
use engine::mpi::raw::PendingCall;
use std::cell::RefCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::rc::Rc;

thread_local! {
    // Never dropped: calls that the program has not waited for must not be touched after the end of MPI.
    static RUNNING: RefCell<ManuallyDrop<Vec<Rc<RunningCall>>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// An operation that can be started, and then progresses.
pub(crate) struct RunningCall {
    operation: RefCell<PendingCall>,
    failure: RefCell<Option<Error>>,
}

impl RunningCall {
    /// An operation that was not started.
    pub(crate) fn new(operation: PendingCall) -> Rc<Self> {
        Rc::new(RunningCall { operation: RefCell::new(operation), failure: RefCell::new(None) })
    }

    /// Starts it, and progresses it as far as possible.
    pub(crate) fn start(self: &Rc<Self>) -> Result<(), Error> {
        // SAFETY: the program promises that the memory of a request is live and unused until the request is complete.
        unsafe { self.operation.borrow_mut().start() }?;
        RUNNING.with_borrow_mut(|running| running.push(self.clone()));
        progress();
        Ok(())
    }

    /// The return code, once it is complete.
    pub(crate) fn end(&self) -> Option<Result<c_int, Error>> {
        if self.operation.borrow().is_active() {
            return None;
        }
        Some(self.failure.take().map_or(Ok(SUCCESS), Err))
    }

    /// Progresses it; false once it is complete.
    fn goes_on(&self) -> bool {
        let progress = self.operation.borrow_mut().progress();
        progress.map(|complete| !complete).unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            false
        })
    }
}

/// Progresses all calls that this thread has started.
pub(crate) fn progress() {
    RUNNING.with_borrow_mut(|running| running.retain(|one| one.goes_on()));
}

/// Whether this thread has started a call that is not complete.
pub(crate) fn is_anything() -> bool {
    RUNNING.with_borrow(|running| !running.is_empty())
}
