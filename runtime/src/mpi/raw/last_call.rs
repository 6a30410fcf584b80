//! The last call of a function: found again by its arguments, it costs next to nothing.
//!
//! All threads share an entry, because a lookup in thread-local storage would take longer than the rest. Threads that
//! alternate between different calls of one function miss the cache. It works only for handles that stay valid:
//! communicators until one is freed, and predefined datatypes and operations.

use crate::mpi::arguments::key::{CallKey, WORDS};
use crate::mpi::cache::repeated::{RepeatedPlan, generation};
use crate::mpi::state::CommState;
use ::mpi::ffi::MPI_Comm;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};

/// How a call was served.
#[derive(Clone, Copy, Debug)]
pub struct KnownCall {
    pub(super) state: *const CommState,
    /// Null if MPI serves it.
    pub(super) plan: *const RepeatedPlan,
}

impl KnownCall {
    /// MPI serves it.
    pub const PASSES: Self = KnownCall { state: null(), plan: null() };

    /// Whether MPI serves it.
    #[inline(always)]
    pub fn passes(self) -> bool {
        self.plan.is_null()
    }
}

/// The last call of a function. Addresses are left out, except whether they are `MPI_IN_PLACE`, and so are lists: calls
/// with lists are kept only if MPI serves them whatever is in them.
#[derive(Debug)]
pub struct LastCall {
    /// Whether a thread writes.
    writes: AtomicBool,
    comm: AtomicUsize,
    generation: AtomicUsize,
    words: [AtomicUsize; WORDS],
    state: AtomicPtr<CommState>,
    plan: AtomicPtr<RepeatedPlan>,
}

/// No communicator has this handle.
const NONE: usize = usize::MAX;

impl Default for LastCall {
    fn default() -> Self {
        Self::new()
    }
}

impl LastCall {
    /// No call.
    pub const fn new() -> Self {
        LastCall {
            writes: AtomicBool::new(false),
            comm: AtomicUsize::new(NONE),
            generation: AtomicUsize::new(0),
            words: [const { AtomicUsize::new(0) }; WORDS],
            state: AtomicPtr::new(null_mut()),
            plan: AtomicPtr::new(null_mut()),
        }
    }

    /// How a call was served, if it equals the last one.
    #[inline(always)]
    pub fn find<const N: usize>(&self, comm: MPI_Comm, words: &[usize; N]) -> Option<KnownCall> {
        const { assert!(N <= WORDS) }
        let comm = comm.0 as usize;
        let same = self.comm.load(Ordering::Acquire) == comm
            && self.generation.load(Ordering::Relaxed) == generation()
            && words.iter().zip(&self.words).all(|(word, last)| *word == last.load(Ordering::Relaxed));
        let known = KnownCall { state: self.state.load(Ordering::Relaxed), plan: self.plan.load(Ordering::Relaxed) };
        fence(Ordering::Acquire);
        // A call on this communicator is kept by a thread that makes one, and no other thread makes one now. So the
        // entry is whole unless the communicator has changed.
        (same && self.comm.load(Ordering::Relaxed) == comm).then_some(known)
    }

    /// Keeps a call, unless another thread is writing.
    #[cold]
    pub fn keep(&self, call: &CallKey, known: KnownCall) {
        if self.writes.swap(true, Ordering::Acquire) {
            return;
        }
        self.comm.store(NONE, Ordering::Relaxed);
        fence(Ordering::Release);
        self.generation.store(generation(), Ordering::Relaxed);
        call.words.iter().zip(&self.words).for_each(|(word, last)| last.store(*word, Ordering::Relaxed));
        self.state.store(known.state.cast_mut(), Ordering::Relaxed);
        self.plan.store(known.plan.cast_mut(), Ordering::Relaxed);
        self.comm.store(call.comm.0 as usize, Ordering::Release);
        self.writes.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::cache::repeated::forget;

    /// A communicator's handle, which is a number or an address.
    fn comm(number: u8) -> MPI_Comm {
        // SAFETY: handles are plain data, and these are only compared.
        unsafe { std::mem::transmute_copy(&usize::from(number)) }
    }

    fn key(number: u8, words: [usize; 3]) -> CallKey {
        CallKey::new(1, comm(number), words, [None; 4])
    }

    #[test]
    fn a_call_is_found_by_all_of_its_arguments_until_something_is_forgotten() {
        let last = LastCall::new();
        let is_known = |number, words: [usize; 3]| last.find(comm(number), &words).is_some_and(KnownCall::passes);
        assert!(!is_known(1, [0; 3]));
        last.keep(&key(1, [7, 8, 9]), KnownCall::PASSES);
        assert!(is_known(1, [7, 8, 9]));
        assert!(!is_known(2, [7, 8, 9]) && !is_known(1, [6, 8, 9]) && !is_known(1, [7, 8, 0]));
        last.keep(&key(2, [7, 8, 9]), KnownCall::PASSES);
        assert!(!is_known(1, [7, 8, 9]) && is_known(2, [7, 8, 9]));
        forget();
        assert!(!is_known(2, [7, 8, 9]));
    }
}
