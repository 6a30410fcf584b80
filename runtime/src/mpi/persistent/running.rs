//! The requests that this thread has started.
//!
//! Ranks may wait for requests in any order, so whoever waits for one moves all of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Something that moves when somebody waits.
pub(super) trait Progressing {
    /// Goes as far as it can without waiting; says whether it is complete.
    fn advance(&self) -> bool;
}

/// What a scope must be able to do with what was started in it.
pub(super) trait Scoped {
    /// Completes a call that runs, because nobody will wait for it; a rank that panics ends the job.
    fn leave(&self);
}

thread_local! {
    static RUNNING: RefCell<Vec<Rc<dyn Progressing>>> = const { RefCell::new(Vec::new()) };
    /// How many there may be.
    static PLACES: Cell<usize> = const { Cell::new(0) };
}

/// A place in the list, kept for an engine as long as it lives: starting it does not allocate.
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

/// Something begins to run.
pub(super) fn add(running: Rc<dyn Progressing>) {
    RUNNING.with_borrow_mut(|all| all.push(running));
}

/// What lies at this address runs no more.
pub(super) fn remove(this: *const ()) {
    let removed = RUNNING.with_borrow_mut(|all| {
        let at = all.iter().position(|running| Rc::as_ptr(running).cast::<()>() == this);
        at.map(|at| all.swap_remove(at))
    });
    // Outside of the borrow: if this was the last owner, it goes now.
    drop(removed);
}

/// Whether at most one runs.
pub(super) fn is_alone() -> bool {
    RUNNING.with_borrow(|all| all.len() <= 1)
}

/// Moves everything that runs on this thread, as far as it goes without waiting.
pub(super) fn progress() {
    let count = RUNNING.with_borrow(Vec::len);
    for i in (0..count).rev() {
        // A call that is complete leaves the list.
        if let Some(running) = RUNNING.with_borrow(|all| all.get(i).cloned()) {
            running.advance();
        }
    }
}
