//! Exclusive use of a communicator's working memory, which the first call that needs it creates.
//!
//! A program that creates a communicator, uses it once and frees it should not pay for working memory. One pointer is
//! both the lock and the memory, so that a call which finds the memory pays no more than for the lock.

use super::CommWork;
use crate::error::Error;
use crate::mpi::cache::settled::Settled;
use roundel_spec::Kind;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The value of the pointer while somebody uses the working memory.
const BUSY: *mut CommWork = without_provenance_mut(1);

/// Working memory that one user at a time can lease.
#[derive(Default)]
pub(super) struct LeasedWork {
    /// The memory, null before the first lease, or [`BUSY`].
    work: AtomicPtr<CommWork>,
    /// The reductions that MPI served before the first lease. Only who has set `work` to [`BUSY`] has access.
    settled: UnsafeCell<Settled>,
}

impl LeasedWork {
    /// Leases the memory; an error if it is in use.
    #[inline]
    pub(super) fn lease(&self) -> Result<Lease<'_>, Error> {
        let work = self.work.swap(BUSY, Ordering::Acquire);
        if work > BUSY { Ok(Lease { leased: self, work }) } else { self.lease_first(work) }
    }

    /// Leases the memory, unless it is in use or no call has needed it yet.
    #[inline]
    pub(super) fn lease_again(&self) -> Option<Lease<'_>> {
        let work = self.work.swap(BUSY, Ordering::Acquire);
        if work > BUSY { Some(Lease { leased: self, work }) } else { self.put_back(work) }
    }

    #[cold]
    fn put_back(&self, found: *mut CommWork) -> Option<Lease<'_>> {
        if found.is_null() {
            self.work.store(found, Ordering::Release);
        }
        None
    }

    #[cold]
    fn lease_first(&self, found: *mut CommWork) -> Result<Lease<'_>, Error> {
        if found == BUSY {
            return Err(Error::Busy);
        }
        // SAFETY: the pointer was not `BUSY` and is now, so nobody else has access.
        let settled = std::mem::take(unsafe { &mut *self.settled.get() });
        let work = Box::into_raw(Box::new(CommWork { settled, ..CommWork::default() }));
        Ok(Lease { leased: self, work })
    }

    /// Notes that MPI serves reductions of this kind and of this many bytes; an error if the memory is in use.
    pub(super) fn settle(&self, kind: Kind, bytes: u64) -> Result<(), Error> {
        let work = self.work.swap(BUSY, Ordering::Acquire);
        if work == BUSY {
            return Err(Error::Busy);
        }
        let settled = if work.is_null() {
            self.settled.get()
        } else {
            // SAFETY: a pointer that is neither null nor `BUSY` is to memory that lives as long as `self`.
            unsafe { &raw mut (*work).settled }
        };
        // SAFETY: the pointer was not `BUSY` and is now, so nobody else has access.
        unsafe { &mut *settled }.add(kind, bytes);
        self.work.store(work, Ordering::Release);
        Ok(())
    }

    /// Whether the memory is in use.
    pub(super) fn is_busy(&self) -> bool {
        self.work.load(Ordering::Acquire) == BUSY
    }

    /// The memory, if a call has needed it.
    pub(super) fn take(&mut self) -> Option<Box<CommWork>> {
        let work = std::mem::replace(self.work.get_mut(), null_mut());
        // SAFETY: a pointer that is neither null nor `BUSY` comes from `Box::into_raw`, and is no longer stored.
        (work > BUSY).then(|| unsafe { Box::from_raw(work) })
    }
}

impl Drop for LeasedWork {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// The right to use the working memory, released on drop.
pub(crate) struct Lease<'a> {
    leased: &'a LeasedWork,
    work: *mut CommWork,
}

impl Deref for Lease<'_> {
    type Target = CommWork;

    #[inline]
    fn deref(&self) -> &CommWork {
        // SAFETY: the memory lives as long as `leased`, and while this lease lives there is no other.
        unsafe { &*self.work }
    }
}

impl DerefMut for Lease<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut CommWork {
        // SAFETY: as in `deref`, and the lease itself is borrowed exclusively.
        unsafe { &mut *self.work }
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        self.leased.work.store(self.work, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lease_at_a_time() {
        let leased = LeasedWork::default();
        let first = leased.lease().expect("nobody uses it");
        assert!(leased.is_busy());
        assert!(matches!(leased.lease(), Err(Error::Busy)));
        assert!(matches!(leased.settle(Kind::Allreduce, 8), Err(Error::Busy)));
        drop(first);
        assert!(!leased.is_busy());
        assert!(leased.lease().is_ok());
    }

    #[test]
    fn memory_that_nobody_has_made_is_not_leased_again() {
        let leased = LeasedWork::default();
        assert!(leased.lease_again().is_none() && !leased.is_busy());
        let first = leased.lease().expect("nobody uses it");
        assert!(leased.lease_again().is_none() && leased.is_busy());
        drop(first);
        assert!(leased.lease_again().is_some() && !leased.is_busy());
    }

    #[test]
    fn memory_lives_from_lease_to_lease() {
        let mut leased = LeasedWork::default();
        leased.lease().expect("free").counts.push(7);
        assert_eq!(leased.lease().expect("free").counts, [7]);
        assert_eq!(leased.take().expect("made by the first lease").counts, [7]);
        assert!(leased.take().is_none());
    }

    #[test]
    fn what_is_settled_before_the_first_lease_is_found_after_it() {
        let leased = LeasedWork::default();
        leased.settle(Kind::Allreduce, 8).expect("free");
        leased.settle(Kind::Reduce, 16).expect("free");
        drop(leased.lease());
        leased.settle(Kind::Allreduce, 24).expect("free");
        let work = leased.lease().expect("free");
        for (kind, bytes) in [(Kind::Allreduce, 8), (Kind::Reduce, 16), (Kind::Allreduce, 24)] {
            assert!(work.settled.contains(kind, bytes), "{kind:?} of {bytes} bytes");
        }
    }
}
