//! The lock for objects that a process creates once.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held while a key or a state is created. Only local MPI functions are called meanwhile, so no rank can wait for a
/// rank that waits for this lock.
static MAKING: Mutex<()> = Mutex::new(());

pub(crate) fn making() -> MutexGuard<'static, ()> {
    MAKING.lock().unwrap_or_else(PoisonError::into_inner)
}
