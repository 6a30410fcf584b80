//! Buffers as MPI sees them: an address and a length, without a Rust reference that would claim them.
//!
//! Elements are copied bit by bit, as MPI itself copies them, so they need not be `Copy`; and byte by byte, so that
//! scratch need not have their alignment. Every access is checked against the buffer's end: a schedule that was never
//! checked can give wrong results, but cannot reach outside the call's buffers.

use super::arena::Arena;
use crate::geometry::Geometry;
use crate::runs::for_each_run;
use roundel_spec::Blocks;

/// Space for `len` elements of `size` bytes each, for the time of the call. The type of the elements is left behind here:
/// one piece of code serves them all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    base: *mut u8,
    len: usize,
    size: usize,
}

impl Memory {
    /// The elements of a slice, whose borrow the caller keeps alive and unused meanwhile.
    #[inline]
    pub(super) fn of<T>(slice: &mut [T]) -> Self {
        Memory { base: slice.as_mut_ptr().cast(), len: slice.len(), size: size_of::<T>() }
    }

    /// The elements of a slice that are only read: the target of no copy and of no message.
    #[inline]
    pub(super) fn to_read<T>(slice: &[T]) -> Self {
        Memory { base: slice.as_ptr().cast_mut().cast(), len: slice.len(), size: size_of::<T>() }
    }

    /// Space in an arena from which everything else was taken back.
    #[inline]
    pub(super) fn scratch(arena: &mut Arena, len: usize, size: usize) -> Self {
        arena.reset();
        Self::piece(arena, len, size)
    }

    /// A further piece of an arena.
    #[inline]
    pub(super) fn piece(arena: &mut Arena, len: usize, size: usize) -> Self {
        Memory { base: arena.take(len.saturating_mul(size)), len, size }
    }

    /// Space whose beginning was kept as an address.
    ///
    /// # Safety
    ///
    /// There must be space for `len` elements at `base`, to be used as long as the result is.
    #[inline]
    pub(super) unsafe fn from_raw(base: *mut u8, len: usize, size: usize) -> Self {
        Memory { base, len, size }
    }

    /// Where it begins.
    #[inline]
    pub(super) fn base(&self) -> *mut u8 {
        self.base
    }

    /// How many elements there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The size of an element in bytes.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The address of `len` elements at `start`. Panics if they do not lie inside.
    #[inline]
    pub(super) fn at(&self, start: usize, len: usize) -> *mut u8 {
        assert!(start <= self.len && len <= self.len - start, "the schedule names a block outside the buffer");
        self.base.wrapping_add(start * self.size)
    }

    /// Copies `len` elements at `from_start` of another memory to `start`.
    #[inline]
    pub(super) fn copy(&self, start: usize, from: &Self, from_start: usize, len: usize) {
        debug_assert_eq!(self.size, from.size);
        let (to, from) = (self.at(start, len), from.at(from_start, len));
        // SAFETY: both ends lie inside their memories, as `at` has checked. The two memories never overlap: one is the
        // user's and the other scratch, or they are the user's two buffers, one of which is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len * self.size) }
    }

    /// Fills this memory with the elements of `blocks`, one run after the other.
    #[inline]
    pub(super) fn pack<B: Blocks, G: Geometry>(&self, from: &Self, blocks: &B, geometry: &G, p: usize) {
        let mut filled = 0;
        for_each_run(blocks, geometry, p, |run| {
            self.copy(filled, from, run.start, run.len);
            filled += run.len;
        });
    }

    /// The reverse of [`pack`](Memory::pack): moves the elements to where `blocks` lie.
    #[inline]
    pub(super) fn unpack<B: Blocks, G: Geometry>(&self, to: &Self, blocks: &B, geometry: &G, p: usize) {
        let mut taken = 0;
        for_each_run(blocks, geometry, p, |run| {
            to.copy(run.start, self, taken, run.len);
            taken += run.len;
        });
    }
}
