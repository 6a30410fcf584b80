//! The arguments of MPI's functions, for comparison with those of earlier calls.
//!
//! Addresses are left out, except whether they are `MPI_IN_PLACE`: programs repeat calls with other data.

use super::repeat::CallWords;
use crate::mpi::arguments::call::{IntList, in_place};
use crate::mpi::cache::repeated::LISTS;
use ::mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};

/// A call, for comparison.
#[derive(Clone, Copy, Debug)]
pub struct CallKey<const N: usize> {
    /// The address of the function.
    pub function: usize,
    /// The communicator.
    pub comm: MPI_Comm,
    /// The other arguments.
    pub words: [usize; N],
    /// The lists.
    pub lists: [Option<IntList>; LISTS],
}

impl<const N: usize> CallKey<N> {
    /// The call as a key for the cache of calls that are served.
    #[inline]
    pub fn call(&self) -> CallWords<'_> {
        CallWords { function: self.function, comm: self.comm, words: &self.words, lists: self.lists }
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
#[inline]
pub fn lists<const N: usize>(all: [Option<IntList>; N]) -> [Option<IntList>; LISTS] {
    let mut found = all.into_iter().flatten();
    [found.next(), found.next(), found.next(), found.next()]
}

/// The addresses of the first and the last buffer among arguments.
#[inline]
pub fn ends<const N: usize>(addresses: [Option<*mut c_void>; N]) -> [*mut c_void; 2] {
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
    *const c_void: address => usize::from(address == in_place().cast_const()), at address.cast_mut();
    *mut c_void: address => usize::from(address == in_place()), at address;
    *const c_int: list => usize::from(list.is_null()), list IntList::Ints(list);
    *const i64: list => usize::from(list.is_null()), list IntList::Longs(list);
    *const isize: list => usize::from(list.is_null()), list IntList::Longs(list.cast());
}
