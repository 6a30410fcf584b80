//! The requests that this thread has started.
//!
//! Ranks may wait for requests in any order, so waiting for one progresses all of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Something that progresses while the thread waits.
pub(super) trait Progressing {
    /// Progresses as far as possible without waiting; returns whether it is complete.
    fn advance(&self) -> bool;
}

/// An engine that was started in a scope.
pub(super) trait Scoped {
    /// Completes a running call, because nothing else will wait for it. A panicking rank ends the job.
    fn leave(&self);
}

thread_local! {
    static RUNNING: RefCell<Vec<Rc<dyn Progressing>>> = const { RefCell::new(Vec::new()) };
    /// The number of reserved entries.
    static PLACES: Cell<usize> = const { Cell::new(0) };
}

/// A reserved entry in the list, held by an engine as long as it lives, so that starting it does not allocate.
pub(super) struct RunningSlot(());

impl RunningSlot {
    pub(super) fn new() -> Self {
        let places = PLACES.get() + 1;
        PLACES.set(places);
        RUNNING.with_borrow_mut(|all| all.reserve(places.saturating_sub(all.len())));
        RunningSlot(())
    }
}

impl Drop for RunningSlot {
    fn drop(&mut self) {
        PLACES.set(PLACES.get().saturating_sub(1));
    }
}

/// Adds a running engine.
pub(super) fn add(running: Rc<dyn Progressing>) {
    RUNNING.with_borrow_mut(|all| all.push(running));
}

/// Removes the engine at this address.
pub(super) fn remove(this: *const ()) {
    let removed = RUNNING.with_borrow_mut(|all| {
        let at = all.iter().position(|running| Rc::as_ptr(running).cast::<()>() == this);
        at.map(|at| all.swap_remove(at))
    });
    // Outside of the borrow: dropping the last owner destroys the engine now.
    drop(removed);
}

/// Whether at most one engine runs.
pub(super) fn is_alone() -> bool {
    RUNNING.with_borrow(|all| all.len() <= 1)
}

/// Progresses everything that runs on this thread, as far as possible without waiting.
pub(super) fn progress() {
    let count = RUNNING.with_borrow(Vec::len);
    for i in (0..count).rev() {
        // A complete call leaves the list.
        if let Some(running) = RUNNING.with_borrow(|all| all.get(i).cloned()) {
            running.advance();
        }
    }
}
