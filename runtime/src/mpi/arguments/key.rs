//! The arguments of MPI's functions, for comparison with those of earlier calls.
//!
//! Addresses are left out, except whether they are `MPI_IN_PLACE`: programs repeat calls with other data.

use crate::mpi::arguments::call::{IntList, in_place};
use ::mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};

/// The most arguments that a call has besides its communicator.
pub(crate) const WORDS: usize = 8;

/// The most lists that a call has: an alltoallv has counts and displacements of both buffers.
pub(crate) const LISTS: usize = 4;

/// A call, for comparison. Addresses are left out, except whether they are `MPI_IN_PLACE`.
#[derive(Clone, Copy, Debug)]
pub struct CallKey {
    /// The address of the function, which determines what the words are.
    pub function: usize,
    /// The communicator.
    pub comm: MPI_Comm,
    /// The other arguments.
    pub words: [usize; WORDS],
    /// The lists.
    pub lists: [Option<IntList>; LISTS],
}

impl CallKey {
    /// A call with these arguments besides its communicator.
    #[inline(always)]
    pub fn new<const N: usize>(
        function: usize,
        comm: MPI_Comm,
        words: [usize; N],
        lists: [Option<IntList>; LISTS],
    ) -> Self {
        const { assert!(N <= WORDS) }
        let mut all = [0; WORDS];
        all[..N].copy_from_slice(&words);
        CallKey { function, comm, words: all, lists }
    }
}

/// An argument, for comparison.
pub trait ArgumentWord: Sized {
    /// The number that stands for it.
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

/// The lists among arguments.
#[inline(always)]
pub fn lists<const N: usize>(all: [Option<IntList>; N]) -> [Option<IntList>; LISTS] {
    let mut found = all.into_iter().flatten();
    [found.next(), found.next(), found.next(), found.next()]
}

/// The addresses of the first and the last buffer among arguments.
#[inline(always)]
pub fn ends<const N: usize>(addresses: [Option<*mut c_void>; N]) -> [*mut c_void; 2] {
    // Loops that the compiler unrolls: which arguments are addresses is known to it.
    let (mut first, mut last, mut i) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
    while i < N {
        last = addresses[i].unwrap_or(last);
        first = addresses[N - 1 - i].unwrap_or(first);
        i += 1;
    }
    [first, last]
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
    *const c_void: address => usize::from(address == in_place().cast_const()), at address.cast_mut();
    *mut c_void: address => usize::from(address == in_place()), at address;
    *const c_int: list => usize::from(list.is_null()), list IntList::Ints(list);
    *const i64: list => usize::from(list.is_null()), list IntList::Longs(list);
    *const isize: list => usize::from(list.is_null()), list IntList::Longs(list.cast());
}
