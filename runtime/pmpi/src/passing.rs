//! Caches the last call that fell back to MPI, by its arguments, so that a repetition costs next to nothing.
//!
//! All threads share one entry, because a lookup in thread-local storage would take longer than the rest. Threads
//! that alternate between different calls miss the cache.

use mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use roundel::mpi::raw::{self, CallWords, IntList};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// The most arguments that a function has before its communicator.
const ARGUMENTS: usize = 8;

/// The last call that fell back to MPI. Addresses are left out, except whether they are `MPI_IN_PLACE`, and so are
/// lists: calls with lists are cached only if they fall back whatever is in them.
struct Last {
    /// A sequence lock: odd while a thread writes. A reader that sees the same even number before and after has read
    /// a consistent call.
    version: AtomicUsize,
    function: AtomicUsize,
    comm: AtomicUsize,
    epoch: AtomicUsize,
    words: [AtomicUsize; ARGUMENTS],
}

static LAST: Last = Last {
    version: AtomicUsize::new(0),
    function: AtomicUsize::new(0),
    comm: AtomicUsize::new(0),
    epoch: AtomicUsize::new(0),
    words: [const { AtomicUsize::new(0) }; ARGUMENTS],
};

/// The last communicator all of whose calls fall back to MPI, and the [`raw::epoch`] at that time.
struct All {
    comm: AtomicUsize,
    epoch: AtomicUsize,
}

static ALL: All = All { comm: AtomicUsize::new(NONE), epoch: AtomicUsize::new(0) };

/// No communicator has this handle.
const NONE: usize = usize::MAX;

/// Whether all calls on a communicator fall back to MPI, according to the cache.
#[inline]
pub(crate) fn all(comm: MPI_Comm) -> bool {
    let comm = comm.0 as usize;
    // The epoch belongs to this communicator unless another one was cached between the two loads.
    ALL.comm.load(Ordering::Acquire) == comm
        && ALL.epoch.load(Ordering::Acquire) == raw::epoch()
        && ALL.comm.load(Ordering::Relaxed) == comm
}

/// Caches that all calls on this communicator fall back to MPI.
#[cold]
pub(crate) fn keep_all(comm: MPI_Comm) {
    ALL.comm.store(NONE, Ordering::Relaxed);
    ALL.epoch.store(raw::epoch(), Ordering::Release);
    ALL.comm.store(comm.0 as usize, Ordering::Release);
}

/// A call, for comparison.
#[derive(Clone, Copy)]
pub(crate) struct CallKey<const N: usize> {
    /// The address of MPI's function.
    pub(crate) function: usize,
    pub(crate) comm: MPI_Comm,
    pub(crate) words: [usize; N],
    /// The first two lists.
    pub(crate) lists: [Option<IntList>; 2],
}

impl<const N: usize> CallKey<N> {
    /// The call as a key for the cache of calls that are served.
    #[inline]
    pub(crate) fn call(&self) -> CallWords<'_> {
        CallWords { function: self.function, comm: self.comm, words: &self.words, lists: self.lists }
    }

    /// Whether this call equals the last one that fell back to MPI.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        let version = LAST.version.load(Ordering::Acquire);
        let same = LAST.function.load(Ordering::Relaxed) == self.function
            && LAST.comm.load(Ordering::Relaxed) == self.comm.0 as usize
            && LAST.epoch.load(Ordering::Relaxed) == raw::epoch()
            && self.words.iter().zip(&LAST.words).all(|(word, last)| *word == last.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        same && version.is_multiple_of(2) && version == LAST.version.load(Ordering::Relaxed)
    }

    /// Caches that this call always falls back to MPI, unless another thread is writing to the cache.
    #[cold]
    pub(crate) fn keep(&self) {
        let version = LAST.version.load(Ordering::Relaxed) & !1;
        let writing = LAST.version.compare_exchange(version, version + 1, Ordering::Acquire, Ordering::Relaxed);
        if writing.is_err() {
            return;
        }
        fence(Ordering::Release);
        LAST.function.store(self.function, Ordering::Relaxed);
        LAST.comm.store(self.comm.0 as usize, Ordering::Relaxed);
        LAST.epoch.store(raw::epoch(), Ordering::Relaxed);
        self.words.iter().zip(&LAST.words).for_each(|(word, last)| last.store(*word, Ordering::Relaxed));
        LAST.version.store(version + 2, Ordering::Release);
    }
}

/// An argument, for comparison.
pub(crate) trait ArgumentWord: Sized {
    fn word(self) -> usize;

    /// The address, if it is that of a buffer.
    #[inline]
    fn address(self) -> Option<*mut c_void> {
        None
    }

    /// The list, if it is one.
    #[inline]
    fn list(self) -> Option<IntList> {
        None
    }
}

/// The first two lists among arguments.
#[inline]
pub(crate) fn lists<const N: usize>(all: [Option<IntList>; N]) -> [Option<IntList>; 2] {
    let mut found = all.into_iter().flatten();
    [found.next(), found.next()]
}

/// The addresses of the first and the last buffer among arguments.
#[inline]
pub(crate) fn ends<const N: usize>(addresses: [Option<*mut c_void>; N]) -> [*mut c_void; 2] {
    let first = addresses.iter().find_map(|address| *address);
    let last = addresses.iter().rev().find_map(|address| *address);
    [first, last].map(|address| address.unwrap_or(std::ptr::null_mut()))
}

macro_rules! words {
    ($($type:ty: $argument:ident => $word:expr $(, at $address:expr)? $(, list $list:expr)?;)*) => {$(
        impl ArgumentWord for $type {
            #[inline]
            fn word(self) -> usize {
                let $argument = self;
                $word
            }

            $(#[inline]
            fn address(self) -> Option<*mut c_void> {
                let $argument = self;
                Some($address)
            })?

            $(#[inline]
            fn list(self) -> Option<IntList> {
                let $argument = self;
                Some($list)
            })?
        }
    )*};
}

words! {
    c_int: number => number as usize;
    i64: number => number as usize;
    MPI_Datatype: handle => handle.0 as usize;
    MPI_Op: handle => handle.0 as usize;
    *const c_void: address => usize::from(address == raw::in_place().cast_const()), at address.cast_mut();
    *mut c_void: address => usize::from(address == raw::in_place()), at address;
    *const c_int: list => usize::from(list.is_null()), list IntList::Ints(list);
    *const i64: list => usize::from(list.is_null()), list IntList::Longs(list);
    *const isize: list => usize::from(list.is_null()), list IntList::Longs(list.cast());
}
