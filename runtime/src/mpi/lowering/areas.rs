//! The memory of a call as MPI sees it: addresses and lengths, without Rust references.
//!
//! Elements are copied bit by bit, as MPI itself copies them, so they need not be `Copy`; and byte by byte, so that
//! scratch need not have their alignment. A plan is built for given [`Extents`], and every position in it is checked
//! against them: an unchecked schedule can give wrong results, but cannot access memory outside the call's buffers.

use std::ptr::null_mut;

/// A memory area that a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// The user's send buffer, which is only read.
    Send,
    /// The user's receive buffer.
    Recv,
    /// Roundel's own memory, cached on the communicator.
    Scratch,
}

/// A position in memory: an area, and an offset from its beginning in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AreaOffset {
    pub(crate) area: Area,
    pub(crate) offset: usize,
}

/// The sizes of the user's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    /// The length of the send buffer in elements; `None` if the call is in place.
    pub(crate) send: Option<usize>,
    /// The length of the receive buffer in elements.
    pub(crate) recv: usize,
    /// The size of an element in bytes.
    pub(crate) size: usize,
}

impl Extents {
    /// The sizes of a call's buffers.
    #[inline(always)]
    pub(crate) fn of<T>(send: Option<&[T]>, recv: &[T]) -> Self {
        Extents { send: send.map(<[T]>::len), recv: recv.len(), size: size_of::<T>() }
    }
}

/// The base addresses of a call's areas.
#[derive(Clone, Copy)]
pub(crate) struct Areas([*mut u8; 3]);

impl Areas {
    /// The buffers of a call. The caller keeps them borrowed, and does not use them, as long as this lives.
    #[inline(always)]
    pub(crate) fn new<T>(send: Option<&[T]>, recv: &mut [T], scratch: *mut u8) -> Self {
        let send = send.map_or(null_mut(), |send| send.as_ptr().cast_mut().cast());
        Areas([send, recv.as_mut_ptr().cast(), scratch])
    }

    /// The buffers of a call, given by their addresses.
    #[inline]
    pub(crate) fn of(send: *const u8, recv: *mut u8, scratch: *mut u8) -> Self {
        Areas([send.cast_mut(), recv, scratch])
    }

    /// The address of an offset.
    #[inline(always)]
    pub(crate) fn at(&self, spot: AreaOffset) -> *mut u8 {
        self.0[spot.area as usize].wrapping_add(spot.offset)
    }
}

/// Memory that only grows: after the first call of a size, no call of that size allocates.
///
/// All of it is initialised, with zeros at first and with old messages later. Aligned to 16 bytes.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Vec<u128>);

impl Scratch {
    /// Space for at least `bytes` bytes; discards the contents.
    #[inline]
    pub(crate) fn reserve(&mut self, bytes: usize) -> *mut u8 {
        if bytes > self.memory() {
            self.grow(bytes);
        }
        self.0.as_mut_ptr().cast()
    }

    /// The number of bytes.
    #[inline]
    pub(crate) fn memory(&self) -> usize {
        self.0.len() * size_of::<u128>()
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        self.0 = Vec::new();
        self.0 = vec![0; bytes.div_ceil(size_of::<u128>())];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fitted_once_fits_again_in_the_same_place() {
        let mut scratch = Scratch::default();
        let first = scratch.reserve(1000);
        assert_eq!(first as usize % 16, 0);
        assert_eq!(scratch.reserve(17), first);
        assert_eq!(scratch.reserve(1000), first);
        let larger = scratch.reserve(100_000);
        assert_eq!(scratch.reserve(1000), larger);
    }
}
