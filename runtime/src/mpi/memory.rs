//! Buffers as MPI sees them: an address and a length, without a Rust reference that would claim them.
//!
//! Elements are copied bit by bit, as MPI itself copies them, so a `T` need not be `Copy`; and byte by byte, so that
//! scratch need not be aligned for `T`. Every access is checked against the buffer's end: a schedule that was never
//! checked can give wrong results, but cannot reach outside the call's buffers.

use super::arena::Arena;
use crate::geometry::Geometry;
use crate::runs::for_each_run;
use roundel_spec::Blocks;
use std::marker::PhantomData;

/// Space for `len` elements that lives as long as the call.
#[derive(Debug)]
pub(super) struct Memory<T> {
    base: *mut u8,
    len: usize,
    elements: PhantomData<*mut T>,
}

impl<T> Clone for Memory<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Memory<T> {}

impl<T> Memory<T> {
    /// The elements of a slice, whose borrow the caller keeps alive and unused meanwhile.
    #[inline]
    pub(super) fn of(slice: &mut [T]) -> Self {
        Memory { base: slice.as_mut_ptr().cast(), len: slice.len(), elements: PhantomData }
    }

    /// Space in an arena from which everything else was taken back.
    #[inline]
    pub(super) fn scratch(arena: &mut Arena, len: usize) -> Self {
        arena.reset();
        Self::piece(arena, len)
    }

    /// A further piece of an arena.
    #[inline]
    pub(super) fn piece(arena: &mut Arena, len: usize) -> Self {
        let base = arena.take(len.saturating_mul(size_of::<T>()));
        Memory { base, len, elements: PhantomData }
    }

    /// Space whose beginning was kept as an address.
    ///
    /// # Safety
    ///
    /// There must be space for `len` elements at `base`, to be used as long as the result is.
    #[inline]
    pub(super) unsafe fn from_raw(base: *mut u8, len: usize) -> Self {
        Memory { base, len, elements: PhantomData }
    }

    /// Where it begins.
    #[inline]
    pub(super) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The address of `len` elements at `start`. Panics if they do not lie inside.
    #[inline]
    pub(super) fn at(&self, start: usize, len: usize) -> *mut u8 {
        assert!(start <= self.len && len <= self.len - start, "the schedule names a block outside the buffer");
        self.base.wrapping_add(start * size_of::<T>())
    }

    /// Copies `elements` to `start`.
    #[inline]
    pub(super) fn put(&self, start: usize, elements: &[T]) {
        let to = self.at(start, elements.len());
        // SAFETY: the source is a slice; the target lies inside this memory, as `at` has checked, and apart from the
        // slice, since this memory is borrowed exclusively or is scratch.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr().cast(), to, size_of_val(elements)) }
    }

    /// Copies `len` elements at `from_start` of another memory to `start`.
    #[inline]
    pub(super) fn copy(&self, start: usize, from: &Self, from_start: usize, len: usize) {
        let (to, from) = (self.at(start, len), from.at(from_start, len));
        // SAFETY: both ends lie inside their memories, as `at` has checked. The two memories never overlap: one is
        // the user's, the other scratch, or they are pieces of different arenas.
        unsafe { std::ptr::copy_nonoverlapping(from, to, len * size_of::<T>()) }
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
